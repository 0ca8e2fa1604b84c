"""A search engine and the sites that it names, on this machine: what a run that searches the web reads."""

import json
import random
import re
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.replay import Asked, ReplayServer, Reply

PIECES = Path(__file__).parents[1] / "activities" / "text" / "pieces.txt"
SITES = 8
"""Hosts that the pages are spread over."""
PAGES = 600
RESULTS = 20
"""That the engine gives a search."""
PAGE_CHARS = 6_000
PAGE_SECONDS = 0.1
"""Until a page answers."""
_YEARS = re.compile(r"(\d+) years")
_NUMBER = re.compile(r"/page(\d+)")
_WORDS = [word for word in PIECES.read_text().split() if word.isascii() and word.isalpha() and len(word) > 4]
_FILLER = "Of {count} adults in the {} registers, the {} and the {} were recorded with {}, and {} was not."


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
        return self.addresses().total()

    def addresses(self) -> Counter[str]:
        """How often each page was requested."""
        return Counter(f"{site.url}{asked.path}" for site in self._sites for asked in list(site.asked))

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
        years = _YEARS.search(query)  # the pages of one run are not those of another
        first = PAGES * int(years.group(1)) if years else 0
        chosen = [first + number for number in random.Random(query).sample(range(PAGES), RESULTS)]
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
        said = [_FILLER.format(*draw.sample(_WORDS, 5), count=draw.randint(100, 9999)) for _ in range(4)]
        paragraphs.append(" ".join(said))
    title = f"Metformin and colorectal cancer, cohort {number}"
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    page = f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}</main></body></html>"
    return Reply(200, page, {"content-type": "text/html; charset=utf-8"}, delay=PAGE_SECONDS)
