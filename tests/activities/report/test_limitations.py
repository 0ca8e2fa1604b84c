"""What a report must state is stated once."""

import re
from pathlib import Path

from activities.contracts.evidence import MODEL_SILENT, Statement
from activities.contracts.judge import WorkJudgement
from activities.contracts.publish import PrismaCounts
from activities.report.formats.statements import WORDING, sentence
from activities.report.formats.words import account, not_shown, of_run
from activities.report.limitations import once
from activities.roles.prompt import left_out
from tests.activities.cases import FULL, TRIAL, planned, publish_input, ref_of
from tests.activities.report.rendered import built, words_of

ROOT = Path(__file__).parents[3]
EMITTED = re.compile(r"(?:Statement(?:\.of\(|\(\s*code=)\s*|add_limitation\(\s*|_refusal\()\"([a-z_]+)\"")


def unshown(step: str, missing: int, of: int) -> Statement:
    """The note of a step, as the step gives it."""
    (note,) = left_out(of - missing, of)
    return note.replace(values={**note.values, "step": step})


def test_steps_that_could_not_hold_every_item_are_one_statement_and_one_keeps_its_words() -> None:
    notes = (
        Statement(code="candidates_rejected"),
        unshown("judge", 3, 20),
        unshown("knowledge gap", 12, 40),
        Statement(code="report_rejected"),
        unshown("writer", 1, 9),
    )
    report = built(FULL.replace(limitations=notes))
    (about,) = [s for s in report.statements if s.code == "items_not_shown"]
    assert (about.number("missing"), about.number("of")) == (12, 40)
    assert [s.code for s in once(notes)] == ["candidates_rejected", "items_not_shown", "report_rejected"]
    assert sentence(about) in report.limitations
    alone = unshown("judge", 3, 20)
    assert once([alone]) == (alone,)
    assert "Judging the evidence" in sentence(alone)


def test_steps_that_no_model_did_are_one_line_of_how_the_report_was_made() -> None:
    reason = "bridge at http://127.0.0.1:1/v1 cannot be reached"
    notes = tuple(Statement.of(MODEL_SILENT, step=step, reason=reason) for step in ("judge", "query parser"))
    report = built(FULL.replace(limitations=notes))
    assert "sentences: Judging the evidence and Reading the question." in account(report)
    assert not [text for text in (*of_run(report), *not_shown(report)) if "model" in text]
    assert "127.0.0.1" not in words_of(report, "md")


def test_every_statement_is_worded_without_values_and_by_a_later_version_too() -> None:
    text = sentence(Statement(code="moon_in_the_way", values={"moon": "Io", "works": 3}))
    assert "Io" in text
    assert "3" in text
    for code in WORDING:
        assert sentence(Statement(code=code)) or code == "text", code


def test_every_code_that_is_emitted_has_a_wording() -> None:
    emitted = {
        code: path
        for folder in ("activities", "workflows")
        for path in (ROOT / folder).rglob("*.py")
        for code in EMITTED.findall(path.read_text(encoding="utf-8"))
    }
    assert len(emitted) > 40
    assert {code: str(path) for code, path in emitted.items() if code not in WORDING} == {}


def test_a_report_whose_claims_were_left_out_does_not_say_that_no_work_answers() -> None:
    judgements = (WorkJudgement(evidence_id="pmid:1", answers=3, direction="yes"),)
    counts = PrismaCounts(identified=10, screened=10)
    report = built(
        publish_input(planned("s1"), judgements=judgements, counts=counts, evidence=(ref_of(TRIAL),))
    )
    assert report.unanswered is not None
    assert report.unanswered.code == "answers_without_claim"
    text = sentence(report.unanswered)
    assert text == "no sentence about the works judged to answer it (1 of 10) passed the checks"
