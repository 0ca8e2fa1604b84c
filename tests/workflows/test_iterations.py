"""A run remembers its iterations: the next ones read them, sections share what they found, people can ask."""

from typing import Any

import pytest

from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.evidence import EvidenceRef, SearchRecord, SearchStatus, Statement, Support, Usage
from activities.contracts.judge import (
    Hypotheses,
    JudgeAssessment,
    JudgeInput,
    MechanismHypothesis,
    ReflectInput,
    Reflection,
)
from activities.contracts.plan import GapsInput, KnowledgeGapOutput, ObserveInput, SelectInput
from activities.contracts.step import Role
from activities.contracts.write import SentenceVerdict, Verdicts, VerifyInput
from activities.report.formats.words import used_rows
from client.runs.query import iterations
from tests.workflows.conftest import QUESTION, Run, Stage, a_request
from tests.workflows.script import PROFILE, document, option
from workflows.memory import TEXT_CHARS, LoopMemory
from workflows.sections.types import SharedEvidence


def a_search(iteration: int, status: SearchStatus = "ok", **more: Any) -> SearchRecord:
    return SearchRecord.model_validate(
        {"source": "alpha", "query": "as sent", "asked": "as asked", "status": status, **more}
        | {"iteration": iteration}
    )


def test_a_record_holds_what_its_iteration_brought_and_is_bounded() -> None:
    memory = LoopMemory()
    memory.begin(None, "2026-01-01T00:00:00+00:00", Usage(calls=2, input_tokens=100, cost_microusd=10))
    memory.thought, memory.gaps = "long " * 1_000, tuple(f"gap {n}" for n in range(50))
    memory.judged = JudgeAssessment(scores={"relevance": 7}, confidence=0.6, reasoning="so so")
    searches = [a_search(1), *(a_search(2) for _ in range(50))]
    used = Usage(calls=5, input_tokens=700, cost_microusd=None)
    record = memory.record(2, "s1", searches, used, "2026-01-01T00:01:30+00:00")
    assert (record.iteration, record.section, record.seconds) == (2, "s1", 90.0)
    assert (record.model_calls, record.tokens, record.cost_microusd) == (3, 600, None)
    assert (record.judged, record.scores, record.confidence) == (True, {"relevance": 7}, 0.6)
    assert {search.query for search in record.searches} == {"as asked"}
    assert len(record.thought) <= TEXT_CHARS
    assert len(record.model_dump_json()) < 16_000


async def test_each_iteration_is_remembered_and_shown_to_the_next(stage: Stage) -> None:
    stage.script.sufficient_at = 3
    _, _, run = await stage.play(a_request())
    records = await iterations(stage.client, run.handle.id)
    assert [record.iteration for record in records] == [1, 2, 3]
    first = records[0]
    assert first.gaps == (QUESTION,)
    assert {search.source for search in first.searches} == {"alpha", "beta"}
    assert first.new_items == len(first.findings) == 2
    assert [record.sufficient for record in records] == [False, False, True]
    assert all(record.scores and record.verdict and record.tokens for record in records)
    assert records[1].thought.startswith("seen")
    steps = [call.step for call in stage.fakes.of("gap_evaluator")]
    shown = [len(step.earlier) for step in steps if isinstance(step, GapsInput)]
    assert shown == [1, 2], "the first gap evaluation is no activity"
    observed = [call.step for call in stage.fakes.of("observer")]
    assert all(isinstance(step, ObserveInput) and step.earlier[-1].gaps for step in observed)


async def test_the_steps_of_an_iteration_are_sent_little_however_much_was_found(stage: Stage) -> None:
    """Every input stays in the history of the run."""
    stage.script.sufficient_at, stage.script.search = (
        None,
        lambda task: [document(task.source, task.query.text, number) for number in range(10)],
    )
    await stage.play(a_request(limits={"max_tokens": None, "max_iterations": 8}))
    roles: tuple[Role, ...] = ("observer", "gap_evaluator", "tool_selector")
    steps = [call.step for role in roles for call in stage.fakes.of(role)]
    assert len(steps) > 12
    sizes = [len(step.model_dump_json(exclude_defaults=True)) for step in steps]
    assert max(sizes) < 12 * 1024


@pytest.mark.parametrize(("mode", "sections"), [("iterative", [""]), ("deep", ["s1", "s2"])])
async def test_the_method_has_a_row_for_each_iteration_and_one_for_all_else(
    stage: Stage, mode: str, sections: list[str]
) -> None:
    stage.script.sufficient_at, stage.script.sections = 2, 2
    _, report, run = await stage.play(a_request(mode, limits={"max_tokens": None}))
    rows = report.methodology.spent_by
    assert [(row.section, row.iteration) for row in rows] == [(s, n) for s in sections for n in (1, 2)]
    assert [row.stopped for row in rows] == [None, "sufficient_evidence"] * len(sections)
    assert all(
        row.calls and row.tokens and row.scores == {"relevance": 9 if row.stopped else 3} for row in rows
    )
    *_, rest = used_rows(report)
    outside = ("query_parser", "planner", "writer", "verifier", "editor", "appraiser")
    assert int(rest[2]) == sum(call.paid for call in stage.fakes.calls if call.role in outside)
    assert (await run.budget()).used.calls == sum(row.calls for row in rows) + int(rest[2])


async def test_sections_share_what_they_found_as_references(stage: Stage) -> None:
    """At their next iterations, in one signal an iteration at most, and each item once."""
    stage.script.mode, stage.script.sections, stage.script.sufficient_at = "deep", 3, 3
    _, _, run = await stage.play(a_request("deep", limits={"max_tokens": None}))
    received = {name: await offers(stage.child(run, name)) for name in ("s1", "s2", "s3")}
    assert any(received.values())
    for section, offered in received.items():
        names = [ref.evidence_id for ref in offered]
        assert len(names) == len(set(names))
        judged = [c.step for c in stage.fakes.of("judge") if c.step.section == section]
        seen = {ref.evidence_id for step in judged if isinstance(step, JudgeInput) for ref in step.evidence}
        assert set(names) & seen or not names
    events = [event for event in await run.events() if event.type == "evidence_shared"]
    assert {event.section for event in events} <= {"s1", "s2", "s3"}
    records = await iterations(stage.client, run.handle.id)
    assert [(r.section, r.iteration) for r in records] == [
        (section, number) for section in ("s1", "s2", "s3") for number in range(1, 4)
    ]


async def offers(section: Run) -> list[EvidenceRef]:
    """What a section was offered, read from its history; at most one offer an iteration."""
    found: list[EvidenceRef] = []
    signals = 0
    async for event in section.handle.fetch_history_events():
        signal = event.workflow_execution_signaled_event_attributes
        if signal.signal_name == "offer_evidence":
            signals += 1
            [payload] = signal.input.payloads
            found += SharedEvidence.model_validate_json(payload.data).items
    assert signals <= 3
    return found


async def test_searches_that_brought_little_are_reflected_on_with_what_they_brought(stage: Stage) -> None:
    """Two searches find one work between them; what is searched instead follows from the reflection."""

    def reflect(step: ReflectInput) -> Reflection:
        assert [ref.title for ref in step.new_evidence]
        return Reflection(served=True, reason="one of two", better_searches=("a better search",))

    stage.script.sufficient_at = 2
    stage.script.search = lambda task: [document("alpha", task.query.text.split(" in ")[0])]
    stage.script.answers["reflector"] = reflect
    _, _, run = await stage.play(a_request())
    assert stage.fakes.of("reflector")
    assert (await iterations(stage.client, run.handle.id))[0].reflection == "one of two"


@pytest.mark.parametrize(("documents", "are_reviewed"), [(1, False), (9, True)])
async def test_searches_of_a_folder_that_was_found_whole_are_not_reflected_on(
    stage: Stage, documents: int, are_reviewed: bool
) -> None:
    """There is nothing else to search for."""
    stage.script.sources, stage.script.documents = [option("library")], documents
    stage.script.sufficient_at = 2
    stage.script.search = lambda _: [document("library", "the only one")]
    await stage.play(a_request(sources=("library",)))
    assert bool(stage.fakes.of("reflector")) is are_reviewed


async def test_what_would_test_a_hypothesis_is_searched_for(stage: Stage) -> None:
    """In a profile with candidates: once, after the first judgement that does not suffice."""

    def hypothesise(step: Any) -> Hypotheses:
        ref = step.evidence[0]
        quote = Support(evidence_id=ref.evidence_id, quote=stage.fakes.documents[ref.blob].text)
        tests = ("metformin no benefit", "metformin trial")
        return Hypotheses(
            hypotheses=(
                MechanismHypothesis(
                    drug="metformin",
                    supporting_evidence=(quote,),
                    contradicting_evidence=(quote,),
                    search_suggestions=tests,
                ),
            )
        )

    stage.script.profile = PROFILE.model_copy(update={"candidates": True})
    stage.script.sufficient_at, stage.script.answers["hypothesis_generator"] = 3, hypothesise
    _, report, _ = await stage.play(a_request())
    selected = [call.step for call in stage.fakes.of("tool_selector")]
    tests = [step.tests for step in selected if isinstance(step, SelectInput)]
    assert tests[0] == ()
    assert tests[1][0] == "metformin no benefit"
    [candidate] = CANDIDATES.of_report(report)
    assert candidate.search_suggestions == ("metformin no benefit", "metformin trial")
    assert candidate.against


async def test_what_is_offered_against_a_candidate_is_read_again(stage: Stage) -> None:
    def hypothesise(step: Any) -> Hypotheses:
        ref = step.evidence[0]
        quote = Support(evidence_id=ref.evidence_id, quote=stage.fakes.documents[ref.blob].text)
        named = {"supporting_evidence": (quote,), "contradicting_evidence": (quote,)}
        return Hypotheses(hypotheses=(MechanismHypothesis(drug="metformin", **named),))

    def read(step: VerifyInput) -> Verdicts:
        denied = Statement(code="not_supported", values={"verdict": "no", "reason": "it lowered it"})
        verdicts = [
            SentenceVerdict(id=sentence.id, problem=denied if "did not help" in sentence.text else None)
            for sentence in step.sentences
        ]
        return Verdicts(verdicts=tuple(verdicts))

    stage.script.profile = PROFILE.model_copy(update={"candidates": True})
    stage.script.answers["hypothesis_generator"], stage.script.answers["verifier"] = hypothesise, read
    _, report, _ = await stage.play(a_request())
    [candidate] = CANDIDATES.of_report(report)
    assert candidate.support
    assert candidate.against == ()
    assert [s.number("quotes") for s in report.statements if s.code == "not_against"] == [1]


@pytest.mark.parametrize(("score", "expected"), [(8, "sufficient_evidence"), (3, "searched_out")])
async def test_complete_research_is_sufficient_where_the_scores_agree(
    stage: Stage, score: int, expected: str
) -> None:
    stage.script.answers["judge"] = lambda step: stage.fakes.judged(
        step, enough=False, scores={"relevance": score}, gaps=()
    )
    stage.script.answers["gap_evaluator"] = lambda _: KnowledgeGapOutput(research_complete=True)
    outcome, _, _ = await stage.play(a_request())
    assert outcome.stop_reason == expected
