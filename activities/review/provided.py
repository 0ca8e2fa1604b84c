"""Full texts that a person provides, as files of a folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from activities.contracts.evidence import FULL_TEXT_FROM, Evidence
from activities.sources.library.files import documents_of, list_folder
from activities.text.full_text import HEAD_CHARS, has_title

MAX_CHARS = 400_000
"""Characters of a full text that is stored."""


@dataclass(frozen=True, slots=True)
class Provided:
    """The full texts that a person's files have."""

    texts: dict[str, Evidence] = field(default_factory=dict)
    """Id of the work -> the work with its full text."""
    unmatched: tuple[str, ...] = ()
    """Files that are none of the works, or fit several of them."""
    unread: tuple[str, ...] = ()
    """Files that cannot be read, each with the reason."""


def provided_by(path: Path, works: Sequence[Evidence], *, sure: bool = False) -> Provided:
    """Read the full texts of works from a folder, or from one file of a folder. A file is that of a work by
    its name (`pmid_123.pdf`, or the DOI with `_` for `/`), by the identifiers in it, or by the title near its
    beginning; `sure`: a person says that the file is that of the one work. Raises
    Refused where the folder cannot be read."""
    listing = list_folder(path if path.is_dir() else path.parent)
    files = [one for one in listing.files if path.is_dir() or one.path == path.resolve()]
    texts: dict[str, Evidence] = {}
    unmatched: list[str] = []
    unread = [f"{one.name}: {one.reason}" for one in listing.set_aside if path.is_dir()]
    for file in files:
        parts: list[Evidence] = []
        for item in documents_of(file):
            if isinstance(item, Evidence):
                parts.append(item)
            else:
                unread.append(f"{item.name}: {item.reason}")
        if not parts:
            continue
        work = works[0] if sure and len(works) == 1 else work_of(file.name, parts[0], works)
        if work is None:
            unmatched.append(file.name)
        else:
            texts[work.evidence_id] = with_text(work, parts, file.name)
    return Provided(texts, tuple(unmatched), tuple(unread))


def work_of(name: str, document: Evidence, works: Sequence[Evidence]) -> Evidence | None:
    """The one work that a file is the text of; None where none or several fit."""
    stem, names = file_key(Path(name).stem), set(_names(document))
    head = f"{document.title}\n{document.text}"
    start = file_key(head[:HEAD_CHARS])
    tests: tuple[Callable[[Evidence], bool], ...] = (
        lambda work: stem in map(file_key, (work.evidence_id, *_names(work))),
        lambda work: bool(names.intersection(_names(work))),
        lambda work: file_key(work.title) in start,
        lambda work: has_title(head, work.title),
    )
    for test in tests:
        fitting = [work for work in works if test(work)]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def file_key(name: str) -> str:
    """Write an identifier as a file name may have it: `10.1/x.1` as `10-1-x-1`."""
    return "-".join("".join(c if c.isalnum() else " " for c in name.casefold()).split())


def _names(work: Evidence) -> tuple[str, ...]:
    return tuple(value for kind, value in work.identifiers.items_in_order() if kind != "url")


def with_text(work: Evidence, parts: Sequence[Evidence], where: str) -> Evidence:
    """A work with a full text behind its abstract, so that what was quoted before keeps standing."""
    text, pages = f"{work.text}\n\n", list[int]()
    for part in parts:
        pages += [len(text) + start for start in part.pages]
        text += f"{part.text}\n"
    text = text.rstrip("\n")[:MAX_CHARS]
    return work.replace(
        text=text,
        full_text=True,
        facts={**work.facts, FULL_TEXT_FROM: where},
        pages=tuple(start for start in pages if start < len(text)),
    )
