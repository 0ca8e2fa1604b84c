"""JSON records of a library, read leniently: one record is one document.

Names are compared without case, `-` and ` ` counting as `_`; the first of several that is present wins.
docs/library.md lists them. Without a standing of its own a record has that of its title, its types and its
first sentence; without `full_text` an abstract, and a short text with a PMID or a DOI, is none.

An abstract may be a string, a list, or a labelled object (`{"METHODS": "..."}`). The lines of
`determinator evidence --format jsonl` are such records. A file whose records have no text and no identifier
of a work is a table, and its text has a line a record, with its fields.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from pydantic import JsonValue

from activities.contracts import identifiers
from activities.contracts.evidence import Evidence, EvidenceType, Identifiers, Standing
from activities.documents.markup import plain, without_tags
from activities.documents.text import MAX_CHARS, TITLE_CHARS, Unreadable
from activities.sources.publication import (
    indexed_type,
    is_preprint,
    notice_of,
    read_marks,
    stated_type,
    year_of,
)
from activities.text.person_names import person_name, read_names


@dataclass(frozen=True, slots=True)
class SetAside:
    name: str
    reason: str
    scan: bool = False
    """It is a PDF without text, which may be recognised."""
    lacking: bool = False
    """It can be read once something is installed."""


ABSTRACT_CHARS = 6_000
"""A text with a PMID or a DOI that is shorter than this counts as the work's abstract."""

_NOTHING = re.compile(
    r"\W*(?:nan|none|null|n/?a|undefined"
    r"|no (?:abstract|summary|text|title|author name)s?(?: is| are)?(?: available| provided| given| found)?"
    r"|(?:abstract|summary)(?: is)? (?:not|un)-? ?(?:available|provided|given))\W*",
    re.IGNORECASE,
)
"""What exports write where a field has no value."""
_LISTS = ("records", "documents", "items", "results", "data", "articles")
_EVIDENCE_TYPES: dict[str, EvidenceType] = {name: name for name in get_args(EvidenceType)}
_STANDINGS: dict[str, Standing] = {name: name for name in get_args(Standing)}

Record = Mapping[str, JsonValue]


def records_in(value: JsonValue) -> Iterator[JsonValue]:
    """Yield the records of a JSON file: a list, an object that holds one, records by id, or one record."""
    if isinstance(value, list):
        yield from value
        return
    if isinstance(value, dict):
        for name in _LISTS:
            inner = value.get(name)
            if isinstance(inner, list) and inner and all(isinstance(item, dict) for item in inner):
                yield from inner
                return
        if value and all(isinstance(item, dict) for item in value.values()):
            yield from value.values()
            return
    yield value


def read_record(value: JsonValue, file: str) -> Evidence:
    """Read one record as evidence. Raises Unreadable when it is not an object or holds nothing to quote."""
    if not isinstance(value, dict):
        raise Unreadable("a record is not a JSON object")
    record: Record = {_name(key): item for key, item in value.items()}
    text, field = _text(record)
    title = plain(_string(record, *TITLES))
    ids = _identifiers(record)
    terms = _strings(record, "mesh", "meshes", "mesh_terms", "keywords")
    types = _strings(record, "publication_types", "publication_type")
    full_text = _full_text(record, text, field, ids)
    kind = _EVIDENCE_TYPES.get(_string(record, "evidence_type").casefold()) or stated_type(types)
    reason = "stated by the record" if kind else ""
    venue = _string(record, "venue", "journal", "container_title", "source_title", "publication_title")
    if kind is None and is_preprint(venue, ids.doi):
        kind, reason = "preprint", f"venue: {venue or ids.doi}"
    if kind is None:
        kind, reason = indexed_type(terms)
    if kind is None:
        kind = "document" if full_text else "article"
    standing = _STANDINGS.get(_string(record, "standing").casefold(), "unknown")
    facts = {"file": file, "mesh": "; ".join(terms), "evidence_type_from": reason}
    is_retracted = any(_is_true(record.get(name)) for name in ("retracted", "is_retracted"))
    evidence = Evidence(
        evidence_id=identifiers.evidence_id(ids, title + "\n" + text),
        source="library",
        title=(title or _headline(text))[:TITLE_CHARS],
        text=text,
        authors=_authors(record),
        year=_year(record),
        venue=venue or None,
        identifiers=ids,
        url=_web_address(_string(record, "url", "link")),
        evidence_type=kind,
        standing="retracted" if is_retracted else standing,
        full_text=full_text,
        facts={key: fact for key, fact in facts.items() if fact},
    )
    marked_record = read_marks(evidence, types)
    if marked_record is None:
        return evidence.replace(facts={**evidence.facts, "notice": notice_of(evidence, types)})
    return marked_record


def _web_address(text: str) -> str | None:
    """Return an address of the web: a record of others names no file of this machine as its own."""
    return text if re.match(r"https?://", text, re.IGNORECASE) else None


def _name(key: str) -> str:
    return re.sub(r"[-\s]+", "_", key.strip().lstrip("\ufeff").casefold())


def has_text(columns: Sequence[str]) -> bool:
    """Tell whether these are the names of fields with a title and a text."""
    names = {_name(column) for column in columns}
    return bool(names & set(TEXTS)) and bool(names & set(TITLES))


def is_row(record: Record) -> bool:
    """Tell whether a record is a row of a table: it has no text and no identifier of a work."""
    plain = {_name(key): item for key, item in record.items()}
    has_prose = any(_prose(plain.get(name)) for name in TEXTS)
    return not has_prose and _identifiers(plain).replace(url=None) == Identifiers()


TEXTS = ("text", "abstract", "abstract_note", "body", "content", "full_text", "contexts")
TITLES = ("title", "headline", "name", "question")


def _is_true(value: JsonValue) -> bool:
    return value is True or (isinstance(value, str) and value.strip().casefold() in ("true", "yes"))


def _text(record: Record) -> tuple[str, str]:
    for name in TEXTS:
        text = _prose(record.get(name))
        if text:
            return text[:MAX_CHARS], name
    raise Unreadable("a record has neither a text nor an abstract")


def _prose(value: JsonValue) -> str:
    if isinstance(value, str):
        parts = ["" if _NOTHING.fullmatch(value) else without_tags(value)]
    elif isinstance(value, list):
        parts = [_prose(item) for item in value]
    elif isinstance(value, dict):
        parts = [f"{label}: {words}" for label, item in value.items() if (words := _prose(item))]
    else:
        return ""
    text = "\n\n".join(part.strip() for part in parts if part.strip()).replace("\0", "")
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _full_text(record: Record, text: str, field: str, ids: Identifiers) -> bool:
    value = record.get("full_text")
    if isinstance(value, bool):
        return value
    if field in ("abstract", "abstract_note", "contexts"):
        return False
    identifier = ids.pmid or ids.doi or ids.arxiv
    return not (identifier and len(text) < ABSTRACT_CHARS and field == "text")


def _identifiers(record: Record) -> Identifiers:
    inner = record.get("identifiers")
    ids: Record = {**record, **inner} if isinstance(inner, dict) else record
    return Identifiers(
        pmid=identifiers.normal_pmid(_string(ids, "pmid").removesuffix(".0")),
        pmcid=identifiers.normal_pmcid(_string(ids, "pmcid", "pmc")),
        doi=identifiers.normal_doi(_string(ids, "doi")),
        nct=identifiers.normal_nct(_string(ids, "nct", "nct_id")),
        arxiv=identifiers.normal_arxiv(_string(ids, "arxiv", "arxiv_id")),
        openalex=_string(ids, "openalex") or None,
        s2=_string(ids, "s2") or None,
        fda=_string(ids, "fda") or None,
        url=identifiers.normal_url(_string(ids, "url", "link")),
    )


def _authors(record: Record) -> tuple[str, ...]:
    for name in ("authors", "author", "creators"):
        value = record.get(name)
        if isinstance(value, str):
            if _NOTHING.fullmatch(value):
                continue
            return tuple(read_names(value))
        if isinstance(value, list):
            return tuple(person for item in value if (person := _person(item)))
    return ()


def _person(value: JsonValue) -> str:
    if isinstance(value, str):
        return "" if _NOTHING.fullmatch(value) else value.strip()
    if not isinstance(value, dict):
        return ""
    full_name = _string(value, "name", "full_name", "literal")
    family, given = _string(value, "family", "last", "last_name"), ("given", "first", "first_name")
    return full_name or person_name(family, _string(value, *given))


def _year(record: Record) -> int | None:
    for name in ("year", "publication_year", "date", "publication_date", "pub_date", "published", "issued"):
        value = record.get(name)
        date_parts = value.get("date-parts") if isinstance(value, dict) else None  # CSL JSON
        if year := year_of(str(date_parts) if date_parts else _string(record, name)):
            return year
    return None


def _string(record: Record, *names: str) -> str:
    """Return the first of the named fields that holds a string, a number or a list that starts with one."""
    for name in names:
        value = record.get(name)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, bool):
            continue
        if isinstance(value, (int, float)) and value == value:  # not NaN
            return str(int(value) if value == int(value) else value) if abs(value) < 1e15 else str(value)
        if isinstance(value, str) and value.strip() and not _NOTHING.fullmatch(value):
            return value.strip().encode("utf-8", errors="replace").decode("utf-8")
    return ""


def _strings(record: Record, *names: str) -> tuple[str, ...]:
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return tuple(part.strip() for part in re.split(r"[;|]", value) if part.strip())
        if isinstance(value, Sequence) and not isinstance(value, str):
            return tuple(item.strip() for item in value if isinstance(item, str) and item.strip())
    return ()


def _headline(text: str) -> str:
    """Return the start of a text as the title of a record that has none."""
    words = " ".join(text[:200].split())
    return words if len(words) < 100 else words[:100].rsplit(" ", 1)[0] + " ..."
