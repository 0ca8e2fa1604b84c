"""The first steps of a run: what the worker offers, and what the question asks for."""

from collections.abc import Sequence

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from activities.contracts.evidence import Mode, fields_of
from activities.contracts.plan import ParsedQuery, ParseQueryInput
from activities.contracts.prepare import Imported, Prepared, PrepareInput, WorkerChoice
from activities.contracts.profile import Profile
from activities.prepare_activity import PrepareActivities
from activities.profiles.loader import specialists_of
from activities.role_calls import PARSE
from workflows.context import RunPart
from workflows.modes import Available, modes_for_auto, refusal
from workflows.steps import policy
from workflows.steps.policy import OutOfBudget, run_all
from workflows.types import QUESTION_CHARS, ResearchRequest

READING = "finding out what is asked and where to search"


def settled_mode(request: ResearchRequest) -> Mode | None:
    """Return the mode of a run whatever its question is; None where the question decides.

    With mode `auto` a graph that was given is walked.
    """
    if request.mode != "auto":
        return request.mode
    return "graph" if request.graph is not None else None


class Preparation(RunPart):
    """Prepares a run: sources, models, prices, profile and the parsed question."""

    async def initialize(self) -> None:
        """Resolve what only the worker knows and parse the question, unless that has been done.

        Raises ApplicationError for a mode that cannot run here.
        """
        state = self.state
        if state.question.prepared is None or state.question.parsed is None:
            await self._read_question()
        if state.sections.job is None:
            self.models.reserve_for_writing()

    async def _read_question(self) -> None:
        state, request, question = self.state, self.request, self.state.question
        self.events.set_phase("reading", READING)
        if state.sections.job is None and question.prepared is None:
            self.events.emit("started", request.question, question=request.question, mode=request.mode)
        self.events.emit("reading", READING)
        if question.prepared is None:
            profile = "general" if request.profile == "auto" else request.profile
            question.prepared = await self.prepare(profile)
        self.models.reserve_for_writing()
        if reason := refusal(request.mode, self._available()):  # ends the run
            raise ApplicationError(reason, type="ModeUnavailable", non_retryable=True)
        earlier_run = None
        if request.follow_up and state.sections.job is None:
            earlier_run = await self.run.parts.dialogue.import_evidence()
        if request.clarify == "ask":
            await self.run.parts.clarification.ask(earlier_run)
        # else nobody is waited for, and what is assumed is known before a search is planned
        assumes = request.clarify == "assume"
        clarification = (self.run.parts.clarification.ask(earlier_run),) if assumes else ()
        await run_all((*clarification, self._parse(earlier_run)))
        parsed = question.parsed
        assert parsed is not None
        if request.profile == "auto":
            question.prepared = await self._with_profile(question.prepared, parsed.profile)
        question.chosen_because = parsed.rationale
        self.events.emit(
            "read",
            self._reading(parsed),
            profile=parsed.profile,
            entities=len(parsed.key_entities),
            questions=len(parsed.research_questions),
            sources=", ".join(request.sources or parsed.sources),
            question=question.reworded,
        )
        self._report_missing_sources()

    async def _with_profile(self, prepared: Prepared, name: str) -> Prepared:
        """Return what the worker offers, with the profile of this name, which the question chose.

        The worker is asked again for one that it did not offer beside the first.
        """
        if name == prepared.profile.name:
            return prepared.replace(alternatives={})
        if name not in prepared.alternatives:
            return await self.prepare(name)
        profile = self._with_threshold(prepared.alternatives[name])
        return prepared.replace(profile=profile, alternatives={})

    def _reading(self, parsed: ParsedQuery) -> str:
        text = parsed.rationale or parsed.improved_query
        question = self.state.question.reworded
        if parsed.specialist:
            text = f"{text} Searched by the specialist {parsed.specialist}."
        return f'the question is read as "{question}". {text}' if question else text

    async def prepare(self, profile: str, extra_sources: Sequence[str] = ()) -> Prepared:
        """Ask the worker for its sources, models, prices and the profile."""
        request = self.request
        sources = (*request.sources, *extra_sources) if request.sources else ()
        prepared = await workflow.execute_activity_method(
            PrepareActivities.prepare,
            PrepareInput(
                **fields_of(WorkerChoice, request) | {"sources": sources},
                profile=profile,
                question=request.question,
                language=request.language,
                chooses_profile=request.profile == "auto" and self.state.question.parsed is None,
            ),
            **policy.internal_step("what this worker offers"),
        )
        return prepared.replace(profile=self._with_threshold(prepared.profile))

    def _with_threshold(self, profile: Profile) -> Profile:
        """Return a profile with the threshold that the request sets for it, if any."""
        threshold = self.request.judge_threshold
        return profile if threshold is None else profile.replace(confidence_threshold=threshold)

    async def _parse(self, earlier_run: Imported | None) -> None:
        """Parse the question: what is asked, which mode and profile fit, and why.

        One that follows up `earlier_run` is researched as it stands alone.
        """
        request, prepared = self.request, self.context.prepared
        question, mode = request.question, settled_mode(request)
        specialists = {
            specialist.name: specialist.does for specialist in specialists_of(self.context.profile).values()
        }
        step = ParseQueryInput(
            **self.context.step_inputs(question=question),
            wordings_in=self.context.wordings_in,
            profiles=prepared.profiles if request.profile == "auto" else {},
            mode=mode,
            modes={} if mode else modes_for_auto(self._available()),
            sources=() if request.sources else tuple(s for s in prepared.sources if s.enabled),
            preferences=prepared.preferences,
            specialists={} if mode else specialists,
            earlier_question=earlier_run.question if earlier_run else "",
            earlier_answer=earlier_run.answer if earlier_run else (),
        )
        try:
            parsed = await self.models.execute(PARSE, step)
        except OutOfBudget as error:
            self.events.add_limitation("read_without_model", because=error.reason)
            parsed = await self.models.execute(PARSE, step, use_model=False)
        if step.earlier_question and parsed.improved_query not in ("", question):
            self.state.question.reworded = parsed.improved_query[:QUESTION_CHARS]
        self.state.question.parsed = parsed

    def _available(self) -> Available:
        return Available(
            sources=any(s.enabled and s.info.role == "search" for s in self.context.prepared.sources),
            model=self.models.asks_model("judge"),
            tokens=self.context.budget.limits.max_tokens,
            manager_model=self.models.asks_model("manager"),
            graph=self.request.graph is not None,
        )

    def _report_missing_sources(self) -> None:
        """Add a limitation for each source that the request or the profile names and that has a fault."""
        names = (*self.request.sources, *self.context.profile.sources)
        for option in self.context.prepared.sources:
            if option.info.name in names and option.fault:
                code = "source_unreachable" if option.fault == "unreachable" else "source_not_searched"
                self.events.add_limitation(code, source=option.info.title, reason=option.reason)
