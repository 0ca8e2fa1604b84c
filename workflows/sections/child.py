"""The child's side of a deep run: asking the parent for budget and telling it how far the section is.

A section spends from its lease only. When a call does not fit, it asks for a lease large enough and waits
until another section has given back what it did not use, or the parent says that nothing is left.
"""

import asyncio
from contextlib import suppress
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from activities.steps import Role
    from activities.types import Allowance, Price
    from workflows.types import Grant, LeaseRequest, SectionProgress

from workflows.rules.budget import worst_cost
from workflows.steps.publish import Conductor

LEASE_STEP = 4
"""A section asks for this many times what its next call needs, so that it asks seldom."""


class SectionSide(Conductor):
    """What IterativeResearch does in addition when it is a section."""

    grants_seen: int = 0
    has_asked: bool = False
    """Whether a request for budget is still to be answered."""
    telling: asyncio.Task[bool] | None = None
    """The latest word to the parent, which nothing waits for."""

    @workflow.signal
    def grant(self, *said: object) -> None:
        """The parent's answer, or its part of an extension: what the lease grows by."""
        grant = self.read_signal("grant", Grant, said)
        if grant is None:
            return
        self.budget_ledger.extend(grant.tokens, grant.cost_microusd, grant.seconds, grant.iterations)
        self.state.loop.max_iterations += grant.iterations
        self.state.exhausted = grant.final
        if grant.tokens or grant.cost_microusd or grant.final:
            self.has_asked = False
        self.grants_seen += 1

    async def reserve(
        self, role: Role, allowance: Allowance, price: Price | None, writing: bool
    ) -> int | None:
        number = await super().reserve(role, allowance, price, writing)
        while number is None and self.state.job is not None and await self.more_budget(allowance, price):
            number = await super().reserve(role, allowance, price, writing)
        return number

    async def more_budget(self, allowance: Allowance, price: Price | None) -> bool:
        """Ask the parent and wait for its answer; False when there will be no more, or no use for it."""
        job, left = self.state.job, self.budget_ledger.research_seconds(self.now())
        if (
            job is None
            or self.state.exhausted
            or self.state.control.finish
            or (left is not None and left <= 0)
        ):
            return False
        seen = self.grants_seen
        if not self.has_asked:
            cost = worst_cost(allowance, price)
            wanted = LeaseRequest(
                section_id=job.section.id,
                tokens=allowance.tokens * LEASE_STEP,
                least_tokens=allowance.tokens,
                cost_microusd=cost * LEASE_STEP,
                least_cost_microusd=cost,
            )
            self.has_asked = True
            if not await self._tell_parent("request_lease", wanted):
                return False
        with suppress(TimeoutError):
            await workflow.wait_condition(
                lambda: self.grants_seen > seen or self.state.control.finish,
                timeout=None if left is None else timedelta(seconds=left),
                timeout_summary="budget from the parent",
            )
        return True

    def report_to_parent(self) -> None:
        """Once an iteration, from the second on: how far the section is. Nothing waits for it to arrive."""
        if self.state.job is None or self.state.loop.iteration < 2:
            return
        news = SectionProgress(
            id=self.state.job.section.id,
            title=self.state.job.section.title,
            status="running",
            phase=self.state.control.phase,
            iteration=self.state.loop.iteration,
            evidence=len(self.state.evidence),
            by_role=self.budget_ledger.by_role,
            spent_microusd=self.budget_ledger.spent_microusd,
            workflow_id=workflow.info().workflow_id,
        )
        self.telling = asyncio.create_task(self._tell_parent("section_report", news))

    async def _tell_parent(self, signal: str, payload: LeaseRequest | SectionProgress) -> bool:
        """Send; False when there is no parent any more."""
        assert self.state.job is not None
        try:
            await workflow.get_external_workflow_handle(self.state.job.parent_id).signal(signal, payload)
        except FailureError as error:
            self.tell("parent_gone", f"the deep run could not be told: {error}")
            return False
        return True
