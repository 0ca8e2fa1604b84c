"""What a role gives is used: an answer with a mark is found in the prompts, or the searches, of later steps.

The runs are scripted; the prompts are those that the roles themselves make of each step."""

from typing import Any

import pytest

from activities.models.tokens import room
from activities.roles.registry import SPECS
from activities.steps import (
    AgentSelectionPlan,
    AgentTask,
    Hypotheses,
    KnowledgeGapOutput,
    MechanismHypothesis,
    Observation,
    ParsedQuery,
    Reflection,
    Role,
    TeamLedger,
)
from activities.types import ReportPlan, ReportPlanSection, Support
from tests.workflows.conftest import Stage, a_request
from tests.workflows.script import PROFILE, document
from tests.workflows.test_deep_writing import sentences

CONTEXT_TOKENS = 100_000
UNBOUNDED = {"max_tokens": None}


def prompts(stage: Stage, role: Role) -> str:
    """All prompts of a role in a run."""
    made = []
    for call in stage.fakes.of(role):
        refs = SPECS[role].refs(call.step)
        documents = [stage.fakes.documents[ref.blob] for ref in refs if ref.blob in stage.fakes.documents]
        made.append(SPECS[role].render(call.step, documents, room(call.step.allowance, CONTEXT_TOKENS)).user)
    return "\n".join(made)


def queries(stage: Stage) -> str:
    return "\n".join(search.query.text for search in stage.fakes.searches)


def marked_judge(stage: Stage, enough_at: int) -> Any:
    def judge(step: Any) -> Any:
        enough = step.iteration >= enough_at
        batch = stage.fakes.judged(
            step,
            enough=enough,
            reasoning="mark-reasoning",
            gaps=() if enough else (f"mark-gap {step.iteration}",),
        )
        marked = (
            one.model_copy(update={"finding": "mark-finding", "comparator": "mark-comparator"})
            for one in batch.judgements
        )
        return batch.model_copy(update={"judgements": tuple(marked)})

    return judge


async def test_no_answer_of_a_loop_is_thrown_away(stage: Stage) -> None:
    """The judge names gaps and no searches: observer, gap evaluator and selector are asked."""
    answers = stage.script.answers
    answers["query_parser"] = lambda step: ParsedQuery(
        improved_query=step.question, key_entities=("mark-entity",), research_questions=("mark-parsed",)
    )
    answers["judge"] = marked_judge(stage, 3)
    answers["observer"] = lambda _: Observation(text="mark-observation")
    answers["gap_evaluator"] = lambda step: KnowledgeGapOutput(
        outstanding_gaps=(f"mark-outstanding {step.iteration}",)
    )
    answers["tool_selector"] = lambda step: AgentSelectionPlan(
        tasks=tuple(AgentTask(gap=gap, agent="alpha", query=f"mark-query {gap}") for gap in step.gaps)
    )
    answers["reflector"] = lambda _: Reflection(served=False, better_searches=("mark-better",))
    answers["writer"] = lambda step: sentences(stage, step, "ask")
    found: set[str] = set()

    def search(task: Any) -> Any:
        name = task.query.text
        known = name in found
        found.add(name)
        return [] if known or "outstanding 2" in name else [document(task.source, name)]

    stage.script.search = search
    await stage.play(a_request(limits=UNBOUNDED))
    assert "mark-parsed" in queries(stage)
    assert "mark-query" in queries(stage)
    assert "mark-finding" in prompts(stage, "observer")
    assert "mark-reasoning" in prompts(stage, "observer")
    assert "mark-observation" in prompts(stage, "gap_evaluator")
    assert "mark-gap" in prompts(stage, "gap_evaluator")
    assert "mark-outstanding" in prompts(stage, "tool_selector")
    assert "mark-entity" in prompts(stage, "tool_selector")
    assert "mark-comparator" in prompts(stage, "writer")
    assert "both cohorts" in prompts(stage, "verifier")
    assert "both cohorts" in prompts(stage, "editor")


async def test_what_the_judge_names_is_searched_without_a_call(stage: Stage) -> None:
    stage.script.answers["judge"] = lambda step: stage.fakes.judged(
        step,
        enough=step.iteration > 1,
        gaps=("mark-gap",) if step.iteration == 1 else (),
        recommended_searches=("mark-search",) if step.iteration == 1 else (),
    )
    _, _, run = await stage.play(a_request())
    assert "mark-search" in queries(stage)
    assert not [c for role in ("observer", "gap_evaluator") for c in stage.fakes.of(role)]
    assert [e.data for e in await run.events() if e.type == "gap"] == [{"gap": "mark-gap", "by": "judge"}]


async def test_a_work_is_judged_once(stage: Stage) -> None:
    stage.script.sufficient_at = 3
    await stage.play(a_request(limits=UNBOUNDED))
    shown = [
        ref.evidence_id for call in stage.fakes.of("judge") for ref in getattr(call.step, "evidence", ())
    ]
    assert len(stage.fakes.of("judge")) > 1
    assert len(shown) == len(set(shown))


async def test_the_plan_reaches_the_searches_and_the_prompts(stage: Stage) -> None:
    section = ReportPlanSection(title="Effect", key_question="does it work", queries=("mark-planned",))
    stage.script.answers["planner"] = lambda _: ReportPlan(
        report_title="A plan", background_context="mark-background", report_outline=(section,)
    )
    await stage.play(a_request("deep"))
    assert "mark-planned" in queries(stage)
    assert stage.fakes.of("observer") == stage.fakes.of("gap_evaluator") == []
    for role in ("judge", "writer"):
        assert "mark-background" in prompts(stage, role)


@pytest.mark.parametrize("mode", ["team", "hierarchical"])
async def test_a_manager_sees_its_team_and_its_words_reach_whoever_it_names(stage: Stage, mode: str) -> None:
    order = ("searcher", "hypothesizer", "judge", "searcher", "judge")

    def manage(step: Any) -> TeamLedger:
        number = step.round - 1
        member: Any = order[number] if number < len(order) else "reporter"
        return TeamLedger(
            facts=("mark-fact [pmid:1]",),
            plan=("mark-plan",),
            next_speaker=member,
            instruction=f"mark-for-{member}",
        )

    def name(step: Any) -> Hypotheses:
        support = (Support(evidence_id=step.evidence[0].evidence_id, quote="q"),)
        return Hypotheses(hypotheses=(MechanismHypothesis(drug="mark-drug", supporting_evidence=support),))

    stage.script.profile = PROFILE.model_copy(update={"candidates": True})
    stage.script.sections = 1
    stage.script.answers["manager"] = manage
    stage.script.answers["hypothesis_generator"] = name
    stage.script.answers["judge"] = marked_judge(stage, 99)
    await stage.play(a_request(mode, limits={**UNBOUNDED, "max_iterations": 7}))
    managed = prompts(stage, "manager")
    for mark in ("mark-finding", "mark-reasoning", "mark-drug", "mark-gap", "mark-fact", "in alpha"):
        assert mark in managed, mark
    assert "mark-for-searcher" in prompts(stage, "tool_selector")
    assert "mark-for-hypothesizer" in prompts(stage, "hypothesis_generator")
    assert "mark-for-judge" in prompts(stage, "judge")
    if mode == "team":
        assert "mark-for-reporter" in prompts(stage, "writer")
        assert "mark-fact" in prompts(stage, "writer")
