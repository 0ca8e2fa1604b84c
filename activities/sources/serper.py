"""Web search by Serper, which asks Google (https://serper.dev; `POST https://google.serper.dev/search`)."""

from activities.contracts.errors import Malformed
from activities.contracts.evidence import Query
from activities.sources.base import Listing
from activities.sources.names import info_of
from activities.sources.web import WebSource, years_of

MAX_COUNT = 20
"""Results of one request; more than ten cost a second credit."""


class SerperSource(WebSource):
    """Google's results. One request to the engine, then the pages (see `activities.sources.web`)."""

    url = "https://google.serper.dev"
    fields = ("link", "title", "snippet", "date")
    info = info_of("serper")

    async def ask(self, query: Query, wanted: int) -> Listing:
        wish: dict[str, str | int] = {"q": query.text, "num": min(wanted, MAX_COUNT)}
        if years := years_of(query):
            # Google's own parameter for a range of days, which Serper passes on.
            wish["tbs"] = f"cdr:1,cd_min:1/1/{years[0]},cd_max:12/31/{years[1]}"
        address, headers = f"{self._url}/search", {"x-api-key": self._key}
        return await self._http.read("serper", self._read, address, headers=headers, json_body=wish)

    def found_in(self, body: dict[str, object]) -> object:
        """The organic results; boxes and advertisements beside them are passed over."""
        # Without a match `organic` is empty or absent; what is never missing is what was searched for.
        if not isinstance(body.get("searchParameters"), dict):
            raise Malformed("serper sent an answer that is not a search's")
        return body.get("organic", [])
