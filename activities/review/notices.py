"""Where a notice of a living review goes: an address, a command and a file of the user's own settings."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from subprocess import TimeoutExpired

import httpx

from activities import processes
from activities.contracts.errors import Refused, Unavailable
from activities.private_files import write_whole
from activities.review.living import Notice, feed, message

SECONDS = 30.0
"""Time that the other side of a webhook, or a command, has."""


async def post(notice: Notice, address: str) -> None:
    """Send a notice as JSON to an address. Raises Unavailable, which may pass, and Refused."""
    body = notice.model_dump_json().encode()
    headers = {"content-type": "application/json", "user-agent": "determinator"}
    try:
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            answer = await client.post(address, content=body, headers=headers)
    except httpx.HTTPError as error:
        raise Unavailable(f"the webhook does not answer: {error or type(error).__name__}") from error
    if answer.status_code >= 500 or answer.status_code == 429:
        raise Unavailable(f"the webhook answers {answer.status_code}")
    if not answer.is_success:
        raise Refused(f"the webhook answers {answer.status_code}")


def pipe(notice: Notice, command: str) -> None:
    """Run a command with the notice as its standard input; no shell reads it. Raises Refused."""
    try:
        done = processes.run(
            shlex.split(command), input=message(notice).encode(), capture_output=True, timeout=SECONDS
        )
    except (OSError, ValueError, TimeoutExpired) as error:
        raise Refused(f"the command of notices cannot be run: {error}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise Refused(
            f"the command of notices ends with {done.returncode}{f': {said[-1][:200]}' if said else ''}"
        )


def write_feed(notices: Sequence[Notice], path: Path) -> None:
    """Write the feed of a review. Raises OSError."""
    write_whole(path, feed(notices))
