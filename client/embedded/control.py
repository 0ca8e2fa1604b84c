"""What a command asks the supervisor of a home, over the private socket.

A request is `CONTROL <bytes>`, an empty line and a JSON object. The answer is a JSON object on one line:
`{"server": note, "worker": note or null, "served": true}`: whether the worker has the settings that were
asked for.
"""

import asyncio
import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from client.connection import short_path
from client.embedded.home import Places, ServerNote, WorkerNote
from client.embedded.network import peer_of
from client.failures import NoConnection

ANSWER_SECONDS = 20.0
"""How long the supervisor may need to answer; it takes milliseconds unless the machine is busy."""


class NoSupervisor(Exception):
    """Nobody answers at the private socket of the home."""


class ProcessesEnded(NoConnection):
    """The processes of the home have ended since they were found."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The processes of a home, as their supervisor knows them."""

    server: ServerNote
    worker: WorkerNote | None
    """The worker that is to run; None when there is none."""
    served: bool
    """Whether it has the settings that were asked for."""
    hold: socket.socket | None
    """The open connection of a request that keeps the worker as it is."""


async def ask(places: Places, asked: Mapping[str, object]) -> Answer:
    """What runs, after what is asked for was done (`Supervisor._control`). One that asks to `hold` the worker
    keeps it as it is until the answer's connection is closed. Raises NoSupervisor."""
    return await asyncio.to_thread(_ask, places, asked)


async def state_of(places: Places) -> Answer:
    """What runs. Raises NoSupervisor."""
    return await ask(places, {"do": "state"})


def _ask(places: Places, asked: Mapping[str, object]) -> Answer:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(ANSWER_SECONDS)
        connection.connect(short_path(places.socket))
        if peer_of(connection)[1] != os.geteuid():
            raise NoSupervisor(f"another user serves {places.socket}")
        body = json.dumps(asked).encode()
        connection.sendall(b"CONTROL %d\r\n\r\n" % len(body) + body)
        with connection.makefile("rb") as answers:
            reply = json.loads(answers.readline())
        answer = Answer(
            ServerNote.model_validate(reply["server"]),
            WorkerNote.model_validate(reply["worker"]) if reply["worker"] else None,
            reply["served"],
            connection if asked.get("hold") and reply.get("served") else None,
        )
    except (OSError, ValueError, LookupError) as error:
        connection.close()
        raise NoSupervisor(str(error)) from error
    if answer.hold is None:
        connection.close()
    return answer
