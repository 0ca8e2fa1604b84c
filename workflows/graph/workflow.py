"""GraphResearch: walks a graph of typed nodes from its entry to an exit, where the report is written.

Invariants:

* the definition is checked before a model or a source is called, and travels with the run;
* a run ends at an exit of its graph: when it must stop, it goes to the nearest one;
* an iteration begins at most as often as the limits allow, and a decision with a budget is passed at most so
  often; each cycle passes one, so each run ends.
"""

from collections.abc import Mapping

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from activities.contracts.evidence import StopReason
from activities.contracts.step import Role
from activities.messages import plural
from workflows.context import ModeTraits
from workflows.graph.definition import (
    UNLIMITED,
    Action,
    AgentNode,
    AgentStep,
    CodeNode,
    DecisionNode,
    Facts,
    GraphCheck,
    GraphDefinition,
    GraphView,
    ParallelNode,
    RoleNode,
    StateNode,
    holds,
)
from workflows.handlers import ResearchHandlers
from workflows.part_state import CandidatesState, GraphState
from workflows.rules.stopping import NextStep, all_failed, forced_end, judged_end, write
from workflows.run import RunParts
from workflows.sections.research import SectionResearch
from workflows.state import RunState
from workflows.steps import policy
from workflows.steps.policy import OutOfBudget, run_all
from workflows.types import Outcome, ResearchRequest

CHECK_GRAPH = "check_graph"
"""The activity that checks a definition; a worker has it (`worker.build`)."""
ROLES: Mapping[AgentStep, Role] = {
    "plan": "planner",
    "observe": "observer",
    "evaluate_gaps": "gap_evaluator",
    "select_tools": "tool_selector",
    "judge": "judge",
    "hypothesize": "hypothesis_generator",
    "analyse": "analyst",
    "synthesizer": "writer",
    "writer": "writer",
}
"""The role that a step of an agent node asks."""


def stop_at_exit(facts: Facts) -> StopReason:
    """Return why a run ends that has reached an exit.

    Code decides: a graph cannot claim that its evidence is sufficient.
    """
    if facts.last == "search" and facts.all_failed:
        return "all_sources_failed"
    if facts.sufficient:
        return "sufficient_evidence"
    if facts.last == "search" and facts.new_evidence == 0:
        return "no_new_evidence"
    has_nothing_left = (facts.last == "evaluate_gaps" and facts.gaps == 0) or (
        facts.last == "select_tools" and facts.tasks == 0
    )
    return "searched_out" if has_nothing_left else "max_iterations_reached"


@workflow.defn(sandboxed=False)
class GraphResearch(ResearchHandlers):
    @workflow.init
    def __init__(self, request: ResearchRequest, state: RunState | None = None) -> None:
        graph = ResearchRequest.model_validate(request).graph
        # Without a graph the built-in `iterative` is walked.
        self._has_sections = graph is not None and graph.has_sections
        traits = ModeTraits("graph", single_section=not self._has_sections)
        self.research = RunParts(request, state, traits)
        self._loops = SectionResearch(self.research)
        if not self._has_sections:
            self.research.calls_to_write = lambda: ("writer",)

    @workflow.run
    async def run(self, request: ResearchRequest, state: RunState | None = None) -> Outcome:
        return await self.research.run_to_completion(self._answer, self._conclude)

    @workflow.query
    def graph(self) -> GraphView:
        """Which node runs, which were visited, their results, and the facts that conditions use."""
        walk, request = self._walk, self.research.request
        definition = walk.definition or request.graph
        return GraphView(
            name=definition.name if definition else "",
            at=walk.at,
            running=tuple(walk.running),
            visited=tuple(walk.visited),
            visits=walk.visits,
            results=walk.results,
            nodes=tuple(definition.nodes) if definition else (),
            state=self._facts().model_dump() if self.research.state.question.prepared else {},
        )

    @property
    def _walk(self) -> GraphState:
        return self.research.state.part(GraphState)

    @property
    def _definition(self) -> GraphDefinition:
        assert self._walk.definition is not None
        return self._walk.definition

    async def _answer(self) -> StopReason:
        """Check the graph, prepare, and walk from node to node until an exit."""
        await self._check()
        await self.research.preparation.initialize()
        if not self._has_sections and not await self.research.approve_single_section_plan():
            return "rejected_by_reviewer"
        while True:
            await self.research.gates.checkpoint()
            self.research.loop.update()
            stop = self._stop()
            if stop is not None and stop.stop is not None:
                self.research.events.emit("stopping", stop.reason, stop_reason=stop.stop)
                return stop.stop
            if self.research.context.history_is_long() and self._walk.visited:
                await self.research.context.continue_as_new()
            try:
                next_node = await self._visit(self._walk.at)
            except OutOfBudget as error:
                self.research.state.loop.refused = error.reason
            else:
                self._walk.at = next_node or self._walk.at

    async def _check(self) -> None:
        """Check the graph of the request, or get the built-in one.

        Raises ApplicationError, which ends the run with what is wrong.
        """
        self._walk.running = []  # a run that continues as new names the node it stopped at
        if self._walk.definition is not None:
            return
        graph, options = self.research.request.graph, policy.internal_step("whether the graph is valid")
        answer = await workflow.execute_activity(CHECK_GRAPH, graph, result_type=GraphCheck, **options)
        definition = graph or answer.definition
        if answer.problems or definition is None:
            reason = f"the graph is not valid: {'; '.join(answer.problems)}"
            raise ApplicationError(reason, *answer.problems, type="GraphInvalid", non_retryable=True)
        self._walk.definition, self._walk.at = definition, definition.entry

    def _stop(self) -> NextStep | None:
        """Return why the walk ends before the next node; None when it goes on."""
        state, walk, definition = self.research.state, self._walk, self._definition
        at_exit = definition.is_exit(walk.at)
        if at_exit and state.sections.findings:
            return write(self._loops.results.overall_stop(), "every section has been researched")
        stop = forced_end(state.loop)
        if stop is None and at_exit:
            ending = judged_end(self.research.context.profile, state.loop.judged, state.loop.gained)
            reason = ending.stop if ending and ending.stop else stop_at_exit(self._facts())
            return write(reason, f"{walk.at} is an exit of the graph")
        return stop or self._budget_stop(walk.at)

    def _budget_stop(self, name: str) -> NextStep | None:
        """Return the end of the walk where the budget of a node, of passes or iterations, is used up."""
        node, loop = self._definition.nodes[name], self.research.state.loop
        limit = write("max_iterations_reached", f"the budget of {name} is used up")
        if isinstance(node, StateNode) and node.action == "begin_iteration":
            return limit if loop.iteration >= loop.max_iterations else None
        if not isinstance(node, DecisionNode) or node.budget is None:
            return None
        if node.budget == "iterations":
            return limit if self._walk.visits.get(name, 0) + 1 >= loop.max_iterations else None
        return limit if self._walk.passes.get(name, 0) >= node.budget else None

    def _facts(self) -> Facts:
        research, state, loop = self.research, self.research.state, self.research.state.loop
        assessment, budget, now = loop.judged, research.context.budget, research.context.now()
        tokens, cost = budget.free_amount("tokens"), budget.free_amount("cost_microusd")
        seconds = research.context.research_seconds()
        return Facts(
            iteration=loop.iteration,
            new_evidence=loop.new_evidence,
            unjudged=loop.unjudged,
            tasks=loop.tasks,
            stalled=loop.stalled,
            judge_failures=loop.judge_failures,
            last=self._walk.happened,
            evidence=len(state.evidence.refs),
            searches=len(state.evidence.searches),
            gaps=len(loop.gaps),
            confidence=(assessment.confidence or 0.0) if assessment else 0.0,
            lowest_score=min(assessment.scores.values(), default=0) if assessment else 0,
            hypotheses=len(state.part(CandidatesState).hypotheses),
            tokens_used=budget.used.tokens,
            tokens_left=UNLIMITED if tokens is None else max(tokens, 0),
            cost_used_usd=budget.spent_microusd / 1e6,
            cost_left_usd=UNLIMITED if cost is None else max(cost, 0) / 1e6,
            seconds_used=budget.elapsed(now),
            seconds_left=UNLIMITED if seconds is None else max(seconds, 0.0),
            judged=assessment is not None,
            sufficient=bool(judged_end(research.context.profile, assessment, research.state.loop.gained)),
            all_failed=all_failed(loop.statuses),
            unread_steering=loop.unread_steering > 0,
        )

    # nodes

    async def _visit(self, name: str) -> str | None:
        """Execute a node; return the one after it, None at the end of a branch."""
        node, definition = self._definition.nodes[name], self._definition
        self._walk.running.append(name)
        try:
            if isinstance(node, DecisionNode):
                return self._decide(name)
            self._announce(name)
            match node:
                case StateNode():
                    result = await self._change_state(node.action)
                case AgentNode():
                    self.research.context.prompts[ROLES[node.step]] = node.prompt
                    result = await self._execute_step(name, node)
                case RoleNode():
                    result = await self.research.parts.own_steps.ask_role(node.role, node.prompt)
                case CodeNode():
                    result = await self.research.parts.own_steps.run_code(node.step)
                case ParallelNode():
                    result = await self._execute_parallel(name, node)
        finally:
            self._walk.running.remove(name)
        self._walk.record(name, result)
        return definition.next_node(name)

    def _announce(self, name: str) -> None:
        self.research.events.emit("turn", name, member=name)

    def _decide(self, name: str) -> str:
        """Return the target of the first conditional edge that holds, else of the sequential one."""
        walk, facts = self._walk, self._facts()
        conditional = [edge for edge in self._definition.edges_from(name) if edge.type == "conditional"]
        target = next(
            (e.target for e in conditional if all(holds(condition, facts) for condition in e.when)), None
        )
        target = target or self._definition.next_node(name)
        assert target is not None
        walk.passes[name] = walk.passes.get(name, 0) + 1
        walk.record(name, f"to {target}")
        return target

    async def _change_state(self, action: Action) -> str:
        state, loop = self.research.state, self.research.state.loop
        match action:
            case "begin_iteration":
                await self._begin_iteration()
                return f"iteration {loop.iteration} of {loop.max_iterations}"
            case "search_question":
                queries: tuple[str, ...] = ()
            case "search_recommended":
                queries = tuple(state.loop.recommended) or (loop.judged.gaps if loop.judged else ())
        await self.research.steps.read_instructions()
        asked_for = state.people.searches_asked_for
        queries_in_order = dict.fromkeys((*asked_for, *(queries or (self.research.context.question,))))
        loop.gaps = tuple(queries_in_order)[: self.research.request.limits.max_gaps]
        return f"{len(loop.gaps)} to search for"

    async def _begin_iteration(self) -> None:
        await self.research.loop.begin_iteration()
        self._walk.passes, self._walk.happened = {}, "start"

    async def _execute_step(self, name: str, node: AgentNode) -> str:
        research, state, loop, step = self.research, self.research.state, self.research.state.loop, node.step
        walk = self._walk
        if step != "plan" and loop.iteration == 0:
            await self._begin_iteration()
        match step:
            case "plan":
                return await self._plan()
            case "observe":
                if await research.steps.select_known_searches():
                    walk.happened = "select_tools"
                    return "the next searches are known"
                await research.steps.observe()
                walk.happened = "observe"
                return "summarized what is known"
            case "evaluate_gaps":
                if walk.happened == "select_tools":
                    return f"{len(loop.gaps)} gaps, known before"
                await research.steps.evaluate_gaps()
                walk.happened = "evaluate_gaps"
                return f"{len(loop.gaps)} gaps"
            case "select_tools":
                return await self._select_tools(node.tools)
            case "judge":
                await research.judging.judge()
                walk.happened = "judge"
                if not self._hypothesizes():
                    await research.parts.act("after_judging", use_model=True)
                if loop.judge_failures or loop.judged is None:
                    return "the judge did not answer"
                confidence = loop.judged.confidence
                return "looked through" if confidence is None else f"confidence {confidence:.2f}"
            case "hypothesize":
                new = await research.parts.candidates.form_hypotheses()
                return f"{new} new hypotheses of {len(state.part(CandidatesState).hypotheses)}"
            case "analyse":
                if self._has_sections:
                    self._loops.results.rank_relevant()
                return await research.parts.analysis.analyse_now()
            case "writer" | "synthesizer":
                raise AssertionError(f"{name} is an exit: `_conclude` executes it")

    async def _select_tools(self, tools: tuple[str, ...]) -> str:
        """Choose searches, in `tools` only where the node has them."""
        state, loop = self.research.state, self.research.state.loop
        if self._walk.happened == "select_tools":
            if tools:
                state.loop.selected = [task for task in state.loop.selected if task.agent in tools]
                loop.tasks = len(state.loop.selected)
            if loop.tasks or not tools:
                return f"{plural(loop.tasks, 'search')}, known before"
        await self.research.steps.select_tools(only=tools)
        self._walk.happened = "select_tools"
        return f"{plural(loop.tasks, 'search')} selected"

    def _hypothesizes(self) -> bool:
        nodes = self._definition.nodes.values()
        return any(isinstance(node, AgentNode) and node.step == "hypothesize" for node in nodes)

    async def _plan(self) -> str:
        """Plan the sections, and wait for approval of the plan if requested."""
        await self._loops.make_plan()
        is_approved = await self.research.gates.approval_gate("plan", "the plan waits for approval")
        self.research.state.loop.rejected = not is_approved
        return plural(len(self.research.context.outline), "section")

    async def _execute_parallel(self, name: str, node: ParallelNode) -> str:
        state, loop = self.research.state, self.research.state.loop
        match node.run:
            case "execute_tools":
                if loop.iteration == 0:
                    await self._begin_iteration()
                await self.research.steps.search()
                self._walk.happened = "search"
                return f"{plural(loop.new_evidence, 'new item')} from {plural(loop.tasks, 'search')}"
            case "parallel_loops":
                await self._plan()
                if not loop.rejected:
                    await self._loops.research_all()
                return f"{plural(len(state.sections.findings), 'section')} researched"
            case "branches":
                return await self._execute_branches(name)

    async def _execute_branches(self, name: str) -> str:
        """Run the branches at the same time and wait for all. Raises OutOfBudget when one of them did."""
        if self.research.state.loop.iteration == 0:
            await self._begin_iteration()
        refusals: list[OutOfBudget] = []

        async def run(branch: tuple[str, ...]) -> None:
            try:
                for member in branch:
                    await self.research.gates.checkpoint()
                    await self._visit(member)
            except OutOfBudget as error:
                refusals.append(error)

        branches = self._definition.branches(name)
        await run_all(run(branch) for branch in branches)
        if refusals:
            raise refusals[0]
        return f"{len(branches)} branches"

    # the end

    async def _conclude(self, stop: StopReason) -> Outcome:
        """Go to an exit and write the report there."""
        walk = self._walk
        walk.running = []
        if walk.definition is not None:
            walk.at = walk.definition.nearest_exit(walk.at)
            if walk.at not in walk.visits:
                self._announce(walk.at)
                walk.record(walk.at, stop)
            walk.running = [walk.at]
            exit_node = walk.definition.nodes[walk.at]
            if isinstance(exit_node, AgentNode):
                self.research.context.prompts["writer"] = exit_node.prompt
        conclude = self._loops.conclude if self._has_sections else self.research.conclude_single_section
        outcome = await conclude(stop)
        walk.running = []
        return outcome
