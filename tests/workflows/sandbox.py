"""The sandbox workflow code is tested in: all of `workflows` is loaded again for each run and watched.

Contracts and activities pass through: they hold no clock and no randomness, and a model's class must be the
same on both sides of the data converter.
"""

from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

PASSED_THROUGH = (
    "activities",
    "workflows.types",
    "workflows.event_types",
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "structlog",
)

SANDBOX = SandboxedWorkflowRunner(SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))
