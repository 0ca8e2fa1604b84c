"""A search engine and the sites that it names, on this machine: what a run that searches the web reads."""

import json
import random
import re
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from tests.replay import Asked, ReplayServer, Reply

SITES = 8
"""Hosts that the pages are spread over."""
PAGES = 600
RESULTS = 20
"""That the engine gives a search."""
PAGE_CHARS = 6_000
PAGE_SECONDS = 0.1
"""Until a page answers."""
_NUMBER = re.compile(r"/page(\d+)")
_FILLER = (
    "Registers of {year} were linked with prescriptions, and {count} adults were seen in {place} clinics.",
    "Adherence was measured by refills in cohort {number}; {count} adults changed their dose within a year.",
    "Screening intervals differed between {place} regions, which cohort {number} adjusted for.",
    "Body mass index, smoking and aspirin were recorded at baseline for {count} adults of cohort {number}.",
)


class Web:
    """Serves while it is open."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._engine = ReplayServer().on("/search", self._search)
        self._sites = [ReplayServer().on("/page*", _page) for _ in range(SITES)]

    @property
    def engine(self) -> str:
        """The address of the engine, which answers as SearXNG does."""
        return self._engine.url

    @property
    def pages_read(self) -> int:
        """Requests for pages so far."""
        return sum(len(site.asked) for site in self._sites)

    @property
    def searches_made(self) -> int:
        """Requests of the engine so far."""
        return len(self._engine.asked)

    def __enter__(self) -> Self:
        for server in (self._engine, *self._sites):
            self._open.enter_context(server)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def _search(self, asked: Asked) -> Reply:
        query = asked.query["q"][0]
        chosen = random.Random(query).sample(range(PAGES), RESULTS)
        results = [
            {
                "url": f"{self._sites[number % SITES].url}/page{number}",
                "title": f"Metformin and colorectal cancer, cohort {number}",
                "content": f"Metformin and the risk of colorectal cancer in cohort {number}: {query}",
            }
            for number in chosen
        ]
        return Reply(200, json.dumps({"results": results}), {"content-type": "application/json"})


def _page(asked: Asked) -> Reply:
    found = _NUMBER.match(asked.path)
    number = int(found.group(1)) if found else 0
    draw = random.Random(number)
    first = (
        f"In cohort {number} metformin was associated with a lower risk of colorectal cancer in "
        f"{1000 + number} adults with type 2 diabetes. No serious adverse events of metformin were seen in "
        f"cohort {number}. The association was stronger after {number + 2} years of treatment."
    )
    paragraphs = [first]
    while sum(map(len, paragraphs)) < PAGE_CHARS:
        values = {"year": draw.randint(1980, 2020), "count": draw.randint(100, 9999), "number": number}
        said = [text.format(**values, place=draw.choice(("rural", "urban"))) for text in _FILLER]
        paragraphs.append(" ".join(said))
    title = f"Metformin and colorectal cancer, cohort {number}"
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    page = f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}</main></body></html>"
    return Reply(200, page, {"content-type": "text/html; charset=utf-8"}, delay=PAGE_SECONDS)
