"""The parent's side of a deep run: starting sections, leasing budget to them and passing signals on.

A request for budget waits until something is free. When every section that runs is waiting, nothing can come
back any more: all are told so, and end with what they have.
"""

from temporalio import workflow
from temporalio.exceptions import ApplicationError
from temporalio.workflow import ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from activities.types import ReportPlanSection, Usage
    from workflows import policy
    from workflows.budget import Budget, Lease
    from workflows.conduct import Conductor
    from workflows.state import RunState
    from workflows.types import (
        AddSource,
        ExtendBudget,
        Grant,
        LeaseRequest,
        Outcome,
        SectionJob,
        SectionProgress,
        Steer,
    )


class ParentSide(Conductor):
    """What DeepResearch does for its sections."""

    running: dict[str, workflow.ExternalWorkflowHandle[object]]
    asking: dict[str, LeaseRequest]
    to_grant: list[tuple[str, Grant]]
    share: Lease

    def open(self) -> None:
        """Start with no section running."""
        self.running, self.asking, self.to_grant, self.share = {}, {}, [], Lease()

    def divide(self, sections: int) -> None:
        """An equal share of what is free for each section that is still to be run."""
        tokens, cost = self.budget_ledger.free_tokens(), self.budget_ledger.free_cost()
        self.share = Lease(
            tokens=(tokens or 0) // max(sections, 1), cost_microusd=(cost or 0) // max(sections, 1)
        )

    async def run_child(self, section: ReportPlanSection) -> Outcome:
        """Start a section as a child workflow with its lease and await it. Raises ChildWorkflowError."""
        state, info = self.state, workflow.info()
        lease = self.budget_ledger.lease(section.id, self.share.tokens, self.share.cost_microusd)
        limits = self.budget_ledger.limits
        seconds = self.budget_ledger.research_seconds(self.now())
        mine = limits.model_copy(
            update={
                "max_tokens": None if limits.max_tokens is None else lease.tokens,
                "max_cost_microusd": None if limits.max_cost_microusd is None else lease.cost_microusd,
                "max_seconds": None if seconds is None else max(seconds, 1.0),
            }
        )
        child = RunState(
            budget=Budget(limits=mine, started_at=self.now()),
            prepared=state.prepared,
            parsed=state.parsed,
            job=SectionJob(
                section=section,
                parent_id=info.workflow_id,
                background=state.plan.background_context if state.plan else "",
                write_draft=self.request.writer == "proofreader",
            ),
        )
        child.control.steering = list(state.control.steering)
        child.control.added_sources = list(state.control.added_sources)
        name = f"{info.workflow_id}/{section.id}"
        state.sections[section.id] = state.sections[section.id].model_copy(
            update={"status": "running", "workflow_id": name}
        )
        self.tell("section_started", section.title, section_id=section.id)
        handle = await workflow.start_child_workflow(
            "IterativeResearch",
            args=[
                self.request.model_copy(update={"mode": "iterative", "approve": (), "limits": mine}),
                child,
            ],
            id=name,
            result_type=Outcome,
            parent_close_policy=ParentClosePolicy.REQUEST_CANCEL,
            static_summary=policy.shorten(section.title),
        )
        self.running[section.id] = workflow.get_external_workflow_handle(name)
        try:
            outcome: Outcome = await handle
            return outcome
        finally:
            self.running.pop(section.id, None)
            self.asking.pop(section.id, None)

    # budget

    @workflow.signal
    async def request_lease(self, wanted: LeaseRequest) -> None:
        """A section's next call does not fit into its lease."""
        self.asking[wanted.section_id] = wanted
        self.serve_leases()
        await self.send_grants()

    def serve_leases(self) -> None:
        """Grant what can be granted; refuse all when nothing can come back any more."""
        for section, wanted in list(self.asking.items()):
            free = self.budget_ledger.free_tokens()
            money = self.budget_ledger.free_cost()
            if free is not None and free < wanted.least_tokens:
                continue
            if money is not None and money <= 0 and wanted.cost_microusd > 0:
                continue
            lease = self.budget_ledger.lease(section, wanted.tokens, wanted.cost_microusd)
            del self.asking[section]
            self.to_grant.append((section, Grant(tokens=lease.tokens, cost_microusd=lease.cost_microusd)))
        if self.asking and set(self.asking) >= set(self.running):
            self.to_grant += [(section, Grant(final=True)) for section in self.asking]
            self.asking.clear()

    async def send_grants(self) -> None:
        """Send the grants that were decided."""
        grants, self.to_grant = self.to_grant, []
        for section, grant in grants:
            await self._send(section, "grant", grant)

    def withhold(self, section: str, by_role: dict[str, Usage]) -> None:
        """Close the lease of a section that failed without an account: what it may have spent beyond what it
        reported stays held, so that the limit cannot be exceeded."""
        lease = self.budget_ledger.leases.get(section, Lease())
        known = sum((usage for usage in by_role.values()), Usage())
        self.budget_ledger.close_lease(section, by_role)
        rest = Lease(
            tokens=max(lease.tokens - known.tokens, 0),
            cost_microusd=max(lease.cost_microusd - (known.cost_microusd or 0), 0),
        )
        self.budget_ledger.leases[section] = rest

    # passing on

    @workflow.signal
    def section_report(self, progress: SectionProgress) -> None:
        """A section tells how far it is."""
        if progress.id in self.running:
            self.state.sections[progress.id] = progress

    async def pass_on(self, signal: str, payload: Steer | AddSource | None = None) -> None:
        for section in list(self.running):
            await self._send(section, signal, payload)

    async def share_extension(self, more: ExtendBudget) -> None:
        self.serve_leases()
        await self.send_grants()
        if more.iterations:
            for section in list(self.running):
                await self._send(section, "grant", Grant(iterations=more.iterations))

    async def _send(self, section: str, signal: str, payload: Steer | AddSource | Grant | None) -> None:
        handle = self.running.get(section)
        if handle is None:
            return
        try:
            await (handle.signal(signal) if payload is None else handle.signal(signal, payload))
        except ApplicationError as error:
            self.tell("section_gone", f"{section} could not be told: {error}", section_id=section)
