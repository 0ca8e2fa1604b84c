"""Running a program that a model wrote, where it can reach nothing: bubblewrap with a harness inside.

Invariants:

- No network, no processes of others to see, no file of the machine but the interpreter and its libraries
  (read-only), no environment, no capability, no home. `/proc`, `/sys` and the evidence are not there.
- Limits: 120 seconds of wall and processor time, 1 GiB of memory a process, 16 processes, 16 MiB of
  files (in memory), 64 KiB of what is printed and 64 KiB of result. What exceeds a limit ends the program;
  what it started ends with it.
- Its result is data. A verdict is made of its numbers (`activities.analysis.meta_analysis`), never of its
  words.
- It is run twice, the second time over effects whose numbers are all shifted: a program that returns the same
  numbers again did not compute them, and has no result.
"""

import json
import math
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import IO

from activities.analysis import harness
from activities.contracts.effects import RATIOS, Arms, Effect, GeneratedAnalysis, Program
from activities.contracts.errors import NotInstalled
from activities.processes import run

MAX_SECONDS = 120
MAX_MEMORY_BYTES = 1 << 30
MAX_PROCESSES = 16
MAX_FILE_BYTES = 16 << 20
MAX_OUTPUT_BYTES = 64 << 10
MAX_RESULT_BYTES = 64 << 10
MAX_CODE_CHARS = 20_000
SHIFT = 1.5
"""Factor of ratios and summand of differences in the second run."""
NOT_COMPUTED = "it returns the same numbers for other effects"
SCRATCH = "/sandbox"
"""The one folder inside that can be written to."""


def run_generated(program: Program, effects: Sequence[Effect]) -> GeneratedAnalysis:
    """Return what the program returns.

    Raises NotInstalled without bubblewrap."""
    inputs = [effect.replace(quote="") for effect in effects]
    analysis = run_program(program.code, inputs).replace(method=program.method)
    if analysis.failed or analysis.estimate is None:
        return analysis
    rerun = run_program(program.code, [shift_effect(effect) for effect in inputs])
    is_constant = not rerun.failed and _numbers(rerun) == _numbers(analysis)
    return analysis.replace(failed=NOT_COMPUTED) if is_constant else analysis


def _numbers(analysis: GeneratedAnalysis) -> tuple[float | None, float | None, float | None]:
    """Return what a program returned but for the value of no effect."""
    return (analysis.estimate, analysis.low, analysis.high)


def shift_effect(effect: Effect) -> Effect:
    """Return the effect with other numbers that are as possible as its own."""

    def shift(value: float | None) -> float | None:
        if value is None:
            return None
        return value * SHIFT if effect.measure in RATIOS else value + SHIFT

    arms = effect.arms
    return effect.replace(
        estimate=shift(effect.estimate),
        low=shift(effect.low),
        high=shift(effect.high),
        n=effect.n * 2 if effect.n else None,
        arms=arms and Arms(**arms.model_dump() | {"total": arms.total * 2}),
    )


def bwrap() -> str:
    """Return the path of bubblewrap.

    Raises NotInstalled where it is missing or cannot make a sandbox."""
    path = shutil.which("bwrap")
    if sys.platform != "linux":
        raise NotInstalled("the sandbox for generated programs is", "it needs Linux")
    if path is None:
        raise NotInstalled(
            "bubblewrap (bwrap) is",
            "install it with the system's package manager, as in `apt install bubblewrap`",
        )
    if problem := _problem_of(path):
        raise NotInstalled("a working bubblewrap is", f"it answers: {problem}")
    return path


@cache
def _problem_of(path: str) -> str:
    """Tell why bubblewrap makes no sandbox here; empty when it does."""
    command = [path, "--unshare-all", "--ro-bind", "/", "/", "true"]
    probe = run(command, capture_output=True, timeout=30)
    return probe.stderr.decode(errors="replace").strip()[:200] if probe.returncode else ""


def run_program(code: str, effects: Sequence[Effect], seconds: float = MAX_SECONDS) -> GeneratedAnalysis:
    """Run a program and return what it printed and its numbers.

    A program that fails, or exceeds a limit, has `failed` set. Raises NotInstalled without bubblewrap."""
    path = bwrap()
    if len(code) > MAX_CODE_CHARS:
        return GeneratedAnalysis(code=code[:MAX_CODE_CHARS], output="", failed="it is too long")
    limits = {
        "RLIMIT_AS": MAX_MEMORY_BYTES,
        "RLIMIT_CPU": math.ceil(seconds),
        "RLIMIT_FSIZE": MAX_FILE_BYTES,
        "RLIMIT_CORE": 0,
        "RLIMIT_NOFILE": 64,
        "RLIMIT_NPROC": MAX_PROCESSES,
    }
    job = {"code": code, "effects": [effect.model_dump(mode="json") for effect in effects], "limits": limits}
    failure = ""
    with tempfile.TemporaryFile() as output_file, tempfile.TemporaryFile() as answer_file:
        try:
            run(  # bubblewrap's children die with it
                _command(path, answer_file.fileno()),
                {},
                input=json.dumps(job).encode(),
                stdout=output_file,
                stderr=subprocess.STDOUT,
                pass_fds=(answer_file.fileno(),),
                start_new_session=True,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            failure = f"it needs more than {seconds:g} seconds"
        output, too_long = _beginning(output_file, MAX_OUTPUT_BYTES)
        result, too_large = _beginning(answer_file, MAX_RESULT_BYTES)
    if too_long or too_large:
        failure = "it returns or prints more than it may"
    return _read(code, output.decode(errors="replace"), result, failure)


def _beginning(file: IO[bytes], limit: int) -> tuple[bytes, bool]:
    """Return what was written to a file, up to a limit, and whether there is more.

    The harness limits its size."""
    file.seek(0)
    data = file.read(limit + 1)
    return data[:limit], len(data) > limit


def _command(path: str, result: int) -> list[str]:
    interpreter = str(Path(sys.executable).resolve())
    packages = list(dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))))
    mounts = (str(Path(sys.base_prefix) / "lib"), sysconfig.get_path("stdlib"), *packages, interpreter)
    # bubblewrap lets only the owner pass the folders that it makes for a mount
    parents = sorted(
        {"/usr", "/etc", *(str(parent) for place in mounts for parent in list(Path(place).parents)[:-1])}
    )
    folders = [word for place in parents for word in ("--perms", "0755", "--dir", place)]
    binds = [word for place in dict.fromkeys(mounts) for word in ("--ro-bind", place, place)]
    script = f"{SCRATCH}.py"
    return [
        path,
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
        *_as_nobody(),
        *("--hostname", "sandbox"),
        *("--die-with-parent", "--new-session", "--clearenv"),
        *("--setenv", "OPENBLAS_NUM_THREADS", "1", "--setenv", "OMP_NUM_THREADS", "1"),
        *("--setenv", "PYTHONDONTWRITEBYTECODE", "1", "--setenv", "PYTHONPATH", ":".join(packages)),
        *("--size", str(MAX_FILE_BYTES), "--perms", "1777", "--tmpfs", SCRATCH),
        *folders,
        *_system_folders(),
        *binds,
        *("--dev-bind", "/dev/null", "/dev/null", "--dev-bind", "/dev/urandom", "/dev/urandom"),
        *("--ro-bind", str(Path(harness.__file__).resolve()), script),
        *("--remount-ro", "/", "--chdir", SCRATCH),
        *(interpreter, "-P", "-s", script, str(result)),
    ]


def _as_nobody() -> list[str]:
    """Return how the program gets a user without rights.

    That of root is left by the harness itself: the kernel limits nobody's processes, and not root's, whatever
    their name in a namespace."""
    if os.geteuid() == 0:
        return ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return ["--unshare-user", "--uid", str(harness.NOBODY), "--gid", str(harness.NOBODY), "--cap-drop", "ALL"]


def _system_folders() -> list[str]:
    words: list[str] = []
    for name in ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"):
        place = Path(name)
        if place.is_symlink():
            words += ["--symlink", str(place.readlink()), name]
        elif place.exists():
            words += ["--ro-bind", name, name]
    return words


def _read(code: str, output: str, answer: bytes, failure: str) -> GeneratedAnalysis:
    """Return what a program returned.

    Only finite numbers under known names count."""
    result: object = None
    if not failure:
        try:
            outcome = json.loads(answer)
            result, failure = outcome["result"], str(outcome["failed"])
        except (ValueError, KeyError, TypeError):
            failure = "it ended without a result"
    if not failure and not isinstance(result, dict):
        failure = "it assigns no dict to `result`"
    values = result if isinstance(result, dict) and not failure else {}
    numbers = {name: _finite(values.get(name)) for name in ("estimate", "low", "high", "null")}
    null = numbers.pop("null") or 0.0
    return GeneratedAnalysis(code=code, output=output, **numbers, null=null, failed=failure)


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
