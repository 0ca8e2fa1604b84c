"""Who may execute the steps of a run."""

from pathlib import Path

import pytest

from activities.lanes import Lane, lane_of
from activities.settings import Settings
from client.embedded.home import Places, lane_of_settings

pytestmark = pytest.mark.invariant


def lane(home: Path, **settings: object) -> Lane:
    places = Places(home)
    places.make()
    return lane_of_settings(Settings.model_validate({"home": home, **settings}), places)


def test_a_worker_executes_the_steps_of_runs_whose_settings_it_has(home: Path, tmp_path: Path) -> None:
    plain, keyed = lane(home), lane(home, OPENAI_API_KEY="one")
    assert keyed.lacks(plain) == [], "a key more"
    assert plain.lacks(keyed) == ["OPENAI_API_KEY"]
    assert lane(home, OPENAI_API_KEY="two").id == keyed.id, "a later key of the name will do"
    assert lane(home, max_cost=1.0).id == plain.id, "what a request carries is no matter"
    for name, other in {
        "DETERMINATOR_OFFLINE": lane(home, offline=True),
        "OPENAI_BASE_URL": lane(home, OPENAI_BASE_URL="http://127.0.0.1:1/v1"),
        "DETERMINATOR_LIBRARY": lane(home, library=tmp_path),
    }.items():
        assert plain.lacks(other) == [name] == other.lacks(plain)
        assert other.queue("determinator") != plain.queue("determinator")
    keyed.keep_in(tmp_path)
    assert lane_of(tmp_path, keyed.queue("determinator")) == keyed
    assert lane_of(tmp_path, "determinator") is None
    assert "one" not in (tmp_path / f"{keyed.id}.json").read_text()
