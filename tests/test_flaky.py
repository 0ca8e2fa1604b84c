"""Only tests with a reason are tried again, those of an invariant never, and those tried again are named."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TRIED_AGAIN = """
import pytest
tries = {"marked": 0, "plain": 0}

def first_time(name):
    tries[name] += 1
    return tries[name] == 1

@pytest.mark.flaky(reruns=2, reason="depends on the clock")
def test_marked():
    assert not first_time("marked")

def test_plain():
    assert not first_time("plain")
"""
REFUSED = (
    "@pytest.mark.flaky",
    "@pytest.mark.flaky(reruns=2)",
    '@pytest.mark.flaky(reruns=2, reason=" ")',
    '@pytest.mark.flaky(reason="depends on the clock")',
    '@pytest.mark.invariant\n@pytest.mark.flaky(reruns=2, reason="depends on the clock")',
)


def run_pytest(folder: Path, tests: str, *flags: str) -> tuple[int, str]:
    """The exit code and the output of a run of pytest on some tests."""
    (folder / "test_it.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  invariant: as in the project\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.flaky", "-p", "no:cacheprovider", *flags]
    done = subprocess.run(
        [*command, "--rootdir", str(folder), str(folder)], cwd=ROOT, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_only_a_marked_test_is_tried_again_and_it_is_named(tmp_path: Path) -> None:
    code, text = run_pytest(tmp_path, TRIED_AGAIN, "-n", "1")
    assert code == pytest.ExitCode.TESTS_FAILED
    assert "test_it.py::test_marked (1 more)" in text
    assert "1 failed, 1 passed, 1 rerun" in text


def test_a_marker_without_a_reason_or_on_an_invariant_is_refused(tmp_path: Path) -> None:
    tests = "".join(f"{mark}\ndef test_{n}(): pass\n" for n, mark in enumerate(REFUSED))
    code, text = run_pytest(tmp_path, f"import pytest\n{tests}")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert all(f"test_it.py::test_{n}: " in text for n in range(len(REFUSED)))
