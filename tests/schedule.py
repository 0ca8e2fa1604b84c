"""Which test runs where, when several processes run them.

Tests that start processes wait for them most of the time, and the others compute. Two processes take the
tests that compute, and the others those that wait, until one kind is done: so that there is always something
to compute, and never only that. `PROCESSES` in the environment names the folders and files of tests that
wait; without it the order is pytest-xdist's own.
"""

import os

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController

WAITING = tuple(os.environ.get("PROCESSES", "").split())
COMPUTING = ("gw0", "gw1")


class Mixed(LoadGroupScheduling):  # type: ignore[misc]  # it ships no types
    """See the module."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Assign the first unit of the kind that a process is for, or the first of all."""
        waits = node.gateway.id not in COMPUTING
        for scope, unit in self.workqueue.items():
            if next(iter(unit)).startswith(WAITING) == waits:
                self.workqueue.move_to_end(scope, last=False)
                break
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Mixed | None:
    return Mixed(config, log) if WAITING else None
