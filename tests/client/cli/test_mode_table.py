"""The modes as data, and the limits each of them has."""

from client.runs.request import defaults_of, open_limits
from tests.client.harness import determinator
from workflows.modes import AUTO, TABLE


def test_modes_are_listed_as_data() -> None:
    rows = determinator("modes", "--json").json()
    assert [row["name"] for row in rows] == [AUTO, *(info.name for info in TABLE)]
    assert next(row for row in rows if row["name"] == "team")["aliases"] == ["advanced", "magentic"]


def test_a_mode_has_its_own_defaults_and_auto_leaves_them_to_the_mode_it_chooses() -> None:
    assert defaults_of("team") == {"max_iterations": 10}
    assert defaults_of(AUTO) == {}
    assert "max_iterations" in open_limits(AUTO, {})
    assert "max_iterations" not in open_limits(AUTO, {"max_iterations": 3})
    assert open_limits("team", {}) == ()
