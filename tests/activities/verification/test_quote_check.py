import string
import unicodedata
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from activities.contracts.evidence import Evidence, Support
from activities.contracts.write import DraftClaim
from activities.report.claims import reasons_text
from activities.text.normal_form import MIN_QUOTE_CHARS, normalise, verbatim
from activities.verification import gate
from activities.verification.quote_check import Checked, QuoteChecker
from tests.activities.cases import DOCUMENTS, REDUCED, REGISTRY, TRIAL, quoting

FINDINGS = (
    "Metformin reduced all-cause mortality by 30% (95% CI 12-45, p < 0.001) in 1,204 adults with type 2 "
    "diabetes over 24 weeks. The mean change in HbA1c was -0.5 points."
)
WORDS = TRIAL.text.split()


def check(claim: DraftClaim, documents: Mapping[str, Evidence] = DOCUMENTS) -> Checked:
    return QuoteChecker(documents).supports(claim.support)


def refusal(*quotes: tuple[str, str], documents: Mapping[str, Evidence] = DOCUMENTS) -> str:
    """Why quotes do not stand; empty when they do."""
    return reasons_text(check(quoting("", *quotes), documents).refused)


def outcome(text: str, *quotes: tuple[str, str]) -> str:
    """Why the gate refused a sentence; empty when it did not."""
    decision = decided(text, quoting(text, *quotes).support)
    return reasons_text([decision.refusal] if decision.refusal else [])


def decided(text: str, support: Sequence[Support]) -> gate.Decision:
    works = [quote.evidence_id for quote in support]
    return gate.sentence(text, works, DOCUMENTS, quotes=[quote.quote for quote in support])


def test_a_short_quote_of_a_script_without_blanks_stands() -> None:
    text = "9月2日至27日车站街因煤气管道施工封闭。在此期间不停靠市场站。"
    chinese = {"doc:zh": TRIAL.replace(evidence_id="doc:zh", text=text)}
    assert not refusal(("doc:zh", "9月2日至27日车站街因煤气管道施工封闭。"), documents=chinese)
    assert "10 characters" in refusal(("doc:zh", "煤气管道施工"), documents=chinese)
    assert "25 characters" in refusal((TRIAL.evidence_id, "mortality by 30%"))


@given(st.text())
def test_normalising_twice_is_normalising_once(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.integers(0, len(WORDS) - 8), st.integers(7, 20))
def test_any_run_of_whole_words_is_verbatim(start: int, length: int) -> None:
    quote = " ".join(WORDS[start : start + length])
    assume(len(normalise(quote)) >= MIN_QUOTE_CHARS)
    assert verbatim(quote, TRIAL.text)


@given(st.integers(0, len(WORDS) - 9), st.integers(8, 20), st.data())
def test_any_single_word_changed_fails_the_quote(start: int, length: int, data: st.DataObject) -> None:
    words = WORDS[start : start + length]
    place = data.draw(st.integers(0, len(words) - 1))
    others = [
        st.sampled_from(WORDS),
        st.from_regex(r"[a-z]{1,9}", fullmatch=True),
        st.just(words[place][:-1]),
    ]
    other = data.draw(st.one_of(others))
    assume(other)
    assume(normalise(other) != normalise(words[place]))
    if place == len(words) - 1:  # leaving off the last full stop changes no word
        assume(other != words[place].rstrip(string.punctuation + "\u201d"))
    assert not verbatim(" ".join([*words[:place], other, *words[place + 1 :]]), TRIAL.text)


@pytest.mark.parametrize(
    ("quote", "why"),
    [
        ("TNF-\u03b2 fell, and the \u201cdrug\u201d was inactive", "beta for alpha"),
        ("metformin reduced all-cause mortality by 30%", "another case"),
        ("active against influenza virus in cells", "begins inside `inactive`"),
        ("Metformin reduced all-cause mort", "ends inside a word"),
        ("Metformin reduced all-cause mortality by 30", "loses its percent sign"),
        ("204 adults with type 2 diabetes over 24 weeks", "begins inside 1,204"),
        ("over 24 weeks. The mean change in HbA1c was \u22120.", "ends inside 0.5"),
        ("0.5 points. There was no difference in hospital", "loses its minus"),
        ("Metformin reduced mortality by 30% in adults", "leaves words out"),
        ("30% (95% CI 12-45", "is too short"),
    ],
)
def test_a_quote_that_is_not_word_for_word_fails(quote: str, why: str) -> None:
    assert not verbatim(quote, TRIAL.text), why


@pytest.mark.parametrize(
    "quote",
    [
        'TNF-\u03b1 fell, and the "drug" was inactive',
        "Metformin  reduced\nall-cause\u00a0mortality by 30%",
        "mean change in HbA1c was -0.5 points",
        "(95% CI 12\u201345, p < 0.001) in 1,204 adults",
    ],
)
def test_typography_alone_does_not_fail_a_quote(quote: str) -> None:
    assert verbatim(quote, TRIAL.text)


def test_a_real_quote_on_the_wrong_paper_fails() -> None:
    assert verbatim(REDUCED, TRIAL.text)
    assert refusal(("pmid:2", REDUCED)) == "its quote is not in the text of the work it cites"


@given(st.data())
def test_no_kept_quote_is_foreign_to_its_item(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from([TRIAL, REGISTRY]))
    words = source.text.split()
    start = data.draw(st.integers(0, len(words) - 5))
    quote = " ".join(words[start : start + data.draw(st.integers(1, 15))])
    named = data.draw(st.sampled_from(["pmid:1", "pmid:2", "pmid:9"]))
    kept = check(quoting(quote, (named, quote)))
    if kept.support:
        assert all(verbatim(s.quote, DOCUMENTS[s.evidence_id].text) for s in kept.support)
        assert kept.support[0].evidence_id == named == source.evidence_id


def test_what_cites_an_item_that_was_not_found_is_refused() -> None:
    assert "not found in this run" in refusal(("pmid:9", REDUCED))
    assert not outcome("Metformin reduced mortality.", ("pmid:1", REDUCED))


def test_one_bad_quote_of_a_work_does_not_void_the_good_one_beside_it() -> None:
    claim = quoting(
        "Metformin reduced mortality.", ("pmid:1", REDUCED), ("pmid:1", "it did not say any such thing")
    )
    kept = check(claim)
    assert [s.evidence_id for s in kept.support] == ["pmid:1"]
    assert [refusal.code for refusal in kept.refused] == ["quote_not_in_text"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Lancet. 2020;395(10229):1234-40.", "citation line"),
        ("1234-40. doi: 10.1016/S0140-6736(20)1234-5.", "citation line"),
        ("12. Smith J, Doe AB, et al. Metformin lowers mortality in adults. N Engl J Med 2019.", ""),
        ("Smith, J. K., & Roe, B. (2019). Metformin lowers mortality in adults. Nature.", ""),
        ("Copyright 2020 Elsevier Ltd. All rights reserved.", "copyright line"),
        ("PMID: 12345678 PMCID: PMC1234567 in the archive", ""),
        (TRIAL.title, "its quote is only the title"),
    ],
)
def test_a_citation_a_reference_and_the_title_are_no_quotes(line: str, reason: str) -> None:
    item = TRIAL.replace(text=f"Some text. {line} More text.")
    assert verbatim(line, item.text)
    said = refusal(("pmid:1", line), documents={"pmid:1": item})
    assert said
    assert reason in said


@pytest.mark.parametrize(
    "line",
    [
        "Mrs H. Field has paid 200 pounds.",
        "Herr K. Braun kam nicht zum Termin.",
        "Signed D. Pell and J. Merrick",
    ],
)
def test_a_person_with_an_initial_is_no_list_of_authors(line: str) -> None:
    item = TRIAL.replace(text=f"Some text. {line} More text.")
    assert not refusal(("pmid:1", line), documents={"pmid:1": item})


def test_retracted_work_supports_nothing() -> None:
    quote = "Metformin abolished all mortality in every patient"
    checked = check(quoting("Metformin abolished mortality.", ("pmid:3", quote)))
    assert reasons_text(checked.refused) == "it rests on a retracted work"
    assert checked.retracted == ("pmid:3",)


@pytest.mark.parametrize(
    "quote", [f"Quote: {REDUCED}", "Metformin is a first-line drug ... reduced mortality"]
)
def test_a_quote_is_not_repaired(quote: str) -> None:
    assert refusal(("pmid:1", quote)) == "its quote is not in the text of the work it cites"


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ("Metformin reduced mortality by 40%.", "number_missing"),
        ("Metformin reduced mortality in 30 adults.", ""),
        ("Metformin reduced mortality by 30% (p < 0.01).", "number_missing"),
        ("Metformin reduced mortality by 30% (p > 0.001).", ""),
        ("Metformin reduced mortality by 30% over 24 months.", ""),
        ("Metformin reduced mortality by 30% over thirteen weeks.", "number_missing"),
        ("Metformin reduced mortality by 30% in 1,205 adults.", "number_missing"),
        ("Metformin reduced mortality by 30 percent (p<0.001).", ""),
        ("In 1204 adults with type II diabetes metformin reduced mortality over 24 weeks.", ""),
        ("Metformin decreased HbA1c by 0.50 points.", ""),
        ("Metformin changed HbA1c by \u22120.5 points.", ""),
        ("In 2020 a trial found that metformin reduced mortality by 30%.", ""),
        ("Metformin increased all-cause mortality.", ""),
        ("Metformin did not reduce all-cause mortality.", ""),
    ],
)
def test_a_claim_with_a_number_of_no_work_is_dropped_and_what_it_says_is_read(claim: str, code: str) -> None:
    decision = decided(claim, quoting(claim, ("pmid:1", FINDINGS)).support)
    assert (decision.refusal.code if decision.refusal else "") == code


@given(st.integers(0, len(WORDS) - 8), st.integers(7, 25))
@example(0, 25)
def test_a_claim_that_is_its_quote_is_not_refused(start: int, length: int) -> None:
    quote = " ".join(WORDS[start : start + length])
    assert outcome(quote, ("pmid:1", quote)) == ""


@given(st.text(), st.text(), st.text())
def test_whatever_a_model_writes_the_check_ends(text: str, quote: str, evidence_id: str) -> None:
    assume(not any(unicodedata.category(c) == "Cs" for c in text + quote + evidence_id))
    checked = check(quoting(text, (evidence_id, quote), ("pmid:1", quote)))
    assert len(checked.support) + len(checked.refused) in (1, 2)
    assert decided(text, checked.support).state in ("stands", "ask", "refused")
