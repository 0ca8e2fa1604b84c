"""The workers of a home: which settings they have, and when one may be replaced.

Invariants:
- A home has one worker of its own. Without open runs, and not used for minutes, it is replaced by one with
  the settings in use. With open runs, which may wait for a person for days, it is left as it is, unless
  `up --restart` asks for its replacement: other settings get a worker beside it, on a queue of its own, which
  ends once its runs have.
- Runs whose worker is gone are served by a worker with the caller's settings only when these have every key,
  library and plugin that the former worker had (their names are in its note; never a value). Otherwise the
  runs wait, and commands name what is missing.
"""

import os
from dataclasses import dataclass

from temporalio.client import Client, WorkflowExecutionStatus

from activities.processes import python
from activities.settings import Settings
from client.connection import Say
from client.embedded.control import Answer, NoSupervisor, ProcessesEnded, ask
from client.embedded.fingerprint import OFFLINE, fingerprint, needs_of, worker_environment
from client.embedded.home import Places, WorkerNote, read_note

IDLE_SECONDS = 1800.0
"""How long server and worker are kept when there is nothing to do: no open run and no schedule."""
BESIDE_IDLE_SECONDS = 300.0
"""The same for a worker with other settings, by the runs of its own queue."""
MAX_BESIDE = 2
"""Workers with other settings beside one that has nothing to do; a worker takes 250 MB."""
MAX_PROCESSES = 4
"""Processes of the home's own worker; each takes 250 MB."""
FEW_RUNS = 20
"""Runs of the list of open ones that are looked at one by one."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The worker that a command's settings ask for."""

    settings: Settings
    fingerprint: str
    needs: tuple[str, ...]

    @classmethod
    def by(cls, settings: Settings, places: Places) -> "Wanted":
        return cls(settings, fingerprint(settings, places), needs_of(settings))

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

    async def ask(
        self,
        places: Places,
        *,
        over: str | None = None,
        hold: bool = False,
        force: bool = False,
        queue: str = "",
        exact: bool = False,
    ) -> Answer:
        """Have this worker: one that runs already, or a new one where none runs. One with other settings is
        replaced when `over` is its fingerprint and no other command holds it, or with `force`. With a `queue`
        it runs beside the home's own; `exact`: no other queue will do. To `hold` it keeps it as it is until
        the answer's connection is closed. Raises NoConnection."""
        own = self.settings.task_queue
        queue = queue or own
        note = WorkerNote(fingerprint=self.fingerprint, queue=queue, needs=self.needs)
        command = python("worker.daemon")
        command += ["--idle-seconds", str(IDLE_SECONDS if queue == own else BESIDE_IDLE_SECONDS)]
        asked = {
            "do": "worker",
            "note": note.model_dump(),
            "file": places.note_of(queue, own).name,
            "command": command if queue == own else [*command, "--beside"],
            "processes": processes_of(self.settings) if queue == own else 1,
            "environment": {**worker_environment(self.settings), "DETERMINATOR_TASK_QUEUE": queue},
            "over": over,
            "hold": hold,
            "force": force,
            "exact": exact,
        }
        try:
            return await ask(places, asked)
        except NoSupervisor as error:
            raise ProcessesEnded(f"the processes of {places.home} have just ended; try again") from error

    async def ask_beside(self, places: Places, *, hold: bool) -> Answer:
        """Have this worker whatever the home's own is busy with. Raises NoConnection."""
        queue = f"{self.settings.task_queue}-{self.fingerprint[:8]}"
        return await self.ask(places, hold=hold, queue=queue)


def processes_of(settings: Settings) -> int:
    """The number of processes of the home's own worker: as set, else one for each processor."""
    return min(settings.workers or os.cpu_count() or 1, MAX_PROCESSES)


async def have_worker(
    client: Client, places: Places, wanted: Wanted, say: Say, *, hold: bool, restart: bool, running: bool
) -> Answer:
    """See that a worker has the wanted settings; `running`: the home's own is alive. With `restart` a new one
    takes over whatever it lacks. Raises NoConnection, RPCError."""
    own = wanted.settings.task_queue
    if not running:
        lacking = wanted.missing(read_note(places.worker_note, WorkerNote))
        if lacking and (runs := await open_runs(client, own)):
            say(waits_for(runs, lacking))
            if not restart:
                return await wanted.ask_beside(places, hold=hold)
    answer = await wanted.ask(places, hold=hold, force=restart)
    if answer.served:
        return answer
    # two terminals with different settings in turns do not restart each other's worker
    in_turns = hold and answer.unused_seconds < BESIDE_IDLE_SECONDS and len(answer.beside) < MAX_BESIDE
    if answer.worker is not None and not in_turns and not await open_runs(client, own):
        answer = await wanted.ask(places, over=answer.worker.fingerprint, hold=hold)
        if answer.served:
            say("restarting the background worker: your settings have changed")
            return answer
    return await wanted.ask_beside(places, hold=hold)


def waits_for(runs: list[str], lacking: list[str]) -> str:
    """`1 run waits for a worker with OPENAI_API_KEY, as at its start (ask-...)`"""
    which = "1 run waits" if len(runs) == 1 else f"{len(runs)} runs wait"
    return f"{which} for a worker with {', '.join(lacking)}, as at the start ({shown(runs)})"


def shown(runs: list[str]) -> str:
    """`ask-a and 2 others`"""
    return runs[0] if len(runs) == 1 else f"{runs[0]} and {len(runs) - 1} others"


async def open_runs(client: Client, queue: str) -> list[str]:
    """The ids of open research runs, reviews and refreshes of a queue. Raises RPCError."""
    from client.listing import RESEARCH, description

    others = "WorkflowType IN ('RefreshReport', 'SystematicReview')"
    query = f"({RESEARCH} OR {others}) AND ExecutionStatus = 'Running'"
    listed = [
        run.id
        async for run in client.list_workflows(query, page_size=1000)
        if "/" not in run.id and run.task_queue == queue
    ]
    if len(listed) > FEW_RUNS:
        return listed
    # the list lags: a run that ended a moment ago may still be in it
    described = [await description(client, run_id) for run_id in listed]
    return [one.id for one in described if one and one.status == WorkflowExecutionStatus.RUNNING]
