"""The worker of a home: which settings it has, and when it may be replaced.

Invariants:
- A home has one worker. One without open runs is replaced by one with the settings in use; one with open runs
  is left as it is, and the command says what to do, unless `up --restart` asks for the replacement.
- Runs whose worker is gone are served by a worker with the caller's settings only when these have every key,
  library and plugin that the former worker had (their names are in its note; never a value). Otherwise the
  runs wait, and commands name what is missing.
"""

import asyncio
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass

from temporalio.client import Client, WorkflowExecutionStatus

from activities.settings import Settings
from client.connection import Say
from client.embedded.control import Answer, NoSupervisor, ProcessesEnded, ask
from client.embedded.fingerprint import OFFLINE, access_of, fingerprint, needs_of, worker_environment
from client.embedded.home import Places, WorkerNote, read_note
from client.failures import WorkerBusy

IDLE_SECONDS = 1800.0
"""How long server and worker are kept when there is nothing to do: no open run and no schedule."""
HELD_SECONDS = 10.0
"""How long to wait for another command that is about to start a run on the worker."""
FEW_RUNS = 20
"""Runs of the list of open ones that are looked at one by one."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The worker that a command's settings ask for."""

    settings: Settings
    fingerprint: str
    needs: tuple[str, ...]
    access: Mapping[str, str]

    @classmethod
    def by(cls, settings: Settings, places: Places) -> "Wanted":
        return cls(settings, fingerprint(settings, places), needs_of(settings), access_of(settings, places))

    def for_runs_of(self, note: WorkerNote | None, places: Places) -> "Wanted":
        """The same, kept from the network where the former worker was: that needs no key, only less."""
        if note is None or OFFLINE not in note.needs or OFFLINE in self.needs:
            return self
        return Wanted.by(self.settings.model_copy(update={"offline": True}), places)

    def missing(self, note: WorkerNote | None) -> list[str]:
        """What these settings lack to serve the runs of a former worker."""
        if note is None:
            return []
        lacking = [name for name in note.needs if name not in self.needs]
        if OFFLINE in self.needs and OFFLINE not in note.needs:
            lacking.append("access to the network")
        return lacking

    @property
    def note(self) -> WorkerNote:
        """The note of a worker with these settings."""
        return WorkerNote(
            fingerprint=self.fingerprint,
            queue=self.settings.task_queue,
            needs=self.needs,
            access=self.access,
        )

    async def ask(
        self, places: Places, *, over: str | None = None, hold: bool = False, force: bool = False
    ) -> Answer:
        """Have this worker: one that runs already, or a new one where none runs. One with other settings is
        replaced when `over` is its fingerprint and no other command holds it, or with `force`. To `hold` it
        keeps it as it is until the answer's connection is closed. Raises NoConnection."""
        try:
            return await ask(
                places,
                {
                    "do": "worker",
                    "note": self.note.model_dump(),
                    "command": [
                        *(sys.executable, "-P", "-m", "worker.daemon"),
                        *("--idle-seconds", str(IDLE_SECONDS)),
                    ],
                    "environment": worker_environment(self.settings),
                    "over": over,
                    "hold": hold,
                    "force": force,
                },
            )
        except NoSupervisor as error:
            raise ProcessesEnded(f"the processes of {places.home} have just ended; try again") from error


async def have_worker(
    client: Client, places: Places, wanted: Wanted, say: Say, *, hold: bool, restart: bool, running: bool
) -> Answer:
    """See that the worker has the wanted settings; `running`: one is alive. With `restart` a new one takes
    over whatever it lacks. Raises NoConnection, WorkerBusy, RPCError."""
    former = read_note(places.worker_note, WorkerNote)
    if not running:
        lacking = wanted.missing(former)
        if lacking and (runs := await open_runs(client)):
            waiting = waits_for(runs, lacking)
            if not restart:
                raise WorkerBusy(
                    f"{waiting}; set it, go on without it with `determinator up --restart`, cancel what "
                    "waits, or use another home (DETERMINATOR_HOME)"
                )
            say(waiting)
    deadline = time.monotonic() + HELD_SECONDS
    over: str | None = None
    while True:
        answer = await wanted.ask(places, over=over, hold=hold, force=restart)
        if answer.served:
            if over is not None:
                say("restarting the background worker: your settings have changed")
            return answer
        assert answer.worker is not None, "a home without a worker gets one"
        if runs := await open_runs(client):
            raise WorkerBusy(busy(runs, answer.worker, wanted))
        if time.monotonic() > deadline:
            raise WorkerBusy(
                "another command is about to start a run with other settings; wait for it, or use another "
                "home (DETERMINATOR_HOME)"
            )
        if over == answer.worker.fingerprint:
            await asyncio.sleep(0.2)
        over = answer.worker.fingerprint


def waits_for(runs: list[str], lacking: list[str]) -> str:
    """`1 run waits for a worker with OPENAI_API_KEY, as at its start (ask-...)`"""
    which = "1 run waits" if len(runs) == 1 else f"{len(runs)} runs wait"
    return f"{which} for a worker with {', '.join(lacking)}, as at the start ({shown(runs)})"


def busy(runs: list[str], worker: WorkerNote, wanted: Wanted) -> str:
    """Why a command cannot have a worker with its settings, and what to do."""
    differing = sorted({*worker.needs} ^ {*wanted.needs})
    which = f" ({', '.join(differing)})" if differing else ""
    return (
        f"the worker is busy with {shown(runs)}, which was started with other settings{which}; wait for its "
        "end, restart the worker with yours with `determinator up --restart`, or use another home "
        "(DETERMINATOR_HOME)"
    )


def shown(runs: list[str]) -> str:
    """`ask-a and 2 others`"""
    return runs[0] if len(runs) == 1 else f"{runs[0]} and {len(runs) - 1} others"


async def open_runs(client: Client) -> list[str]:
    """The ids of open research runs and refreshes. Raises RPCError."""
    from client.runs.listing import RESEARCH, description

    query = f"({RESEARCH} OR WorkflowType = 'RefreshReport') AND ExecutionStatus = 'Running'"
    listed = [found.id async for found in client.list_workflows(query, page_size=1000) if "/" not in found.id]
    if len(listed) > FEW_RUNS:
        return listed
    # the list lags: a run that ended a moment ago may still be in it
    described = [await description(client, run_id) for run_id in listed]
    return [found.id for found in described if found and found.status == WorkflowExecutionStatus.RUNNING]
