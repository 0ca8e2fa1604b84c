"""The library as a source: offline, cached, safe to search at once."""

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from activities.contracts.errors import Refused, Unavailable
from activities.contracts.evidence import Evidence, Filters, Query
from activities.documents.readers import Stop, Stopped
from activities.settings import Settings
from activities.sources.base import Exchange, reporting
from activities.sources.library import encoding, index, store
from activities.sources.library.files import FileStamp, Listing, documents_of, list_folder
from activities.sources.library.index import KEPT_DAYS, Libraries, LibraryIndex
from activities.sources.library.overview import files_of
from activities.sources.library.reading import SetAside
from activities.sources.library.source import SAMPLE, WHOLE, LibrarySource
from activities.sources.library.store import FolderChanged
from activities.text.embeddings import Vectors, embedder
from tests.libraries import read_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    library = tmp_path / "library"
    library.mkdir()
    (library / "heart.txt").write_text(
        "Colchicine after a heart attack\n\nColchicine lowers recurrent events."
    )
    (library / "bone.txt").write_text("Vitamin D and falls\n\nVitamin D did not lower the rate of falls.")
    (library / "old.jsonl").write_text(
        '{"title": "Colchicine in gout", "abstract": "Colchicine for gout.", "year": 1990, "pmid": 5,'
        ' "publication_types": ["Review"]}'
    )
    return library


def source(tmp_path: Path, folder: Path | None) -> LibrarySource:
    return LibrarySource(Settings(home=tmp_path / "home", library=folder))


@pytest.fixture
def library(tmp_path: Path, folder: Path) -> LibrarySource:
    return source(tmp_path, folder)


async def ask(library: LibrarySource, text: str, limit: int = 10, **filters: Any) -> Exchange:
    return await anext(library.exchanges(Query(text=text, limit=limit, filters=Filters(**filters))))


def files(found: Exchange) -> list[str]:
    return [record.facts["file"] for record in found.records]


def test_the_sample_holds_papers_and_no_answers_of_annotators() -> None:
    documents = read_folder(SAMPLE).documents
    assert len(documents) == 600
    assert len({d.identifiers.pmid for d in documents}) == 600
    assert all(len(d.text) > 200 and d.title for d in documents)
    assert not any("final_decision" in d.model_dump_json() for d in documents)


async def test_the_best_match_comes_first_and_the_querys_folder_goes_before_the_settings(
    library: LibrarySource, tmp_path: Path, folder: Path
) -> None:
    result = await ask(library, "colchicine heart attack")
    assert files(result) == ["heart.txt", "old.jsonl"]
    assert result.hits == 2
    assert result.records[0].provenance[0].query == "colchicine heart attack"
    result = await ask(source(tmp_path, None), "colchicine", options={"library": str(folder)})
    assert set(files(result)) == {"heart.txt", "old.jsonl"}
    with pytest.raises(Refused, match="nowhere does not exist"):
        await ask(library, "x", options={"library": str(tmp_path / "nowhere")})


async def test_filters_narrow_by_year_and_kind(library: LibrarySource) -> None:
    assert files(await ask(library, "colchicine", year_from=2000)) == ["heart.txt"]
    assert files(await ask(library, "colchicine", publication_types=("Review",))) == ["old.jsonl"]
    old = await ask(library, "colchicine", year_to=1995)
    assert len(old.records) == 2, "a document without a year passes"
    both = await ask(library, "colchicine", limit=1, year_to=1980)
    assert files(both) == ["heart.txt"], "narrowed before it is cut to the limit"


async def test_files_that_cannot_be_read_are_named_and_an_empty_folder_says_so(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    result = await ask(source(tmp_path, tmp_path / "none"), "x")
    assert result.records == ()
    assert "no documents" in result.detail
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "note.txt").write_text("Compound 17 was safe in 18 volunteers.")
    for name in ("a.pdf", "b.pdf", "c.pdf", "d.pdf"):
        (folder / name).write_bytes(b"no PDF at all")
    answer = await ask(source(tmp_path, folder), "compound 17")
    assert answer.detail.startswith("4 files or records of the library could not be read, or only in part: ")
    assert answer.detail.endswith(": a.pdf, b.pdf, c.pdf and 1 more")
    assert answer.records[0].venue == "note.txt"


async def test_a_file_that_is_read_in_part_is_counted_where_a_word_may_stand_in_the_rest(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a report says that the word occurs in no document."""
    monkeypatch.setattr("activities.documents.text.MAX_CHARS", 200)
    (folder / "log.txt").write_text("The pump was checked and ran well. " * 9 + "The Zeppelin was sold.")
    library = source(tmp_path, folder)
    answer = await ask(library, "Who bought the Zeppelin?")
    assert [word.word for word in answer.absent] == ["Zeppelin"]
    assert (answer.set_aside, "only in part: log.txt" in answer.detail) == (1, True)
    (state,) = (file for file in files_of(folder, library._libraries.open(folder)) if file.name == "log.txt")
    assert (state.status, len(state.problems)) == ("indexed", 1)


class Counting:
    """Counts the files that are really read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files: list[str] = []
        self._lock = threading.Lock()
        monkeypatch.setattr(store, "documents_of", self)

    def __call__(
        self, file: FileStamp, stop: Stop | None = None, speech_model: str = ""
    ) -> Iterator[Evidence | SetAside]:
        with self._lock:
            self.files.append(file.name)
        return documents_of(file, stop, speech_model)


async def test_a_file_is_read_once_by_all_searches_and_processes(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = Counting(monkeypatch)
    library = source(tmp_path, folder)
    found = await asyncio.gather(*(ask(library, "colchicine") for _ in range(12)))
    assert len({tuple(r.evidence_id for r in f.records) for f in found}) == 1
    assert sorted(counting.files) == ["bone.txt", "heart.txt", "old.jsonl"]
    other = source(tmp_path, folder)  # as another process would
    assert (await ask(other, "colchicine")).records == found[0].records
    assert len(counting.files) == 3
    (folder / "heart.txt").write_text("Rewritten: colchicine again.")
    await ask(other, "colchicine")
    assert counting.files[3:] == ["heart.txt"]


async def test_an_open_index_that_was_damaged_is_opened_again(library: LibrarySource, tmp_path: Path) -> None:
    first = await ask(library, "colchicine")
    for place in (tmp_path / "home" / "cache" / "library").rglob("*.sqlite"):
        place.write_bytes(b"another process writes here" * 4_000)
    again = await ask(library, "colchicine")
    assert again.records == first.records


async def test_a_cache_that_cannot_be_written_fails_no_search(library: LibrarySource, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where a folder should be")
    assert len((await ask(library, "colchicine")).records) == 2


async def test_with_a_model_meaning_finds_what_words_do_not(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setattr(index, "embedder", lambda _: None)
        assert (await ask(source(tmp_path, folder), "cardiac", limit=1)).records == ()
    library = source(tmp_path, folder)
    result = await ask(library, "cardiac", limit=1)
    assert files(result) == ["heart.txt"]
    assert result.detail == "", "a folder of a few pages is encoded before its first answer"
    nothing = await ask(library, "heart", year_to=1980)
    assert nothing.hits == 1, "what neither shares a word nor resembles is not a hit"


async def test_a_large_library_is_encoded_in_the_background_while_nobody_asks(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MAX_LETTERS_BEFORE", "MAX_TITLES"):
        monkeypatch.setattr(encoding, name, 0)
    quiet = threading.Event()
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: quiet.wait())
    monkeypatch.setattr(encoding, "time", clock)
    monkeypatch.setattr(encoding, "QUIET_SECONDS", 600.0)
    library = source(tmp_path, folder)
    early = await ask(library, "colchicine gout", limit=1)
    assert files(early) == ["old.jsonl"]
    assert "3 of 3 documents are not encoded yet" in early.detail
    assert (await ask(library, "cardiac", limit=1)).records == (), "words choose what is read meanwhile"
    assert "3 of 3" in (await ask(library, "cardiac", limit=1)).detail, "it waits while somebody asks"
    monkeypatch.setattr(encoding, "QUIET_SECONDS", 0.0)
    quiet.set()
    opened = library._libraries.open(folder).encoding_of("cardiac")
    assert opened is not None
    assert await asyncio.to_thread(opened.wait, 60)
    result = await ask(library, "cardiac", limit=1)
    assert (files(result), result.detail) == (["heart.txt"], "")
    again = await ask(source(tmp_path, folder), "cardiac", limit=1)
    assert (again.records, again.detail) == (result.records, ""), "a new process reads the same vectors"


async def test_what_a_search_had_encoded_is_read_by_other_processes(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "MAX_LETTERS_BEFORE", 0)
    monkeypatch.setattr(encoding, "QUIET_SECONDS", 60.0)
    model = embedder(("en",))
    assert model is not None
    computed: list[str] = []
    compute = model._compute

    def counted(texts: list[str]) -> Vectors:
        computed.extend(texts)
        return compute(texts)

    monkeypatch.setattr(model, "_compute", counted)

    async def search(library: LibrarySource) -> Exchange:
        model._cache.clear()  # as in a new process
        computed.clear()
        return await ask(library, "colchicine gout")

    first = await search(source(tmp_path, folder))
    assert "Colchicine lowers recurrent events." in computed
    library = source(tmp_path, folder)
    again = await search(library)
    assert computed == ["colchicine gout"], "a question is not kept"
    assert again.records == first.records
    (file,) = (tmp_path / "home" / "cache" / "library").glob("*.sqlite")
    with closing(sqlite3.connect(file)) as other:
        other.execute("DELETE FROM passages")
        other.commit()
        other.execute("BEGIN IMMEDIATE")
        assert (await search(library)).records == first.records, "while another process writes none are kept"
        other.rollback()
        assert other.execute("SELECT count(*) FROM passages").fetchone() == (0,)
        monkeypatch.setattr(encoding, "MAX_PASSAGES", 1)
        await search(library)
        assert other.execute("SELECT count(*) FROM passages").fetchone() == (1,)


def test_what_a_library_cannot_hold_is_said(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_DOCUMENTS", 2)
    index = Libraries(tmp_path / "cache").open(folder)
    assert len(index.numbers) == 2
    (left_out,) = index.set_aside
    assert "a library holds at most 2" in left_out.reason


async def test_a_question_in_another_language_waits_for_its_own_encoder_alone(
    library: LibrarySource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "MAX_LETTERS_BEFORE", 0)
    monkeypatch.setattr(encoding, "QUIET_SECONDS", 60.0)  # a loaded machine may take long to ask
    assert "not encoded yet" in (await ask(library, "How is gout treated in old people?")).detail
    result = await ask(library, "Wie behandelt man Gicht bei alten Menschen mit Colchicin?", limit=1)
    assert (files(result), result.detail) == (["old.jsonl"], ""), "encoded before the first answer"


async def test_a_language_that_no_encoder_knows_is_named(tmp_path: Path) -> None:
    text = "मकान छोड़ने से तीन महीने पहले सूचना देनी होगी और किराया तीसरे दिन तक देना होता है।"
    own = tmp_path / "hindi"
    own.mkdir()
    (own / "rent.txt").write_text(text, "utf-8")
    assert (await ask(source(tmp_path, own), "When is the rent due?")).detail == (
        "no encoder knows the language hi: words alone chose documents"
    )


async def test_the_languages_of_a_new_folder_are_told_before_it_is_searched(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "heart.txt").write_text(
        "Colchicin senkte die Zahl der Herzinfarkte in f\u00fcnf Jahren nicht. " * 5
    )
    counting = Counting(monkeypatch)
    library = source(tmp_path, folder)
    monkeypatch.setattr(index, "MAX_PROBES", 1)
    assert library.languages(folder) == ("de",)
    assert counting.files == ["heart.txt"]
    assert (await ask(library, "Colchicin Herzinfarkt")).records
    assert counting.files == ["heart.txt", "bone.txt", "old.jsonl"], "what was read is not read again"
    assert library.languages(tmp_path / "missing") == ()


async def test_reading_a_folder_reports_how_far_it_is(library: LibrarySource, folder: Path) -> None:
    reports: list[tuple[int, int]] = []
    with reporting(lambda done, total: reports.append((done, total))):
        await ask(library, "colchicine")
        assert reports == [(0, 3), (1, 3), (2, 3)]
        (folder / "new.txt").write_text("A new one about colchicine.")
        await ask(library, "colchicine")
        assert reports[3:] == [(3, 4)]
        await ask(library, "colchicine")
    assert len(reports) == 4


async def test_what_was_read_before_a_search_was_stopped_is_kept(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = Counting(monkeypatch)
    stop = Stop()
    with pytest.raises(Stopped):
        Libraries(tmp_path / "cache").open(folder, stop, lambda done, _: stop.ask() if done == 1 else None)
    assert counting.files == ["bone.txt", "heart.txt"]
    assert Libraries(tmp_path / "cache").open(folder).count == 3
    assert counting.files == ["bone.txt", "heart.txt", "old.jsonl"]


async def test_a_file_changed_by_another_process_meanwhile_is_found(tmp_path: Path, folder: Path) -> None:
    mine, other = Libraries(tmp_path / "cache"), Libraries(tmp_path / "cache")
    before = mine.open(folder)
    (folder / "heart.txt").write_text("Rewritten: colchicine again.")
    other.open(folder)
    with pytest.raises(FolderChanged):
        before.search("colchicine", 5)
    assert [found.document.text for found in mine.open(folder).search("rewritten", 5)[0]] == [
        "Rewritten: colchicine again."
    ]


def reads_while(work: Callable[[], object], name: str) -> Callable[..., Iterator[Evidence | SetAside]]:
    """Return a reader in place of `documents_of` during which other work is done once, in one file."""
    waiting = [work]

    def read(
        file: FileStamp, stop: Stop | None = None, speech_model: str = ""
    ) -> Iterator[Evidence | SetAside]:
        documents = list(documents_of(file, stop, speech_model))
        if file.name == name and waiting:
            waiting.pop()()
        yield from documents

    return read


async def test_processes_that_index_a_folder_at_once_both_search_it(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    slower, faster = Libraries(cache), Libraries(cache)
    monkeypatch.setattr(store, "documents_of", reads_while(lambda: faster.open(folder), "old.jsonl"))
    late = slower.open(folder)
    early = faster.open(folder)
    assert early.numbers == late.numbers, "what the faster one has read stays"
    assert early.search("colchicine", 5) == late.search("colchicine", 5)


async def test_telling_the_languages_of_a_folder_keeps_what_another_process_has_read(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "bone.txt").write_text("Vitamin D did not lower the rate of falls in five years. " * 4)
    faster = Libraries(tmp_path / "cache")
    opened: list[LibraryIndex] = []

    def listed(root: Path) -> Listing:
        if not opened:  # the other process indexes all, which nobody had done a moment before
            monkeypatch.setattr(index, "list_folder", list_folder)
            opened.append(faster.open(folder))
        return list_folder(root)

    monkeypatch.setattr(index, "list_folder", listed)
    assert Libraries(tmp_path / "cache").languages(folder) == ("en",)
    assert len(opened[0].documents) == 3


async def test_a_search_opens_an_index_again_that_another_process_has_changed(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = source(tmp_path, folder)
    before = await ask(library, "colchicine")
    (place,) = (tmp_path / "home" / "cache" / "library").glob("*.sqlite")
    with sqlite3.connect(place) as database:  # a file of which the other process knows another state
        database.execute("UPDATE files SET mtime = 0")
    assert (await ask(source(tmp_path, folder), "colchicine")).records == before.records
    opened: list[Path] = []
    open_index = Libraries.open

    def counted(libraries: Libraries, folder: Path, *how: Any) -> LibraryIndex:
        assert len(opened) < 20, "it goes on for ever"
        opened.append(folder)
        return open_index(libraries, folder, *how)

    monkeypatch.setattr(Libraries, "open", counted)
    assert (await ask(library, "colchicine")).records == before.records
    assert len(opened) == 2


async def test_a_search_of_an_index_that_always_changes_ends(
    library: LibrarySource, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches: list[str] = []

    def search(_: LibraryIndex, query: str, *__: object, **___: object) -> None:
        searches.append(query)
        raise FolderChanged if len(searches) < 50 else RuntimeError("it goes on for ever")

    monkeypatch.setattr(LibraryIndex, "search", search)
    with pytest.raises(Unavailable, match="changes while it is searched"):
        await ask(library, "colchicine")


def test_an_index_of_a_changed_folder_finds_what_a_new_one_finds(tmp_path: Path) -> None:
    folder, cache = tmp_path / "papers", tmp_path / "cache"
    folder.mkdir()
    for n in range(40):
        (folder / f"note-{n:02}.txt").write_text(
            f"Note {n}\n\nColchicine for gout, cohort {n % 7} of adults."
        )

    def found(indexes: Path) -> list[tuple[str, float]]:
        ranked, _ = Libraries(indexes).open(folder).search("gout of adults in cohort 3", 50)
        return [(match.document.facts["file"], round(match.score, 9)) for match in ranked]

    first = found(cache)
    (folder / "note-03.txt").write_text("Note 3\n\nGout of adults: cohort 3 again, changed.")
    (folder / "note-20.txt").unlink()
    (folder / "note-41.txt").write_text("Note 41\n\nGout of adults in cohort 3.")
    changed = found(cache)
    assert changed != first
    assert dict(changed) == dict(found(tmp_path / "new"))


def test_an_index_that_nobody_uses_is_removed_and_one_in_use_is_not(tmp_path: Path, folder: Path) -> None:
    cache, old = tmp_path / "cache", time.time() - (KEPT_DAYS + 1) * 86_400
    Libraries(cache).open(folder)
    file = set(cache.iterdir())
    (cache / "other.sqlite").touch()
    for place in cache.iterdir():
        os.utime(place, (old, old))
    Libraries(cache).open(folder)  # marks it as used
    assert set(cache.iterdir()) == file


async def test_of_a_small_folder_a_run_is_given_all_where_one_matches(library: LibrarySource) -> None:
    """The letter that decides may have no word of the question."""
    every = await ask(library, "colchicine", options={WHOLE: "50"})
    some = await ask(library, "colchicine")
    assert {r.evidence_id for r in some.records} < {r.evidence_id for r in every.records}
    assert (await ask(library, "colchicine", limit=2, options={WHOLE: "2"})).records == some.records
