"""How a run thinks, searches and publishes: every step with its reservation, its time-out and its account.

Invariants:

* no model is called without a reservation, and every reservation is settled, whatever happens to the call;
* a failed search is a row of the ledger, never an exception and never "no results";
* when a model cannot answer, the step is done without one and the report says so; only the judge's failures
  are counted, because a verdict must not be made up;
* publishing is never clipped by a deadline: a report always comes out.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    FailureError,
    is_cancelled_exception,
)

with workflow.unsafe.imports_passed_through():
    from activities.publish import PublishActivities

    from activities.prepare import PrepareActivities
    from activities.report_types import Published
    from activities.roles.allowances import ALLOWANCES
    from activities.search import activity_name
    from activities.steps import (
        AgentTask,
        Charged,
        Hits,
        ParsedQuery,
        ParseQueryInput,
        Prepared,
        PrepareInput,
        PublishInput,
        Role,
        SearchTask,
        StepContext,
    )
    from activities.think import ThinkActivities
    from activities.types import (
        Allowance,
        EvidenceRef,
        Filters,
        ModelChoice,
        Price,
        Profile,
        Query,
        SearchRecord,
        SearchStatus,
        SourceOption,
        StopReason,
        Usage,
    )
    from workflows import policy
    from workflows.control import ResearchControl
    from workflows.dedup import merge

I = TypeVar("I", bound=StepContext)  # noqa: E741 - input
O = TypeVar("O")  # noqa: E741 - output

EVIDENCE_KEPT = 240
"""Items a run keeps references to; judged helpful ones and newer ones are kept first."""
PERMANENT = ("auth", "model_not_found", "insufficient_quota")
"""Failures after which no further call to that model can succeed."""
MODEL_WAITS = (30.0, 60.0, 120.0, 300.0, 600.0)
"""Seconds between attempts while a run waits for its model; the last one repeats."""


class OutOfBudget(Exception):
    """The next call does not fit into the budget."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


class StepFailed(Exception):
    """A thinking step failed for good."""

    def __init__(self, category: str, message: str) -> None:
        super().__init__(message)
        self.category = category


class Conductor(ResearchControl):
    """Base of the research workflows: runs steps."""

    published: "Published | None" = None

    # getting ready

    @property
    def prepared(self) -> Prepared:
        """What the worker said it has; `get_ready` comes first."""
        assert self.state.prepared is not None
        return self.state.prepared

    @property
    def profile(self) -> Profile:
        return self.prepared.profile

    async def prepare(self, profile: str, extra_sources: Sequence[str] = ()) -> Prepared:
        """Ask the worker for its sources, models, prices and the profile."""
        request = self.request
        return await workflow.execute_activity_method(
            PrepareActivities.prepare,
            PrepareInput(
                profile=profile,
                profile_path=request.profile_path,
                sources=(*request.sources, *extra_sources) if request.sources else (),
                library=request.library,
                models=request.models,
                fallbacks=request.fallbacks,
            ),
            **policy.bookkeeping("what this worker has"),
        )

    async def parse(self) -> ParsedQuery:
        """Read the question: what is asked, which mode and profile fit, and why."""
        step = ParseQueryInput(
            run_id=workflow.info().workflow_id,
            question=self.request.question,
            profile=self.profile,
            profiles=self.prepared.profiles,
            sources=tuple(s for s in self.prepared.sources if s.enabled),
        )
        return await self.think("query_parser", ThinkActivities.parse_query, step)

    async def get_ready(self) -> None:
        """Resolve what only the worker knows and read the question, unless that was done before."""
        state, request = self.state, self.request
        if state.prepared is not None and state.parsed is not None:
            return
        self.enter("starting", "reading the question")
        state.prepared = await self.prepare("general" if request.profile == "auto" else request.profile)
        self.keep_for_writing()
        state.parsed = await self.parse()
        if request.profile == "auto" and state.parsed.profile != self.profile.name:
            state.prepared = await self.prepare(state.parsed.profile)
        state.chosen_because = state.parsed.rationale
        self.tell("understood", state.parsed.rationale or state.parsed.improved_query)
        for option in self.prepared.sources:
            if not option.enabled and (
                option.info.name in request.sources or option.reason.startswith("cannot")
            ):
                self.note(f"{option.info.title} was not searched: {option.reason}")

    def keep_for_writing(self) -> None:
        """Keep back what the report needs."""
        if self.choice("writer").backend != "extractive":
            self.budget_ledger.keep_for_writing(ALLOWANCES["writer"], self.price("writer"))

    def sources(self) -> tuple[SourceOption, ...]:
        """What is searched: the user's choice, else the profile's preference among what is enabled.

        The bundled sample library serves only when it was asked for or nothing else can be searched.
        """
        enabled = {s.info.name: s for s in self.prepared.sources if s.enabled and s.info.role == "search"}
        added = [name for name in self.state.control.added_sources if name in enabled]
        if self.request.sources:
            wanted = [name for name in (*self.request.sources, *added) if name in enabled]
        else:
            fitting = self.state.parsed.sources if self.state.parsed else ()
            preferred = [n for n in (fitting or self.profile.sources) if n in enabled and n != "library"]
            own = ["library"] if self.request.library and "library" in enabled else []
            wanted = [*own, *preferred, *added] or [n for n in ("library",) if n in enabled] or list(enabled)
        return tuple(enabled[name] for name in dict.fromkeys(wanted))

    def choice(self, role: Role) -> ModelChoice:
        """The model that serves a role."""
        models = self.prepared.models
        return models.get(role) or models.get("default") or ModelChoice()

    def price(self, role: Role) -> Price | None:
        return self.prepared.prices.get(self.choice(role).model)

    def note(self, text: str) -> None:
        """Something the report's limitations must say; said once."""
        if text not in self.state.notes:
            self.state.notes.append(text)

    # thinking

    async def think(
        self,
        role: Role,
        method: Callable[[ThinkActivities, I], Awaitable[Charged[O]]],
        step: I,
        *,
        writing: bool = False,
        offline: bool = False,
    ) -> O:
        """One thinking step, reserved before and settled after.

        Without budget it raises OutOfBudget, or, when writing, goes on without a model. A model that cannot
        answer is replaced by the extractive back end, except for the judge, whose failure raises StepFailed.
        """
        choice = self.choice(role)
        if choice.backend == "extractive" or offline or (self.state.model_unusable and role != "judge"):
            return await self._extractive(role, method, step)
        allowance = ALLOWANCES[role]
        number = await self.reserve(role, allowance, self.price(role), writing)
        if number is None:
            reason = self.budget_ledger.refusal(allowance.tokens, 0, writing) or "cost_budget_exceeded"
            if not writing:
                raise OutOfBudget(reason)
            self.note(
                "The budget was used up before writing: the report was written without a language model."
            )
            return await self._extractive(role, method, step)
        waits = iter(MODEL_WAITS)
        wait = next(waits)
        while True:
            try:
                charged = await self._execute(role, method, step, choice, allowance, writing)
            except ActivityError as error:
                if is_cancelled_exception(error):
                    self.budget_ledger.settle(number, Usage(calls=1))
                    self.note("A model call was cancelled: what it had used until then is not counted.")
                    raise
                failed, usage = _model_failure(error)
                self.budget_ledger.settle(number, usage)
                if failed.category in PERMANENT:
                    self.state.model_unusable = True
                if failed.category in ("unavailable", "rate_limited"):
                    self.state.model_down = True
                    if await self._wait_for_model(wait):
                        wait = next(waits, wait)
                        number = await self.reserve(role, allowance, self.price(role), writing)
                        if number is not None:
                            continue
                return await self._without_model(role, method, step, failed)
            except BaseException:
                self.budget_ledger.settle(number, Usage(calls=1))
                raise
            self.budget_ledger.settle(number, charged.usage)
            self.state.model_down = False
            return self._accept(role, charged)

    async def reserve(
        self, role: Role, allowance: Allowance, price: Price | None, writing: bool
    ) -> int | None:
        """Hold budget for a call; a section may have to ask its parent for more."""
        return self.budget_ledger.reserve(role, allowance, price, writing)

    async def _execute(
        self,
        role: Role,
        method: Callable[[ThinkActivities, I], Awaitable[Charged[O]]],
        step: I,
        choice: ModelChoice,
        allowance: Allowance,
        writing: bool,
    ) -> Charged[O]:
        now = self.now()
        left = (
            self.budget_ledger.remaining_seconds(now) if writing else self.budget_ledger.research_seconds(now)
        )
        return await workflow.execute_activity_method(
            method,
            step.model_copy(
                update={
                    "model": choice,
                    "fallbacks": self.prepared.fallbacks if choice.backend != "extractive" else (),
                    "allowance": allowance,
                    "steering": tuple(self.state.control.steering),
                    "section": self.state.job.section.id if self.state.job else step.section,
                }
            ),
            **policy.thinking(
                left if choice.backend != "extractive" else None,
                f"{role.replace('_', ' ')}: {policy.shorten(step.question, 60)}",
                model_down=self.state.model_down,
            ),
        )

    async def _extractive(
        self, role: Role, method: Callable[[ThinkActivities, I], Awaitable[Charged[O]]], step: I
    ) -> O:
        none = Allowance(input_tokens=0, output_tokens=0)
        return self._accept(role, await self._execute(role, method, step, ModelChoice(), none, writing=True))

    async def _without_model(
        self,
        role: Role,
        method: Callable[[ThinkActivities, I], Awaitable[Charged[O]]],
        step: I,
        failed: StepFailed,
    ) -> O:
        name = role.replace("_", " ")
        self.tell("model_failed", f"{name}: {failed}", category=failed.category, role=role)
        self.note(f"The language model did not answer as {name} ({failed}).")
        if role == "judge":
            raise failed
        return await self._extractive(role, method, step)

    async def _wait_for_model(self, seconds: float) -> bool:
        """Wait durably for a model that is down, if the request says so; False when that makes no sense."""
        control, left = self.state.control, self.budget_ledger.research_seconds(self.now())
        if not self.request.wait_for_model or control.finish or (left is not None and left <= seconds):
            return False
        before = control.phase
        self.enter("waiting_for_model", f"the model is down; asking again in {seconds:g} s")
        self.tell("waiting_for_model", f"the model is down; asking again in {seconds:g} s")
        try:
            await workflow.wait_condition(
                lambda: control.finish, timeout=timedelta(seconds=seconds), timeout_summary="model is down"
            )
        except TimeoutError:
            self.enter(before, "asking the model again")
            return True
        return False

    def _accept(self, role: Role, charged: Charged[O]) -> O:
        """Record which model answered and what the reader must be told."""
        for name in (charged.model,) if charged.model not in self.state.models else ():
            self.state.models.append(name)
        if charged.prompt_version and charged.prompt_version not in self.state.prompt_versions:
            self.state.prompt_versions.append(charged.prompt_version)
        for text in charged.notes:
            self.note(text)
        if charged.fell_back:
            self.note(
                f"{role.replace('_', ' ').capitalize()}: {charged.model} answered for a model that is down."
            )
        return charged.output

    # searching

    async def search(self, tasks: Sequence[AgentTask]) -> tuple[list[SearchStatus], int]:
        """Make all searches at once; return how each ended and how many items are new."""
        answers = await asyncio.gather(*(self._search(task) for task in tasks))
        new = 0
        for record, found in answers:
            self.state.searches.append(record)
            self.state.identified += record.kept
            merged = merge(self.state.evidence, found, record.section)
            self.state.evidence = list(merged.refs)
            self.state.duplicates += merged.duplicates
            new += len(merged.new_ids)
            self.tell(
                "search",
                f"{record.source}: {record.status}, {record.kept} kept of {record.hits}",
                source=record.source,
                query=record.query,
                status=record.status,
            )
        self._forget()
        return [record.status for record, _ in answers], new

    async def _search(self, task: AgentTask) -> tuple[SearchRecord, list[EvidenceRef]]:
        """One search, exchange by exchange. Whatever becomes of it, it is a row of the ledger."""
        option = next((s for s in self.prepared.sources if s.info.name == task.agent), None)
        query = Query(text=task.query, limit=self.request.limits.results_per_search, filters=Filters())
        found: list[EvidenceRef] = []
        row = SearchRecord(
            source=task.agent,
            query=task.query,
            asked=task.query,
            status="empty",
            gap=task.gap,
            section=self.state.job.section.id if self.state.job else "",
            iteration=self.state.loop.iteration,
        )
        cursor: dict[str, str] | None = None
        while True:
            try:
                hits = await workflow.execute_activity(
                    activity_name(task.agent),
                    SearchTask(
                        run_id=workflow.info().workflow_id,
                        source=task.agent,
                        query=query,
                        cursor=cursor,
                        library=self.request.library if task.agent == "library" else None,
                    ),
                    result_type=Hits,
                    **policy.searching(
                        self.budget_ledger.research_seconds(self.now()),
                        policy.shorten(f"{task.agent}: {task.query}"),
                        option.info.queue if option else None,
                    ),
                )
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                status, detail, attempts = _search_failure(error)
                return row.model_copy(
                    update={
                        "status": "ok" if found else status,
                        "detail": detail,
                        "kept": len(found),
                        "attempts": max(row.attempts, attempts),
                    }
                ), found
            found += hits.kept
            row = row.model_copy(
                update={
                    "query": hits.query or row.query,
                    "status": "ok" if found else "empty",
                    "hits": max(row.hits, hits.hits),
                    "kept": len(found),
                    "set_aside": row.set_aside + hits.set_aside,
                    "seconds": round(row.seconds + hits.seconds, 3),
                    "attempts": max(row.attempts, hits.attempts),
                    "detail": hits.detail or row.detail,
                }
            )
            cursor = hits.cursor
            if cursor is None:
                return row, found

    def _forget(self) -> None:
        """Keep the references within bounds: helpful items first, then the newest."""
        if len(self.state.evidence) <= EVIDENCE_KEPT:
            return
        helpful = set(self.state.relevant)
        others = [ref for ref in self.state.evidence if ref.evidence_id not in helpful]
        room = max(EVIDENCE_KEPT - (len(self.state.evidence) - len(others)), 0)
        gone = {ref.evidence_id for ref in others[: len(others) - room]}
        self.state.evidence = [ref for ref in self.state.evidence if ref.evidence_id not in gone]
        self.note(f"Only the {EVIDENCE_KEPT} most promising items were kept for judging.")

    # publishing

    async def publish(self, document: PublishInput) -> "Published":
        """Have the quotes checked and the report rendered and stored."""
        published = await workflow.execute_activity_method(
            PublishActivities.publish_report,
            document,
            **policy.bookkeeping("check quotes and render the report"),
        )
        self.published = published
        return published


def _cause(error: ActivityError) -> FailureError | None:
    cause = error.cause
    return cause if isinstance(cause, FailureError) else None


def _first_detail(error: FailureError | None) -> dict[str, object]:
    if isinstance(error, ApplicationError) and error.details and isinstance(error.details[0], dict):
        return error.details[0]
    return {}


def _message(error: FailureError | None) -> str:
    return " ".join(str(error.message if error else "it failed").split())[:300]


def _model_failure(error: ActivityError) -> tuple[StepFailed, Usage]:
    """What a failed thinking step says of the model, and what was paid for it."""
    cause = _cause(error)
    detail = _first_detail(cause)
    usage = Usage.model_validate(detail["usage"]) if "usage" in detail else Usage()
    return StepFailed(str(detail.get("category", "unavailable")), _message(cause)), usage


def _search_failure(error: ActivityError) -> tuple[SearchStatus, str, int]:
    """How a failed search stands in the ledger. A time-out, or a worker that never took it, is an outage."""
    cause = _cause(error)
    row = SearchRecord.model_validate(
        {"source": "", "query": "", "status": _first_detail(cause).get("status", "unavailable")}
    )
    attempts = policy.SEARCH_ATTEMPTS if not getattr(cause, "non_retryable", False) else 1
    return row.status, _message(cause), attempts
