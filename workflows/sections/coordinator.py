"""The parent's side of a run with sections: starts them, leases budget to them and forwards signals.

Invariants:

* a section spends only what it was leased, and a lease is closed once, however the section ended;
* a request for budget waits until something is free. When every running section is waiting, nothing can be
  given back: the one with the most iterations gets a final grant, ends with what it
  has, and leaves the rest of its lease to the others;
* signals from people reach every running section, also one that is just being started;
* a section is offered what the others found once an iteration, as references, in one signal.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from itertools import zip_longest
from typing import Any

from temporalio import workflow
from temporalio.exceptions import FailureError
from temporalio.workflow import ParentClosePolicy

from activities.contracts.evidence import EvidenceRef, Mode, ReportPlanSection
from workflows.amounts import KINDS, Addition, Kind, Spend
from workflows.context import RunPart
from workflows.messages import AddSource, Steer
from workflows.part_state import ClarificationState
from workflows.rules.budget import Budget
from workflows.run import RunParts
from workflows.sections.child import send_signal
from workflows.sections.types import Grant, LeaseRequest, SectionJob, SharedEvidence
from workflows.state import ModelsState, RunState, SectionsState
from workflows.steps import policy
from workflows.types import Outcome, SectionProgress

FIRST_SHARE = 0.5
"""The part of its equal share that a section is leased at first, unless a round of its judge needs more."""
MAX_OFFERS = 30
"""References of one section that the others are offered at most."""
MAX_REFS_AN_OFFER = 20
"""References in one offer."""


async def _outcome(section: workflow.ChildWorkflowHandle[Any, Outcome]) -> Outcome:
    """Return what a section returns.

    A cancel is passed on to it and its findings are awaited; a cancel that meets the end of the section loses
    nothing. Raises FailureError.
    """
    try:
        return await asyncio.shield(section)
    except asyncio.CancelledError:
        section.cancel()
        return await section


class SectionCoordinator(RunPart):
    """Runs sections as child workflows on behalf of their parent."""

    def __init__(self, run: RunParts, child_workflow: str, child_mode: Mode) -> None:
        super().__init__(run)
        self.child_workflow = child_workflow
        self.child_mode = child_mode
        self._running: dict[str, workflow.ExternalWorkflowHandle[object]] = {}
        self._unsent: dict[str, list[tuple[str, Steer | AddSource | Grant | None]]] = {}
        """Signals, each with its payload, for sections that are being started: sent once they run."""
        self._requests: dict[str, LeaseRequest] = {}
        self._share = Spend()

    def divide_budget(self, sections: int) -> None:
        """Set the first lease of each section still to be run: a part of its equal share of what is free.

        The rest is given on request, so that none waits while another holds what it does not use.
        """
        budget, parts = self.context.budget, max(sections, 1)
        share = Spend().map_kinds(lambda kind, _: (budget.free_amount(kind) or 0) // parts)
        lease = share.map_kinds(lambda _, amount: int(amount * FIRST_SHARE))
        round_tokens = self.run.judging.tokens_of_a_round()
        if lease.tokens < round_tokens <= share.tokens:
            lease = lease.replace(tokens=round_tokens)
        self._share = self._within_limits(lease, Spend())

    def _within_limits(self, demand: Spend, granted: Spend) -> Spend:
        """Return what a section that has been granted some may still get of what it wants."""

        def cap(kind: Kind, amount: int) -> int:
            limit = getattr(self.request.limits, f"max_section_{kind}")
            return amount if limit is None else min(amount, max(limit - granted.of(kind), 0))

        return demand.map_kinds(cap)

    async def run_section(self, section: ReportPlanSection) -> Outcome:
        """Start a section as a child workflow with its lease and await it. Raises FailureError."""
        name = f"{self.context.run_id}/{section.id}"
        child = self._child_state(section)
        assert child.budget is not None
        request = self.request.replace(
            mode=self.child_mode,
            approve=(),
            limits=child.budget.limits,
            graph=None,
            indexed=False,  # each search attribute is an event; lists show the run, not its sections
        )
        sections = self.state.sections.progress
        self.state.people.adopted.pop(section.id, None)  # its log begins again
        sections[section.id] = sections[section.id].replace(status="running", workflow_id=name, by_role={})
        self.events.emit(
            "section_started",
            section.title,
            section_id=section.id,
            title=section.title,
            key_question=section.key_question,
        )
        # From here on it may ask for budget, and signals are forwarded to it.
        self._running[section.id] = workflow.get_external_workflow_handle(name)
        self._unsent[section.id] = []
        try:
            starting = asyncio.ensure_future(
                workflow.start_child_workflow(
                    self.child_workflow,
                    args=[request, child],
                    id=name,
                    result_type=Outcome,
                    parent_close_policy=ParentClosePolicy.REQUEST_CANCEL,
                    static_summary=policy.shorten(section.title),
                )
            )
            try:
                handle = await asyncio.shield(starting)
                for signal, payload in self._unsent.pop(section.id):
                    await self._send(section.id, signal, payload)
            except asyncio.CancelledError:
                # A start that was requested cannot be taken back: the section is cancelled once it runs, and
                # returns what it has found, which is awaited below.
                handle = await starting
                handle.cancel()
            return await _outcome(handle)
        finally:
            self._unsent.pop(section.id, None)
            self._running.pop(section.id, None)
            self._requests.pop(section.id, None)

    def _child_state(self, section: ReportPlanSection) -> RunState:
        """Return the initial state of a section: its lease, and what the run knows so far."""
        context, state = self.context, self.state
        limits = context.budget.limits
        lease = context.budget.lease(section.id, self._share)
        bounds = (context.research_seconds(), limits.max_section_seconds)
        seconds = min((bound for bound in bounds if bound is not None), default=None)
        overrides = {
            f"max_{kind}": getattr(limits, f"max_section_{kind}")
            if context.budget.limit(kind) is None
            else lease.of(kind)
            for kind in KINDS
        }
        limits = limits.replace(**overrides, max_seconds=None if seconds is None else max(seconds, 1.0))
        child = RunState(
            budget=Budget(limits=limits, started_at=context.now()),
            question=state.question.model_copy(update={"plan": None, "plan_hash": "", "chosen_because": ""}),
            models=ModelsState(unusable=list(state.models.unusable)),
            sections=SectionsState(
                job=SectionJob(
                    section=section,
                    parent_id=context.run_id,
                    background=state.question.plan.background_context if state.question.plan else "",
                    searches_run_question=section.id == context.outline[0].id,
                    lineage=context.lineage,
                ),
                offered=list(self._offer_for(section.id)),
            ),
        )
        child.set_part(state.part(ClarificationState))
        context.state.sections.offers[section.id] = [ref.evidence_id for ref in child.sections.offered]
        # every section has what was imported; what a section finds is its own
        child.evidence.refs = [ref for ref in state.evidence.refs if ref.from_run]
        child.loop.unjudged = len(child.evidence.refs)
        child.people.steering = list(state.people.steering)
        child.people.steered = state.people.steered
        child.people.added_sources = list(state.people.added_sources)
        return child

    # budget

    async def accept_lease_request(self, request: LeaseRequest) -> None:
        """Accept the request of a section whose next call does not fit into its lease."""
        if request.section_id in self._running:
            self._requests[request.section_id] = request
            await self.serve_requests()

    async def serve_requests(self) -> None:
        """Grant what can be granted; when nothing can be given back, end one section. Send the grants."""
        if self._requests:
            self.models.reserve_for_writing()
        for section, grant in self._decide_grants():
            await self._send(section, "grant", grant)

    def _decide_grants(self) -> list[tuple[str, Grant]]:
        budget, grants = self.context.budget, list[tuple[str, Grant]]()
        for section, request in list(self._requests.items()):
            minimum, granted = request.least, budget.leases.get(section, Spend())
            allowed = self._within_limits(request.wanted, granted)
            if any(allowed.of(kind) < minimum.of(kind) for kind in KINDS):
                del self._requests[section]
                grants.append((section, Grant(final=True)))
                continue
            if budget.refusal(minimum) is not None:
                continue
            lease = budget.lease(section, self._share_of(allowed, minimum))
            del self._requests[section]
            grants.append((section, Grant(**lease.model_dump())))
        if self._requests and len(self._requests) == len(self._running):
            sections = self.state.sections.progress
            furthest = max(self._requests, key=lambda section: sections[section].iteration)
            del self._requests[furthest]
            grants.append((furthest, Grant(final=True)))
        return grants

    def _share_of(self, allowed: Spend, minimum: Spend) -> Spend:
        """Return a share of what is free, within what a section may have, and no less than it needs."""
        parts = len(self._running) + 1

        def share(kind: Kind, amount: int) -> int:
            free = self.context.budget.free_amount(kind) or amount
            return max(minimum.of(kind), min(amount, free // parts))

        return allowed.map_kinds(share)

    # signals

    async def accept_report(self, progress: SectionProgress) -> None:
        """Accept what a section reports of itself.

        When one of its iterations has ended, it is offered what the others have found since.
        """
        if progress.id in self._running:
            self.events.adopt_events(progress.id, progress.events)
            self.state.loop.memory.adopt(progress.history)
            previous = self.state.sections.progress[progress.id]
            self.state.sections.progress[progress.id] = progress.replace(
                title=previous.title,
                workflow_id=previous.workflow_id,
                by_role=previous.by_role | progress.by_role,
                events=(),
                history=(),
                found=(),
            )
            self.events.show_details()
            self.share(progress.id, progress.found)
            if progress.history and (offer := self._offer_for(progress.id)):
                await self._offer(progress.id, offer)

    def share(self, section: str, refs: Iterable[EvidenceRef]) -> None:
        """Add what a section found to what the others are offered."""
        pool = self.state.sections.pool
        pool[section] = [*pool.get(section, ()), *refs][:MAX_OFFERS]

    def _offer_for(self, section: str) -> tuple[EvidenceRef, ...]:
        """Return what other sections found and this one has not been offered yet, the best of each first."""
        state = self.state
        ids = {ref.evidence_id for ref in state.sections.pool.get(section, ())}
        known_ids = {*state.sections.offers.get(section, ()), *ids}
        pools = [refs for name, refs in state.sections.pool.items() if name != section]
        in_turns = (ref for rank in zip_longest(*pools) for ref in rank if ref is not None)
        new = {ref.evidence_id: ref for ref in in_turns if ref.evidence_id not in known_ids}
        return tuple(new.values())[:MAX_REFS_AN_OFFER]

    async def _offer(self, section: str, items: tuple[EvidenceRef, ...]) -> None:
        """Offer works to a section; one that has just ended needs none."""
        handle = self._running.get(section)
        if handle is None or section in self._unsent:
            return
        ids = self.state.sections.offers.setdefault(section, [])
        ids += [ref.evidence_id for ref in items]
        with suppress(FailureError):
            await send_signal(handle, "offer_evidence", SharedEvidence(items=items))

    async def forward(self, signal: str, payload: Steer | AddSource | None = None) -> None:
        """Send a signal to every running section."""
        for section in list(self._running):
            await self._send(section, signal, payload)

    async def share_extension(self, addition: Addition) -> None:
        """Pass an extension on: time and iterations to each section, tokens and cost on request."""
        if addition.iterations or addition.seconds:
            grant = Grant(iterations=addition.iterations, seconds=addition.seconds)
            for section in list(self._running):
                await self._send(section, "grant", grant)
        await self.serve_requests()

    async def _send(self, section: str, signal: str, payload: Steer | AddSource | Grant | None) -> None:
        if section in self._unsent:
            self._unsent[section].append((signal, payload))
            return
        handle = self._running.get(section)
        if handle is None:
            return
        try:
            await send_signal(handle, signal, *(() if payload is None else (payload,)))
        except FailureError as error:
            if section not in self._running:  # it ended before the signal reached it
                return
            self.events.emit(
                "error", f"{section} could not be reached: {error}", kind="section_gone", section_id=section
            )
