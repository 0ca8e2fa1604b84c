"""What a role gives is used: an answer with a mark is found in the prompts, or the searches, of later steps.

The runs are scripted; the prompts are those that the roles themselves make of each step."""

from collections.abc import Mapping
from typing import Any, cast

import pytest
from pydantic import BaseModel

from activities.contracts.evidence import ReportPlan, ReportPlanSection, Support
from activities.contracts.judge import Hypotheses, JudgeBatch, MechanismHypothesis, Reflection
from activities.contracts.plan import (
    AgentSelectionPlan,
    AgentTask,
    Clarified,
    KnowledgeGapOutput,
    Observation,
    ParsedQuery,
    TeamLedger,
)
from activities.contracts.profile import Specialist
from activities.contracts.step import Reading, Role
from activities.contracts.write import Edited, SectionDraft
from activities.models.base import room
from activities.roles.role import ROLES, spec_of
from tests.workflows.conftest import Stage, a_request
from tests.workflows.script import MODEL, PROFILE, document

CONTEXT_TOKENS = 100_000
UNBOUNDED = {"max_tokens": None}


def prompts(stage: Stage, role: Role) -> str:
    """All prompts of a role in a run."""
    made = []
    for call in stage.fakes.of(role):
        refs = spec_of(role).refs(call.step)
        documents = [stage.fakes.documents[ref.blob] for ref in refs if ref.blob in stage.fakes.documents]
        made.append(
            spec_of(role).render(call.step, documents, room(call.step.allowance, CONTEXT_TOKENS)).user
        )
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
            judgement.model_copy(update={"finding": "mark-finding", "comparator": "mark-comparator"})
            for judgement in batch.judgements
        )
        return batch.model_copy(update={"judgements": tuple(marked)})

    return judge


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


@pytest.mark.parametrize(("limit", "judged"), [(250_000, [20]), (30_000, [10])])
async def test_a_round_is_judged_in_one_call_where_model_and_budget_hold_it(
    stage: Stage, limit: int, judged: list[int]
) -> None:
    """Else in as many as the budget holds of two."""
    stage.script.contexts = {MODEL.model: 32_000}
    stage.script.search = lambda task: [document(task.source, task.query.text, n) for n in range(30)]
    await stage.play(a_request(limits={"max_tokens": limit}))
    assert [len(getattr(call.step, "evidence", ())) for call in stage.fakes.of("judge")] == judged


async def test_a_work_is_judged_once(stage: Stage) -> None:
    stage.script.sufficient_at = 3
    await stage.play(a_request(limits=UNBOUNDED))
    shown = [
        ref.evidence_id for call in stage.fakes.of("judge") for ref in getattr(call.step, "evidence", ())
    ]
    assert len(stage.fakes.of("judge")) > 1
    assert len(shown) == len(set(shown))


async def test_a_manager_sees_its_team_and_its_words_reach_whoever_it_names(stage: Stage) -> None:
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
    stage.script.answers["manager"] = manage
    stage.script.answers["hypothesis_generator"] = name
    stage.script.answers["judge"] = marked_judge(stage, 99)
    await stage.play(a_request("team", limits={**UNBOUNDED, "max_iterations": 7}))
    managed = prompts(stage, "manager")
    for mark in ("mark-finding", "mark-reasoning", "mark-drug", "mark-gap", "mark-fact", "in alpha"):
        assert mark in managed, mark
    assert "mark-for-searcher" in prompts(stage, "tool_selector")
    assert "mark-for-hypothesizer" in prompts(stage, "hypothesis_generator")
    assert "mark-for-judge" in prompts(stage, "judge")
    for role in ("writer", "editor"):
        assert "mark-for-reporter" in prompts(stage, role), role
        assert "mark-fact" in prompts(stage, role), role


BETA = Specialist(name="beta_reader", does="mark-does", sources=("beta", "gamma"), prompt="mark-prompt")
"""As a profile's file names one; `gamma` is not enabled."""


async def test_a_member_that_a_profile_names_searches_its_own_sources_with_its_own_prompt(
    stage: Stage,
) -> None:
    order = ("beta_reader", "judge")

    def manage(step: Any) -> TeamLedger:
        named = order[(step.round - 1) % 2]
        return TeamLedger(facts=("f",), plan=("p",), next_speaker=named, instruction="mark-task")

    stage.script.profile = PROFILE.model_copy(update={"specialists": (BETA,)})
    stage.script.answers["manager"] = manage
    _, _, run = await stage.play(a_request("team", limits={**UNBOUNDED, "max_iterations": 4}))
    assert "mark-does" in prompts(stage, "manager")
    assert "beta_reader" in {e.data["member"] for e in await run.events() if e.type == "turn"}
    chosen = [call.step for call in stage.fakes.of("tool_selector") if call.paid]
    assert {option.info.name for step in chosen for option in getattr(step, "sources", ())} == {"beta"}
    for step in chosen:
        system = spec_of("tool_selector").render(step, (), 10_000).system
        assert "mark-prompt" in system
        assert "You choose searches" in system, "beside the prompt of the role"


@pytest.mark.parametrize(("handed_to", "searched"), [("beta_reader", {"beta"}), ("", {"alpha", "beta"})])
async def test_auto_hands_a_question_over_to_the_specialist_that_fits(
    stage: Stage, handed_to: str, searched: set[str]
) -> None:
    stage.script.profile = PROFILE.model_copy(update={"specialists": (BETA,)})
    stage.script.answers["query_parser"] = lambda step: ParsedQuery(
        improved_query=step.question, specialist=handed_to if handed_to in step.specialists else ""
    )
    await stage.play(a_request("auto"))
    assert {search.source for search in stage.fakes.searches} == searched
    assert "mark-does" in prompts(stage, "query_parser")


# every field of every answer, a new one too

NAMES = frozenset(
    {
        *("evidence_id", "quote", "agent", "id"),  # of a work, a source, a sentence
        *(
            *("research_mode", "profile", "sources", "specialist", "next_speaker", "model", "aspect"),
        ),  # one of those offered
        *("relevant", "role"),  # ids of works, one of the profile's roles
    }
)
"""Fields that name something which is there; a mark would name nothing."""
UNUSED: Mapping[str, str] = {
    "query_parser.original_query": "the question itself",
    "clarifier.readings.answer": "the person's; without one what is assumed holds",
}
"""Fields that reach nobody, with the reason."""


NO_TEXT: frozenset[Role] = frozenset({"orderer", "verifier", "reviser", "extractor", "appraiser", "analyst"})
"""Roles whose answer is no text that later steps read: numbers, verdicts, cells, a program; or that are asked
after the report."""
OF_REVIEWS: frozenset[Role] = frozenset({"screener", "full_text_screener", "data_extractor", "bias_assessor"})
"""Roles that only a systematic review asks."""
UNASKED = "query_parser.wordings"
"""What is asked for only where a source has another language than the question."""


class Marks:
    """Answers in which every text is a mark of its field."""

    def __init__(self) -> None:
        self.made: dict[str, str] = {}
        """Field -> its mark, which is short: prompts cut long texts."""

    def mark(self, path: str) -> str:
        return self.made.setdefault(path, f"marked{len(self.made)}x")

    def of(self, path: str, answer: BaseModel) -> Any:
        update: dict[str, object] = {}
        for name, field in type(answer).model_fields.items():
            here, value = f"{path}.{name}", getattr(answer, name)
            if name in NAMES or f"{path}.{name}" in UNUSED:
                continue
            if field.annotation is str:
                update[name] = self.mark(here)
            elif field.annotation == tuple[str, ...]:
                update[name] = (self.mark(here),)
            elif field.annotation == dict[str, str]:
                update[name] = {"relevance": self.mark(here)}
            elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
                update[name] = tuple(self.of(here, one) for one in value)
        return answer.model_copy(update=update)


def marking(stage: Stage, marks: Marks) -> None:
    """Let every role that gives free text answer with marks."""
    fakes = stage.fakes

    def judged(step: Any) -> JudgeBatch:
        return cast(JudgeBatch, marks.of("judge", fakes.judged(step, enough=step.iteration > 2)))

    def named(step: Any) -> Hypotheses:
        quote = fakes.documents[step.evidence[0].blob].text
        support = (Support(evidence_id=step.evidence[0].evidence_id, quote=quote),)
        one = MechanismHypothesis(drug="metformin", supporting_evidence=support)
        return cast(Hypotheses, marks.of("hypothesis_generator", Hypotheses(hypotheses=(one,))))

    def managed(step: Any) -> TeamLedger:
        order = ("searcher", "judge", "hypothesizer", "searcher", "judge")
        member = order[step.round - 1] if step.round <= len(order) else "reporter"
        return cast(TeamLedger, marks.of("manager", TeamLedger(next_speaker=member)))

    def planned(_: Any) -> ReportPlan:
        section = ReportPlanSection(title="t", key_question="q")
        return cast(ReportPlan, marks.of("planner", ReportPlan(report_title="t", report_outline=(section,))))

    def parsed(step: Any) -> ParsedQuery:
        return cast(ParsedQuery, marks.of("query_parser", ParsedQuery(improved_query=step.question)))

    def selected(step: Any) -> AgentSelectionPlan:
        if step.model.backend == "extractive":  # code words the first searches
            tasks = (AgentTask(gap=gap, agent="alpha", query=gap) for gap in step.gaps)
            return AgentSelectionPlan(tasks=tuple(tasks))
        task = AgentTask(gap="g", agent="alpha", query="q")
        return cast(AgentSelectionPlan, marks.of("tool_selector", AgentSelectionPlan(tasks=(task,))))

    def written(step: Any) -> SectionDraft:
        draft = fakes.drafted(step)
        texts = tuple(
            part.model_copy(
                update={
                    "claims": tuple(
                        claim.model_copy(update={"text": f"{claim.text} {marks.mark('writer.text')}"})
                        for claim in part.claims
                    )
                }
            )
            for part in draft.paragraphs
        )
        return draft.model_copy(
            update={"paragraphs": texts, "limitations": (marks.mark("writer.limitations"),)}
        )

    def edited(step: Any) -> Edited:
        """Gives one report a title of its own, and leaves the others the planner's."""
        if "editor.title" in marks.made:
            return Edited(title=step.title)
        return cast(Edited, marks.of("editor", Edited(title="t")))

    stage.script.profile = PROFILE.model_copy(update={"candidates": True})
    stage.script.answers = {
        "judge": judged,
        "hypothesis_generator": named,
        "manager": managed,
        "planner": planned,
        "query_parser": parsed,
        "tool_selector": selected,
        "observer": lambda _: marks.of("observer", Observation(text="")),
        "gap_evaluator": lambda _: marks.of("gap_evaluator", KnowledgeGapOutput()),
        "reflector": lambda _: marks.of("reflector", Reflection(served=False)),
        "clarifier": lambda _: marks.of(
            "clarifier", Clarified(readings=(Reading(question="q", assumed="a"),))
        ),
        "writer": written,
        "editor": edited,
    }


async def test_every_text_that_a_role_answers_reaches_a_prompt_a_search_or_a_report(stage: Stage) -> None:
    marks = Marks()
    marking(stage, marks)
    assert set(ROLES) == {*stage.script.answers, *NO_TEXT, *OF_REVIEWS}
    reports = []
    for mode in ("iterative", "deep", "team"):
        _, report, run = await stage.play(a_request(mode, limits={**UNBOUNDED, "max_iterations": 6}))
        reports.append(report.model_dump_json())
        reports += [event.message for event in await run.events() if event.type == "read"]
    seen = "\n".join((*reports, queries(stage), *(prompts(stage, role) for role in set(ROLES) - OF_REVIEWS)))
    assert not [path for path, mark in marks.made.items() if path != UNASKED and mark not in seen]
