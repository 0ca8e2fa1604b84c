"""Where this project imports numpy first, BLAS has one thread, and other processes are not told so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from activities.processes import VARIABLE, one_blas_thread

LIBRARY = """
import sys
from activities.settings import Settings
from activities.sources.library.source import LibrarySource
LibrarySource(Settings())._libraries
assert 'numpy' in sys.modules
"""
COUNT = "import os; print(len(os.listdir('/proc/self/task')), 'OPENBLAS_NUM_THREADS' in os.environ)"


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
@pytest.mark.parametrize(
    "code",
    [
        "from activities.processes import one_blas_thread\nwith one_blas_thread():\n    import numpy",
        LIBRARY,
    ],
    ids=["numpy", "a library"],
)
def test_numpy_starts_no_threads(code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{COUNT}"],
        env={"DETERMINATOR_HOME": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("1 False\n", "")


def test_what_the_user_has_set_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "4")
    with one_blas_thread():
        assert os.environ[VARIABLE] == "1"
    assert os.environ[VARIABLE] == "4"
