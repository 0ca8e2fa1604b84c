"""A run without a model and without Temporal: the same roles, rules and report, over one library.

The benchmarks ask their questions through this, so that they measure what a user gets: the question is
parsed, searched for, judged and written in the loop of `workflows.iterative`, and the report is assembled
with every check.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from activities import extractive
from activities.drafts import WriteInput
from activities.evidence_store import make_ref
from activities.profiles.loader import load_profile, profile_names
from activities.publication import PlannedSection, PublishInput
from activities.report.assemble import build_report
from activities.report.schema import Report
from activities.sources.base import Source, search
from activities.steps import GapsInput, JudgeAssessment, JudgeInput, ParsedQuery, ParseQueryInput, SelectInput
from activities.types import (
    Evidence,
    Filters,
    Profile,
    Query,
    ReportPlanSection,
    SearchRecord,
    SourceOption,
    StopReason,
)
from workflows.rules.stopping import LoopState, decide_next

RESULTS_PER_SEARCH = 10
UNJUDGED_SHOWN = 12
"""As in `workflows.conclude`."""


@dataclass(frozen=True)
class Answer:
    """What a user gets for one question."""

    report: Report
    stop_reason: StopReason
    found: Mapping[str, Evidence]

    @property
    def answered(self) -> bool:
        """Whether the command would end with exit code 0 rather than 4."""
        return self.report.verification.verified > 0

    @property
    def cited(self) -> tuple[str, ...]:
        """Evidence ids in the order of the claims, each once."""
        claims = (claim for section in self.report.sections for claim in section.claims)
        return tuple(dict.fromkeys(s.evidence_id for claim in claims for s in claim.support))


async def ask(question: str, source: Source, *, hidden: Collection[str] = (), limit: int = 3) -> Answer:
    """Ask one question. `hidden`: evidence ids that the library is to lack. `limit`: iterations."""
    option = SourceOption(info=source.info, enabled=True)
    profiles = {name: load_profile(name) for name in profile_names(None)}
    general: Profile = profiles["general"]
    parsed: ParsedQuery = extractive.parse_query(
        ParseQueryInput(
            run_id="benchmark",
            question=question,
            profile=general,
            mode="iterative",
            profiles={name: profile.description for name, profile in profiles.items()},
        )
    )
    profile = profiles[parsed.profile]
    about = {"run_id": "benchmark", "question": question, "profile": profile}
    found: dict[str, Evidence] = {}
    searches: list[SearchRecord] = []
    judged: JudgeAssessment | None = None
    relevant: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    tasks = extractive.select_tools(
        SelectInput.model_validate({**about, "iteration": 1, "gaps": (), "sources": ()})
    )
    state = LoopState(max_iterations=limit)
    while True:
        state.evidence = len(found)
        step = decide_next(state, profile)
        if step.stop is not None:
            stop = step.stop
            break
        refs = tuple(make_ref(d, "blob") for d in found.values())
        match step.step:
            case "observe":
                state.iteration += 1
                state.tasks, state.statuses, state.new_evidence = 0, (), 0
            case "evaluate_gaps":
                given = GapsInput.model_validate(
                    {
                        **about,
                        "iteration": state.iteration,
                        "evidence": refs,
                        "judged_gaps": judged.gaps if judged else (),
                        "research_questions": parsed.research_questions,
                    }
                )
                gaps = extractive.evaluate_gaps(given, tuple(found.values())).outstanding_gaps
                state.gaps = gaps
            case "select_tools":
                tasks = extractive.select_tools(
                    SelectInput.model_validate(
                        {
                            **about,
                            "iteration": state.iteration,
                            "gaps": gaps,
                            "sources": (option,),
                            "tried": tuple(searches),
                            "key_entities": parsed.key_entities,
                            "recommended": judged.recommended_searches if judged else (),
                        }
                    )
                )
                state.tasks = len(tasks.tasks)
            case "search":
                new = 0
                statuses = []
                for task in tasks.tasks:
                    query = Query(text=task.query, limit=RESULTS_PER_SEARCH + len(hidden), filters=Filters())
                    answer = await search(source, query)
                    kept = [r for r in answer.records if r.evidence_id not in hidden][:RESULTS_PER_SEARCH]
                    for record in kept:
                        if record.evidence_id not in found:
                            new += 1
                            found[record.evidence_id] = record
                    statuses.append(answer.status)
                    searches.append(
                        SearchRecord(
                            source=source.info.name,
                            query=task.query,
                            asked=task.query,
                            status=answer.status,
                            hits=len(kept),
                            kept=len(kept),
                            gap=task.gap,
                            iteration=state.iteration,
                        )
                    )
                state.statuses, state.new_evidence = tuple(statuses), new
                state.unjudged += new
                state.stalled = 0 if new else state.stalled + 1
            case "judge":
                order = _promising(found, relevant)
                judged = extractive.judge(
                    JudgeInput.model_validate(
                        {
                            **about,
                            "iteration": state.iteration,
                            "evidence": tuple(make_ref(d, "blob") for d in order),
                        }
                    ),
                    order,
                )
                state.judged, state.unjudged = judged, 0
                relevant = tuple(dict.fromkeys((*judged.relevant, *relevant)))
        if step.step != "write":
            state.last = step.step
    return _written(question, parsed, profile, found, relevant, searches, judged, state.iteration, stop)


def _promising(found: Mapping[str, Evidence], relevant: Collection[str]) -> list[Evidence]:
    helpful = [found[i] for i in relevant]
    return helpful + [d for i, d in reversed(tuple(found.items())) if i not in relevant]


def _written(
    question: str,
    parsed: ParsedQuery,
    profile: Profile,
    found: Mapping[str, Evidence],
    relevant: Collection[str],
    searches: list[SearchRecord],
    judged: JudgeAssessment | None,
    iterations: int,
    stop: StopReason,
) -> Answer:
    """Write from what was judged relevant and a few more, as `workflows.conclude` does, and publish."""
    others = [d for i, d in found.items() if i not in relevant]
    kept = [found[i] for i in relevant] + others[:UNJUDGED_SHOWN]
    refs = tuple(make_ref(d, "blob") for d in kept)
    section = ReportPlanSection(id="s1", title="Findings", key_question=question)
    draft = extractive.write(
        WriteInput(
            run_id="benchmark",
            question=question,
            profile=profile,
            title=section.title,
            evidence=refs,
            judged=judged.relevant if judged else None,
            stop_reason=stop,
        ),
        kept,
    )
    report = build_report(
        PublishInput(
            run_id="benchmark",
            question=question,
            mode="iterative",
            profile=profile.name,
            title=question,
            sections=(PlannedSection(section=section, draft=draft),),
            evidence=refs,
            searches=tuple(searches),
            iterations=iterations,
            models=("extractive",),
            confidence=judged.confidence if judged else 0.0,
            confidence_reasons=judged.confidence_reasons if judged else (),
            stop_reason=stop,
            generated_at="2026-01-01T00:00:00Z",
        ),
        found,
    )
    return Answer(report, stop, found)
