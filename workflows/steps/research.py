"""The steps of a search-judge loop.

Each reads the state, asks a model or the sources, and writes the answer into the state; the order of the
steps is up to the mode that holds them.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest
from typing import TypedDict

from temporalio.exceptions import ActivityError

from activities.contracts.bounds import within
from activities.contracts.evidence import ANSWERED, EvidenceRef, SearchStatus, SourceOption
from activities.contracts.iterations import IterationRecord
from activities.contracts.judge import ReflectInput, WorkJudgement
from activities.contracts.plan import AgentTask, GapsInput, ObserveInput, ParsedQuery, SelectInput
from activities.messages import plural
from activities.role_calls import EVALUATE_GAPS, OBSERVE, REFLECT, SELECT_TOOLS
from workflows.context import RunPart
from workflows.part_state import CandidatesState
from workflows.rules.payload_limits import brief_iteration, input_refs, short_rows
from workflows.steps.judging import JUDGED_ROOM, best_first
from workflows.steps.policy import reason_of

MAX_OBSERVED_WORKS = 20
"""Works that the observer, the gap evaluator and the reflector are told of at most."""
MAX_PROMPT_SEARCHES = 12
"""Searches that the prompt of the gap evaluator shows, the latest."""
MAX_CODE_SEARCHES = 30
"""Those that code reads in its place."""
MAX_TITLES = 20
"""Titles that the choice of searches is told of."""
MAX_SOURCES_A_QUERY = 6
"""Sources in which the question itself is searched."""
MAX_FIRST_SEARCHES = 24
"""Searches of a loop's first iteration."""
MAX_EARLIER_ITERATIONS = 3
"""Iterations before the present one that prompts are shown: the latest."""


class Works(TypedDict):
    """The works found, as the observer and the gap evaluator are told of them."""

    titles: dict[str, str]
    relevant: int
    judgements: tuple[WorkJudgement, ...]


class ResearchSteps(RunPart):
    """Observe, evaluate gaps, select tools, search, reflect."""

    async def select_known_searches(self) -> bool:
        """Select the searches of an iteration without a call, where they are known.

        In the first one those of the question and of the plan, later those that the judge has just named.
        False where a reviewer's words are to be read first, or nothing that is known was not searched yet.
        """
        loop, judged, steered = self.state.loop, self.state.loop.judged, self.state.people.steered
        if steered > loop.steering_read and self.models.asks_model("gap_evaluator"):
            return False
        await self._prepare_added_sources()
        gaps: tuple[str, ...] = ()
        if loop.iteration == 1:
            tasks = await self._first_tasks()
        elif judged is None or judged.by_code or not (judged.gaps and judged.recommended_searches):
            return False
        else:
            gaps = judged.gaps[: self.request.limits.max_gaps]
            tasks = self._recommended_tasks(gaps)
        if not tasks:
            return False
        loop.selected, loop.tasks, loop.steering_read = tasks, len(tasks), steered
        loop.research_complete = False
        loop.gaps = loop.memory.gaps = gaps or tuple(dict.fromkeys(task.gap for task in tasks))
        for gap in gaps:
            self.events.emit("gap", gap, gap=gap, by="judge")
        return True

    @property
    def _parsed(self) -> ParsedQuery:
        """Return the reading of the run's question; nothing for a section, whose question is another."""
        parsed = self.state.question.parsed
        return ParsedQuery(improved_query="") if parsed is None or self.state.sections.job else parsed

    async def _first_tasks(self, only: Collection[str] = ()) -> list[AgentTask]:
        """Return the question itself in every source, and what the parser or the planner asks beside it."""
        context, state, job = self.context, self.state, self.state.sections.job
        sources = self.run.searches.sources(only)[:MAX_SOURCES_A_QUERY]
        run_question = (context.run_question,) if job is None or job.searches_run_question else ()
        wordings = (self._parsed.improved_query, *state.people.searches_asked_for)
        questions = dict.fromkeys(filter(None, (context.question, *run_question, *wordings)))
        queries = context.section.queries if context.section else ()
        plan_queries = tuple(q for q in (*queries, *self._parsed.research_questions) if q not in questions)
        if not self.models.asks_model("query_parser"):
            return await self._question_tasks((*questions, *plan_queries), sources, reworded=not plan_queries)
        names = [option.info.name for option in sources]
        tasks = []
        for texts, group in self._sources_by_wording(tuple(questions), sources).items():
            tasks += await self._question_tasks(texts, group)
        plan_tasks = self._verbatim_tasks([(query, query) for query in plan_queries], names)
        return self._new_tasks((*tasks, *plan_tasks))[:MAX_FIRST_SEARCHES]

    def _sources_by_wording(
        self, questions: tuple[str, ...], sources: Sequence[SourceOption]
    ) -> dict[tuple[str, ...], list[SourceOption]]:
        """Return the sources by the questions that they are searched with.

        In their own languages as far as there are wordings, and as asked where that is one of them.
        """
        context, wordings = self.context, self._parsed.wordings
        groups: dict[tuple[str, ...], list[SourceOption]] = {}
        for source in sources:
            languages = context.languages_of(source.info.name)
            texts = tuple(wordings[language] for language in languages if language in wordings)
            if context.prepared.asked_in in languages:
                texts = (*questions, *texts)
            groups.setdefault(texts or questions, []).append(source)
        return groups

    async def _question_tasks(
        self, questions: tuple[str, ...], sources: Sequence[SourceOption], *, reworded: bool = False
    ) -> list[AgentTask]:
        """Return searches for questions in a user's words.

        Sources of this machine are searched for them as typed, others in keywords where they want them.
        `reworded`: the question itself once more in other words.
        """
        names = [option.info.name for option in sources]
        if all("local" in option.info.domains for option in sources):
            aspect = f" {self.context.section.aspect}" if self.context.section else ""
            question = self.context.question
            queries = [(text, f"{text}{aspect}".rstrip() if text == question else text) for text in questions]
            return self._new_tasks(self._verbatim_tasks(queries, names))
        parsed = self.state.question.parsed
        step = SelectInput(
            **self.context.loop_inputs("guidance", "aspects", "specialists"),
            iteration=self.state.loop.iteration,
            gaps=questions,
            sources=tuple(sources),
            key_entities=parsed.key_entities if parsed else (),
            per_gap=len(sources),
            reworded=reworded,
        )
        plan = await self.models.execute_by_code(SELECT_TOOLS, step)
        return self._new_tasks(plan.tasks)[:MAX_FIRST_SEARCHES]

    def _recommended_tasks(self, gaps: tuple[str, ...]) -> list[AgentTask]:
        """Return the searches that the judge names and those of hypotheses, in the preferred sources."""
        limits = self.request.limits
        names = [option.info.name for option in self.run.searches.sources()]
        tests = self._hypothesis_tests(limits.searches_per_gap)
        names = names[: limits.searches_per_gap]
        pairs = [(gaps[n % len(gaps)], query) for n, query in enumerate(self.state.loop.recommended)]
        tasks = self._verbatim_tasks([(test, test) for test in tests], names, tests_hypothesis=True)
        tasks += self._verbatim_tasks(pairs, names)
        return self._new_tasks(tasks)[: limits.max_gaps * limits.searches_per_gap]

    def _verbatim_tasks(
        self, pairs: Sequence[tuple[str, str]], names: Sequence[str], *, tests_hypothesis: bool = False
    ) -> list[AgentTask]:
        """Return a search for each query in each source; `pairs` are gaps with their queries."""
        return [
            AgentTask(gap=gap, agent=name, query=query, tests_hypothesis=tests_hypothesis)
            for gap, query in pairs
            for name in names
        ]

    def _new_tasks(self, tasks: Iterable[AgentTask]) -> list[AgentTask]:
        """Return the searches that were not answered already, each once."""
        searches = {(s.source, s.asked) for s in self.state.evidence.searches if s.status in ANSWERED}
        new_tasks = {(t.agent, t.query): t for t in tasks if (t.agent, t.query) not in searches}
        return list(new_tasks.values())

    async def observe(self) -> None:
        state, judged = self.state, self.state.loop.judged
        self.events.set_phase("observing", "summarizing what is known")
        step = ObserveInput(
            **self.context.loop_inputs("guidance"),
            iteration=state.loop.iteration,
            **self._works(),
            last_judgement=judged.reasoning if judged else "",
            earlier=self._latest_iterations(),
        )
        observation = await self.models.execute(OBSERVE, step)
        state.loop.observation = state.loop.memory.thought = observation.text

    def _works(self) -> Works:
        """Return the titles of the works found, best first, and what the judge read of them."""
        state = self.state
        refs = state.evidence.ranked_refs[:MAX_OBSERVED_WORKS]
        rows = (
            state.evidence.judgements[ref.evidence_id]
            for ref in refs
            if ref.evidence_id in state.evidence.judgements
        )
        judgements = (
            WorkJudgement(
                evidence_id=judgement.evidence_id,
                answers=judgement.answers,
                direction=judgement.direction,
                finding=judgement.finding or judgement.reason,
            )
            for judgement in best_first(rows)
        )
        return {
            "titles": {ref.evidence_id: ref.title for ref in refs},
            "relevant": len(state.evidence.relevant),
            "judgements": within(judgements, JUDGED_ROOM),
        }

    async def evaluate_gaps(self) -> None:
        self.events.set_phase("evaluating_gaps", "determining what is missing")
        state, loop = self.state, self.state.loop
        loop.steering_read = state.people.steered
        max_searches = MAX_PROMPT_SEARCHES if self.models.asks_model("gap_evaluator") else MAX_CODE_SEARCHES
        step = GapsInput(
            **self.context.loop_inputs("guidance"),
            iteration=loop.iteration,
            observation=state.loop.observation,
            **self._works(),
            steering=tuple(state.people.steering),
            judged_gaps=loop.judged.gaps if loop.judged else (),
            tried=short_rows(state.evidence.searches[-max_searches:]),
            research_questions=self._parsed.research_questions,
            max_gaps=self.request.limits.max_gaps,
            earlier=self._latest_iterations(),
        )
        answer = await self.models.execute(EVALUATE_GAPS, step)
        state.people.instructions.update(
            (instruction.text, instruction) for instruction in answer.instructions
        )
        loop.gaps = answer.outstanding_gaps[: step.max_gaps]
        loop.research_complete = answer.research_complete
        state.loop.memory.gaps = loop.gaps
        for gap in loop.gaps:
            self.events.emit("gap", gap, gap=gap, by="gap_evaluator")

    async def read_instructions(self) -> None:
        """Have the gap evaluator read new instructions, for a mode that asks it nothing else."""
        state = self.state
        has_new = state.people.steered > state.loop.steering_read
        if has_new and self.models.asks_model("gap_evaluator") and not self.models.refusal("gap_evaluator"):
            await self.evaluate_gaps()
        state.loop.steering_read = state.people.steered

    async def select_tools(
        self, per_gap: int | None = None, *, only: Collection[str] = (), use_model: bool = True
    ) -> None:
        """Choose searches that may close the gaps, in the sources that `only` names, where it names any.

        At most `per_gap` for each; by default so many as the request allows.
        """
        self.events.set_phase("selecting_tools", "choosing searches")
        await self._prepare_added_sources()
        state, loop, parsed = self.state, self.state.loop, self.state.question.parsed
        limits = self.request.limits
        per_gap = per_gap or limits.searches_per_gap
        step = SelectInput(
            **self.context.loop_inputs("guidance", "aspects", "specialists"),
            iteration=loop.iteration,
            gaps=loop.gaps,
            sources=self.run.searches.sources(only),
            tried=short_rows(state.evidence.searches[-2 * MAX_CODE_SEARCHES :]),
            key_entities=parsed.key_entities if parsed else (),
            recommended=tuple(state.loop.recommended),
            tests=self._hypothesis_tests(per_gap),
            titles=tuple(map(_name_and_title, state.evidence.ranked_refs[:MAX_TITLES])),
            per_gap=per_gap,
            specialist=self.context.specialist.name if self.context.specialist else "",
        )
        execute = self.models.execute if use_model else self.models.execute_by_code
        plan = await execute(SELECT_TOOLS, step)
        names = {source.info.name for source in step.sources}
        planned_tasks = self._new_tasks(task for task in plan.tasks if task.agent in names)
        tasks = list[AgentTask]()
        if use_model and not state.evidence.searches:
            tasks = await self._first_tasks(only)
        elif use_model:
            query_sources = [source.info.name for source in step.sources[:MAX_SOURCES_A_QUERY]]
            pairs = [(i.text, i.query) for i in state.people.instructions.values() if i.query]
            tasks = self._verbatim_tasks(pairs, query_sources)
        state.loop.selected = self._new_tasks((*tasks, *planned_tasks[: limits.max_gaps * per_gap]))
        loop.tasks = len(state.loop.selected)

    def _hypothesis_tests(self, max_tests: int) -> tuple[str, ...]:
        """Return searches that would test the hypotheses and have not been made.

        One of each hypothesis, the best supported first, before the second of any.
        """
        hypotheses = self.state.part(CandidatesState).hypotheses
        answered_searches = (search for search in self.state.evidence.searches if search.status in ANSWERED)
        earlier_tests = {search.gap for search in answered_searches if search.tests_hypothesis}
        rounds = zip_longest(*(hypothesis.search_suggestions for hypothesis in hypotheses))
        texts = dict.fromkeys(text for queries in rounds for text in queries if text)
        return tuple(text for text in texts if text not in earlier_tests)[:max_tests]

    async def search(self, at_once: int | None = None, *, reflect: bool = True) -> None:
        """Execute the selected searches, all at the same time or `at_once` of them.

        When they bring little that is new, reflect on why.
        """
        state, loop = self.state, self.state.loop
        count = len(loop.selected)
        size = at_once or max(count, 1)
        message = plural(count, "search") if count else "no search that was not made before"
        message += f", {min(size, count)} at once" if count > 1 else ""
        self.events.set_phase("searching", message)
        state.loop.memory.gaps = loop.gaps
        sources = ", ".join(dict.fromkeys(task.agent for task in state.loop.selected))
        self.events.emit("searching", message, searches=count, sources=sources)
        statuses, new_count = list[SearchStatus](), 0
        before = {ref.evidence_id for ref in state.evidence.refs}
        for first in range(0, len(state.loop.selected), size):
            if first and self.context.must_end:
                break
            step_statuses, step_count = await self.run.searches.execute(
                state.loop.selected[first : first + size], self.run.judging.max_works
            )
            statuses, new_count = statuses + step_statuses, new_count + step_count
        loop.statuses, loop.new_evidence = tuple(statuses), new_count
        loop.evidence = len(state.evidence.refs)
        loop.found_all = self._has_whole_folder()
        new_refs = tuple(ref for ref in state.evidence.refs if ref.evidence_id not in before)
        state.loop.memory.add_found(new_refs)
        loop.stalled = 0 if new_count else loop.stalled + 1
        if reflect and self._has_brought_little(statuses, new_count):
            await self._reflect(new_refs)

    def _has_brought_little(self, statuses: Sequence[SearchStatus], new_count: int) -> bool:
        """Tell whether searches that were answered brought fewer new items than there were searches.

        Failed searches are not counted: an outage is no reason to search for something else. Nothing is left
        to search for in the last iteration, or where a folder that is searched alone was found whole.
        """
        if self._has_whole_folder():
            return False
        if not new_count and "empty" in statuses:
            return True
        answered_count = sum(status in ANSWERED for status in statuses)
        if new_count >= answered_count or self.state.loop.iteration >= self.state.loop.max_iterations:
            return False
        return self.models.refusal("reflector") is None  # the step must not end a run

    def _has_whole_folder(self) -> bool:
        """Tell whether a folder alone was searched, and each of its documents was found."""
        searches = self.state.evidence.searches
        documents = max((search.documents for search in searches), default=0)
        is_alone = {search.source for search in searches} == {"library"}
        return is_alone and 0 < documents <= len(self.state.evidence.refs)

    def _latest_iterations(self) -> tuple[IterationRecord, ...]:
        """Return the latest iterations of this loop that have ended."""
        records = [r for r in self.state.loop.memory.records if r.section == self.context.section_id]
        return tuple(map(brief_iteration, records[-MAX_EARLIER_ITERATIONS:]))

    async def _prepare_added_sources(self) -> None:
        """Make the sources that a reviewer added available, as far as the worker has them."""
        state, names = self.state, self.state.people.added_sources
        for name in list(names):
            if self.request.sources and not self.context.source(name):
                # The worker was only asked for the user's own choice of sources.
                try:
                    extra = await self.run.preparation.prepare(self.context.profile.name, [name])
                except ActivityError as error:
                    reason = reason_of(error)
                    names.remove(name)
                    self.events.add_limitation("source_not_searchable", source=name, reason=reason)
                    continue
                new_sources = tuple(s for s in extra.sources if not self.context.source(s.info.name))
                prepared = self.context.prepared
                state.question.prepared = prepared.replace(sources=(*prepared.sources, *new_sources))
            option = self.context.source(name)
            if option is None:
                names.remove(name)
                self.events.add_limitation("source_unknown", source=name)
            elif not option.enabled:
                self.events.add_limitation("source_not_available", source=name, reason=option.reason)

    async def _reflect(self, new_refs: Sequence[EvidenceRef]) -> None:
        """Ask whether searches served their gaps and what to search instead.

        Failed searches are left out: an outage is no reason to search for something else.
        """
        state, loop = self.state, self.state.loop
        searches = [
            s for s in state.evidence.searches if s.iteration == loop.iteration and s.status in ANSWERED
        ]
        step = ReflectInput(
            **self.context.loop_inputs("guidance", "aspects", "specialists"),
            iteration=loop.iteration,
            gaps=loop.gaps,
            searches=short_rows(searches),
            new_evidence=input_refs(new_refs, MAX_OBSERVED_WORKS),
        )
        reflection = await self.models.execute(REFLECT, step)
        state.loop.memory.reflection = reflection.reason
        self.events.emit(
            "reflected",
            reflection.reason or "the last searches were reviewed",
            served=reflection.served,
            searches=len(reflection.better_searches),
        )
        state.loop.recommended = list(reflection.better_searches) or state.loop.recommended


def _name_and_title(ref: EvidenceRef) -> str:
    """Return a work as a query may name it."""
    name = next((f"{kind.upper()} {value}: " for kind, value in ref.identifiers.items_in_order()), "")
    return f"{name}{ref.title}"
