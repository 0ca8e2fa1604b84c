"""The child's side of a deep run: asking the parent for budget and telling it how far the section is.

A section spends from its lease only. When a call does not fit, it asks for a lease large enough and waits
until another section has given back what it did not use, or the parent says that nothing is left.
"""

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.steps import Role
    from activities.types import Allowance, Price
    from workflows.budget import worst_cost
    from workflows.conduct import Conductor
    from workflows.types import Grant, LeaseRequest, SectionProgress

LEASE_STEP = 4
"""A section asks for this many times what its next call needs, so that it asks seldom."""


class SectionSide(Conductor):
    """What IterativeResearch does in addition when it is a section."""

    grants_seen: int = 0

    @workflow.signal
    def grant(self, grant: Grant) -> None:
        """The parent's answer: what the lease grows by. Zero means that nothing is left."""
        self.budget_ledger.extend(grant.tokens, grant.cost_microusd, 0.0, grant.iterations)
        self.state.loop.max_iterations += grant.iterations
        self.state.exhausted = grant.final
        self.grants_seen += 1

    async def reserve(
        self, role: Role, allowance: Allowance, price: Price | None, writing: bool
    ) -> int | None:
        number = await super().reserve(role, allowance, price, writing)
        if number is not None or self.state.job is None or self.state.exhausted:
            return number
        seen = self.grants_seen
        await self._tell_parent(
            "request_lease",
            LeaseRequest(
                section_id=self.state.job.section.id,
                tokens=allowance.tokens * LEASE_STEP,
                least_tokens=allowance.tokens,
                cost_microusd=worst_cost(allowance, price) * LEASE_STEP,
            ),
        )
        left = self.budget_ledger.research_seconds(self.now())
        try:
            await workflow.wait_condition(
                lambda: self.grants_seen > seen or self.state.control.finish,
                timeout=None if left is None else timedelta(seconds=left),
                timeout_summary="budget from the parent",
            )
        except TimeoutError:
            return None
        return await super().reserve(role, allowance, price, writing)

    async def report_to_parent(self) -> None:
        """Once an iteration: how far the section is."""
        if self.state.job is None:
            return
        await self._tell_parent(
            "section_report",
            SectionProgress(
                id=self.state.job.section.id,
                title=self.state.job.section.title,
                status="running",
                phase=self.state.control.phase,
                iteration=self.state.loop.iteration,
                evidence=len(self.state.evidence),
                by_role=self.budget_ledger.by_role,
                workflow_id=workflow.info().workflow_id,
            ),
        )

    async def _tell_parent(self, signal: str, payload: LeaseRequest | SectionProgress) -> None:
        assert self.state.job is not None
        try:
            await workflow.get_external_workflow_handle(self.state.job.parent_id).signal(signal, payload)
        except ApplicationError as error:
            self.tell("parent_gone", f"the deep run could not be told: {error}")
