"""Sentences and the parts of a work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.text.parts import part_of_label
from activities.text.sentences import sentences, split
from activities.verification.quote_check import verbatim
from tests.activities.extractive.abstracts import METFORMIN, document


def read(text: str) -> list[str]:
    return [s.quote for s in split("x", text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "The risk ratio was 1.65 (95% CI 1.06-2.57, p < .05) vs. 2.16 in the control arm of the trial.",
        "E. coli and S. aureus were grown from urine, e.g. in patients with catheters.",
        "A total of 23 pts. were included, i.e. 12 men and 11 women with diabetes.",
        "Metformin at 500 mg b.i.d. lowered HbA1c by 0.8 percentage points (P = .03).",
    ],
)
def test_abbreviations_and_numbers_do_not_end_a_sentence(sentence: str) -> None:
    after = "Serum levels of the marker fell in both groups after treatment."
    assert read(f"{sentence} {after}") == [sentence, after]


def test_a_measure_at_the_end_of_a_sentence_ends_it() -> None:
    first = "The median weight of the tumours removed was 100 g."
    second = "The median operating time was 60 minutes in both groups."
    assert read(f"{first} {second}") == [first, second]


def test_labels_name_the_parts_and_are_not_quoted() -> None:
    parts = [s.part for s in sentences(document(1, METFORMIN))]
    assert parts == ["background", "aim", "methods", "results", "conclusion"]
    assert not any("RESULTS" in s.quote for s in sentences(document(1, METFORMIN)))


def test_labels_within_a_line_are_seen_as_well() -> None:
    inline = document(1, METFORMIN.replace("\n", " "))
    assert [s.part for s in sentences(inline)] == ["background", "aim", "methods", "results", "conclusion"]


@pytest.mark.parametrize(
    ("label", "part"),
    [
        ("MAIN OUTCOME MEASURES", "methods"),
        ("METHODS AND RESULTS", "results"),
        ("BACKGROUND AND AIMS", "aim"),
        ("Conclusions", "conclusion"),
        ("References", None),
        ("TRIAL REGISTRATION", None),
    ],
)
def test_labels_in_use_are_understood(label: str, part: str | None) -> None:
    assert part_of_label(label) == part


def test_a_heading_above_a_paragraph_is_not_part_of_its_first_sentence() -> None:
    text = (
        "Indications and usage\nAspirin is indicated for the relief of mild pain in adults.\n\n"
        "Purpose\nPain reliever."
    )
    label = document(1, text, kind="drug_label")
    assert [(s.quote, s.part) for s in sentences(label)] == [
        ("Aspirin is indicated for the relief of mild pain in adults.", "plain")
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Smith J, Jones K. Metformin and memory in diabetes. Lancet 2010;376(9741):123-30.",
        "Copyright 2020 The Authors, published by a house of some renown in London.",
        "Does metformin reduce the risk of dementia in patients with diabetes?",
        "Further details are given at https://example.org/metformin for every reader.",
    ],
)
def test_citation_lines_questions_and_notices_are_never_quoted(line: str) -> None:
    assert read(line) == []


def test_the_sentence_for_the_reader_drops_the_connective_and_keeps_the_words() -> None:
    last = sentences(document(1, METFORMIN))[-1]
    assert last.quote.startswith("In conclusion, metformin")
    assert last.text == "Metformin reduced the risk of dementia in patients with type 2 diabetes."


@given(
    st.text(
        alphabet=st.one_of(
            st.characters(codec="utf-8"), st.sampled_from("aeiou tnrs.,:;()%0123 \n\u0301\u2019-\ufb01")
        ),
        max_size=600,
    )
)
def test_every_sentence_of_any_text_passes_the_quote_check(text: str) -> None:
    for sentence in split("x", text):
        assert verbatim(sentence.quote, text)
        assert 0 <= sentence.place <= 1


@given(st.lists(st.sampled_from(METFORMIN.split(" ")), max_size=120), st.sampled_from([" ", "\n", "  \n\n"]))
def test_shuffled_abstracts_are_quoted_verbatim(words: list[str], joint: str) -> None:
    text = joint.join(words)
    assert all(verbatim(s.quote, text) for s in split("x", text))


def test_a_sentence_ends_after_a_plain_word_whatever_the_splitter_knows_of_it() -> None:
    text = (
        "CONCLUSIONS: All of these women had a first-degree relative with an HNPCC-associated cancer. "
        "Limiting genetic evaluation to women with a family history may identify women with Lynch syndrome."
    )
    assert [s.quote for s in sentences(document(1, text))] == [
        "All of these women had a first-degree relative with an HNPCC-associated cancer.",
        "Limiting genetic evaluation to women with a family history may identify women with Lynch syndrome.",
    ]


def test_how_a_work_was_done_is_no_result() -> None:
    text = (
        "METHODS AND RESULTS: Electronic databases were searched for trials that compared both treatments. "
        "A consecutive series of 126 men with rectal cancer operated between 1998 and 2010 was analysed. "
        "Survival was longer after the combined treatment (p = 0.01)."
    )
    assert [s.part for s in sentences(document(1, text))] == ["methods", "methods", "results"]


@pytest.mark.parametrize("label", ["AIM", "QUESTIONS/PURPOSES"])
def test_a_label_that_is_glued_to_the_sentence_before_begins_a_part(label: str) -> None:
    text = (
        f"BACKGROUND: Changes of life are the likely reason for the rise of allergy.{label}: This study "
        "tests whether fast food is related to asthma. METHODS: Parents of 1321 children answered a "
        "questionnaire."
    )
    found = [(s.part, s.quote[:20]) for s in sentences(document(1, text))]
    assert ("background", "Changes of life are ") in found
    assert ("aim", "This study tests whe") in found
