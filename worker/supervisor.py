"""The process that restarts the worker of a home at once when a signal has ended it (Linux).

What a worker imports takes more than a second of processor time, for which the work of one that died stands
still. So the process that is started as a worker imports it once, forks, and waits: the child is the worker.
When it is killed, the next one is forked, with the same settings and nothing to import.

Invariants:
- The process that forks has one thread, no event loop, no client and no open database: what it shares with
  its children is imported code, the settings, the log and the lock of the home.
- It and the worker end together, however either ends. A worker that ends by itself ends it with its exit
  code; a signal to stop is passed on; the kernel kills the worker of one that is killed.
- It restarts a worker only while its code is what is on disk, and not one that dies again and again: then it
  ends, and a command starts another, as after the death of both.
"""

import ctypes
import gc
import importlib
import os
import signal
import sys
import time
from collections import deque
from contextlib import suppress
from types import FrameType

import structlog

from activities.blas import one_blas_thread
from activities.settings import Settings, choice
from activities.sources.names import SOURCES
from client.exit import leave

log = structlog.get_logger()

MOST_DEATHS = 5
"""Deaths within `DEATHS_SECONDS` after which a worker is not restarted here."""
DEATHS_SECONDS = 60.0
STOPPING = frozenset({signal.SIGTERM, signal.SIGINT})
UNTIL_POLLING = (
    *("worker.lost_activities", "worker.rate_gate_holder", "worker.resources"),
    *("workflows.rate_gate", "workflows.refresh"),
)
PACKAGES = frozenset({"activities", "client", "worker", "workflows"})
PR_SET_PDEATHSIG = 1
"""Of linux/prctl.h: which signal a process gets when its parent ends."""


def supervise(settings: Settings) -> None:
    """Return in each process that is to be the worker, one after the other. In this process it returns only
    where it must not fork; then it is the worker itself."""
    if sys.platform != "linux":
        return
    gc.disable()
    import_until_polling()
    if choice(settings.model).backend == "openai":
        import_model_client()
    gc.enable()
    if not has_one_thread():
        log.warning("worker_not_supervised", reason="an imported module has started a thread")
        return
    gc.freeze()  # pages that no collection writes to stay shared with the workers
    Supervisor().run()


def import_until_polling() -> None:
    """Import what a worker needs until it polls."""
    with one_blas_thread():
        from worker.build import code_id
        from workflows.modes import workflow_classes

        for module in UNTIL_POLLING:
            importlib.import_module(module)
        workflow_classes()
        for _, path in SOURCES:
            with suppress(ImportError):  # of an optional source
                importlib.import_module(path.partition(":")[0])
    code_id()


def import_model_client() -> None:
    """Import what the first call of a language model needs: a third of a second of processor time."""
    for module in ("openai", "activities.models.transport"):
        importlib.import_module(module)


def has_one_thread() -> bool:
    """Whether this process may fork: a lock that another thread holds would stay locked in the child."""
    return len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - names are wanted


def code_on_disk() -> dict[str, int]:
    """When the modules of this project that are imported, and the folders of installed packages, were last
    changed. Raises OSError for what is gone."""
    files = [
        module.__file__
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in PACKAGES and getattr(module, "__file__", None)
    ]
    folders = [path for path in sys.path if path.endswith("-packages")]
    return {path: os.stat(path).st_mtime_ns for path in (*files, *folders) if path}  # noqa: PTH116 - pathlib is slower


class Supervisor:
    """Forks workers, one at a time."""

    def __init__(self) -> None:
        self._code = code_on_disk()
        self._child = 0
        self._stopping = False
        self._deaths: deque[float] = deque(maxlen=MOST_DEATHS)

    def run(self) -> None:
        """Return in each child; this process ends with the last of them."""
        handlers = {number: signal.signal(number, self._pass_on) for number in STOPPING}
        while not self._fork():
            _, status = os.waitpid(self._child, 0)
            if not self.restarts(status):
                code = os.waitstatus_to_exitcode(status)
                leave(code if code >= 0 else 128 - code)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)

    def _fork(self) -> bool:
        """Fork a worker; whether this process is it, with the signals to stop still blocked."""
        parent = os.getpid()
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        if self._stopping:
            leave(0)
        self._child = os.fork()
        if self._child == 0:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # it was killed before that
                os._exit(1)
            return True
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
        return False

    def restarts(self, status: int) -> bool:
        """Whether to start another worker after one that ended so."""
        if self._stopping or not os.WIFSIGNALED(status):
            return False
        number = signal.Signals(os.WTERMSIG(status)).name
        often = len(self._deaths) == MOST_DEATHS and time.monotonic() - self._deaths[0] < DEATHS_SECONDS
        self._deaths.append(time.monotonic())
        if often or not has_one_thread() or not self.is_current():
            log.error("worker_killed", pid=self._child, signal=number, restarted=False)
            return False
        log.warning("worker_killed", pid=self._child, signal=number, restarted=True)
        return True

    def is_current(self) -> bool:
        """Whether the code on disk is what this process has imported."""
        try:
            now = code_on_disk()
        except OSError:
            return False
        return all(now.get(path) == changed for path, changed in self._code.items())

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        """Pass a signal to stop on to the worker."""
        self._stopping = True
        if self._child:
            os.kill(self._child, number)
