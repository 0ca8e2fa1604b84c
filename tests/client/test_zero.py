"""A limit of zero is zero, whoever sets it and wherever: it is not the default and not "none"."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from annotated_types import Ge
from pydantic import SecretStr, TypeAdapter

from activities.configuration.declaration import flag_of, variable_of
from activities.settings import Settings
from client.access import Folders
from client.api import Determinator
from client.failures import BadInput
from client.http.desk import Question
from client.runs.embedded import check_model
from client.runs.following_up import merge_options, set_limits
from client.runs.options import FIELDS as FIELDS_OF_A_QUESTION
from client.runs.options import KEYS, AskOptions
from client.runs.request import build_request
from tests.client.harness import inside
from tests.papers import QUESTION
from workflows.amounts import Limits
from workflows.types import ResearchRequest

FIELDS = Settings.model_fields
ZERO = [
    name
    for name, key in KEYS.items()
    if key.limit and any(isinstance(bound, Ge) and bound.ge == 0 for bound in FIELDS[name].metadata)
]
"""The limits that may be zero."""


class Started(Exception):
    """A run would begin with these options."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, Any]]:
    """The options of each run that a surface asks for."""
    asked: list[Mapping[str, Any]] = []

    async def ask(client: object, question: str, **options: Any) -> None:
        asked.append({name: value for name, value in options.items() if name in FIELDS_OF_A_QUESTION})
        raise BadInput("it is not started here")

    monkeypatch.setattr(Determinator, "ask", ask)
    return asked


def limit(options: Mapping[str, Any], name: str, settings: Settings | None = None) -> object:
    request = build_request(settings or Settings(), QUESTION, cast(AskOptions, options))
    return getattr(request.limits, KEYS[name].limit)


@pytest.mark.parametrize("name", ZERO)
def test_zero_from_python_environment_and_file(
    name: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert limit({name: 0}, name) == 0
    monkeypatch.setenv(variable_of(name, FIELDS[name]), "0")
    assert limit({}, name) == 0
    monkeypatch.delenv(variable_of(name, FIELDS[name]))
    section, _, key = KEYS[name].place(name).rpartition(".")
    config = home.parent / "own.toml"
    config.write_text(f"[{section}]\n{key} = 0\n")
    monkeypatch.setenv("DETERMINATOR_CONFIG", str(config))
    assert limit({}, name) == 0


@pytest.mark.parametrize("name", ZERO)
@pytest.mark.usefixtures("home")
def test_zero_on_the_command_line(name: str, started: list[Mapping[str, Any]]) -> None:
    inside("ask", QUESTION, flag_of(name, KEYS[name]), "0")
    assert [limit(options, name) for options in started] == [0]


@pytest.mark.parametrize("name", ["max_tokens", "max_cost"])
def test_zero_over_http(name: str, home: Path) -> None:
    asked = dict(TypeAdapter(Question).validate_python({"question": QUESTION, name: 0}))
    del asked["question"]
    assert limit(asked, name) == 0


async def test_zero_over_mcp(home: Path, started: list[Mapping[str, Any]]) -> None:
    from client.mcp.research import Research

    tools = Research(Determinator(Settings()), Folders(()))
    context = cast(Any, SimpleNamespace(session=SimpleNamespace(client_capabilities=None)))
    for call in (
        tools.start_research(QUESTION, context, max_cost=0.0),
        tools.start_research(QUESTION, context, follow_up="ask-earlier", max_cost=0.0),
    ):
        with pytest.raises(BadInput, match="not started"):
            await call
    assert [options["max_cost"] for options in started] == [0, 0]


@pytest.mark.parametrize("name", ZERO)
def test_zero_of_a_run_and_over_a_run_that_is_followed_up(name: str, home: Path) -> None:
    earlier = ResearchRequest(question=QUESTION, limits=Limits.model_validate({KEYS[name].limit: 0}))
    assert set_limits(Settings(), earlier)[name] == 0  # type: ignore[literal-required]
    options = merge_options(cast(AskOptions, {name: 0}), cast(AskOptions, {name: 5}))
    assert options[name] == 0  # type: ignore[literal-required]


def test_no_money_buys_nothing_of_unknown_price_and_a_limit_that_cannot_hold_is_told(home: Path) -> None:
    settings = Settings(
        openai_base_url="https://llm.example/v1", openai_api_key=SecretStr("k"), model="unpriced"
    )
    for most, refused in ((0.0, True), (1.0, False)):
        request = build_request(settings, QUESTION, AskOptions(max_cost=most))
        if refused:
            with pytest.raises(BadInput, match="`max_cost` 0 buys nothing, and the price of unpriced"):
                check_model(settings, request, pytest.fail)
        else:
            said: list[str] = []
            check_model(settings, request, said.append)
            assert "unpriced, whose price is not known" in said[0]
