"""The rows of an article's tables can be found and quoted alone."""

from pathlib import Path

import pytest
from lxml import etree

from activities.contracts.evidence import Evidence
from activities.sources.pmc import read_evidence
from activities.text.sentences import sentences
from tests.activities.extractive.abstracts import written

RECORDED = Path(__file__).parents[2] / "recorded" / "pmc" / "efetch_pmc_6329583.xml"
DOSES = """
<table-wrap><label>Table 2.</label><caption><p>Doses and what became of the men.</p></caption>
<table><thead>
<tr><th rowspan="2">Arm</th><th colspan="2">Dose of colchicine</th>
<th rowspan="2">Men who left<sup><xref ref-type="table-fn">a</xref></sup></th></tr>
<tr><th>morning</th><th>evening</th></tr></thead>
<tbody>
<tr><td colspan="4">First year</td></tr>
<tr><td rowspan="2">Low dose</td><td>0.5 mg</td><td>none</td><td>12 of 140</td></tr>
<tr><td>0.6 mg</td><td>none</td><td>9 of 138</td></tr>
<tr><td>High dose</td><td>1 mg</td><td>1 mg</td><td>31 of 141</td></tr>
</tbody></table></table-wrap>
"""


def article(table: str, body: str = "<p>We treated men with gout for two years.</p>") -> Evidence:
    source = f"""<article article-type="research-article"><front><article-meta>
    <article-id pub-id-type="pmc">PMC77</article-id><title-group>
    <article-title>Colchicine in men with gout</article-title></title-group></article-meta></front>
    <body><sec><title>Results</title>{body}{table}</sec>
    <sec><title>Conclusions</title><p>Low doses of colchicine were tolerated by most men.</p></sec>
    </body></article>"""
    return read_evidence(etree.fromstring(source))


def test_a_row_has_its_cells_behind_their_headings_and_names_its_table() -> None:
    dose = "Dose of colchicine"
    rows = (
        ("Low dose", "0.5 mg", "none", "12 of 140"),
        ("Low dose", "0.6 mg", "none", "9 of 138"),
        ("High dose", "1 mg", "1 mg", "31 of 141"),
    )
    assert article(DOSES).text.split("\n\n")[1:] == [
        "TABLES",
        "Table 2: Doses and what became of the men.",
        *(
            f"One row of Table 2, First year: Arm: {arm}; {dose} morning: {first}; {dose} evening: {second}; "
            f"Men who left: {left}"
            for arm, first, second, left in rows
        ),
    ]
    beyond = article(DOSES.replace("<td>31 of 141</td>", "<td>31 of 141</td><td>p = 0.04</td>")).text
    assert beyond.endswith("; Men who left: 31 of 141; p = 0.04"), "a cell without a heading is lost"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (("Name", "Petra", "Born", "1981", "Plan", "all"), ["Name: Petra", "Born: 1981", "Plan: all"]),
        (("T-1", "4.5", "T-2", "6.0"), ["T-1: 4.5", "T-2: 6.0"]),
        (("1", "2", "3", "4"), ["1 | 2", "3 | 4"]),
        (("Boat", "m", "Alma", "9", "Eva", "12"), ["Boat: Alma; m: 9", "Boat: Eva; m: 12"]),
    ],
)
def test_without_marked_headings_only_a_sure_row_is_taken_for_them(
    cells: tuple[str, ...], said: list[str]
) -> None:
    rows = "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in zip(cells[::2], cells[1::2], strict=True))
    text = article(f"<table-wrap><table>{rows}</table></table-wrap>").text
    assert text.split("\n\n")[2:] == [f"One row of the table: {line}" for line in said]


def test_a_row_is_quoted_where_it_answers_and_its_caption_is_not() -> None:
    records = article(DOSES)
    draft = written("How many men left the high dose arm of colchicine?", [records])
    quotes = [quote for passage in draft.passages for quote in passage.quotes]
    rows = [quote for quote in quotes if quote.startswith("One row")]
    assert rows
    assert not any(s.quote.startswith("Table 2") for s in sentences(records))


def test_an_article_without_tables_has_its_running_text_alone() -> None:
    assert "TABLES" not in article("").text
    assert "TABLES" not in article("<table-wrap><label>Table 1</label><graphic/></table-wrap>").text


@pytest.mark.parametrize("span", ["0", "-3", "x", "9999999", "\u0663"])
def test_a_span_that_makes_no_sense_ends_in_rows(span: str) -> None:
    wide = DOSES.replace("<td>0.5 mg", f'<td colspan="{span}">' + "dose " * 1_000)
    table = wide.replace('colspan="4"', f'colspan="{span}"').replace('rowspan="2"', f'rowspan="{span}"')
    assert len(article(table).text) < 20_000


def test_terms_stand_before_their_definitions_and_numbers_of_sections_are_left_out() -> None:
    records = article(
        "",
        "<p>We measured <list><list-item><label>1.</label><p>the urate of all men,</p></list-item></list>"
        "twice.</p><def-list><def-item><term>Flare</term><def><p>Pain that lasted for a day.</p></def>"
        "</def-item></def-list>",
    )
    lines = records.text.split("\n\n")[0].split("\n")
    assert lines[1:5] == [
        *("We measured", "the urate of all men,", "twice.", "Flare: Pain that lasted for a day.")
    ]
