"""What code decides of words of a model, in any language: quotes, numbers, codes and spans."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from activities.contracts.evidence import Evidence, Support
from activities.contracts.write import DraftClaim
from activities.verification import fields, gate
from activities.verification.computed import Computations
from activities.verification.quotes import MAX_QUOTES, carrying_quotes

SURGERY = Evidence(
    evidence_id="pmid:1",
    source="library",
    title="Laparoscopic against open radical prostatectomy in men aged 70 or older",
    text="RESULTS: Morbidity was highest in group IV. However, aspirin was stopped before surgery in 12 "
    "patients with prostatic carcinoma. IL-6 rose by 20% in forty-six patients.",
    year=2015,
)
GERMAN = Evidence(
    evidence_id="pmid:2",
    source="library",
    title="Metformin bei Diabetes",
    text="Metformin senkte die Sterblichkeit bei Patienten mit Diabetes nicht. Die Studie dauerte 12 Wochen.",
)
DOCUMENTS = {document.evidence_id: document for document in (SURGERY, GERMAN)}
MORBIDITY = Support(evidence_id="pmid:1", quote="Morbidity was highest in group IV.")
STOPPED = Support(
    evidence_id="pmid:1",
    quote="However, aspirin was stopped before surgery in 12 patients with prostatic carcinoma.",
)
SENKTE = Support(
    evidence_id="pmid:2", quote="Metformin senkte die Sterblichkeit bei Patienten mit Diabetes nicht."
)


def sentence(
    text: str,
    *quotes: Support,
    context: str = "",
    documents: Mapping[str, Evidence] = DOCUMENTS,
    computed: Sequence[str] = (),
) -> gate.Decision:
    """What the gate decides of a sentence that rests on these quotes."""
    works = [*map(gate.text_of, documents.values())]
    return gate.sentence(
        text,
        [quote.evidence_id for quote in quotes],
        documents,
        context,
        quotes=[quote.quote for quote in quotes],
        computations=Computations(computed, works, works),
    )


@pytest.mark.parametrize(
    ("text", "support", "state"),
    [
        (MORBIDITY.quote, MORBIDITY, "stands"),
        ("RESULTS: Morbidity  was highest in group IV.", MORBIDITY, "stands"),
        (SENKTE.quote, SENKTE, "stands"),
        # in nearly the words of its quote: read
        ("Aspirin was stopped before surgery in 12 patients with prostatic carcinoma.", STOPPED, "ask"),
        ("Metformin senkte die Sterblichkeit bei Patienten mit Diabetes.", SENKTE, "ask"),
        ("The morbidity was highest in group IV.", MORBIDITY, "ask"),
        ("Morbidity was lowest in group IV.", MORBIDITY, "ask"),
        # names without digits, directions, groups: read
        ("Morbidity was highest with Wonderpill.", MORBIDITY, "ask"),
        ("In the work 46 patients had 20% more IL-6.", MORBIDITY, "ask"),
        ("Im Jahr 2015 war die Morbidit\u00e4t am h\u00f6chsten.", MORBIDITY, "ask"),
        ("It was shown in all 3 groups.", MORBIDITY, "ask"),
        ("It was highest in group IV, per kg/m\u00b2.", MORBIDITY, "ask"),
        ("IL-8 rose in group IV.", MORBIDITY, "name_missing"),
        ("Morbidity was highest in 40 patients.", MORBIDITY, "number_missing"),
        ("Morbidity was highest in 12% of them.", MORBIDITY, "number_missing"),
        ("...", MORBIDITY, "claim_empty"),
        ("morbid " * 85, MORBIDITY, "text_cut"),
    ],
)
def test_only_a_quote_stands_and_only_what_is_exact_is_refused(
    text: str, support: Support, state: str
) -> None:
    decision = sentence(text, support)
    assert (decision.refusal.code if decision.refusal else decision.state) == state


@pytest.mark.parametrize("written", ["10(9)", "10^9", "10\u2079", "109"])
def test_an_exponent_is_no_digit_of_its_number(written: str) -> None:
    work = Evidence(evidence_id="pmid:3", source="", title="", text=f"Cells were 5.2 x {written}/L.")
    cells = Support(evidence_id="pmid:3", quote=work.text)
    assert sentence("They were 5.2 \u00d7 10\u2079/L.", cells, documents={"pmid:3": work}).state == "ask"


with (Path(__file__).parent / "number_words.tsv").open(encoding="utf-8") as file:
    NUMBER_WORDS = [*csv.DictReader(file, delimiter="\t")]


@pytest.mark.parametrize("row", NUMBER_WORDS, ids=[row["language"] for row in NUMBER_WORDS])
def test_a_small_number_that_a_work_has_in_words_is_refused_in_no_language(row: Mapping[str, str]) -> None:
    work = Evidence(evidence_id="doc:1", source="library", title="", text=row["work"])
    quote = Support(evidence_id="doc:1", quote=row["work"])
    for text, state in ((row["true"], "ask"), (row["false"], "refused")):
        assert sentence(text, quote, documents={"doc:1": work}).state == state, text


def test_the_language_of_a_question_tells_nothing_of_the_works() -> None:
    russian = next(row["work"] for row in NUMBER_WORDS if row["language"] == "ru")
    assert sentence("Morbidity rose in 15 patients.", MORBIDITY, context=russian).refusal


def test_a_quote_of_one_work_is_read_where_several_are_cited() -> None:
    assert sentence(MORBIDITY.quote, MORBIDITY, SENKTE).state == "ask"


def test_what_the_question_names_and_numbers_may_be_named() -> None:
    text = "Rule 19 of the PIVOT-9 trial was kept in group IV."
    assert sentence(text, MORBIDITY, context="What is rule 19 of PIVOT-9?").state == "ask"
    assert sentence(text, MORBIDITY).state == "refused"


@pytest.mark.parametrize(
    "text", ["It ran 11 Feb-31 Mar.", "Die Frist lief vom 11. Februar-31. M\u00e4rz 2025."]
)
def test_a_range_of_days_holds_no_name_of_a_thing(text: str) -> None:
    dated = Support(evidence_id="pmid:1", quote="From 11.02.2025 to 31.03.2025 it ran.")
    assert sentence(text, dated, documents={}).state == "ask"
    unknown = sentence(text.replace("31", "29"), dated, documents={}).refusal
    assert unknown is not None
    assert unknown.code == "number_missing"


@pytest.mark.parametrize("text", ["No document says it.", "Kein Dokument sagt, ob es hilft."])
def test_what_no_work_says_is_read_in_any_language(text: str) -> None:
    assert sentence(text).state == "ask"
    numbered = sentence(f"{text} 987 people.")
    assert numbered.refusal is not None
    assert numbered.refusal.code == "number_missing"
    assert sentence(f"{text} 46 people.").state == "ask", "a number of a work that was shown"


def test_a_computed_figure_needs_its_computation_and_a_reader() -> None:
    text = "Together 58 patients were seen."
    quote = Support(evidence_id="pmid:1", quote="IL-6 rose by 20% in forty-six patients.")
    shown = sentence(text, quote, STOPPED, computed=["46 + 12"])
    assert (shown.state, shown.computed) == ("ask", ("46 + 12 = 58",))
    without = sentence(text, quote, STOPPED)
    wrong = sentence(text, quote, STOPPED, computed=["46 + 20"])
    assert [one.refusal.code for one in (without, wrong) if one.refusal] == [
        "number_missing",
        "number_not_computed",
    ]


@pytest.mark.parametrize(
    ("text", "is_copied"),
    [
        ("12 patients", True),
        ("twelve patients", True),
        ("highest in group IV", True),
        ("20%", True),
        ("46 patients", True),
        ("forty six patients", True),
        ("20% ... 46 patients", True),
        ("13 patients", False),
        ("lowest in group IV", False),
        ("patients 12", False),
        ("roup IV", False),
        ("", False),
    ],
)
def test_a_field_is_copied_from_its_work(text: str, is_copied: bool) -> None:
    assert fields.field(text, SURGERY.text).stands is is_copied


def test_a_field_in_a_script_without_blanks_is_copied_too() -> None:
    source = "\u4e8c\u7532\u53cc\u80cd\u964d\u4f4e\u4e86\u6b7b\u4ea1\u7387\u3002"
    assert fields.field("\u6b7b\u4ea1\u7387", source).stands
    assert not fields.field("\u53d1\u75c5\u7387", source).stands


def test_a_cell_is_copied_from_its_sentence() -> None:
    assert fields.cell("arm", "group IV", MORBIDITY, SURGERY).stands
    for text, code in (("group V", "not_in_work"), ("group IV in 15", "number_missing")):
        refusal = fields.cell("arm", text, MORBIDITY, SURGERY).refusal
        assert refusal is not None
        assert refusal.code == code
    refusal = fields.cell("arm", "group IV", MORBIDITY, GERMAN).refusal
    assert refusal is not None
    assert refusal.code == "other_work"


def test_a_finding_is_copied_or_its_sentence_is_shown() -> None:
    assert fields.finding("Morbidity was highest", [MORBIDITY]).stands
    assert fields.finding("Morbidity was lowest", [MORBIDITY]).state == "ask"


def test_a_title_adds_nothing_and_a_heading_is_read_where_it_adds() -> None:
    known = ["Does metformin slow dementia?", "Harms"]
    assert gate.title("Metformin and dementia: harms", known).stands
    assert not gate.title("Metformin is superior in dementia", known).stands
    assert gate.heading("Harms of metformin", known).stands
    assert gate.heading("Metformin is superior", known).state == "ask"
    assert gate.heading("IL-6 comes next", known).state == "refused"


def test_a_yes_counts_with_the_sentences_of_the_cited_works_that_a_reader_names() -> None:
    claim = DraftClaim(text="Aspirin was stopped in 12 patients.", cites=("pmid:1",), state="ask")
    assert gate.objection(claim, "yes", [], "") is not None, "a yes without labels"
    assert gate.objection(claim, "yes", [SENKTE], "") is not None, "labels of a work that is not cited"
    assert gate.objection(claim, "yes", [STOPPED], "") is None
    assert gate.objection(claim, "partly", [STOPPED], "x") is not None
    assert carrying_quotes(claim, [STOPPED, SENKTE], DOCUMENTS) == (STOPPED,)
    both = claim.replace(cites=("pmid:1", "pmid:2"))
    assert carrying_quotes(both, [SENKTE, STOPPED], DOCUMENTS) == (SENKTE, STOPPED)


def test_a_sentence_without_a_citation_stands_by_its_reader_alone() -> None:
    claim = DraftClaim(text="So it may be stopped.", kind="inference", state="ask")
    assert gate.objection(claim, "yes", [], "") is None
    assert gate.objection(claim, "no", [], "") is not None


def test_a_sentence_has_few_quotes_and_one_of_each_work_at_least() -> None:
    quotes = [f"In the group {n} of the trial {n + 20} patients had a fistula." for n in range(40, 60)]
    named = tuple(Support(evidence_id="pmid:1", quote=quote) for quote in quotes)
    claim = DraftClaim(text="In one group 75 patients had a fistula.", cites=("pmid:1",), state="ask")
    assert carrying_quotes(claim, named, DOCUMENTS) == named[:MAX_QUOTES]
    works = tuple(Support(evidence_id=f"pmid:{n}", quote=quote) for n, quote in enumerate(quotes))
    cites = tuple(support.evidence_id for support in works)
    assert carrying_quotes(claim.replace(cites=cites), works, DOCUMENTS) == works
