"""What became of each file of a folder: read, not readable and why, or not of a kind that is read."""

from collections import defaultdict
from pathlib import Path
from typing import Literal

from activities.contracts.evidence import Frozen
from activities.sources.library.files import list_folder, other_files
from activities.sources.library.index import LibraryIndex
from activities.sources.library.store import Store

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
    """Every visible file of a folder that was indexed, by name. Raises Refused, sqlite3.Error."""
    listing = list_folder(folder)
    searched, store = set(index.numbers), index.store
    works: defaultdict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for name, *work in store.rows(
        "SELECT f.name, d.number, d.evidence_id, d.language FROM files f JOIN documents d USING (path)"
        " ORDER BY d.number"
    ):
        works[name].append((work[0], work[1], work[2]))
    problems = _problems(store)
    characters = dict(
        store.rows("SELECT f.name, sum(d.letters) FROM files f JOIN documents d USING (path) GROUP BY f.name")
    )
    apart = {name: "; ".join(filter(None, notes)) for name, notes in _facts(store, "apart").items()}
    states = [
        _state(file.name, works[file.name], searched, problems[file.name]).model_copy(
            update={"characters": characters.get(file.name, 0), "apart": apart.get(file.name, "")}
        )
        for file in listing.files
    ]
    by_name = {state.name: state for state in states}
    states += [
        FileState(name=link, status="repeats", evidence_ids=by_name[name].evidence_ids)
        for link, name in listing.links
    ]
    states += [FileState(name=a.name, status="unreadable", problems=(a.reason,)) for a in listing.set_aside]
    named = {state.name for state in states}
    others = (name for name in other_files(folder) if name not in named)
    states += [FileState(name=name, status="not_a_document") for name in others]
    return tuple(sorted(states, key=lambda file: file.name))


def _problems(store: Store) -> "defaultdict[str, list[str]]":
    problems: defaultdict[str, list[str]] = defaultdict(list)
    for name, item, reason in store.rows(
        "SELECT f.name, s.name, s.reason FROM files f JOIN set_aside s USING (path)"
    ):
        problems[name].append(reason if item == name else f"{item.removeprefix(f'{name}, ')}: {reason}")
    for fact in ("cut", "encoding"):
        for name, notes in _facts(store, fact).items():
            problems[name] += notes
    return problems


def _facts(store: Store, fact: str) -> dict[str, list[str]]:
    """The different values of a fact of the works of each file."""
    values: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in store.rows(
        f"SELECT DISTINCT f.name, json_extract(d.body, '$.facts.{fact}')"  # noqa: S608 - our own names
        f" FROM files f JOIN documents d USING (path) WHERE instr(d.body, '\"{fact}\":') > 0"
    ):
        values[name] += [value] if value else []
    return values


def _state(
    name: str, works: list[tuple[int, str, str]], searched: set[int], problems: list[str]
) -> FileState:
    count = sum(number in searched for number, _, _ in works)
    status: FileStatus = "indexed" if count else "repeats" if works else "unreadable"
    return FileState(
        name=name,
        status=status,
        documents=count,
        languages=tuple(sorted({language for _, _, language in works if language})),
        evidence_ids=tuple(evidence_id for _, evidence_id, _ in works),
        problems=tuple(problems) or (("it holds no text",) if status == "unreadable" else ()),
    )
