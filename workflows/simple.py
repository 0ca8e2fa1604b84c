"""SimpleResearch: search, judge, synthesize, in one line and with as few model calls as a report needs.

The queries are the question's own parts, then what the judge recommends, then two general ones; code words
them for each source. At most three searches run at once, and each is given up after 30 seconds. Evidence that
suffices does not end the run while the judge recommends to continue.
"""

from functools import partial

from temporalio import workflow

from workflows.context import ModeTraits
from workflows.handlers import ResearchHandlers
from workflows.rules.stopping import LastStep, NextStep, decide_next
from workflows.run import RunParts
from workflows.state import RunState
from workflows.types import Outcome, ResearchRequest

SEARCHES_AT_ONCE = 3
QUERIES = 3
"""Queries of one iteration at most; each goes to several sources."""
SOURCES_PER_QUERY = 6
SEARCH_SECONDS = 30.0
"""Seconds after which a search is given up, all its pages and attempts together."""
GENERAL_QUERIES = ("{question} mechanism of action", "{question} clinical evidence")
"""What is searched for when the judge recommends nothing new."""
TRAITS = ModeTraits("simple", single_section=True, search_seconds=SEARCH_SECONDS)


@workflow.defn(sandboxed=False)
class SimpleResearch(ResearchHandlers):
    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        self.research = RunParts(request, state, TRAITS)

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        research = partial(self.research.research_question, self._execute_step, self._decide)
        return await self.research.run_to_completion(research, self.research.conclude_single_section)

    def _decide(self, last_step: LastStep) -> NextStep:
        """Decide as every loop does; besides, a judge that gives advice must recommend to synthesize."""
        loop = self.research.state.loop
        decision = decide_next(last_step, loop, self.research.context.profile)
        recommendation = loop.judged.recommendation if loop.judged else ""
        if decision.stop != "sufficient_evidence" or recommendation != "continue":
            return decision
        if loop.iteration >= loop.max_iterations:
            return decision
        return NextStep(step="observe", reason="the judge recommends to search on")

    async def _execute_step(self, decision: NextStep) -> LastStep:
        """Execute the searches of an iteration, which are chosen without a model, or its judgement."""
        steps = self.research.steps
        match decision.step:
            case "observe":
                await self._choose_searches()
                return "select_tools"
            case "search":
                await steps.search(at_once=SEARCHES_AT_ONCE, reflect=False)
                return "search"
            case "judge":
                await self.research.judging.judge()
                return "judge"
            case "evaluate_gaps" | "select_tools" | "write":
                raise AssertionError(f"{decision.step} is no step of this mode")

    async def _choose_searches(self) -> None:
        """Choose searches from the first queries that have any left to make."""
        state = self.research.state
        await self.research.steps.read_instructions()
        sources = self.research.searches.sources()[:SOURCES_PER_QUERY]
        for queries in self._queries():
            state.loop.gaps = queries[:QUERIES]
            await self.research.steps.select_tools(per_gap=len(sources), use_model=False)
            if state.loop.selected:
                return

    def _queries(self) -> list[tuple[str, ...]]:
        """Return what to search for in this iteration, the preferred queries first."""
        context, state = self.research.context, self.research.state
        question, parsed = context.question, state.question.parsed
        general = tuple(query.format(question=question.rstrip("?. ")) for query in GENERAL_QUERIES)
        if state.loop.iteration == 1:
            questions = parsed.research_questions if parsed and question == context.run_question else ()
            improved = (parsed.improved_query,) if parsed and questions else ()
            first = tuple(dict.fromkeys((question, *questions, *improved)))
        else:
            first = tuple(state.loop.recommended)
        asked_for = state.people.searches_asked_for
        return [queries for queries in ((*asked_for, *first), first, general) if queries]
