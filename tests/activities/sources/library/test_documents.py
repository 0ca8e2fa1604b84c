"""The user's files as evidence: what is read, what is set aside, what `documents` says of each."""

import gzip
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
import typst
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from activities.contracts.errors import Refused
from activities.contracts.evidence import Evidence
from activities.documents.text import Unreadable
from activities.sources.library import files, reading
from activities.sources.library.files import list_folder
from activities.sources.library.index import Libraries
from activities.sources.library.overview import FileState, files_of
from activities.sources.library.records import read_record, records_in
from tests.activities.documents.test_generated import generated
from tests.libraries import Collection, read_folder

PDF = Path(__file__).parent / "two_pages.pdf"


def read(folder: Path) -> Collection:
    return read_folder(folder)


def test_every_kind_of_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("A plain title\n\nThe body of the note.")
    (tmp_path / "line.txt").write_text("A note of one sentence, which is no title.")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "page.HTML").write_text(
        "<html><head><title>Page title</title></head><body><script>x()</script>"
        "<article><p>What the page says of aspirin and stroke in older adults.</p></article></body></html>"
    )
    (tmp_path / "text.md").write_text(
        "---\ntitle: Given title\nauthor: A. One, B. Two\nyear: 2019\ndoi: 10.1000/ABC\n---\n"
        "# Heading\n\nSome *marked* [text](https://x.example) and `code`.\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    (tmp_path / "paper.pdf").write_bytes(PDF.read_bytes())
    (tmp_path / "one.json").write_text(json.dumps({"title": "One record", "text": "Its text."}))
    (tmp_path / "many.jsonl").write_text(
        "\n".join(json.dumps({"title": f"T{n}", "abstract": f"Abstract {n}.", "pmid": n}) for n in (1, 2))
    )
    with gzip.open(tmp_path / "packed.jsonl.gz", "wt") as packed:
        packed.write(json.dumps({"title": "Packed", "abstract": "Packed text.", "pmid": "003"}) + "\n")
    (tmp_path / "program.exe").write_bytes(b"MZ")
    (tmp_path / ".hidden.txt").write_text("hidden")
    documents = read(tmp_path)
    assert documents.set_aside == ()
    assert len(documents.documents) == 9
    files = {d.facts["file"]: d for d in documents.documents}
    assert files["note.txt"].title == "A plain title"
    assert files["note.txt"].text == "A plain title\n\nThe body of the note."
    assert "title_from" not in files["note.txt"].facts
    assert files["line.txt"].facts["title_from"] == "file name"
    assert files["note.txt"].evidence_id.startswith("doc:")
    assert files["note.txt"].evidence_type == "document"
    assert files["deep/page.HTML"].title == "Page title"
    assert "x()" not in files["deep/page.HTML"].text
    markdown = files["text.md"]
    assert (markdown.title, markdown.year, markdown.authors) == ("Given title", 2019, ("A. One", "B. Two"))
    assert markdown.evidence_id == "doi:10.1000/abc"
    assert markdown.text == (
        "# Heading\n\nSome *marked* [text](https://x.example) and `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    ), "a quote of it is what the file says"
    pdf = files["paper.pdf"]
    assert pdf.title == "Colchicine after a first attack"
    assert pdf.authors == ("A. Writer", "B. Reader")
    assert pdf.identifiers.doi == "10.1000/example.1"
    assert "recurrence of pericarditis in a trial" in pdf.text.replace("\n", " ")
    assert "second page" in pdf.text
    for document in documents.documents:
        whole = document.facts["file"] not in ("many.jsonl", "packed.jsonl.gz")
        assert document.full_text is whole, document.facts["file"]
        assert document.standing == "unknown"
        assert document.source == "library"
    assert files["packed.jsonl.gz"].evidence_id == "pmid:3"


def test_what_cannot_be_read_is_set_aside_and_voids_nothing(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("Something to read.")
    (tmp_path / "binary.txt").write_bytes(b"\0\1\2")
    (tmp_path / "empty.txt").write_text(" \n")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nothing else")
    (tmp_path / "broken.json").write_text('{"title": ')
    (tmp_path / "broken.json.gz").write_bytes(b"not gzip")
    (tmp_path / "cut.jsonl.gz").write_bytes(
        gzip.compress(b'{"text": "' + os.urandom(400).hex().encode())[:80]
    )
    (tmp_path / "lines.jsonl").write_text(
        '{"text": "first"}\n{"text": \n[1]\n{"title": "no text"}\n{"text": "last"}'
    )
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "deep.jsonl").write_text("[" * 100_000 + '\n{"text": "below a deep line"}\n')
    (tmp_path / "lone.json").write_text('{"title": "\\ud800", "text": "A lone \\udc00 surrogate."}')
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("A file name that is not UTF-8.")
    for charset in ("undefined", "zlib", "utf-7"):
        page = f"<meta charset={charset}><html><body><p>{'Aspirin in a cohort. ' * 20}</p></body></html>"
        (tmp_path / f"{charset}.html").write_text(page)
    (tmp_path / "brackets.md").write_text("[" * 100_000 + "x" + "]" * 100_000)
    documents = read(tmp_path)
    texts = {d.text for d in documents.documents}
    assert {"Something to read.", "first", "last", "below a deep line"} <= texts
    assert {"A file name that is not UTF-8."} <= texts
    assert len([text for text in texts if "surrogate" in text]) == 1
    assert {a.name for a in documents.set_aside} - {
        "undefined.html",
        "zlib.html",
        "utf-7.html",
        "brackets.md",
    } == {
        *("binary.txt", "broken.json", "broken.json.gz", "broken.pdf", "cut.jsonl.gz", "deep.json"),
        *("deep.jsonl, line 1", "empty.txt", "lines.jsonl, line 2", "lines.jsonl, record 3"),
        "lines.jsonl, record 4",
    }
    assert all(a.reason for a in documents.set_aside)
    for text in (*(d.model_dump_json() for d in documents.documents), *(a.name for a in documents.set_aside)):
        assert text.encode()


def test_nothing_outside_the_folder_is_opened(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("the secret")
    library = tmp_path / "library"
    library.mkdir()
    (library / "own.txt").write_text("my own text")
    (library / "link.txt").symlink_to(outside / "secret.txt")
    (library / "climb.txt").symlink_to("../outside/secret.txt")
    (library / "folder").symlink_to(outside, target_is_directory=True)
    (library / "loop.txt").symlink_to("loop.txt")
    (library / "dangling.txt").symlink_to("nowhere.txt")
    (library / "inside.txt").symlink_to("own.txt")
    documents = read(library)
    assert [d.text for d in documents.documents] == ["my own text"]
    assert {a.name for a in documents.set_aside} == {
        *("link.txt", "climb.txt", "folder", "loop.txt", "dangling.txt"),
    }
    reasons = {a.name: a.reason for a in documents.set_aside}
    assert reasons["dangling.txt"] == "it is a link to a file that is not there"
    assert str(tmp_path) not in reasons["loop.txt"]


def test_a_link_that_is_swapped_after_the_look_is_not_followed(tmp_path: Path) -> None:
    """The file is opened without following links, so there is no moment between looking and opening."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    library = tmp_path / "library"
    library.mkdir()
    (library / "a.txt").write_text("my own")
    listing = list_folder(library)
    (library / "a.txt").unlink()
    (library / "a.txt").symlink_to(secret)
    collection = read_folder(listing)
    assert collection.documents == ()
    assert len(collection.set_aside) == 1


def test_a_pipe_or_a_large_file_does_not_hang_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    assert [a.name for a in read(tmp_path).set_aside] == ["pipe.txt"]
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 1000)
    monkeypatch.setattr(reading, "MAX_UNPACKED_BYTES", 1000)
    (tmp_path / "big.txt").write_text("x" * 1001)
    assert [a.name for a in read(tmp_path).set_aside] == ["big.txt", "pipe.txt"]
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b" " * 5000 + b'{"text": "x"}'))
    (found,) = reading.read_file(b"", str(bomb), bomb.name)
    assert isinstance(found, reading.SetAside)


@pytest.mark.parametrize("name", ["missing", "file.txt", "library/../missing"])
def test_a_folder_that_is_none_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "library").mkdir()
    with pytest.raises(Refused, match="folder") as raised:
        list_folder(tmp_path / name)
    assert "\n" not in str(raised.value)
    assert name in str(raised.value)


def test_a_windows_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("caf\u00e9 \u2013 r\u00e9sum\u00e9".encode("cp1252"))
    (tmp_path / "b.txt").write_bytes("na\u00efve text".encode("utf-16"))
    assert {d.text for d in read(tmp_path).documents} == {
        "caf\u00e9 \u2013 r\u00e9sum\u00e9",
        "na\u00efve text",
    }


def record(**fields: JsonValue) -> Evidence:
    return read_record(fields, "r.json")


def test_every_field_of_a_record_is_read() -> None:
    found = record(
        PMID="012",
        DOI="https://doi.org/10.1000/X",
        pmc="PMC77",
        title="  A   title ",
        Abstract={"METHODS": "We did.", "RESULTS": "It worked."},
        authors=[{"given": "Ada", "family": "Lovelace"}, "Grace Hopper", {"name": "A. Turing"}],
        publication_date="2014-05-01",
        journal=["The Journal"],
        mesh=["Humans", "Colchicine"],
        publication_types=["Journal Article", "Randomized Controlled Trial"],
        url="https://x.example/a",
        retracted=True,
    )
    assert found.evidence_id == "pmid:12"
    assert found.identifiers.doi == "10.1000/x"
    assert found.identifiers.pmcid == "PMC77"
    assert found.identifiers.url == "https://x.example/a"
    assert found.title == "A title"
    assert found.text == "METHODS: We did.\n\nRESULTS: It worked."
    assert found.authors == ("Ada Lovelace", "Grace Hopper", "A. Turing")
    assert found.year == 2014
    assert found.venue == "The Journal"
    assert found.evidence_type == "randomized_trial"
    assert found.standing == "retracted"
    assert found.full_text is False
    assert found.url == "https://x.example/a"
    assert found.facts["mesh"] == "Humans; Colchicine"


@pytest.mark.parametrize(
    ("abstract", "text"),
    [
        (
            "<jats:p>Levels &lt;5 in 10<sup>6</sup> cells of <i>E. coli</i>.</jats:p>",
            "Levels <5 in 10⁶ cells of E. coli.",
        ),
        ("TSH <LLN in 5 and >ULN in 7 of 30.", "TSH <LLN in 5 and >ULN in 7 of 30."),
        ("Two lines\nas they stand, a < b.", "Two lines\nas they stand, a < b."),
    ],
)
def test_the_tags_of_a_record_are_no_part_of_its_text(abstract: str, text: str) -> None:
    assert record(title="A <i>title</i> &amp; more", abstract=abstract).text == text
    assert record(title="A <i>title</i> &amp; more", abstract=abstract).title == "A title & more"


def test_an_exported_item_reads_back_as_itself() -> None:
    names: JsonValue = {"doi": "10.1000/a", "nct": "NCT01234567"}
    item = record(
        evidence_id="doi:10.1/a", source="pubmed", title="T", text="Body.", authors=["A B"], year=2001,
        identifiers=names, evidence_type="observational", standing="concern", full_text=True, queries=[],
    )  # fmt: skip
    assert (item.identifiers.doi, item.identifiers.nct) == ("10.1000/a", "NCT01234567")
    assert (item.evidence_type, item.standing, item.full_text) == ("observational", "concern", True)
    assert (item.text, item.year, item.authors) == ("Body.", 2001, ("A B",))


def test_a_short_text_with_a_pmid_is_an_abstract_and_one_without_is_whole() -> None:
    assert record(text="Short.", pmid=1).full_text is False
    assert record(text="Long. " * 2000, pmid=1).full_text is True
    assert record(text="Short.").full_text is True
    assert record(text="Short.", full_text=False).full_text is False


def test_records_are_found_in_every_usual_wrapping() -> None:
    one: JsonValue = {"text": "a"}
    wrappings: list[JsonValue] = [[one, one], {"documents": [one, one]}, {"1": one, "2": one}]
    for wrapped in wrappings:
        assert list(records_in(wrapped)) == [one, one]
    assert list(records_in(one)) == [one]


_short = st.text(max_size=12)
_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(1.5) | _short,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_short, inner, max_size=3),
    max_leaves=4,
)
_names = st.sampled_from(
    [
        *(
            *("title", "text", "abstract", "authors", "year", "pmid", "pmc", "doi", "arxiv", "nct"),
            *("url", "mesh"),
        ),
        *("identifiers", "standing", "evidence_type", "publication_types", "full_text", "journal"),
    ]
)


@generated
@given(st.dictionaries(_names, _json, max_size=8))
def test_no_record_breaks_the_reader(value: dict[str, Any]) -> None:
    try:
        found = read_record(value, "f")
    except Unreadable:
        return
    assert found.text.strip()
    assert Evidence.model_validate_json(found.model_dump_json()) == found


def states(folder: Path, home: Path) -> dict[str, FileState]:
    return {file.name: file for file in files_of(folder, Libraries(home).open(folder))}


def test_the_encoding_that_was_guessed_and_the_bad_bytes_are_listed(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "plain.txt").write_text("Das Ölbad verkürzte die Müdigkeit.", encoding="utf-8")
    (folder / "mac.txt").write_bytes("Das Ölbad verkürzte die Müdigkeit um drei Tage.".encode("mac-roman"))
    (folder / "broken.txt").write_bytes("Das Ölbad verkürzte ".encode() + b"\xff .")
    (folder / "noise.txt").write_bytes(random.Random(1).randbytes(600).replace(b"\0", b""))
    files = states(folder, tmp_path / "home")
    assert files["plain.txt"].problems == ()
    assert "mac-roman" in files["mac.txt"].problems[0]
    assert "1 place is not valid text" in files["broken.txt"].problems[0]
    assert files["noise.txt"].status == "unreadable"
    assert "save it as UTF-8" in files["noise.txt"].problems[0]


RECORD = (
    "TY  - JOUR\nAU  - Ott, Ann\nTI  - Samvoxil and noise in halls: a trial\nPY  - 2020\n"
    "DO  - 10.5555/SAM.1\nT2  - Journal of Noise\nAB  - Samvoxil cut noise in halls by 9 percent.\nER  - \n"
)
PAGE = (
    '<html><head><meta name="citation_doi" content="10.5555/sam.1"></head><body><p>Samvoxil cut noise in '
    "halls by 9 percent in twelve weeks of use, and it cost 5 euros in the year 2020.</p></body></html>"
)


@pytest.mark.parametrize(("record", "page"), [("a.ris", "b.html"), ("b.ris", "a.html")])
def test_the_fullest_text_of_a_work_is_searched_whatever_the_names(
    tmp_path: Path, record: str, page: str
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / record).write_text(RECORD)
    (folder / page).write_text(PAGE)
    index = Libraries(tmp_path / "home").open(folder)
    (work,) = index.documents
    assert "5 euros" in work.text
    assert (work.title, work.authors, work.year, work.venue) == (
        "Samvoxil and noise in halls: a trial",
        ("Ann Ott",),
        2020,
        "Journal of Noise",
    )
    files = {file.name: file for file in files_of(folder, index)}
    assert (files[page].status, files[record].status) == ("indexed", "repeats")


def test_the_characters_of_a_file_and_what_is_not_quoted_are_listed(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "note.txt").write_text("The harbour is open.")
    source = '#set par.line(numbering: "1")\n' + "The harbour has been open since spring. " * 20
    (folder / "paper.pdf").write_bytes(typst.compile(source.encode()))
    files = states(folder, tmp_path / "home")
    assert files["note.txt"].characters == len("The harbour is open.")
    assert files["note.txt"].apart == ""
    assert files["paper.pdf"].characters == len("The harbour has been open since spring. ") * 20 - 1
    assert files["paper.pdf"].apart.startswith("line numbers (")
