"""What sources of APIs have in common: how one is asked, the shape of its answer as a model, and its records
read one by one.

One record that cannot be read, or that has no text to quote, is set aside, logged and counted; the others are
kept.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar, TypeVar

import httpx
from pydantic import (
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from activities.contracts.errors import Malformed
from activities.contracts.evidence import Evidence, EvidenceType, Identifiers, Provenance, Query, SourceInfo
from activities.contracts.identifiers import evidence_id
from activities.documents.markup import plain
from activities.logs import log
from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.http.client import Http
from activities.sources.http.failures import summary
from activities.sources.http.reading import read_json

Item = TypeVar("Item")
Page = TypeVar("Page", bound="Wire")


class Wire(BaseModel):
    """Base of the shapes APIs send. Null counts as absent; numbers may stand where text is expected."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True, frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any) -> Any:  # noqa: ANN401 - pydantic hands over what was parsed
        return _without_null(data)


class CamelWire(Wire):
    """The same for an API that writes `likeThis` what is `like_this` here."""

    model_config = ConfigDict(alias_generator=to_camel)


def _without_null(data: Any) -> Any:  # noqa: ANN401 - see above
    """An object and those within it without their null fields; lists as they are."""
    if not isinstance(data, dict):
        return data
    return {key: _without_null(value) for key, value in data.items() if value is not None}


def at(pointer: str, default: Any = "") -> Any:  # noqa: ANN401 - as pydantic's `Field`
    """A field of a shape that stands deeper in what was sent: `/authorList/author`."""
    return Field(default=default, validation_alias=AliasPath(*pointer.split("/")[1:]))


def each(pointer: str) -> BeforeValidator:
    """Annotates texts that stand at a pointer within each of a list of objects; those without it are left
    out."""

    def read(items: JsonValue) -> JsonValue:
        if not isinstance(items, list):
            return items
        return [value for item in items if (value := pointed(item, pointer)) not in (None, "")]

    return BeforeValidator(read)


def pointed(data: JsonValue, pointer: str) -> JsonValue:
    """The value at a JSON pointer (RFC 6901); None where there is none."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(data, dict):
            data = data.get(key)
        elif isinstance(data, list) and key.isdecimal() and int(key) < len(data):
            data = data[int(key)]
        else:
            return None
    return data


class ApiSource:
    """A source that asks an API over HTTP. `info` says its name and rate, `url` where it is asked."""

    info: SourceInfo
    url: str

    headers: ClassVar[Mapping[str, str]] = {}
    who: ClassVar[Mapping[str, str]] = {}
    """Header, and parameter, of each request -> the setting with its value: a key, or who asks. A word before
    the setting (`Bearer`) is sent before its value."""
    rate_with_email: float | None = None
    """Requests a second of those who say who they are, where they are more."""
    group: str | None = None
    """What sources that share a rate have in common."""

    def __init__(self, settings: Settings, http: Http) -> None:
        self.address = settings.source_url(self.info.name, self.url)
        self._http = http
        self._headers, self._who = _set(settings, self.headers), _set(settings, self.who)
        if per_second := (settings.email and self.rate_with_email) or self.info.rate_per_second:
            http.pace(self.info.name, per_second, self.group)

    async def ask(
        self,
        read: Callable[[httpx.Response], Item],
        path: str,
        params: Mapping[str, str | int] | None = None,
        accept: Collection[int] = (),
        *,
        json_body: object = None,
        form: Mapping[str, str] | None = None,
    ) -> Item:
        """What `read` makes of the answer at a path; see `Http.read`. Raises SourceError."""
        address, own = f"{self.address}/{path}", {**(params or {}), **(self._who if form is None else {})}
        form = None if form is None else {**form, **self._who}
        return await self._http.read(
            self.info.name, read, address, own, self._headers, accept, json_body=json_body, form=form
        )

    async def page(self, shape: type[Page], path: str, params: Mapping[str, str | int]) -> Page:
        """What is at a path, in this shape. Raises SourceError."""
        return await self.ask(lambda response: read_page(shape, response, self.info.title), path, params)

    async def items(self, pointer: str, path: str, params: Mapping[str, str | int]) -> list[JsonValue]:
        """The list at a JSON pointer of what is at a path. Raises SourceError."""
        return await self.ask(lambda response: read_items(pointer, response, self.info.title), path, params)


def _set(settings: Settings, names: Mapping[str, str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, named in names.items():
        *before, setting = named.split()
        if value := getattr(settings, setting):
            text = value.get_secret_value() if isinstance(value, SecretStr) else value
            values[name] = " ".join((*before, text))
    return values


class SetAside(ValueError):
    """A record that is not kept. The message says why in a few words that fit many records."""


def read_page(page: type[Page], response: httpx.Response, source: str) -> Page:
    """The body as the API's page. Raises Malformed when it is not JSON or has another shape."""
    data = read_json(response, source)
    try:
        return page.model_validate(data)
    except ValidationError as error:
        what = ".".join(str(part) for part in error.errors()[0]["loc"]) or "the whole"
        raise Malformed(
            f"{source} sent JSON of another shape than its API has (at {what}): {summary(response)}"
        ) from error


def read_items(pointer: str, response: httpx.Response, source: str) -> list[JsonValue]:
    """The list at a JSON pointer of a body; empty: the whole of it. Raises Malformed for anything else."""
    items = pointed(read_json(response, source), pointer)
    if not isinstance(items, list):
        where = pointer.removeprefix("/").replace("/", ".") or "the whole"
        raise Malformed(
            f"{source} sent JSON of another shape than its API has (at {where}): {summary(response)}"
        )
    return items


def read_records(
    source: str,
    query: Query,
    items: Iterable[Item],
    read: Callable[[Item], Evidence],
    *,
    hits: int | None = None,
    sent: str = "",
    wanted: int = 0,
) -> Exchange:
    """The exchange whose answer had these items. Each is read by `read`, which raises ValueError or one of
    its kind for a bad one. `hits`: how many match, if not those that are kept.

    A record whose text is empty is set aside as well, and so are those that were asked for by name (`wanted`,
    their number) and did not come. Provenance is added here. Raises Malformed when none of them can be read.
    """
    kept: list[Evidence] = []
    reasons: Counter[str] = Counter()
    provenance = Provenance(source=source, query=query.text)
    for item in items:
        try:
            record = read(item)
            if not record.text.strip():
                raise SetAside("without text to quote")  # noqa: TRY301
        except SetAside as error:
            reasons[str(error)] += 1
            log.info("record_set_aside", source=source, reason=str(error))
        except (Malformed, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            reasons["unreadable"] += 1
            log.warning("record_unreadable", source=source, error=f"{type(error).__name__}: {error}"[:300])
        else:
            kept.append(_without_markup(record).replace(provenance=(provenance,)))
    if reasons["unreadable"] and reasons["unreadable"] == reasons.total() and not kept:
        raise Malformed(f"{source} sent {reasons.total()} records, none of which can be read")
    if (absent := wanted - len(kept) - reasons.total()) > 0:
        reasons["not returned"] = absent
    why = ", ".join(f"{count} {reason}" for reason, count in reasons.items() if count)
    return Exchange(
        tuple(kept),
        len(kept) if hits is None else hits,
        reasons.total(),
        sent=sent,
        detail=f"set aside: {why}" if why else "",
    )


def _without_markup(record: Evidence) -> Evidence:
    """A record whose title, journal and authors have neither tags nor entities."""
    return record.replace(
        title=plain(record.title) or record.title,
        venue=plain(record.venue or "") or None,
        authors=tuple(map(plain, record.authors)),
    )


def database_record(
    source: str,
    key: str,
    *,
    url: str,
    title: str,
    text: str,
    venue: str,
    year: int | None = None,
    authors: Iterable[str] = (),
    identifiers: Identifiers | None = None,
    evidence_type: EvidenceType = "database_record",
    **values: object,
) -> Evidence:
    """A whole entry of a database, known by its address unless it has `identifiers`. `values`: see
    `facts`."""
    ids = identifiers or Identifiers(url=url)
    return Evidence(
        evidence_id=evidence_id(ids, key),
        source=source,
        title=title,
        text=text,
        authors=tuple(authors),
        year=year,
        venue=venue,
        identifiers=ids,
        url=url,
        evidence_type=evidence_type,
        full_text=True,
        facts=facts(**values),
    )


def facts(**values: object) -> dict[str, str]:
    """Facts that are known, as text: lists joined with `; `, nothing empty."""
    texts = {}
    for name, value in values.items():
        text = "; ".join(str(v) for v in value if v) if isinstance(value, list | tuple) else str(value or "")
        if text:
            texts[name] = text
    return texts


_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d(?=(?:\d\d){0,2}(?!\d))")


def year_of(date: str | None) -> int | None:
    """The first year from 1500 to 2199 in a date (`2024-05-08`, `20240508`, `8 May 2024`), or None."""
    match = _YEAR.search(date or "")
    return int(match.group()) if match else None


def arxiv_of_doi(doi: str | None) -> str | None:
    """The arXiv id in a DOI that arXiv gave (`10.48550/arxiv.2304.05376`), else None."""
    match = re.fullmatch(r"10\.48550/arxiv\.(.+)", doi or "", re.IGNORECASE)
    return match.group(1) if match else None
