"""Every process that the product starts, with what it may see of this one, and the end of a process.

A Python of our own is started with `-P`: without it code of the current folder runs, with what this process
may do. A process gets the variables that any program needs, and those that are named; keys are none of them.

Only the standard library is imported: each cold start waits for the supervisor.
"""

import asyncio
import contextlib
import logging
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

ANY = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "PATHEXT", "COMSPEC", "USERPROFILE", "LOCALAPPDATA", "APPDATA"),
    *("VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"),
)
"""Variables without which programs do not run, or not in the reader's language."""
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
NETWORK = (*PROXIES, *(name.lower() for name in PROXIES), "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables that say how the network is reached."""
BYTE_CODE = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
"""Variables that say where Python keeps what it has compiled."""
ROOT = str(Path(__file__).parents[1])
"""Where the packages of this project are."""


def python(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of ours, whatever the current folder holds."""
    return [sys.executable, "-P", "-m", module, *arguments]


def variables(*names: str, **values: str) -> dict[str, str]:
    """Return what any program gets of this environment, what is named besides, and these values."""
    return {name: os.environ[name] for name in (*ANY, *names) if name in os.environ} | values


def for_python(*names: str, **values: str) -> dict[str, str]:
    """Return the same for a Python of our own: our packages come first, and no relative folder has any."""
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [ROOT, *(path for path in entries if Path(path).is_absolute() and path != ROOT)]
    return variables(*names, *BYTE_CODE, **{"PYTHONPATH": os.pathsep.join(paths), **values})


def run(
    command: Iterable[str],
    environment: Mapping[str, str] | None = None,
    **how: Any,  # noqa: ANN401 - as subprocess
) -> "subprocess.CompletedProcess[bytes]":
    """Run a program to its end, as `subprocess.run` does.

    With what any program gets, where no other environment is given. Raises OSError, TimeoutExpired.
    """
    env = variables() if environment is None else dict(environment)
    return subprocess.run([*command], env=env, check=False, **how)  # noqa: S603 - the one place


def start(
    command: Iterable[str],
    environment: Mapping[str, str],
    **how: Any,  # noqa: ANN401 - as subprocess
) -> "subprocess.Popen[bytes]":
    """Start a program, as `subprocess.Popen` does. Raises OSError."""
    return subprocess.Popen([*command], env=dict(environment), **how)  # noqa: S603 - as above


async def start_async(
    command: Iterable[str],
    environment: Mapping[str, str],
    **how: Any,  # noqa: ANN401 - as asyncio
) -> asyncio.subprocess.Process:
    """Start a program whose pipes the event loop reads. Raises OSError."""
    return await asyncio.create_subprocess_exec(*command, env=dict(environment), **how)


VARIABLE = "OPENBLAS_NUM_THREADS"
"""Read by OpenBLAS when numpy is imported first."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Have numpy start no threads when it is imported here first, without effect on other processes.

    A process that has them must not fork. Where steps share the processors they are a loss besides: they wait
    for each other in loops, and a question that is encoded in 9 ms with one took 200 to 600 with two.
    """
    former_value = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "1"
    try:
        yield
    finally:
        if former_value is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = former_value


IDLE = 10
"""Exit code of a worker of an embedded server that ends because there is nothing to do."""


def leave(code: int) -> NoReturn:
    """Flush what was written and end at once.

    The interpreter's own clean-up can crash a process that used a Temporal client (a native runtime is torn
    down under running threads), which would turn a good exit code into 134 or 139.
    """
    if (connection := sys.modules.get("client.connection")) is not None:
        connection.flush_traces()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the reader of a pipe may close it
            stream.flush()
    with contextlib.suppress(OSError, ValueError):
        logging.shutdown()
    os._exit(code)
