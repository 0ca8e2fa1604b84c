"""Who may serve the runs of a worker that is gone."""

from pathlib import Path

import pytest

from activities.settings import Settings
from client.embedded.fingerprint import OFFLINE
from client.embedded.home import Places
from client.embedded.workers import Wanted


def wanted(home: Path, *, offline: bool) -> Wanted:
    return Wanted.by(Settings(home=home, offline=offline), Places(home))


@pytest.mark.invariant
def test_runs_that_were_offline_are_served_offline_whoever_asks(home: Path) -> None:
    former = wanted(home, offline=True).note
    successor = wanted(home, offline=False).for_runs_of(former, Places(home))
    assert successor.settings.offline
    assert OFFLINE in successor.needs
    assert successor.missing(former) == []


def test_runs_with_a_network_are_not_served_offline(home: Path) -> None:
    former = wanted(home, offline=False).note
    successor = wanted(home, offline=True).for_runs_of(former, Places(home))
    assert successor.missing(former) == ["access to the network"]
    assert not wanted(home, offline=False).for_runs_of(former, Places(home)).settings.offline
