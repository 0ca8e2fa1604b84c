"""What became of each file of a folder: read, not readable and why, or not of a kind that is read."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Literal

from activities.contracts.evidence import Frozen
from activities.sources.library.files import list_folder
from activities.sources.library.index import LibraryIndex

FileStatus = Literal["indexed", "repeats", "unreadable", "not_a_document"]


class FileState(Frozen):
    name: str
    """Relative to the folder."""
    status: FileStatus
    """`repeats`: its text is that of another file, or its works are those of an earlier one."""
    documents: int = 0
    """How many works of it are searched: one, or one a record."""
    languages: tuple[str, ...] = ()
    """ISO 639-1 codes of the languages of its works, as far as they could be told."""
    evidence_ids: tuple[str, ...] = ()
    """The ids of all its works, those that repeat others included."""
    characters: int = 0
    """How many characters of it became text that may be quoted."""
    apart: str = ""
    """What of it is no running text, by its kind with the number of characters."""
    problems: tuple[str, ...] = ()
    """Why it could not be read, which of its records could not, or what of it was left out."""


def files_of(folder: Path, index: LibraryIndex) -> tuple[FileState, ...]:
    """List every visible file of a folder that was indexed, by name. Raises Refused, sqlite3.Error."""
    listing = list_folder(folder)
    works: defaultdict[str, list[tuple[int, str, str, int, str]]] = defaultdict(list)
    for name, *work in index.store.rows(
        "SELECT f.name, d.number, d.evidence_id, d.language, d.letters, json_extract(d.body, '$.facts')"
        " FROM files f JOIN documents d USING (path) ORDER BY d.number"
    ):
        works[name].append((work[0], work[1], work[2], work[3], work[4]))
    problems: defaultdict[str, list[str]] = defaultdict(list)
    for name, item, reason in index.store.rows(
        "SELECT f.name, s.name, s.reason FROM files f JOIN set_aside s USING (path)"
    ):
        problems[name].append(reason if item == name else f"{item.removeprefix(f'{name}, ')}: {reason}")
    numbers = set(index.numbers)
    states = {
        file.name: _state(file.name, works[file.name], numbers, problems[file.name]) for file in listing.files
    }
    for item in listing.set_aside:
        states[item.name] = FileState(name=item.name, status="unreadable", problems=(item.reason,))
    for name in listing.other_files:
        states.setdefault(name, FileState(name=name, status="not_a_document"))
    return tuple(sorted(states.values(), key=lambda file: file.name))


def _state(
    name: str, works: list[tuple[int, str, str, int, str]], numbers: set[int], problems: list[str]
) -> FileState:
    count = sum(number in numbers for number, *_ in works)
    status: FileStatus = "indexed" if count else "repeats" if works else "unreadable"
    facts = [json.loads(facts) for *_, facts in works]
    apart, cut, encoding = (
        list(dict.fromkeys(fact[kind] for fact in facts if fact.get(kind)))
        for kind in ("apart", "cut", "encoding")
    )
    return FileState(
        name=name,
        status=status,
        documents=count,
        languages=tuple(sorted({language for _, _, language, *_ in works if language})),
        evidence_ids=tuple(evidence_id for _, evidence_id, *_ in works),
        characters=sum(letters for *_, letters, _ in works),
        apart="; ".join(apart),
        problems=tuple(dict.fromkeys((*problems, *cut, *encoding)))
        or (("it holds no text",) if status == "unreadable" else ()),
    )
