"""The Nexus service of a worker: others' workflows hire research, also from another namespace.

An operation is a run like any other, under an id of its own; what cancels the operation cancels the run.
"""

import hashlib

from nexusrpc.handler import service_handler
from temporalio.nexus import WorkflowHandle, WorkflowRunOperationContext, workflow_run_operation

from workflows.modes import WORKFLOW_OF_MODE
from workflows.temporal import ResearchService, memo_of, summary_of
from workflows.types import Outcome, ResearchRequest


@service_handler(service=ResearchService)
class ResearchHandler:
    @workflow_run_operation
    async def research(
        self, context: WorkflowRunOperationContext, request: ResearchRequest
    ) -> WorkflowHandle[Outcome]:
        """Start a run. The server repeats a request under one id: it is one run."""
        number = hashlib.sha256(context.request_id.encode()).hexdigest()[:8]
        return await context.start_workflow(
            WORKFLOW_OF_MODE[request.mode],
            request,
            id=f"hired-{number}",
            result_type=Outcome,
            memo=memo_of(request),
            static_summary=summary_of(request),
        )
