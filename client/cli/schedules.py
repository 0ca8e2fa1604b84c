"""`determinator schedules`: the refreshes that Temporal starts by itself."""

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from client.cli.common import (
    address_option,
    json_option,
    load_settings,
    print_json,
    print_text,
    run_async,
    say,
)
from client.failures import BadInput

if TYPE_CHECKING:
    from client.runs.refreshing import Scheduled


@click.group()
def schedules() -> None:
    """List and delete the schedules that `determinator refresh RUN --every TIME` creates."""


@schedules.command("list")
@json_option
@address_option
def list_schedules(as_json: bool, address: str | None) -> None:
    """List the scheduled refreshes: how often, when next, and what they started last."""
    settings = load_settings()

    async def body() -> "list[Scheduled]":
        from client.connect import connect
        from client.runs import refreshing

        connection = await connect(settings, address, worker=False, say=say)
        return await refreshing.schedules(connection.client)

    found = run_async(body)
    if as_json:
        print_json([as_data(one) for one in found])
        return
    if not found:
        say("No schedules. Create one with `determinator refresh RUN --search --every 7d`.")
    for one in found:
        print_text(line(one))


@schedules.command()
@click.argument("name", metavar="RUN")
@json_option
@address_option
def delete(name: str, as_json: bool, address: str | None) -> None:
    """Delete the schedule of a run, named by any unambiguous part of its id; `last` is the newest run.

    Reports and versions stay; a refresh that has begun goes on.
    """
    settings = load_settings()

    async def body() -> "Scheduled":
        from client.connect import connect
        from client.runs.refreshing import NoSuchSchedule, delete_schedule

        connection = await connect(settings, address, worker=False, say=say)
        try:
            return await delete_schedule(connection.client, name)
        except NoSuchSchedule as error:
            raise BadInput(str(error)) from error

    gone = run_async(body)
    if as_json:
        print_json(as_data(gone))
        return
    print_text(f"deleted {gone.schedule_id}")


def line(one: "Scheduled") -> str:
    """`refresh-ask-...  every 7d  next 2026-03-08 09:00  last ...`"""
    from client.terminal import plain

    parts = [
        one.schedule_id,
        f"every {short(one.every)}" if one.every else "",
        "paused" if one.paused else "",
    ]
    if one.next_times:
        parts.append(f"next {one.next_times[0].astimezone():%Y-%m-%d %H:%M}")
    if one.last_time:
        parts.append(f"last {one.last_time.astimezone():%Y-%m-%d %H:%M}")
    parts.append("searches and references" if one.search else "references")
    return plain("  ".join(part for part in parts if part))


def short(every: timedelta) -> str:
    """`7d`, `12h`, `90m`: the largest unit of which it is a whole number."""
    seconds = int(every.total_seconds())
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def as_data(one: "Scheduled") -> dict[str, object]:
    """A schedule as JSON."""
    return {
        "schedule_id": one.schedule_id,
        "run_id": one.run_id,
        "every_seconds": one.every.total_seconds() if one.every else None,
        "search": one.search,
        "paused": one.paused,
        "next": [time.isoformat() for time in one.next_times],
        "last": one.last_time.isoformat() if one.last_time else None,
        "refreshes": list(one.refreshes),
    }
