"""Exports of reference managers and tables: what goes in comes out, and nothing goes without a word."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from activities.documents.office import table_rows
from activities.sources.library.bibliography import bibtex_records, ris_records
from activities.sources.library.reading import read_file
from activities.sources.library.records import SetAside, read_record
from tests.activities.documents.test_generated import generated

WRITTEN = {
    "drug": "drug",
    "5": "5",
    "0.05": "0.05",
    "-3": "-3",
    "%": "%",
    "30%": "30%",
    "\\%": "%",
    "{\\textless}": "<",
    "{\\textgreater}": ">",
    "$<$": "<",
    "p<0.01": "p<0.01",
    "{\\textminus}3": "\u22123",
    "{\\textalpha}": "\u03b1",
    "{\\pounds}": "\u00a3",
    "$5": "$5",
    "{\\textbar}": "|",
    "{\\copyright}": "\u00a9",
    "10\\textsuperscript{3}": "10\u00b3",
    "10$^{-3}$": "10\u207b\u00b3",
    "$\\pm$": "\u00b1",
    "{\\'e}": "\u00e9",
    "Ca\\textsuperscript{2+}": "Ca\u00b2\u207a",
    "a_b": "a_b",
    "#4": "#4",
    "\\&": "&",
    "A & B": "A & B",
    "(~40)": "(~40)",
    "{WHO}": "WHO",
    "\\textit{in vivo}": "in vivo",
    "\\unknown{x}": "\\unknown x",
}
DOI_OF_ALL = "10.1183/13993003.congress-2021"
words = st.lists(st.sampled_from(sorted(WRITTEN)), min_size=1, max_size=20)


def bibtex(text: str) -> list[JsonValue | SetAside]:
    return list(bibtex_records(text, "a.bib"))


def fields(record: JsonValue | SetAside) -> dict[str, JsonValue]:
    assert isinstance(record, dict)
    return record


@generated
@given(words)
def test_a_text_in_latex_comes_out_as_it_is_printed(written: list[str]) -> None:
    (record,) = bibtex(f"@article{{a, title={{T}}, abstract={{{' '.join(written)}}}}}")
    assert fields(record)["abstract"] == " ".join(WRITTEN[word] for word in written)


def test_a_footnote_of_an_abstract_follows_it_and_that_of_a_title_is_not_of_the_title() -> None:
    entry = (
        "@article{a, title={Risk in adults\\footnote{Funded by X.}},"
        " abstract={Risk\\footnote{In adults, 10\\%.} fell {\\footnotesize again}\\footnotemark[1]."
        "\\footnotetext[1]{Twice.}}}"
    )
    record = fields(bibtex(entry)[0])
    assert record["title"] == "Risk in adults"
    assert record["abstract"] == "Risk fell again.\n\nIn adults, 10%.\n\nTwice."


def test_no_entry_of_bibtex_goes_without_a_word() -> None:
    records = bibtex(
        "@article{a, title={One}, abstract={First.}}\n"
        "@article{a, title={Two}, abstract={Second.}}\n"
        "@article{b, title={Three}, abstract={Third.}, abstract={And more.}}\n"
        "@article{c, title={Lost {x}, abstract={Gone.}\n"
        "@article{d, title={Four}, abstract={Fourth.}}\n"
    )
    assert [record["abstract"] for record in records if isinstance(record, dict)] == [
        "First.",
        "Second.",
        "Third.\n\nAnd more.",
        "Fourth.",
    ]
    (aside,) = (record for record in records if isinstance(record, SetAside))
    assert aside.name == "a.bib, entry at line 4"
    assert "balance" in aside.reason


@pytest.mark.parametrize(
    ("field", "authors"),
    [
        (
            "{Centers for Disease Control and Prevention} and Ott, Ann and others",
            ["Centers for Disease Control and Prevention", "Ann Ott"],
        ),
        ("King, Jr., Martin L.", ["Martin L. King Jr."]),
        ("A, B AND C, D", ["B A", "D C"]),
        ("van der Berg, Jo and Ludwig van Beethoven", ["Jo van der Berg", "Ludwig van Beethoven"]),
        ('{\\"O}zg{\\"u}r, Ali', ["Ali \u00d6zg\u00fcr"]),
        ("Abt, A.; Bom, B.", ["A. Abt", "B. Bom"]),
    ],
)
def test_persons_and_groups_of_bibtex_are_told_apart(field: str, authors: list[str]) -> None:
    (record,) = bibtex(f"@article{{a, title={{T}}, author={{{field}}}, abstract={{X.}}}}")
    assert fields(record)["authors"] == authors


def test_an_entry_of_a_preprint_server_is_a_preprint() -> None:
    records = bibtex(
        "@misc{a, title={T}, howpublished={bioRxiv}, abstract={X.}}\n"
        "@misc{b, title={U}, eprint={2001.00001}, archiveprefix={arXiv}, abstract={Y.}}\n"
        "@article{c, title={V}, journal={J Noise}, abstract={Z.}}\n"
    )
    works = [read_record(fields(record), "a.bib") for record in records]
    assert [work.evidence_type for work in works] == ["preprint", "preprint", "article"]
    assert works[1].identifiers.arxiv == "2001.00001"


plain_words = st.text(alphabet="abcXYZ 0123456789.,;:%<>+-()\u00fc\u00b1", min_size=1).map(
    lambda text: " ".join(f"w{text}".split())
)


@generated
@given(st.lists(st.tuples(plain_words, plain_words, st.booleans()), min_size=1, max_size=5))
def test_every_entry_of_a_ris_file_comes_out(entries: list[tuple[str, str, bool]]) -> None:
    """Whether or not it is ended, and whether its abstract is wrapped."""
    text = "".join(
        f"TY  - JOUR\nTI  - {title}\nAB  - {abstract}\n  {abstract}\n" + ("ER  - \n\n" if ended else "\n")
        for title, abstract, ended in entries
    )
    records = [fields(record) for record in ris_records(text, "a.ris")]
    assert [record["title"] for record in records] == [title for title, *_ in entries]
    assert [str(record["abstract"]).strip() for record in records] == [f"{a} {a}" for _, a, _ in entries]


def test_repeated_fields_of_ris_are_all_read() -> None:
    (record,) = ris_records(
        "TY  - JOUR\nAU  - Ott, Ann\nA1  - King, Martin L., Jr.\nAU  - WHO Collaborators,\nT1  - A &amp; b\n"
        "AB  - First part: 10<sup>3</sup>, TSH <LLN.\nAB  - Second part.\nDB  - PubMed\nAN  - 123\nER  - \n",
        "a.ris",
    )
    read = read_record(fields(record), "a.ris")
    assert read.authors == ("Ann Ott", "Martin L. King Jr.", "WHO Collaborators")
    assert read.title == "A & b"
    assert read.text == "First part: 10\u00b3, TSH <LLN.\n\nSecond part."
    assert read.identifiers.pmid == "123"


def test_a_line_outside_of_all_entries_of_ris_is_set_aside() -> None:
    records = list(ris_records("Exported on Monday\n\nTY  - JOUR\nTI  - T\nAB  - X.\nER  - \n", "a.ris"))
    assert [record.name for record in records if isinstance(record, SetAside)] == ["a.ris, line 1"]


cells = st.text(alphabet='ab 12.,;|"%-\n\t\u00fc', max_size=20)


@generated
@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=30), st.sampled_from(",;\t|"))
def test_every_cell_of_a_table_comes_out(rows: list[tuple[str, ...]], separator: str) -> None:
    file = io.StringIO(newline="")
    head = ("first column", "second column", "third column")
    csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL).writerows((head, *rows))
    assert list(table_rows(file.getvalue())) == [list(head), *map(list, rows)]


def test_a_quotation_mark_that_comes_late_is_one(tmp_path: Path) -> None:
    rows = [["Title", "Year", "Abstract"]]
    rows += [[f"Filler study {n}", "2001", "A sentence that says nothing, again. " * 5] for n in range(150)]
    rows.append(
        ['The "quoted" test', "2022", 'The so-called "effect", seen in 77 cooks, and "pain", rose by 40%.']
    )
    with (tmp_path / "export.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    *_, last = read_file(b"", str(tmp_path / "export.csv"), "export.csv")
    assert not isinstance(last, SetAside)
    assert (last.title, last.year, last.text) == (rows[-1][0], 2022, rows[-1][2])


def test_a_row_with_more_cells_than_headings_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Title,Abstract\nOne,First.\nTwo,Second, and lost.\n")
    first, second = read_file(b"", str(tmp_path / "a.csv"), "a.csv")
    assert not isinstance(first, SetAside)
    assert isinstance(second, SetAside)
    assert "quotation marks" in second.reason


@pytest.mark.parametrize(
    "nothing",
    [
        *("[No abstract available]", "nan", "NaN", "None", "N/A", "No abstract available."),
        "Abstract not available",
    ],
)
def test_what_says_that_there_is_no_text_is_none(tmp_path: Path, nothing: str) -> None:
    (tmp_path / "a.csv").write_text(
        f"title,abstract,authors,pmid\nT one,{nothing},nan,1.0\nT two,Text.,nan,2.0\n"
    )
    first, second = read_file(b"", str(tmp_path / "a.csv"), "a.csv")
    assert isinstance(first, SetAside)
    assert not isinstance(second, SetAside)
    assert (second.authors, second.identifiers.pmid) == ((), "2")


def test_abstracts_of_one_supplement_are_works_of_their_own(tmp_path: Path) -> None:
    """A supplement of a journal may have one DOI for all abstracts of a conference."""
    rows = (
        ("Pirfenidone in pulmonary fibrosis of farmers", "Ito, K.", "Decline slowed by 12 percent."),
        ("Nintedanib in pulmonary fibrosis of miners", "Lund, A.", "Decline slowed by 9 percent."),
        ("Pirfenidone in pulmonary fibrosis of the farmers", "Ito, Kenji", "Decline slowed by 12 percent."),
    )
    (tmp_path / "a.ris").write_text(
        "".join(
            f"TY  - JOUR\nTI  - {title}\nAU  - {author}\nPY  - 2021\nDO  - {DOI_OF_ALL}\n"
            f"AB  - {text}\nER  -\n"
            for title, author, text in rows
        )
    )
    read = [
        record
        for record in read_file(b"", str(tmp_path / "a.ris"), "a.ris")
        if not isinstance(record, SetAside)
    ]
    assert [record.identifiers.doi for record in read] == [DOI_OF_ALL, None, DOI_OF_ALL], (
        "the third is the first again"
    )
    assert len({one.evidence_id for one in read}) == 2
    assert [record.text for record in read][1] == "Decline slowed by 9 percent."
