"""Names of people as databases write them, in the order of their script."""

from pathlib import Path

import pytest

from activities.contracts.evidence import Evidence
from activities.report.formats.references import family_first
from activities.review.files import read_records_file
from activities.text.person_names import read_names

WANG, LI = "\u738b\u5c0f\u660e", "\u674e\u5a1c"
"""Wang Xiaoming and Li Na."""
PEOPLE = (("Wang", "Xiaoming"), (WANG[0], WANG[1:]), ("Nagy", "J\u00e1nos"))
COMMAS = [f"{family}, {given}" for family, given in PEOPLE]
XML = "".join(
    f"<Author><LastName>{family}</LastName><ForeName>{given}</ForeName></Author>" for family, given in PEOPLE
)
FILES = {
    "a.ris": "\n".join(
        ("TY  - JOUR", "TI  - A", "AB  - B.", *(f"AU  - {name}" for name in COMMAS), "ER  - ")
    ),
    "a.bib": f"@article{{a, title={{A}}, abstract={{B.}}, author={{{' and '.join(COMMAS)}}}}}",
    "a.csv": f'title,abstract,authors\nA,B.,"{"; ".join(COMMAS)}"',
    "a.nbib": "\n".join(("PMID- 1", "TI  - A", "AB  - B.", *(f"FAU - {name}" for name in COMMAS))),
    "a.xml": "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>A"
    f"</ArticleTitle><Abstract><AbstractText>B.</AbstractText></Abstract><AuthorList>{XML}</AuthorList>"
    "</Article></MedlineCitation></PubmedArticle></PubmedArticleSet>",
}


@pytest.mark.parametrize("name", FILES)
def test_each_format_has_the_same_names(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    (record,) = read_records_file(tmp_path / name)
    assert isinstance(record, Evidence)
    assert record.authors == ("Xiaoming Wang", WANG, "J\u00e1nos Nagy")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Wang X, Doe JA, Li N.", ["Wang X", "Doe JA", "Li N"]),
        ("Doe J., Roe R.-P.", ["Doe J.", "Roe R.-P."]),
        ("Doe, J.A., Roe, R.", ["J.A. Doe", "R. Roe"]),
        ("Jane Doe, Richard Roe", ["Jane Doe", "Richard Roe"]),
        ("Wang, Xiaoming", ["Xiaoming Wang"]),
        ("Smith J, Roe R, et al.", ["Smith J", "Roe R"]),
        ("Institute of Health, London", ["Institute of Health, London"]),
        (f"{WANG}\uff1b{LI}", [WANG, LI]),
        (f"{WANG}, {LI}", [WANG, LI]),
        ("Doe, Jane and Roe, Richard", ["Jane Doe", "Richard Roe"]),
    ],
)
def test_a_field_of_authors_is_taken_apart(text: str, names: list[str]) -> None:
    assert read_names(text) == names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (WANG, WANG),
        ("\u5c71\u7530 \u592a\u90ce", "\u5c71\u7530 \u592a\u90ce"),
        ("Wang X.M.", "Wang, X.M."),
        ("Doe J A", "Doe, J. A."),
        ("Doe JA", "Doe, J. A."),
        ("NAGY J\u00e1nos", "NAGY, J\u00e1nos"),
        ("JA Doe", "Doe, JA"),
        ("Institute of Health", "Institute of Health"),
    ],
)
def test_the_family_is_found_whatever_stands_first(name: str, expected: str) -> None:
    assert family_first(name) == expected
