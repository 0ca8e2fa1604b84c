"""Which tests may be tried again when they fail, as a pytest plugin.

A test that depends on how busy the machine is says so: `@pytest.mark.flaky(reruns=2, reason="...")`. One
of an invariant (rates, budgets, durability) never does: it is there for the one failure in a hundred runs.
"""

import pytest

REASON_CHARS = 10
"""The shortest text that can be a reason."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a `flaky` marker without a number of reruns and a reason, and one on an invariant."""
    wrong = [f"{item.nodeid}: {problem}" for item in items if (problem := why_refused(item))]
    if wrong:
        raise pytest.UsageError(*wrong)


def why_refused(item: pytest.Item) -> str:
    """What is wrong with a test's `flaky` marker; empty when nothing is."""
    marker = item.get_closest_marker("flaky")
    if marker is None:
        return ""
    if item.get_closest_marker("invariant"):
        return "a test of an invariant is not tried again"
    if not isinstance(marker.kwargs.get("reruns"), int):
        return "flaky needs reruns=N"
    if len(str(marker.kwargs.get("reason", "")).strip()) < REASON_CHARS:
        return "flaky needs a reason"
    return ""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that were tried again, whatever became of them."""
    again = [report.nodeid for report in terminalreporter.stats.get("rerun", [])]
    if again:
        terminalreporter.section("tests that were tried again")
        for name in dict.fromkeys(again):
            terminalreporter.write_line(f"{name} ({again.count(name)} more)")
