"""The parent's side of a deep run: starting sections, leasing budget to them and passing signals on.

Invariants:

* a section spends only what it was leased, and a lease is closed once, whatever became of the section;
* a request for budget waits until something is free. When every section that runs is waiting, nothing can
  come back by itself: the one that has come furthest is told that there is no more, ends with what it has,
  and leaves the rest of its lease to the others;
* what a person says reaches every section that runs, also one that is only just being started.
"""

from temporalio import workflow
from temporalio.exceptions import FailureError
from temporalio.workflow import ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from activities.roles.allowances import ALLOWANCES
    from activities.types import ReportPlanSection
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

from workflows.rules.budget import Budget, Lease
from workflows.state import RunState
from workflows.steps import policy
from workflows.steps.publish import Conductor

Word = tuple[str, Steer | AddSource | Grant | None]
"""A signal and what it carries."""


class ParentSide(Conductor):
    """What DeepResearch does for its sections."""

    running: dict[str, workflow.ExternalWorkflowHandle[object]]
    unsent: dict[str, list[Word]]
    """What is to be said to sections that are being started, once they are there."""
    asking: dict[str, LeaseRequest]
    to_grant: list[tuple[str, Grant]]
    share: Lease

    def open(self) -> None:
        """Start with no section running."""
        self.running, self.unsent, self.asking, self.to_grant, self.share = {}, {}, {}, [], Lease()

    def divide(self, sections: int) -> None:
        """An equal share of what is free for each section that is still to be run."""
        tokens, cost = self.budget_ledger.free_tokens(), self.budget_ledger.free_cost()
        self.share = Lease(
            tokens=(tokens or 0) // max(sections, 1), cost_microusd=(cost or 0) // max(sections, 1)
        )

    async def run_child(self, section: ReportPlanSection) -> Outcome:
        """Start a section as a child workflow with its lease and await it. Raises FailureError."""
        name = f"{workflow.info().workflow_id}/{section.id}"
        child = self.child_state(section)
        mine = child.budget.limits if child.budget else self.request.limits
        self.state.sections[section.id] = self.state.sections[section.id].model_copy(
            update={"status": "running", "workflow_id": name}
        )
        self.tell("section_started", section.title, section_id=section.id)
        # from here on it may ask for budget and is told what people say
        self.running[section.id] = workflow.get_external_workflow_handle(name)
        self.unsent[section.id] = []
        try:
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
            for signal, payload in self.unsent.pop(section.id):
                await self._send(section.id, signal, payload)
            outcome: Outcome = await handle
            return outcome
        finally:
            self.unsent.pop(section.id, None)
            self.running.pop(section.id, None)
            self.asking.pop(section.id, None)

    def child_state(self, section: ReportPlanSection) -> RunState:
        """What a section starts with: its lease, and what the run has learned and been told so far."""
        state, limits = self.state, self.budget_ledger.limits
        lease = self.budget_ledger.lease(section.id, self.share.tokens, self.share.cost_microusd)
        seconds = self.budget_ledger.research_seconds(self.now())
        mine = limits.model_copy(
            update={
                "max_tokens": None if limits.max_tokens is None else lease.tokens,
                "max_cost_microusd": None if limits.max_cost_microusd is None else lease.cost_microusd,
                "max_seconds": None if seconds is None else max(seconds, 1.0),
            }
        )
        drafts = self.request.writer == "proofreader"
        budget = Budget(limits=mine, started_at=self.now())
        if drafts and self.choice("writer").backend != "extractive":
            budget.keep_for_writing([(ALLOWANCES["writer"], self.price("writer"))])
        child = RunState(
            budget=budget,
            prepared=state.prepared,
            parsed=state.parsed,
            unusable=list(state.unusable),
            job=SectionJob(
                section=section,
                parent_id=workflow.info().workflow_id,
                background=state.plan.background_context if state.plan else "",
                write_draft=drafts,
            ),
        )
        child.control.steering = list(state.control.steering)
        child.control.steered = state.control.steered
        child.control.added_sources = list(state.control.added_sources)
        return child

    # budget

    @workflow.signal
    async def request_lease(self, *said: object) -> None:
        """A section's next call does not fit into its lease."""
        wanted = self.read_signal("request_lease", LeaseRequest, said)
        if wanted is None or wanted.section_id not in self.running:
            return
        self.asking[wanted.section_id] = wanted
        self.serve_leases()
        await self.send_grants()

    def serve_leases(self) -> None:
        """Grant what can be granted; when nothing can come back by itself, ask one section to end."""
        for section, wanted in list(self.asking.items()):
            if self.budget_ledger.refusal(wanted.least_tokens, wanted.least_cost_microusd) is not None:
                continue
            lease = self.budget_ledger.lease(section, wanted.tokens, wanted.cost_microusd)
            del self.asking[section]
            self.to_grant.append((section, Grant(tokens=lease.tokens, cost_microusd=lease.cost_microusd)))
        if self.asking and len(self.asking) == len(self.running):
            furthest = max(self.asking, key=lambda section: self.state.sections[section].iteration)
            del self.asking[furthest]
            self.to_grant.append((furthest, Grant(final=True)))

    async def send_grants(self) -> None:
        """Send the grants that were decided."""
        grants, self.to_grant = self.to_grant, []
        for section, grant in grants:
            await self._send(section, "grant", grant)

    # passing on

    @workflow.signal
    def section_report(self, *said: object) -> None:
        """A section tells how far it is."""
        progress = self.read_signal("section_report", SectionProgress, said)
        if progress is not None and progress.id in self.running:
            self.state.sections[progress.id] = progress

    async def pass_on(self, signal: str, payload: Steer | AddSource | None = None) -> None:
        for section in list(self.running):
            await self._send(section, signal, payload)

    async def share_extension(self, more: ExtendBudget) -> None:
        if more.iterations or more.seconds:
            for section in list(self.running):
                await self._send(section, "grant", Grant(iterations=more.iterations, seconds=more.seconds))
        self.serve_leases()
        await self.send_grants()

    async def _send(self, section: str, signal: str, payload: Steer | AddSource | Grant | None) -> None:
        if section in self.unsent:
            self.unsent[section].append((signal, payload))
            return
        handle = self.running.get(section)
        if handle is None:
            return
        try:
            await (handle.signal(signal) if payload is None else handle.signal(signal, payload))
        except FailureError as error:
            self.tell("section_gone", f"{section} could not be told: {error}", section_id=section)
