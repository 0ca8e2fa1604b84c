"""The messages people may send to a run, and their effects."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowUpdateFailedError
from temporalio.common import RawValue

from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.evidence import EvidenceRef, ReportPlan, ReportPlanSection, Support
from activities.contracts.plan import PART as READINGS
from activities.contracts.plan import Clarified, KnowledgeGapOutput
from activities.contracts.step import Instruction, Reading, Role
from activities.contracts.write import (
    DraftClaim,
    DraftParagraph,
    Edited,
    EditedSentence,
    SectionDraft,
    WriteInput,
)
from activities.payloads import DATA_CONVERTER
from tests.workflows.conftest import PATIENCE, QUESTION, Run, Stage, a_request, limitations
from tests.workflows.script import PROFILE, meeting, outage, takes
from tests.workflows.test_deep_writing import sentences
from workflows.messages import AddSource, Answers, Approval, ChooseCandidates, EditPlan, ExtendBudget, Steer
from workflows.types import BudgetStatus, EvidenceIndex, PlanView, ReportView

DAY = 86_400.0


async def refusal(run: Run, update: str, argument: Any) -> str:
    """The one line an update is refused with."""
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await run.handle.execute_update(update, argument)
    return str(refused.value.cause)


async def kinds(run: Run) -> list[str]:
    return [event.type for event in await run.events()]


# what a run asks back

ASKED = Clarified(
    readings=(
        Reading(question="In whom?", assumed="adults"),
        Reading(question="Compared with what?", assumed="placebo"),
    )
)


@pytest.mark.parametrize("mode", ["auto"])
async def test_what_a_run_asks_back_is_answered_days_later_and_stands_in_every_later_prompt(
    stage: Stage, mode: str
) -> None:
    stage.script.answers["clarifier"] = lambda _: ASKED
    run = await stage.start(a_request(mode=mode, clarify="ask"), mode=mode)
    await run.until(lambda p: p.waiting_for == "clarification")
    assert stage.fakes.of("query_parser") == []
    assert await run.ask("clarification", Clarified) == ASKED
    assert "3 answers to 2 questions" in await refusal(run, "answer", Answers(answers=("a", "b", "c")))
    await stage.env.sleep(timedelta(days=3))
    answered = await run.handle.execute_update("answer", Answers(answers=("children",), by="ada"))
    assert answered[0]["answer"] == "children"
    await run.outcome()
    assert (await run.budget()).elapsed_seconds < DAY
    report = await run.report()
    said = ["In whom? children", "Compared with what? placebo (assumed)"]
    assert [reading.text for reading in READINGS.of_report(report)] == said
    later = [call for call in stage.fakes.calls if call.role != "clarifier" and call.paid]
    assert {tuple(reading.text for reading in call.step.readings) for call in later} == {tuple(said)}
    assert {"query_parser", "judge", "writer"} <= {call.role for call in later}
    assert "clarification_needed" in await kinds(run)


@pytest.mark.parametrize(
    ("clarify", "calls", "readings"), [("assume", 1, 2), ("off", 0, 0), ("ask", 1, 2), ("rejected", 1, 0)]
)
async def test_nothing_waits_where_nobody_is_asked(
    stage: Stage, clarify: str, calls: int, readings: int
) -> None:
    stage.script.answers["clarifier"] = lambda _: ASKED
    mode = "ask" if clarify == "rejected" else clarify
    # where a person rejects there is no time-out, which skipped time would reach before the signal
    seconds = None if clarify == "rejected" else 60
    run = await stage.start(
        a_request(clarify=mode, approval_timeout_seconds=seconds, approval_default="reject")
    )
    if clarify == "rejected":
        await run.until(lambda progress: progress.waiting_for == "clarification")
        await run.decide("reject", "clarification")
    assert (await run.outcome()).stop_reason == "sufficient_evidence"
    assert len(stage.fakes.of("clarifier")) == calls
    assert len(READINGS.of_report(await run.report())) == readings


async def test_a_question_is_read_while_what_it_leaves_open_is_assumed(stage: Stage) -> None:
    stage.script.holds["clarifier"] = stage.script.holds["query_parser"] = meeting(2)
    await stage.play(a_request(clarify="assume"))
    assert [call.paid for role in ("clarifier", "query_parser") for call in stage.fakes.of(role)] == [
        True
    ] * 2


# pause


@pytest.mark.parametrize(
    ("mode", "role", "then"),
    [
        ("iterative", "writer", "verifier"),
        ("iterative", "verifier", "editor"),
        ("deep", "planner", "judge"),
    ],
)
async def test_a_pause_holds_before_the_next_call_and_before_the_report(
    stage: Stage, mode: str, role: Role, then: Role
) -> None:
    stage.script.answers["writer"] = lambda step: sentences(stage, step, "ask")
    started, released = asyncio.Event(), asyncio.Event()

    async def held(_: object) -> None:
        started.set()
        await released.wait()

    stage.script.sufficient_at = 1
    stage.script.holds[role] = held
    run = await stage.start(a_request(mode))
    async with asyncio.timeout(PATIENCE):
        await started.wait()
    await run.handle.signal("pause")
    await run.until(lambda p: p.paused)
    async with stage.held():
        released.set()
        await run.until(lambda p: p.phase == "paused")
        asked = len(stage.fakes.paid())
        await asyncio.sleep(0.5)
        assert len(stage.fakes.paid()) == asked
        assert not [call for call in stage.fakes.of(then) if call.paid]
    await run.resume()
    outcome = await run.outcome()
    assert (outcome.stop_reason, (await run.progress()).phase) == ("sufficient_evidence", "done")


# steer, add_source


async def test_an_instruction_acts_as_the_model_reads_it(stage: Stage) -> None:
    """A wish for the text is searched nowhere and told to the writer; a search is made in the words that the
    model gives it, and its first works are read; a restriction is told to all."""
    wish, search, restriction = "keep trials apart from cohorts", "is there anything on rats?", "adults only"
    read = {
        wish: Instruction(text=wish, kind="text"),
        search: Instruction(text=search, kind="search", query="metformin rats"),
        restriction: Instruction(text=restriction, kind="restriction"),
    }
    stage.script.answers["gap_evaluator"] = lambda step: KnowledgeGapOutput(
        outstanding_gaps=("a gap",), instructions=tuple(read[text] for text in step.steering)
    )
    run = await stage.judging(a_request())
    for text in read:
        await run.handle.signal("steer", {"text": text})
    await run.outcome()
    searched = {search.query.text for search in stage.fakes.searches}
    assert "metformin rats" in searched
    assert not searched & set(read)
    assert "metformin rats" in stage.fakes.ordered[-1].asked_for
    told = {role: stage.fakes.of(role)[-1].step.steering for role in ("writer", "judge", "tool_selector")}
    assert told == {
        "writer": (wish, restriction),
        "judge": (restriction,),
        "tool_selector": (search, restriction),
    }


async def test_words_are_bounded_so_that_they_cannot_stop_a_run(stage: Stage) -> None:
    run = await stage.judging(a_request(limits={"max_tokens": None}))
    for number in range(60):
        await run.handle.signal("steer", {"text": f"{number} " + "words " * 3_000})
    assert (await run.outcome()).stop_reason == "sufficient_evidence"
    steering = stage.fakes.of("writer")[0].step.steering
    assert len(steering) == 20
    assert steering[-1].startswith("59 ")


async def test_each_message_to_a_run_that_works_is_acted_on(stage: Stage) -> None:
    stage.script.sufficient_at = None
    run = await stage.judging(a_request(sources=("alpha",), limits={"max_iterations": 1}), 60)
    for source in ("beta", "nowhere", "gamma"):
        await run.handle.signal("add_source", AddSource(source=source))
    assert "nothing to add" in await refusal(run, "extend_budget", ExtendBudget())
    status = await run.handle.execute_update(
        "extend_budget", ExtendBudget(tokens=1_000, iterations=2, seconds=60), result_type=BudgetStatus
    )
    assert (status.limits.max_tokens, status.limits.max_seconds) == (251_000, 3_660)
    await run.handle.signal("steer", Steer(text="older people"))
    await run.handle.signal("pause")
    await stage.env.sleep(timedelta(hours=1))
    assert (await run.progress()).max_iterations == 3
    await run.handle.signal("resume")
    await run.until(lambda p: (p.iteration, p.phase) == (2, "judging"))
    await run.handle.signal("pause")
    await stage.env.sleep(timedelta(hours=1))
    await run.handle.signal("finish_now")
    assert (await run.outcome()).stop_reason == "finished_by_reviewer"
    assert not (await run.progress()).paused, "finishing ends a pause"
    assert {task.source for task in stage.fakes.searches} == {"alpha", "beta"}
    of_sources = {s.code: s.values for s in (await run.report()).statements if "source" in s.values}
    assert of_sources["source_not_searchable"]["source"] == "nowhere"
    assert of_sources["source_not_available"] == {"source": "gamma", "reason": "set GAMMA_KEY"}


# what cannot be read


MALFORMED: list[tuple[str, list[Any]]] = [
    ("approve", []),
    ("approve", ["plan"]),
    ("approve", [{"gate": "kitchen"}]),
    ("approve", [{"gate": "plan"}, "and", "more"]),
    ("reject", [None]),
    ("reject", [[1, 2]]),
    ("steer", []),
    ("steer", [{"text": 7}]),
    ("steer", ["just text"]),
    ("add_source", [{"sauce": "alpha"}]),
    ("pause", [None]),
    ("resume", [{}]),
    ("grant", []),
    ("grant", ["all of it"]),
    ("nonsense", [1]),
    # bytes that are no JSON
    *(
        ("approve", [RawValue(Payload(metadata={"encoding": encoding}, data=b"\xff{not json"))])
        for encoding in (b"json/plain", b"binary/plain", b"something/else")
    ),
]


async def test_malformed_messages_harm_nothing(stage: Stage) -> None:
    run = await stage.judging(a_request())
    before = (await run.budget()).limits
    for signal, said in MALFORMED:
        await run.handle.signal(signal, args=said)
    read = [said for signal, said in MALFORMED if signal not in ("pause", "resume", "nonsense")]
    assert (await kinds(run)).count("ignored") >= len([said for said in read if said])
    await run.handle.signal("resume")
    plan = ReportPlan(report_title="T", report_outline=(ReportPlanSection(title="T", key_question="Q?"),))
    assert "while it waits" in await refusal(run, "edit_plan", EditPlan(plan=plan))
    for update in ("edit_plan", "extend_budget", "choose_candidates"):
        for argument in (None, "text", {"plan": 3}, {"tokens": -5}, {"names": "x"}):
            assert await refusal(run, update, argument)
    assert (await run.budget()).limits == before
    assert (await run.outcome()).stop_reason == "sufficient_evidence"
    assert len(stage.fakes.of("judge")) == 1


# gates

WITH_CANDIDATES = PROFILE.model_copy(update={"name": "drug_repurposing", "candidates": True})


async def test_an_approval_before_its_gate_is_ignored_and_noted(stage: Stage) -> None:
    run = await stage.judging(a_request(approve=("report",)))
    await run.handle.signal("approve", Approval(gate="report", by="hasty"))
    await stage.env.sleep(timedelta(hours=1))
    waiting = await run.until(lambda p: p.waiting_for == "report")
    assert waiting.phase == "waiting_for_approval"
    assert "ignored" in await kinds(run)
    draft = await run.ask("report", ReportView)
    assert draft.draft
    assert draft.blob
    await run.handle.signal("approve", Approval(gate="report", by="ann"))
    await run.outcome()
    report = await run.report()
    assert [(d.by, d.action) for d in report.methodology.approvals] == [("ann", "approved")]
    assert [p.draft for p in stage.fakes.published] == [True, False]


async def test_a_report_that_waits_is_not_searched_for_any_more_and_says_when_it_is_rejected(
    stage: Stage,
) -> None:
    run = await stage.start(a_request(approve=("report",)))
    await run.until(lambda p: p.waiting_for == "report")
    assert "stopped searching" in await refusal(run, "extend_budget", ExtendBudget(tokens=5))
    await run.handle.signal("reject", {"gate": "report", "by": "ann", "note": "too thin"})
    outcome = await run.outcome()
    assert outcome.stop_reason == "rejected_by_reviewer"
    assert (await run.progress()).stop_reason == "rejected_by_reviewer"
    assert "report_rejected" in limitations(await run.report())


async def test_finishing_does_not_release_a_report_that_was_to_be_approved(stage: Stage) -> None:
    stage.script.sufficient_at = None
    run = await stage.judging(a_request(approve=("report",)))
    await run.handle.signal("finish_now")
    await stage.env.sleep(timedelta(days=1))
    assert (await run.progress()).waiting_for == "report"
    await run.handle.signal("approve", {"gate": "report"})
    assert (await run.outcome()).stop_reason == "finished_by_reviewer"


@pytest.mark.parametrize(
    ("default", "stop"), [("approve", "sufficient_evidence"), ("reject", "rejected_by_reviewer")]
)
async def test_a_gate_that_times_out_uses_the_stated_default(stage: Stage, default: str, stop: str) -> None:
    request = a_request(approve=("plan",), approval_timeout_seconds=3 * DAY, approval_default=default)
    begun = await stage.env.get_current_time()
    outcome, report, run = await stage.play(request)
    assert outcome.stop_reason == stop
    assert ((await stage.env.get_current_time()) - begun).total_seconds() >= 3 * DAY
    decision = report.methodology.approvals[0]
    assert (decision.action, decision.by) == (
        f"timed_out_{'approved' if default == 'approve' else 'rejected'}",
        "time-out",
    )
    assert (await run.budget()).elapsed_seconds < 60


async def at_the_candidates(stage: Stage) -> Run:
    stage.script.profile = WITH_CANDIDATES
    stage.script.sufficient_at = 2
    run = await stage.start(a_request(approve=("candidates",)))
    await run.until(lambda p: p.waiting_for == "candidates")
    return run


async def test_only_the_candidates_that_were_chosen_are_reported_and_written_about(stage: Stage) -> None:
    """Also where a writer names the others."""

    def write(step: WriteInput) -> SectionDraft:
        one = stage.fakes.documents[step.evidence[0].blob]
        support = (Support(evidence_id=one.evidence_id, quote=one.text),)
        drugs = ("Metformin", "Aspirin")
        claims = tuple(DraftClaim(text=f"{drug} lowered mortality.", support=support) for drug in drugs)
        return SectionDraft(answer=claims, paragraphs=(DraftParagraph(claims=claims),))

    stage.script.answers["writer"] = write
    stage.script.answers["editor"] = lambda step: Edited(
        answer=tuple(EditedSentence(text=claim.text, claims=(claim.id,)) for claim in step.claims["s1"])
    )
    run = await at_the_candidates(stage)
    proposed = len(stage.fakes.of("hypothesis_generator"))
    assert [c.name for c in (await run.progress()).candidates] == ["metformin", "aspirin", "sirolimus"]
    assert "penicillin" in await refusal(run, "choose_candidates", ChooseCandidates(names=("penicillin",)))
    assert "no name given" in await refusal(run, "choose_candidates", ChooseCandidates(names=()))
    chosen = await run.handle.execute_update(
        "choose_candidates", ChooseCandidates(names=("Aspirin",), by="ann"), result_type=list[str]
    )
    assert chosen == ["aspirin"]
    await run.outcome()
    report = await run.report()
    assert [c.name for c in CANDIDATES.of_report(report)] == ["aspirin"]
    assert [(d.gate, d.action, d.note) for d in report.methodology.approvals] == [
        ("candidates", "chosen", "aspirin")
    ]
    written = stage.fakes.of("writer")[0].step
    assert [h.drug for h in written.hypotheses] == ["aspirin"]  # type: ignore[attr-defined]
    assert len(stage.fakes.of("hypothesis_generator")) == proposed  # none is proposed after the choice
    published = stage.fakes.published[-1]
    text = published.model_dump_json(include={"sections": {"__all__": {"draft": {"answer"}}}, "edited": True})
    assert ("Aspirin" in text, "Metformin" in text) == (True, False)


async def test_rejected_candidates_are_left_out_and_the_report_is_still_written(stage: Stage) -> None:
    run = await at_the_candidates(stage)
    await run.handle.signal("reject", {"gate": "candidates"})
    await run.outcome()
    report = await run.report()
    assert report.sections
    assert CANDIDATES.of_report(report) == ()
    assert not [claim for claim in report.sentences() if "metformin" in claim.text.casefold()]
    assert "candidates_rejected" in limitations(report)


# the plan of a single loop, the budget


async def test_an_edited_question_is_the_one_that_is_researched(stage: Stage) -> None:
    run = await stage.start(a_request(approve=("plan",)))
    await run.until(lambda p: p.waiting_for == "plan")
    section = ReportPlanSection(title="Findings", key_question="Does metformin help people over 80?")
    two = ReportPlan(report_title="Two", report_outline=(section, section))
    assert "1 section" in await refusal(run, "edit_plan", EditPlan(plan=two))
    view = await run.handle.execute_update(
        "edit_plan",
        EditPlan(plan=ReportPlan(report_title="Older people", report_outline=(section,)), by="ann"),
        result_type=PlanView,
    )
    await run.handle.signal("approve", {"gate": "plan", "by": "bob"})
    await run.outcome()
    report = await run.report()
    assert report.methodology.plan_hash == view.plan_hash
    assert {c.step.question for c in stage.fakes.of("judge")} == {section.key_question}
    assert report.question == QUESTION
    assert [(d.action, d.by, d.plan_hash) for d in report.methodology.approvals] == [
        ("edited", "ann", view.plan_hash),
        ("approved", "bob", view.plan_hash),
    ]


# queries


async def test_queries_answer_while_a_run_works_and_when_it_is_over(stage: Stage) -> None:
    stage.script.before["judge"] = lambda _: takes(30)
    run = await stage.start(a_request())
    running = await run.until(lambda p: p.phase == "judging")
    assert (running.iteration, running.evidence, running.searches_total) == (1, 2, 2)
    assert running.mode == "iterative"
    assert not (await run.ask("report", ReportView)).blob
    await run.outcome()
    done = await run.progress()
    assert (done.phase, done.stop_reason) == ("done", "sufficient_evidence")
    index = await run.ask("evidence_index", EvidenceIndex)
    assert index.total == len(index.items) == 2
    rest = await run.ask("evidence_index", EvidenceIndex, {"after": 1})
    assert (rest.total, rest.items) == (2, index.items[1:])
    view = await run.ask("report", ReportView)
    assert not view.draft
    assert view.blob
    plan = await run.ask("plan", PlanView)
    assert plan.plan_hash == (await run.report()).methodology.plan_hash
    events = await run.events()
    assert [e.seq for e in events] == list(range(1, len(events) + 1))
    assert await run.events(after=events[-1].seq) == []
    assert (await run.events(after=events[-3].seq)) == events[-2:]
    budget = await run.budget()
    assert budget.used.tokens == sum(c.usage.tokens for c in stage.fakes.calls)
    assert budget.by_role["judge"].calls == 1


async def test_answers_stay_under_the_payload_limit(stage: Stage) -> None:
    """240 references with the longest titles, addresses and queries there can be, carried over twice."""
    from tests.workflows.script import document

    converter = DATA_CONVERTER.payload_converter

    def search(task: Any) -> list[Any]:
        found = []
        for number in range(50):
            item = document(task.source, task.query.text, number)
            found.append(
                item.model_copy(
                    update={
                        "title": f"{number} " + "\u00e9" * 290,
                        "url": "https://example.org/" + "u" * 900 + str(number),
                        "provenance": item.provenance * 8,
                    }
                )
            )
        return found

    stage.script.search = search
    stage.script.sufficient_at = 4
    outcome, report, run = await stage.play(
        a_request(
            limits={"max_tokens": None, "results_per_search": 50}, question="q" * 3_000, history_events=50
        )
    )
    assert outcome.stop_reason == "sufficient_evidence"
    assert report.references
    index = await run.ask("evidence_index", EvidenceIndex)
    assert index.total == 240
    assert 0 < len(index.items) < 240
    largest = max(len(converter.to_payloads([call.step])[0].data) for call in stage.fakes.calls)
    assert largest < 256 * 1024
    assert all(isinstance(item, EvidenceRef) for item in index.items)


async def test_a_value_that_is_too_large_is_named_and_not_paid_for_again(stage: Stage) -> None:
    from activities.contracts.search import Hits

    def search(task: Any) -> Hits:
        if task.source == "beta":
            return Hits(source="beta", query=task.query.text, status="ok", detail="x" * 300_000)
        raise outage()

    stage.script.search = search
    _, report, _ = await stage.play(a_request())
    row = next(r for r in report.methodology.searches if r.source == "beta")
    assert (row.status, row.attempts) == ("unavailable", 1)
    assert "HitsOfAll" in row.detail
    assert [s.source for s in stage.fakes.searches].count("beta") == 1


async def test_an_extension_beyond_the_maximum_is_refused_and_the_run_goes_on(stage: Stage) -> None:
    stage.script.sufficient_at = 2
    run = await stage.start(a_request(approve=("plan",), limits={"max_cost_microusd": 10**9}))
    await run.until(lambda p: p.waiting_for == "plan")
    most = {"iterations": 10**9, "tokens": 10**15, "cost": 10**9, "seconds": 1e308}
    for name, amount in (("iterations", 46), ("seconds", 1e12), *most.items()):
        assert "at most" in await refusal(run, "extend_budget", {name: amount})
    assert (await run.budget()).limits.max_iterations == 5
    await run.handle.execute_update("extend_budget", {"iterations": 45})
    await run.handle.signal("approve", Approval(gate="plan"))
    assert (await run.outcome()).stop_reason == "sufficient_evidence"


@pytest.mark.parametrize("is_late", [True, False])
async def test_an_instruction_that_comes_behind_the_text_is_named(stage: Stage, is_late: bool) -> None:
    run = await stage.judging(a_request(approve=("report",)))
    if not is_late:
        await run.handle.signal("steer", {"text": "older people"})
    await stage.env.sleep(timedelta(hours=1))
    await run.until(lambda p: p.waiting_for == "report")
    if is_late:
        await run.handle.signal("steer", {"text": "older people"})
    await run.decide("approve", "report")
    await run.outcome()
    late = [s for s in (await run.report()).statements if s.code == "steer_late"]
    assert [statement.values["texts"] for statement in late] == [("older people",)] * is_late
