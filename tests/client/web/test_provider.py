"""Signing in through an OpenID Connect provider, which runs on this machine."""

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from authlib.deprecate import AuthlibDeprecationWarning
from starlette.testclient import TestClient
from starlette.types import ASGIApp
from werkzeug.serving import make_server

from activities.settings import Settings
from client.access import Access
from client.api import Determinator
from client.sign_in.signing_in import Provider, SignIn
from client.web.server import page_app, with_sessions
from tests.browser.staged import RUN, StagedClient

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

pytestmark = pytest.mark.filterwarnings("ignore:get_jwt_config:DeprecationWarning")  # of the provider

READING = f"/run/{RUN}"


class OpenProvider:
    """A provider that lets anybody in by the name they give, and may call itself by another name."""

    def __init__(self) -> None:
        self.issuer = ""
        self.alias_at: tuple[str, ...] = ()
        """Paths at which it gives another issuer than its own."""
        self.down = False
        with warnings.catch_warnings():  # it still imports a module that authlib is giving up
            warnings.simplefilter("ignore", AuthlibDeprecationWarning)
            import oidc_provider_mock  # takes half a second
        self._app = oidc_provider_mock.app()

    def __call__(self, environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        if environ["PATH_INFO"] in self.alias_at:
            environ["HTTP_HOST"] = f"127.0.0.1:{environ['SERVER_PORT']}"
        if self.down:
            start("503 Service Unavailable", [])
            return []
        answer: Iterable[bytes] = self._app(environ, start)
        return answer


@pytest.fixture
def provider() -> Iterator[OpenProvider]:
    found = OpenProvider()
    server = make_server("localhost", 0, found, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    found.issuer = f"http://localhost:{server.server_port}"
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def page(provider: OpenProvider, tmp_path: Path) -> ASGIApp:
    """The page's routes, with one run, of `ada`."""
    client = StagedClient(Settings(home=tmp_path))
    client.staged.over = True
    client.staged.user = f"{provider.issuer}#ada"
    sign_in = SignIn(provider=Provider(provider.issuer, "the-page", "its-secret"))
    return with_sessions(page_app(Access(cast("Determinator", client), is_shared=True), sign_in))


def unchanged(query: dict[str, str]) -> dict[str, str]:
    return query


def signed_in(
    page: ASGIApp, name: str, asking: Callable[[dict[str, str]], dict[str, str]] = unchanged
) -> tuple[TestClient, httpx2.Response]:
    """A browser that has come back from the provider, and what the page answered. `asking` changes the
    request on its way to the provider."""
    browser = TestClient(page, follow_redirects=False)
    address = urlsplit(browser.get("/sign-in/provider").headers["location"])
    query = {key: value for key, (value,) in parse_qs(address.query).items()}
    asked = address._replace(query=urlencode(asking(query))).geturl()
    back = httpx2.post(asked, data={"sub": name}).headers["location"]
    return browser, browser.get(back)


def test_who_signs_in_at_the_provider_sees_their_own_runs_only(page: ASGIApp) -> None:
    nobody = TestClient(page)
    assert nobody.get(READING).status_code == 401
    ada, answer = signed_in(page, "ada")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert ada.get(READING).status_code == 200
    eve, answer = signed_in(page, "eve")
    assert answer.status_code == 303
    assert eve.get(READING).status_code == 404


def test_the_name_of_another_users_account_is_not_the_user(page: ASGIApp, provider: OpenProvider) -> None:
    eve, _ = signed_in(page, f"{provider.issuer}#ada")
    assert eve.get(READING).status_code == 404


@pytest.mark.parametrize("field", ["nonce", "state"])
def test_a_token_or_an_answer_of_another_sign_in_is_refused(page: ASGIApp, field: str) -> None:
    browser, answer = signed_in(page, "ada", lambda query: {**query, field: "of-another-sign-in"})
    assert answer.status_code == 403
    assert browser.get(READING).status_code == 401


ISSUERS = ("/oauth2/token", "/.well-known/openid-configuration")


@pytest.mark.parametrize("paths", [ISSUERS[:1], ISSUERS[1:], ISSUERS])
def test_a_token_of_another_issuer_than_the_configured_one_is_refused(
    page: ASGIApp, provider: OpenProvider, paths: tuple[str, ...]
) -> None:
    """Also where the provider's document and its tokens agree with each other."""
    provider.alias_at = paths
    browser, answer = signed_in(page, "ada")
    assert answer.status_code == 403
    assert browser.get(READING).status_code == 401


def test_a_provider_that_denies_signs_nobody_in(page: ASGIApp) -> None:
    browser = TestClient(page, follow_redirects=False)
    asked = browser.get("/sign-in/provider").headers["location"]
    back = httpx2.post(asked, data={"action": "deny"}).headers["location"]
    assert browser.get(back).status_code == 403
    assert browser.get(READING).status_code == 401


def test_a_provider_that_is_down_is_said_in_one_line(page: ASGIApp, provider: OpenProvider) -> None:
    provider.down = True
    answer = TestClient(page, follow_redirects=False).get("/sign-in/provider")
    assert answer.status_code == 502
    assert 'role="alert"' in answer.text
