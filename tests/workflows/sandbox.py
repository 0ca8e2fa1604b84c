"""The sandbox in which recorded histories replay: what orders steps is loaded again for each run and watched.

Runs of the stage are executed without it, as by the product's workers: it is half of what such a test costs,
and `test_replay` requires that every step and message of a run occurs in a history.

Contracts, activities and what only holds data or computes pass through: they have no clock and no randomness
(`test_sandbox` reads what they import), a model's class must be the same on both sides of the data converter,
and to build pydantic's models again for each run was most of what a test cost.
"""

from typing import ClassVar

from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions
from temporalio.workflow import _Definition

DATA_AND_RULES = (
    *("workflows.types", "workflows.event_types", "workflows.graph.definition", "workflows.memory"),
    *(
        *("workflows.rules", "workflows.amounts", "workflows.sections.types", "workflows.state"),
        "workflows.part_state",
    ),
)
"""Modules of `workflows` that hold data or compute from what they are given."""
PASSED_THROUGH = (
    *DATA_AND_RULES,
    "activities",
    "Stemmer",
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "structlog",
)


class PreparedOnce(SandboxedWorkflowRunner):
    """Loads each workflow once to see that it can be loaded, and not again for each worker of a process."""

    prepared: ClassVar[set[type]] = set()

    def prepare_workflow(self, defn: _Definition) -> None:
        """See the base class."""
        if defn.cls not in self.prepared:
            super().prepare_workflow(defn)
            self.prepared.add(defn.cls)


SANDBOX = PreparedOnce(SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))
