"""What a report says of its second reader: how well it read, and what nobody has read."""

import pytest

from activities.contracts.evidence import Statement, Vigilance
from activities.contracts.write import DraftClaim, DraftParagraph, SectionDraft
from activities.report.assemble import build_report
from tests.activities.cases import quoting
from tests.activities.report.rendered import EVERY_FORMAT, words_of
from tests.activities.report.written import INFECTION, STAY, WORKS, section, step


def draft(*claims: DraftClaim, **more: object) -> SectionDraft:
    return SectionDraft.model_validate({"paragraphs": (DraftParagraph(claims=claims),), **more})


READ = quoting("Infection was rarer.", ("pmid:11", INFECTION), stands_by="reader")
OPEN = quoting("The stay was shorter.", ("pmid:11", STAY), state="ask")


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_a_reader_that_does_not_answer_leaves_sentences_unread(name: str) -> None:
    report = build_report(step(sections=(section("s1", draft(READ, OPEN)),), edited=None), WORKS)
    assert report.verification.unread == 1
    assert [claim.text for claim in report.claims()] == ["Infection was rarer.", STAY]
    assert Statement.of("unread", sentences=1) in report.statements
    assert not {"draft_lost", "wordings_replaced"} & {statement.code for statement in report.statements}
    shown = words_of(report, name)
    assert "Sentences left out: 1 not read by the second reader." in shown
    assert "Sentences that the second reader did not read, because it did not answer: 1." in shown


def test_the_report_adds_up_how_well_its_second_reader_read() -> None:
    calls = (Vigilance(planted=4, noticed=4, true=4), Vigilance(planted=8, noticed=7, true=4))
    sections = tuple(section(f"s{n}", draft(READ, vigilance=one)) for n, one in enumerate(calls, 1))
    report = build_report(step(sections=sections, edited=None), WORKS)
    assert report.verification.vigilance == Vigilance(planted=12, noticed=11, true=8)
    text = "found 11 of 12 planted errors and wrongly refused 0 of 8 true sentences."
    assert all(text in words_of(report, name) for name in EVERY_FORMAT)


def test_what_is_not_confirmed_is_said_to_be_so() -> None:
    problem = Statement.of("not_confirmed", noticed=1, planted=4)
    doubted = OPEN.replace(state="refused", problem=problem)
    read = Vigilance(planted=4, noticed=1, true=4)
    report = build_report(
        step(sections=(section("s1", draft(READ, doubted, vigilance=read)),), edited=None), WORKS
    )
    assert Statement.of("unconfirmed", sentences=1, missed=3, planted=4) in report.statements
    (dropped,) = (fallen for fallen in report.verification.dropped if fallen.statement == problem)
    assert dropped.reason == "it is not confirmed: its second reader found only 1 of 4 planted errors"
