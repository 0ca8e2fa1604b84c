"""What a command prints of a report that is argued with."""

import pytest

from activities.contracts.publish import Dispute
from activities.refresh_activity import RefreshOutcome
from activities.report.assemble import build_report
from client.cli.steering import show_difference, show_version
from client.runs.revising import Reply
from tests.activities.report.written import STEP, WORKS


def test_a_decision_is_told_of_the_dispute_that_it_decides(capsys: pytest.CaptureFixture[str]) -> None:
    report = build_report(STEP, WORKS)
    first, last = (Dispute(sentence=name, text="It fell.", reason="It did not.") for name in ("s1.1", "s1.2"))
    before = report.replace(disputes=(first, last))
    after = report.replace(disputes=(first.replace(decision="upheld", decided_by="ada"), last))
    outcome = RefreshOutcome(run_id=report.run_id, since="", version=2, made=True)
    show_version(Reply("why?", outcome, before, after), as_json=False)
    printed = capsys.readouterr().out
    assert ("s1.1" in printed, "s1.2" in printed) == (True, False)


def test_versions_with_the_same_sentences_have_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    report = build_report(STEP, WORKS)
    assert not show_difference(report, report)
    assert not capsys.readouterr().out


def test_a_version_in_which_every_sentence_stands_as_before_is_said_to_be_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = build_report(STEP, WORKS)
    outcome = RefreshOutcome(run_id=report.run_id, since="", version=2, made=True)
    show_version(Reply("why?", outcome, report, report), as_json=False)
    assert "no sentence reads otherwise" in capsys.readouterr().out
