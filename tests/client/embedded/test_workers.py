"""Who may serve the runs of a worker that is gone."""

from pathlib import Path

import pytest

from activities.settings import Settings
from client.embedded.fingerprint import OFFLINE
from client.embedded.home import Places, WorkerNote
from client.embedded.workers import Wanted


def wanted(home: Path, *, offline: bool) -> Wanted:
    return Wanted.by(Settings(home=home, offline=offline), Places(home))


def note_of(worker: Wanted) -> WorkerNote:
    return WorkerNote(fingerprint=worker.fingerprint, queue=worker.settings.task_queue, needs=worker.needs)


@pytest.mark.invariant
def test_runs_that_were_offline_are_served_offline_whoever_asks(home: Path) -> None:
    former = note_of(wanted(home, offline=True))
    successor = wanted(home, offline=False).for_runs_of(former, Places(home))
    assert successor.settings.offline
    assert OFFLINE in successor.needs
    assert successor.missing(former) == []


def test_runs_with_a_network_are_not_served_offline(home: Path) -> None:
    former = note_of(wanted(home, offline=False))
    successor = wanted(home, offline=True).for_runs_of(former, Places(home))
    assert successor.missing(former) == ["access to the network"]
    assert not wanted(home, offline=False).for_runs_of(former, Places(home)).settings.offline
