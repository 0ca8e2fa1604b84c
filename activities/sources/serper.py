"""Web search by Serper, which asks Google (https://serper.dev; `POST https://google.serper.dev/search`)."""

import httpx

from activities.errors import Malformed, Refused
from activities.settings import Settings
from activities.sources.http.client import Http
from activities.sources.http.pages import PageReader, SafePages
from activities.sources.http.reading import read_json
from activities.sources.web import Results, WebSource, candidate, results
from activities.types import Query, SourceInfo

DEFAULT_URL = "https://google.serper.dev"
MAX_COUNT = 20
"""Results of one request; more than ten cost a second credit."""


class SerperSource(WebSource):
    """Google's results. One request to the engine, then the pages (see `activities.sources.web`)."""

    info = SourceInfo(
        name="serper",
        title="Serper",
        covers="The open web as Google finds it; result pages are read in full.",
        needs_key=True,
        key_setting="SERPER_API_KEY",
        how_to_enable="Set SERPER_API_KEY; keys are given at https://serper.dev",
        rate="5 requests a second on the free plan",
        domains=("web", "general"),
    )

    def __init__(self, settings: Settings, http: Http, pages: PageReader) -> None:
        super().__init__(pages)
        self._http = http
        self._url = settings.source_url("serper", DEFAULT_URL)
        self._key = settings.serper_api_key
        self.missing = "" if self._key else "needs a key; set SERPER_API_KEY"

    async def ask(self, query: Query, wanted: int) -> Results:
        if self._key is None:
            raise Refused(f"serper {self.missing}")
        wish: dict[str, str | int] = {"q": query.text, "num": min(wanted, MAX_COUNT)}
        if query.filters.year_from is not None or query.filters.year_to is not None:
            # Google's own parameter for a range of days, which Serper passes on.
            first, last = query.filters.year_from or 1990, query.filters.year_to or 2100
            wish["tbs"] = f"cdr:1,cd_min:1/1/{first},cd_max:12/31/{last}"
        answer = await self._http.send(
            "serper",
            "POST",
            f"{self._url}/search",
            headers={"x-api-key": self._key.get_secret_value()},
            json_body=wish,
        )
        return read(answer)


def read(answer: httpx.Response) -> Results:
    """The organic results of an answer; boxes and advertisements beside them are passed over. Raises
    Malformed."""
    body = read_json(answer, "serper")
    # Without a match `organic` is an empty list or absent; what is never missing is what was searched for.
    if not isinstance(body, dict) or not isinstance(body.get("searchParameters"), dict):
        raise Malformed("serper sent an answer that is not a search's")
    found = body.get("organic", [])
    if not isinstance(found, list):
        raise Malformed("serper sent results that are no list")
    return results(
        [
            candidate(item.get("link"), item.get("title"), item.get("snippet"), item.get("date"))
            if isinstance(item, dict)
            else None
            for item in found
        ]
    )


def build(settings: Settings, http: Http) -> SerperSource:
    """The registry's factory."""
    return SerperSource(settings, http, SafePages.of(settings))
