"""Lists and tables of a writer: a row or an item is decided, written again and changed as a sentence is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from activities.contracts.evidence import Evidence, ReportPlanSection, Statement
from activities.contracts.revise import Revised, ReviseInput
from activities.contracts.write import (
    DraftClaim,
    DraftParagraph,
    SectionDraft,
    WriteInput,
    divided,
    named,
)
from activities.profiles.loader import load_profile
from activities.roles.reviser import REVISER, ReviserAnswer
from activities.roles.rewording import AgainAnswer
from activities.roles.role import Prompt
from activities.roles.writer import WRITER, DraftAnswer, accept
from activities.text.sentences import Sentence
from activities.verification.gate import quote_of_operand
from activities.verification.verdicts import printed, to_reword

BILL = Evidence(
    evidence_id="library:bill",
    source="library",
    title="Invoice",
    text="Emergency call at night: 180.00 euros in all. Three hours of work cost 246.00 euros more.",
    facts={"date": "2025-01-16"},
)
LETTER = Evidence(
    evidence_id="library:letter",
    source="library",
    title="Letter of the landlord",
    text="Our client acknowledges 336.00 euros of the bill of the plumber.",
    facts={"date": "2025-04-23"},
)
WORKS = (BILL, LETTER)
STEP = WriteInput(
    run_id="r", question="How much is claimed for the plumber?", profile=load_profile("general")
)
COLUMNS = ["Item", "Amount", "Landlord"]
CALL = {"cells": ["Call at night", "180.00", ""], "rests_on": ["S1"]}


def table(*rows: Mapping[str, object], heading: str = "") -> dict[str, object]:
    return {"form": "table", "heading": heading, "columns": COLUMNS, "claims": rows}


def written(*blocks: Mapping[str, object], step: WriteInput = STEP) -> tuple[SectionDraft, Prompt]:
    prompt = WRITER.render(step, WORKS, 20_000)
    answer = DraftAnswer.model_validate({"answer": [], "blocks": blocks})
    return named("s1", WRITER.accept(step, prompt, answer).output), prompt


def test_a_row_is_a_claim_with_its_headings_and_its_own_labels() -> None:
    draft, _ = written(table(CALL, {"cells": ["Bill", "426.00", "336.00"], "rests_on": ["S2", "S3"]}))
    call, bill = draft.claims
    assert (call.state, call.text) == ("ask", "Item: Call at night; Amount: 180.00")
    assert call.cells == (("Item", "Call at night"), ("Amount", "180.00"), ("Landlord", ""))
    assert [support.evidence_id for support in bill.support] == [BILL.evidence_id, LETTER.evidence_id]
    assert bill.cells == (("Item", "Bill"), ("Amount", ""), ("Landlord", "336.00"))
    assert (bill.state, bill.problem and bill.problem.code) == ("ask", "number_missing")


def test_a_row_loses_the_field_that_does_not_follow_and_falls_with_its_only_one() -> None:
    """What was lost is listed once the row stands; its writer is told why, and the row is written again."""
    shown = {"rests_on": ["S1", "S2", "S3"], "computed": ["180.00 + 246.00"]}
    rows = ({"cells": ["In all", "427.00", "336.00"], **shown}, {"cells": ["In all", "427.00", ""], **shown})
    row, only = written(table(rows[0]))[0], written(table(rows[1]))[0]
    assert [claim.state for claim in (*row.claims, *only.claims)] == ["ask", "refused"]
    assert row.claims[0].text == "Item: In all; Landlord: 336.00"
    stands = row.changed(lambda one: (one.replace(state="stands", stands_by="reader"),))
    (lost,) = printed(stands).refused
    assert (lost.kind, lost.reason.values) == (
        "cell",
        {"number": "427.00", "computation": "180.00 + 246.00 = 426.00"},
    )
    failed = to_reword(stands)
    prompt = WRITER.render(STEP.replace(failed=failed), WORKS, 20_000)
    assert "(fields left out: it prints 427.00, which its calculation does not give" in prompt.user
    better = {"claim": "C1", "cells": ["In all", "426.00", "336.00"], **shown}
    assert again(failed, better).claims[0].text == "Item: In all; Amount: 426.00; Landlord: 336.00"
    assert not again(failed, {**better, "cells": rows[0]["cells"]}).claims, "the first row stands"


def test_a_figure_has_the_only_sentence_of_its_works_that_states_it_as_a_quote() -> None:
    text = "The call and three hours of work cost 180.00 and 246.00 euros."
    (claim,) = written({"claims": [{"text": text, "rests_on": ["S1"]}]})[0].claims
    assert [support.quote for support in claim.support] == [
        "Emergency call at night: 180.00 euros in all.",
        "Three hours of work cost 246.00 euros more.",
    ]
    (other,) = written({"claims": [{"text": "The call cost 180.00 euros.", "rests_on": ["S1"]}]})[0].claims
    assert len(other.support) == 1


def test_a_number_of_any_field_follows_from_a_shown_computation_or_the_row_falls() -> None:
    total = {"cells": ["In all", "426.00", ""], "rests_on": ["S1", "S2"], "computed": ["180.00 + 246.00"]}
    wrong = {"cells": ["In all, less", "90.00", ""], "rests_on": ["S1", "S2"], "computed": ["180 + 246"]}
    right, other = written(table(total, wrong))[0].claims
    assert (right.state, right.computed) == ("ask", ("180.00 + 246.00 = 426.00",))
    assert (other.state, other.problem and other.problem.code) == ("refused", "number_not_computed")


def test_no_field_is_lost_where_headings_are_missing() -> None:
    row = {"cells": ["Call at night", "180.00", "", "in all"], "rests_on": ["S1"]}
    more, none = written(table(row), {**table(row), "columns": []})[0].claims
    assert more.cells == (("Item", "Call at night"), ("Amount", "180.00"), ("Landlord", "in all"))
    assert (none.cells, none.text) == ((), "Call at night; 180.00; in all")


def test_an_item_has_its_lead_and_is_read_with_it() -> None:
    item = {"text": "The plumber came at night.", "lead": "16 January 2025:", "rests_on": ["S1"]}
    (one,) = written({"form": "list", "claims": [item]})[0].claims
    assert one.text == "16 January 2025: The plumber came at night."
    assert one.cells == (("16 January 2025", "The plumber came at night."),)
    assert one.state == "ask"
    (dated,) = written({"form": "list", "claims": [{**item, "lead": "17 January 2025"}]})[0].claims
    assert dated.state == "refused", "a date that its work does not have"


def test_a_heading_stands_in_words_of_the_question_and_is_read_otherwise() -> None:
    blocks = [table(CALL, heading=words) for words in ("The plumber", "The landlord is wrong", "")]
    headings = [paragraph.heading for paragraph in written(*blocks)[0].paragraphs]
    assert [heading and heading.state for heading in headings] == ["stands", "ask", None]
    assert [heading and heading.id for heading in headings] == ["s1.h1", "s1.h2", None]


def refused(draft: SectionDraft, *numbers: int) -> SectionDraft:
    problem = Statement.of("not_supported", verdict="partly", reason="the landlord")
    names = {f"s1.{number}" for number in numbers}
    return draft.changed(
        lambda one: (one.replace(state="refused", problem=problem) if one.id in names else one,)
    )


def again(failed: Sequence[DraftParagraph], *sentences: Mapping[str, object]) -> SectionDraft:
    step = STEP.replace(failed=tuple(failed))
    prompt = WRITER.render(step, WORKS, 20_000)
    answer = AgainAnswer.model_validate({"sentences": sentences})
    return accept(step, prompt, answer).output


def test_a_refused_row_alone_is_written_again_by_its_fields() -> None:
    second = {"cells": ["Work", "246.00", "acknowledged"], "rests_on": ["S2"]}
    draft = refused(written(table(CALL, second))[0], 2)
    failed = to_reword(draft)
    assert [claim.id for paragraph in failed for claim in paragraph.claims] == ["s1.2"]
    row = {"claim": "C1", "cells": ["Work", "246.00", ""], "rests_on": ["S2"]}
    (one,) = again(failed, row).claims
    assert (one.id, one.state, one.text) == ("s1.2", "ask", "Item: Work; Amount: 246.00")
    (out,) = again(failed, {**row, "cells": [], "text": "Work cost 246.00 euros."}).claims
    assert out.state == "out", "a row in the words of a sentence"


def changed(sentences: Sequence[DraftClaim], answer: Mapping[str, object]) -> Revised:
    step = ReviseInput(
        run_id="r",
        question=STEP.question,
        profile=STEP.profile,
        wanted="plainly",
        sections={"s1": "Findings"},
        sentences=tuple(sentences),
    )
    prompt = REVISER.render(step, WORKS, 20_000)
    return REVISER.accept(step, prompt, ReviserAnswer.model_validate(answer)).output


def test_a_change_words_a_row_by_its_fields_and_an_item_under_its_lead() -> None:
    item = {"text": "Work cost 246.00 euros more.", "lead": "Work", "rests_on": ["S2"]}
    claims = written(table(CALL), {"form": "list", "claims": [item]})[0].claims
    reword = [
        {"claim": "C1", "cells": ["Plumber at night", "180.00", ""]},
        {"claim": "C2", "text": "Work: The hours came to 246.00 euros."},
    ]
    row, one = changed(claims, {"reword": reword}).sentences
    assert row.text == "Item: Plumber at night; Amount: 180.00"
    assert one.cells == (("Work", "The hours came to 246.00 euros."),)
    assert not changed(claims, {"reword": [{"claim": "C1", "cells": ["Plumber"]}]}).sentences


def test_a_writer_says_which_of_what_was_left_open_its_text_settles() -> None:
    """By label: what is named nowhere, or is no label, stays open."""
    step = STEP.replace(left_open=("No total of the claims", "What the plumber says"))
    prompt = WRITER.render(step, WORKS, 20_000)
    assert "G1: No total of the claims" in prompt.user
    assert "G2: What the plumber says" in prompt.user
    answer = DraftAnswer.model_validate({"blocks": [table(CALL)], "settled": ["G1", "G9", "the plumber"]})
    assert WRITER.accept(step, prompt, answer).output.settled == ("No total of the claims",)
    assert "`settled`" not in WRITER.render(STEP, WORKS, 20_000).user


def test_blocks_of_a_report_in_one_call_stand_in_the_sections_that_they_name() -> None:
    """One without a section that there is goes on where the last one stood; ids begin with the section."""
    outline = tuple(
        ReportPlanSection(id=name, title=f"On {name}", key_question=f"What of {name}?")
        for name in ("s1", "s2", "s3")
    )
    step = STEP.replace(outline=outline)
    prompt = WRITER.render(step, WORKS, 20_000)
    assert "s2: On s2: What of s2?" in prompt.user
    assert prompt.choices["blocks.section"] == ("s1", "s2", "s3")
    assert WRITER.render(STEP, WORKS, 20_000).choices["blocks.section"] == ()
    said = {"text": "The landlord acknowledges 336.00 euros.", "rests_on": ["S3"]}
    blocks = [table(CALL), {**table(CALL), "section": "s2"}, {"claims": [said], "section": "s9"}]
    answer = [said, {**said, "text": "Of the bill 336.00 euros are acknowledged.", "begins": True}]
    made = DraftAnswer.model_validate({"answer": answer, "blocks": blocks})
    draft = named("s1", WRITER.accept(step, prompt, made).output)
    drafts = divided(draft, ["s1", "s2", "s3"])
    ids = {name: [claim.id for claim in part.claims] for name, part in drafts.items()}
    assert ids == {"s1": ["s1.a1", "s1.a2", "s1.1"], "s2": ["s2.1", "s2.2"], "s3": []}
    assert [claim.begins for claim in drafts["s1"].answer] == [False, True]


def test_an_answer_may_have_the_figures_of_the_conclusions_and_no_others() -> None:
    """These are computed from all works: no work has them."""
    step = STEP.replace(concluded=("The drug may lower deaths. Pooled RR 0.62 (0.41 to 0.93), 2 studies.",))
    prompt = WRITER.render(step, WORKS, 20_000)
    pooled = {"text": "Pooled, the risk ratio is 0.62 (0.41 to 0.93).", "rests_on": ["S1", "S3"]}
    other = {"text": "Pooled, the risk ratio is 0.72 (0.41 to 0.93).", "rests_on": ["S1", "S3"]}
    made = DraftAnswer.model_validate({"answer": [pooled, other], "blocks": []})
    assert [claim.state for claim in WRITER.accept(step, prompt, made).output.answer] == ["ask", "refused"]


def test_a_total_of_computed_rows_and_a_sentence_of_it_need_no_more_than_these() -> None:
    """Each rests on what the other rows show, however they follow each other."""
    rows = (
        {"cells": ["A seventh of the call", "25.71", ""], "rests_on": ["S1"], "computed": ["180.00 / 7"]},
        {"cells": ["A seventh of the work", "35.14", ""], "rests_on": ["S2"], "computed": ["246.00 / 7"]},
    )
    wrong = {"cells": ["Both", "60.86", ""], "rests_on": ["S1"], "computed": ["25.71 + 35.14"]}
    assert [claim.state for claim in written(table(wrong, *rows))[0].claims] == ["refused", "ask", "ask"]
    answer = [{"text": "Together 60.85 euros are due.", "rests_on": ["S1", "S2"]}]
    total = {"cells": ["Both", "60.85", ""], "rests_on": ["S1"], "computed": ["25.71 + 35.14"]}
    prompt = WRITER.render(STEP, WORKS, 20_000)
    made = DraftAnswer.model_validate({"answer": answer, "blocks": [table(total, *rows)]})
    draft = WRITER.accept(STEP, prompt, made).output
    assert [claim.state for claim in draft.claims] == ["ask"] * 4
    assert draft.answer[0].computed == ("25.71 + 35.14 = 60.85",)
    assert draft.paragraphs[0].claims[0].computed == (
        "180.00 / 7 = 25.71",
        "246.00 / 7 = 35.14",
        "25.71 + 35.14 = 60.85",
    )


def test_a_balance_is_computed_row_by_row_however_long_the_account_is() -> None:
    amounts = [f"{180 - 10 * n:.2f}" for n in range(13)]
    rows = [
        {"cells": [f"After payment {n}", after, ""], "rests_on": ["S1"], "computed": [f"{before} - 10"]}
        for n, (before, after) in enumerate(pairwise(amounts), 1)
    ]
    works = (BILL.replace(text=f"{BILL.text} Each payment was 10 euros."), LETTER)
    prompt = WRITER.render(STEP, works, 20_000)
    answer = DraftAnswer.model_validate({"answer": [], "blocks": [table(*rows)]})
    draft = WRITER.accept(STEP, prompt, answer).output
    assert [row.cells[1][1] for row in draft.claims] == amounts[1:]
    assert all(row.support[-1].quote == "Each payment was 10 euros." for row in draft.claims)


def test_an_operand_without_its_label_gets_the_sentence_that_states_it() -> None:
    """Of another work too, but no number of few digits that stands in several sentences."""
    row = {"cells": ["Left", "90.00", ""], "rests_on": ["S2"], "computed": ["426.00 - 336.00"]}
    sums = {"cells": ["Both", "426.00", ""], "rests_on": ["S1"], "computed": ["180.00 + 246.00"]}
    draft, _ = written(table(row, sums))
    left, both = draft.claims
    assert [support.evidence_id for support in both.support] == [BILL.evidence_id] * 2
    assert [support.evidence_id for support in left.support] == [BILL.evidence_id, LETTER.evidence_id]
    chance = {"cells": ["Both", "432.00", ""], "rests_on": ["S1"], "computed": ["180.00 + 7 * 36"]}
    draft, _ = written(table(chance))
    assert [claim.state for claim in draft.claims] == ["refused"]


def test_a_number_of_a_heading_may_stand_in_any_work() -> None:
    row = {"cells": ["Call at night", "180.00"], "rests_on": ["S1"]}
    bill = BILL.replace(text=f"{BILL.text} Invoice INV-0359.")
    for heading, state in (("INV-0359", "ask"), ("INV-0360", "refused")):
        block = {"form": "table", "heading": "", "columns": ["Item", heading], "claims": [row]}
        prompt = WRITER.render(STEP, (LETTER, bill), 20_000)
        labels = [name for name, one in prompt.sentences.items() if one.quote.startswith("Emergency")]
        answer = DraftAnswer.model_validate(
            {"answer": [], "blocks": [{**block, "claims": [{**row, "rests_on": labels}]}]}
        )
        letter = LETTER.replace(text=f"{LETTER.text} It is on INV-0359.")
        answer_of = WRITER.accept(STEP, replace(prompt, shown={"E1": letter, "E2": BILL}), answer).output
        assert [claim.state for claim in answer_of.claims] == [state]


def test_a_day_gets_the_sentence_that_states_it_in_its_language_and_no_other() -> None:
    fee = Sentence("a", "The storage fee is 26.40 a month.", 0.0)
    other = Sentence("a", "It was signed on 9 June 2024.", 0.1)
    letter = Sentence("a", "Der Brief kam am 9. Juni an.", 0.2, language="de")
    for shown, quote in (((fee, other), None), ((fee, other, letter), letter.quote)):
        found = quote_of_operand("2025-06-09", ["a"], shown)
        assert (found and found.quote) == quote
