"""The supervising process of a home: starts the server and its worker, and keeps them running.

Invariants:
- It holds the lock of the home, which server and workers inherit: two sets of them never serve one home. All
  end together, however it ends (Linux: by the kernel; elsewhere the next command ends what is left).
- It listens before it starts anything and before a note names a port, and goes on listening while the server
  is restarted: nobody else can be reached in its place (`client.embedded.forwarder`).
- A server or worker that dies is started again with the same settings, `MAX_DEATHS` times within
  `DEATHS_SECONDS` at most; then the note says why it was given up.
- The worker is replaced by one with other settings only when a command asks for that.
- It knows a worker's settings from the command that asked for the worker, keeps them in memory only, and has
  none itself.

Only the standard library is imported: each cold start waits for this process.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from activities.disk import has_room
from activities.private_files import write_whole
from activities.processes import IDLE, leave
from client.embedded import network
from client.embedded.binary import free_port, loopback_address
from client.embedded.forwarder import open_port, open_private_socket, publish, serve_owner
from client.embedded.network import Address, Sockets
from client.embedded.processes import (
    DEATHS_SECONDS,
    LINUX,
    MAX_DEATHS,
    PRIVATE_UMASK,
    PROBE_SECONDS,
    Child,
    Locked,
    LockFile,
    WorkerSlot,
    last_error,
    now,
    report,
)

TEST_SECONDS = 0.2
"""Longer than another process needs to test whether the lock is held, and so short that one that is not
needed does not wait for the end of the one that is."""
MAX_EARLY_DEATHS = 2
"""Deaths of a server that never accepted a connection: its database or its disk is at fault."""
MAX_TAKEN = 10
"""Starts at which another process had taken the port. Without a network of its own the server cannot
be handed a port that is held: between finding one and listening there, a neighbour may listen first."""
CONNECT_SECONDS = 30.0
"""Time for which a connection waits for a server that is being restarted."""
LINGER_SECONDS = 5.0
"""Time for which a worker is kept after a command has asked for something: it is about to start a run."""
LOOK_SECONDS = 5.0
"""Interval at which it is checked whether there is anything to do."""
OTHERS_AFTER_SECONDS = 4.0
"""Time for which the first process of a worker is left alone: the others would slow its start."""
ONE_PROCESS = ("DETERMINATOR_METRICS", "DETERMINATOR_READY_FILE")
"""Variables that only one process of a worker can have: an address to listen at."""
IN_USE = "address already in use"
"""Words by which the server says, as its last error, that it may not listen at its port."""
ROOM_SECONDS = 2.0
"""Interval at which it is checked whether the disk is full."""


class Supervisor:
    def __init__(self, job: dict[str, Any], lock: LockFile) -> None:
        """`job` is what `client.embedded.server.supervisor_input` describes."""
        self._job = job
        self._state = Path(job["state"])
        self._logs = Path(job["logs"])
        self._lock = lock
        self._private = network.works_in_a_child(network.enter_own_network) if LINUX else False
        self._sockets = Sockets() if LINUX else None
        self._listeners: list[socket.socket] = []
        self._server = Child(self._logs / "server.log")
        self._server_note: dict[str, Any] = {}
        self._unanswered = self._state / f"{Path(job['database']).name}.new"
        """A file that is there until a server has answered with a new database."""
        self._worker: WorkerSlot | None = None
        self._reached = asyncio.Event()
        """Set while the server accepts connections."""
        self._was_reached = False
        self._is_full = False
        """True when the disk was full when it was last looked at."""
        self._lost_ports = 0
        """Starts of the server at which its port was taken."""
        self._tasks: set[asyncio.Future[None]] = set()
        self._last_command = time.monotonic()
        """Time at which a command has asked for something."""
        self._exit_code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def run(self) -> int:
        """Serve until there is nothing to do or a signal comes; the exit code. Raises OSError."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end, 0)
        loop.add_signal_handler(signal.SIGCHLD, self._reap)
        path = self._state / "private.sock"
        await serve_owner(open_private_socket(path), self._connect, self._control)
        self._choose_ports(self._read("server.json"))
        self._start_server()
        self._begin(self._end_when_idle())
        self._begin(self._look_for_room())
        try:
            return await self._exit_code
        finally:
            path.unlink(missing_ok=True)
            if (slot := self._worker) is not None:
                await asyncio.gather(*(child.stop() for child in slot.children))
                self._note_worker(slot, ended=True)
            await self._server.stop()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something in the background; an error of the system ends this process."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish)

    def _finish(self, task: "asyncio.Future[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            sys.stderr.write(f"Error: {error}\n")
            self._end(1)

    def _call_later(self, seconds: float, action: Callable[[], None]) -> None:
        """Do something unless this process is ending then."""

        async def act() -> None:
            await asyncio.sleep(seconds)
            if not self._exit_code.done():
                action()

        self._begin(act())

    def _end(self, code: int) -> None:
        if not self._exit_code.done():
            self._exit_code.set_result(code)

    # the server

    def _choose_ports(self, former_note: dict[str, Any]) -> None:
        """Choose the ports of last time where they can be had, so that links to the Web UI stay valid.

        Raises OSError.
        """
        ui_ip = former_note.get("ui_ip") or loopback_address()
        addresses: list[Address] = [("127.0.0.1", former_note.get("port") or 0)]
        if self._job["web_ui"]:
            addresses.append((ui_ip, former_note.get("ui_port") or 0))
        if self._private:
            self._listeners = [open_port(address) for address in addresses]
            ports = [listener.getsockname()[1] for listener in self._listeners]
        else:
            ports = [free_port(port or None, ip) for ip, port in addresses]
        self._server_note = {
            "port": ports[0],
            "ui_port": ports[-1] if self._job["web_ui"] else 0,
            "ui_ip": ui_ip,
            "web_ui": self._job["web_ui"],
            "version": self._job["version"],
            "database": self._job["database"],
        }

    def _prepare_database(self) -> None:
        """Remove a database that no server has answered with: it has no runs, and may lack its tables.

        A server that is killed while it makes them leaves a file that no later one can use. Raises OSError.
        """
        database = Path(self._job["database"])
        if self._unanswered.exists():
            for suffix in ("", "-wal", "-shm", "-journal"):
                Path(f"{database}{suffix}").unlink(missing_ok=True)
        elif not database.exists():
            self._unanswered.touch(mode=0o600)

    def _start_server(self) -> None:
        """Raise OSError."""
        self._prepare_database()
        note = self._server_note
        command = [*self._job["command"], "--ip", "127.0.0.1", "--port", str(note["port"])]
        if note["web_ui"]:
            command += ["--ui-ip", note["ui_ip"], "--ui-port", str(note["ui_port"])]
            command += ["--ui-disable-news-fetch"]
        else:
            command += ["--headless"]
        move = network.enter_own_network if self._private else None
        self._server.start(command, self._job["environment"], self._lock, move)
        note.update(pid=self._server.pid, ready=False, started_at=now(), failure="")
        self._write("server.json", note)
        self._begin(self._find_server(self._server.process))

    async def _find_server(self, process: "subprocess.Popen[bytes] | None") -> None:
        """Wait until the server accepts connections."""
        while process is not None and process.poll() is None and process is self._server.process:
            try:
                probe = await self._connect_now()
            except OSError:
                await asyncio.sleep(PROBE_SECONDS)
                continue
            probe.close()
            self._unanswered.unlink(missing_ok=True)  # before anybody can start a run
            self._reached.set()
            if self._private and not self._was_reached:
                for listener in self._listeners:
                    web_ui, address = listener is not self._listeners[0], listener.getsockname()
                    await publish(listener, partial(self._connect, address), self._is_ours, web_ui=web_ui)
            self._was_reached = True
            self._write("server.json", self._server_note | {"ready": True})
            return

    def _is_ours(self, peer: Address, local: Address) -> bool:
        return self._sockets is not None and self._sockets.owner(peer, local) == os.geteuid()

    async def _connect(self, address: Address | None = None) -> socket.socket:
        """Return a connection to the server once it accepts one. Raises OSError, TimeoutError."""
        await asyncio.wait_for(self._reached.wait(), CONNECT_SECONDS)
        return await self._connect_now(address)

    async def _connect_now(self, address: Address | None = None) -> socket.socket:
        """Raise OSError, also when another user's process is at the other end."""
        address = address or ("127.0.0.1", self._server_note["port"])
        if self._private:
            connection = network.socket_inside(self._server.pid)
        else:
            connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            if not self._private and self._sockets and self._sockets.listener(address) != os.geteuid():
                raise ConnectionRefusedError(f"no process of this user listens at {address}")  # noqa: TRY301 - it is closed below
            await asyncio.get_running_loop().sock_connect(connection, address)
        except BaseException:
            connection.close()
            raise
        return connection

    def _reap(self) -> None:
        """See which process has ended. Called for SIGCHLD."""
        if (code := self._server.reaped()) is not None:
            self._reached.clear()
            if not self._exit_code.done():
                self._server_died(code)
        slot = self._worker
        for child in slot.children if slot else ():
            if (code := child.reaped()) is not None and slot and not self._exit_code.done():
                self._worker_ended(slot, child, code)

    def _server_died(self, code: int) -> None:
        report("server", code)
        if not has_room(self._state):
            self._is_full = True  # it is started again once there is room
            return
        if not self._private and code > 0 and IN_USE in last_error(self._server.log):
            self._lost_ports += 1
            if self._lost_ports < MAX_TAKEN:
                self._call_later(0.0, partial(self._restart_server, with_new_ports=True))
            else:
                self._give_up(f"other processes took each of {MAX_TAKEN} ports before it could listen there")
            return
        is_early = not self._was_reached and len(self._server.deaths) + 1 >= MAX_EARLY_DEATHS
        if self._server.died_too_often() or is_early:
            self._give_up(last_error(self._server.log) or f"it ended with the exit code {code}")
        else:
            self._call_later(self._server.back_off(), self._restart_server)

    async def _look_for_room(self) -> None:
        """Start the server again once there is room on a disk that was full.

        It goes on running without, and answers nothing more, whether or not there is room again.
        """
        while not self._exit_code.done():
            await asyncio.sleep(ROOM_SECONDS)
            was_full, self._is_full = self._is_full, not has_room(self._state)
            if was_full and not self._is_full:
                self._server.deaths.clear()
                if self._server.process is None:
                    self._restart_server()
                else:
                    self._server.process.kill()  # its end is noticed, and it is started again

    def _give_up(self, failure: str) -> None:
        """End, with the reason in the server's note."""
        with contextlib.suppress(OSError):
            self._write("server.json", self._server_note | {"ready": False, "failure": failure})
        self._end(1)

    def _restart_server(self, *, with_new_ports: bool = False) -> None:
        """Start the server again, at other ports where another process has one of its own. Raises OSError."""
        if with_new_ports:
            self._choose_ports({})
        self._start_server()

    # the workers

    def _have_processes(self, slot: WorkerSlot) -> None:
        """Have the fixed number of processes of a worker.

        They share what the home allows: rates, turns at model servers, permits and settings.
        """
        number = slot.order["processes"]
        for child in slot.children[number:]:
            self._begin(child.stop())
        del slot.children[number:]
        for _ in range(number - len(slot.children)):
            child = Child(self._logs / "worker.log")
            slot.children.append(child)
            self._start_later(slot, child)

    def _start_later(self, slot: WorkerSlot, child: Child, seconds: float = 0.0) -> None:
        if child is not slot.first:
            seconds = max(seconds, OTHERS_AFTER_SECONDS)
        self._call_later(seconds, partial(self._start_worker, slot, child))

    def _start_worker(self, slot: WorkerSlot, child: Child) -> None:
        """Raise OSError."""
        if self._worker is not slot or child not in slot.children:
            return
        environment = slot.order["environment"]
        if child is not slot.first:
            environment = {name: value for name, value in environment.items() if name not in ONE_PROCESS}
        child.start(self._worker_command(slot), environment, self._lock)
        if child is slot.first:
            self._note_worker(slot, pid=child.pid, started_at=now(), ended=False, failure="")

    def _worker_ended(self, slot: WorkerSlot, child: Child, code: int) -> None:
        is_recent = time.monotonic() - self._last_command < LINGER_SECONDS
        if child.is_replaced or (code == IDLE and is_recent):
            child.is_replaced = False
            self._start_later(slot, child)
            return
        if code == IDLE:
            self._end(0)
            return
        report("worker", code)
        if child is not slot.first:
            self._start_later(slot, child, DEATHS_SECONDS)
        elif child.died_too_often():
            self._worker = None
            for sibling in slot.children:
                self._begin(sibling.stop())
            failure = f"it ended {MAX_DEATHS + 1} times within {DEATHS_SECONDS:.0f} s, with the code {code}"
            self._note_worker(slot, ended=True, failure=failure)
        else:
            self._start_later(slot, child, child.back_off())

    def _worker_command(self, slot: WorkerSlot) -> list[str]:
        command = [*slot.order["command"], "--address", f"127.0.0.1:{self._server_note['port']}"]
        return [*command, "--private-socket", str(self._state / "private.sock")]

    def _note_worker(self, slot: WorkerSlot, **changes: object) -> None:
        slot.note.update(changes)
        self._write("worker.json", slot.note)

    # what commands ask

    def _control(self, body: bytes) -> bytes:
        """Answer a command. Raises ValueError.

        It is `{"do": "state"}`, or `{"do": "worker", ...}` as `client.embedded.workers` sends it.
        """
        self._last_command = time.monotonic()
        command = json.loads(body)
        if command["do"] == "worker":
            self._have_worker(command)
        server = self._server_note | {"ready": self._reached.is_set()}
        return json.dumps({"server": server, "worker": self._worker.note if self._worker else None}).encode()

    def _have_worker(self, order: dict[str, Any]) -> None:
        """Start the worker that a command asks for, in place of one with other settings."""
        note, slot = order["note"], self._worker
        if slot is None:
            slot = self._worker = WorkerSlot(order, dict(note))
            self._have_processes(slot)
            return
        if slot.note["fingerprint"] == note["fingerprint"] and not order["force"]:
            return
        slot.order, slot.note = order, dict(note)
        self._have_processes(slot)
        for child in slot.children:
            if child.process is not None:  # else it is about to be started
                child.is_replaced = True
                self._begin(child.stop())

    async def _end_when_idle(self) -> None:
        """End a server without a worker when nobody has asked it anything for long.

        A worker ends itself when there is nothing to do (`worker.daemon`).
        """
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._worker is None and time.monotonic() - self._last_command > self._job["idle_seconds"]:
                self._end(0)

    def _read(self, name: str) -> dict[str, Any]:
        try:
            data = json.loads((self._state / name).read_bytes())
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def _write(self, name: str, note: dict[str, Any]) -> None:
        """Raise OSError."""
        write_whole(self._state / name, json.dumps(note, indent=2).encode() + b"\n")


def main() -> None:
    """Supervise the home that the first argument describes.

    The exit code is 0 also when another process supervises it already.
    """
    job = json.loads(sys.argv[1])
    os.umask(PRIVATE_UMASK)
    lock = LockFile(Path(job["state"]) / "supervisor.lock")
    code = 0
    try:
        lock.acquire(TEST_SECONDS)
        lock.sign(os.getpid())
        code = asyncio.run(supervise(job, lock))
    except Locked:
        pass
    except OSError as error:
        sys.stderr.write(f"Error: {error}\n")
        code = 1
    leave(code)


async def supervise(job: dict[str, Any], lock: LockFile) -> int:
    """Run a supervisor. Raises OSError."""
    return await Supervisor(job, lock).run()


if __name__ == "__main__":
    main()
