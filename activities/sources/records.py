"""Asking an API, and reading the records of its answer.

A record that cannot be read, or that has no text to quote, is set aside, logged and counted; the others are
kept.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import ClassVar, NamedTuple, TypeVar

import httpx
from pydantic import JsonValue, SecretStr

from activities.contracts.bounds import digits
from activities.contracts.errors import Malformed
from activities.contracts.evidence import (
    NO_ABSTRACT,
    Evidence,
    EvidenceType,
    Identifiers,
    Provenance,
    Query,
    SourceInfo,
    Standing,
    StandingNotice,
)
from activities.contracts.identifiers import (
    evidence_id,
    normal_arxiv,
    normal_doi,
    normal_pmcid,
    normal_pmid,
)
from activities.documents.markup import plain
from activities.logs import log
from activities.messages import count_of
from activities.retractions.rules import standing_of
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.http.client import Http
from activities.sources.http.failures import failure, summary
from activities.sources.http.reading import read_json

Item = TypeVar("Item")
MAX_NUMBER = 10**12


def value_at(data: JsonValue, pointer: str) -> JsonValue:
    """Return the value at a JSON pointer (RFC 6901); None where there is none."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(data, dict):
            data = data.get(key)
        elif isinstance(data, list) and key.isdecimal() and int(key) < len(data):
            data = data[int(key)]
        else:
            return None
    return data


class Matches(NamedTuple):
    items: list[JsonValue]
    total: int
    """The number that match, as the API says; else the number sent."""


class Json:
    """An object that an API sent, whose values are read by JSON pointers. Null counts as absent.

    Each method raises ValueError with the pointer where a value of another type stands there.
    """

    __slots__ = ("value",)

    def __init__(self, value: JsonValue) -> None:
        self.value = value

    def at(self, pointer: str) -> JsonValue:
        if pointer and not isinstance(self.value, dict):
            raise ValueError(f"at {pointer}: no object")
        return value_at(self.value, pointer)

    def text(self, pointer: str = "") -> str:
        """Return a text, or a number as text; empty where there is none."""
        value = self.at(pointer)
        if isinstance(value, bool | dict | list):
            raise ValueError(f"at {pointer}: no text")  # noqa: TRY004 - as for every other shape
        return "" if value is None else str(value)

    def required(self, pointer: str) -> str:
        if not (text := self.text(pointer)):
            raise ValueError(f"at {pointer}: nothing")
        return text

    def number(self, pointer: str) -> int | None:
        text = self.text(pointer)
        number = digits(text, MAX_NUMBER)
        if text and number is None:
            raise ValueError(f"at {pointer}: no number")
        return number

    def is_true(self, pointer: str) -> bool:
        return self.at(pointer) is True

    def objects(self, pointer: str, *, required: bool = False) -> list["Json"]:
        """Return the items of a list; none where there is no list, unless it is `required`."""
        items = self.at(pointer)
        if isinstance(items, list):
            return [Json(item) for item in items]
        if items is not None or required:
            raise ValueError(f"at {pointer or 'the whole'}: no list")
        return []

    def texts(self, pointer: str, inner: str = "") -> tuple[str, ...]:
        """Return the texts of a list, or those that stand at a pointer in each of its objects."""
        return tuple(text for item in self.objects(pointer) if (text := item.text(inner)))

    def matches(self, items: str, total: str | None = None) -> Matches:
        """Return the list at one pointer, which has to be there, and the count at another."""
        values = [item.value for item in self.objects(items, required=True)]
        count = None if total is None else self.number(total)
        return Matches(values, len(values) if count is None else count)


class ApiSource:
    """A source that asks an API over HTTP. `info` says its name and rate, `url` where it is asked."""

    info: SourceInfo
    url: str

    headers: ClassVar[Mapping[str, str]] = {}
    identity: ClassVar[Mapping[str, str]] = {}
    """Header, and parameter, of each request -> the setting with its value: a key, or who asks. A word before
    the setting (`Bearer`) is sent before its value."""
    rate_with_email: float | None = None
    """Requests a second of those who say who they are, where they are more."""
    group: str | None = None
    """The name of a rate that several sources share."""

    def __init__(self, settings: Settings, http: Http) -> None:
        self.address = settings.source_url(self.info.name, self.url)
        self._http = http
        self._headers, self._identity = _values(settings, self.headers), _values(settings, self.identity)
        if per_second := (settings.email and self.rate_with_email) or self.info.rate_per_second:
            http.pace(self.info.name, per_second, self.group)

    async def ask(
        self,
        reader: Callable[[httpx.Response], Item],
        path: str,
        params: Mapping[str, str | int] | None = None,
        accept: Collection[int] = (),
        *,
        json_body: object = None,
        form: Mapping[str, str] | None = None,
    ) -> Item:
        """Return what `reader` makes of the answer at a path; see `Http.read`. Raises SourceError."""
        address, parameters = (
            f"{self.address}/{path}",
            {**(params or {}), **(self._identity if form is None else {})},
        )
        form = None if form is None else {**form, **self._identity}
        return await self._http.read(
            self.info.name, reader, address, parameters, self._headers, accept, json_body=json_body, form=form
        )

    async def list_items(
        self, path: str, params: Mapping[str, str | int], items: str, total: str | None = None
    ) -> Matches:
        """Return the list at one JSON pointer of an answer, the count at another. Raises SourceError."""
        title = self.info.title
        return await self.ask(
            lambda answer: read_shape(answer, lambda body: body.matches(items, total), title), path, params
        )


def _values(settings: Settings, names: Mapping[str, str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, setting_name in names.items():
        *prefix, setting = setting_name.split()
        if value := getattr(settings, setting):
            text = value.get_secret_value() if isinstance(value, SecretStr) else value
            values[name] = " ".join((*prefix, text))
    return values


class SetAside(ValueError):
    """A record that is not kept. The message says why in a few words that fit many records."""


def read_shape(response: httpx.Response, reader: Callable[[Json], Item], source: str) -> Item:
    """Return what `reader` finds in a body of JSON. Raises Malformed for another body, or another shape.

    Of an answer with a failing status, the failure that it stands for.
    """
    try:
        return reader(Json(read_json(response, source)))
    except Malformed:
        if response.is_success:
            raise
        raise failure(response, source) from None
    except ValueError as error:
        if not response.is_success:
            raise failure(response, source) from error
        raise Malformed(
            f"{source} sent JSON of another shape than its API has ({error}): {summary(response)}"
        ) from error


def read_records(
    source: str,
    query: Query,
    items: Iterable[Item],
    reader: Callable[[Item], Evidence],
    *,
    hits: int | None = None,
    sent: str = "",
    expected: int = 0,
) -> Exchange:
    """Return the exchange whose answer had these items, each read by `reader`, with its provenance.

    `reader` raises ValueError or one of its kind for a bad item. `hits`: how many match, if not those that
    are kept. A record whose text is empty is set aside as well, unless the query asks for titles; and those
    that were asked for by name (`expected`, their number) and did not come. Raises Malformed when none of
    them can be read.
    """
    records: list[Evidence] = []
    reasons: Counter[str] = Counter()
    provenance = Provenance(source=source, query=query.text)
    for item in items:
        try:
            record = reader(item)
            if not record.text.strip():
                if not query.titles:
                    raise SetAside("without text to quote")  # noqa: TRY301
                record = by_title(record)
        except SetAside as error:
            reasons[str(error)] += 1
            log.info("record_set_aside", source=source, reason=str(error))
        except (Malformed, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            reasons["unreadable"] += 1
            log.warning("record_unreadable", source=source, error=f"{type(error).__name__}: {error}"[:300])
        else:
            records.append(_without_markup(record).replace(provenance=(provenance,)))
    if reasons["unreadable"] and reasons["unreadable"] == reasons.total() and not records:
        raise Malformed(f"{source} sent {count_of(reasons.total(), 'record')} and none that can be read")
    if (missing := expected - len(records) - reasons.total()) > 0:
        reasons["not returned"] = missing
    summary = ", ".join(f"{count} {reason}" for reason, count in reasons.items() if count)
    return Exchange(
        tuple(records),
        len(records) if hits is None else hits,
        reasons.total(),
        sent=sent,
        detail=f"set aside: {summary}" if summary else "",
    )


def by_title(record: Evidence) -> Evidence:
    """Return a record that has no abstract with its title as its text, and the fact `NO_ABSTRACT`."""
    return record.replace(text=record.title, facts={**record.facts, NO_ABSTRACT: "yes"})


def _without_markup(record: Evidence) -> Evidence:
    return record.replace(
        title=plain(record.title) or record.title,
        venue=plain(record.venue or "") or None,
        authors=tuple(map(plain, record.authors)),
    )


def new_record(
    source: str,
    *,
    url: str | None,
    title: str,
    text: str,
    venue: str | None,
    identifiers: Identifiers | None = None,
    year: int | None = None,
    authors: Iterable[str] = (),
    evidence_type: EvidenceType = "article",
    standing: Standing | None = None,
    notices: tuple[StandingNotice, ...] = (),
    full_text: bool = False,
    **values: object,
) -> Evidence:
    """Return a record, known by its address unless it has `identifiers`, with its facts.

    Its standing is that of the notices on it; unknown without one.
    """
    ids = identifiers or Identifiers(url=url)
    return Evidence(
        evidence_id=evidence_id(ids, title + text),
        source=source,
        title=title or "Untitled",
        text=text,
        authors=tuple(filter(None, authors)),
        year=year,
        venue=venue or None,
        identifiers=ids,
        url=url,
        evidence_type=evidence_type,
        standing=standing or standing_of(notices, otherwise="unknown"),
        notices=notices,
        full_text=full_text,
        facts=facts(**values),
    )


database_record = partial(new_record, evidence_type="database_record", full_text=True)
"""Return a whole entry of a database."""


def facts(**values: object) -> dict[str, str]:
    """Return the facts that are known, as text: lists joined with `; `, nothing empty."""
    texts = {}
    for name, value in values.items():
        text = "; ".join(str(v) for v in value if v) if isinstance(value, list | tuple) else str(value or "")
        if text:
            texts[name] = text
    return texts


_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)")


def identifiers_of(
    *, pmid: str | None = "", pmcid: str = "", doi: str | None = "", arxiv: str = "", **ids: str | None
) -> Identifiers:
    """Return the identifiers of a work in their canonical spelling, as far as they are some.

    A DOI that arXiv gave (`10.48550/arxiv.2304.05376`) names the preprint as well.
    """
    name = normal_doi(doi)
    match = _ARXIV_DOI.fullmatch(name or "")
    return Identifiers(
        pmid=normal_pmid(pmid),
        pmcid=normal_pmcid(pmcid),
        doi=name,
        arxiv=normal_arxiv(arxiv) or (match.group(1) if match else None),
        **ids,
    )
