"""Shared by the verbs: settings, connection, a run's name, parameter types, JSON on stdout."""

import asyncio
import functools
import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click
from pydantic import BaseModel

from activities.configuration.declaration import nearest
from client import configuration
from client.failures import BadInput, as_failure, unknown_name
from client.terminal import folded, harmless, interactive, plain, printable

if TYPE_CHECKING:
    from activities.settings import Settings
    from client.api import Determinator

T = TypeVar("T")


class Name(click.Choice[str]):
    """One of a few names; the error for a misspelt one suggests the nearest."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        return unknown_name(str(value), [str(choice) for choice in self.choices])


class Group(click.Group):
    """Commands of one thing; the error for one that is not there names the nearest, or those there are."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            raise click.UsageError(f"No such command '{name}'{nearest(name, self.commands)}", ctx)
        return super().resolve_command(ctx, args)


class Filled(click.ParamType[str]):
    """Text that is not empty: a variable that was not set must not mean something else."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not value.strip():
            self.fail("it is empty; give a value or leave the option out", param, ctx)
        return value


def duration(seconds: float) -> str:
    """`7d`, `1h`, `30m`, `150s`: by the largest unit of which it is a whole number."""
    for letter, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds and seconds % length == 0:
            return f"{seconds / length:g}{letter}"
    return f"{seconds:g}s"


address_option = click.option(
    "--address",
    type=Filled(),
    metavar="HOST:PORT",
    help="A Temporal server to use in place of the embedded one.",
)
run_argument = click.argument("run", metavar="RUN", default="last")
changed_run_argument = click.argument("run", metavar="RUN", required=False)
"""Argument of a command that changes the run: without it, `run_to_change` asks."""
by_option = click.option("--by", type=Filled(), metavar="NAME", help="Who decides; default: your user name.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


def say(message: str) -> None:
    """Print a message on stderr, beside the data."""
    click.echo(folded(harmless(message), sys.stderr), err=True)


def load_settings(**overrides: Any) -> "Settings":  # noqa: ANN401 - values of any setting
    """`client.configuration.load_settings`, and, once in a command, what the file of the folder set in vain.

    Raises BadInput.
    """
    settings = configuration.load_settings(**overrides)
    context = click.get_current_context(silent=True)
    meta = context.find_root().meta if context else {}
    if _IGNORED not in meta and (line := configuration.ignored_keys()):
        meta[_IGNORED] = True
        say(" ".join(line.split()))
    return settings


_IGNORED = "determinator.ignored_keys"


def print_text(text: str) -> None:
    """Text on stdout; on a terminal its lines are broken between words."""
    click.echo(folded(text, sys.stdout))


def print_json(value: object, indent: int | None = 2) -> None:
    """Print what a verb has as JSON: models and dataclasses, also within lists and tables."""
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")  # \u escapes lose nothing
    click.echo(printable(json.dumps(value, indent=indent, ensure_ascii=ascii_only, default=_as_json)))


def _as_json(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return value.isoformat() if isinstance(value, datetime) else str(value)


def print_json_line(value: object) -> None:
    print_json(value, indent=None)


def run_async(
    body: Callable[[], Awaitable[T]], run: Callable[[Coroutine[Any, Any, T]], T] = asyncio.run
) -> T:
    """Run a command's body, with errors of the server and the connection as failures with an exit code.

    `run` chooses the event loop.
    """

    async def await_body() -> T:
        return await body()

    keep_logs_off_the_screen()
    try:
        return run(await_body())
    except Exception as error:
        failure = as_failure(error)
        if failure is None or failure is error:
            raise
        raise failure from error


def keep_logs_off_the_screen() -> None:
    """Log nothing from a command: what matters is in its output.

    With `DETERMINATOR_DEBUG` its own logs go to stderr, and no more of a library's than its warnings:
    httpx logs addresses, which may hold a key. `worker` sets up logs of its own.
    """
    if os.environ.get("DETERMINATOR_DEBUG"):
        logging.basicConfig(stream=sys.stderr)
        for package in ("activities", "client"):
            logging.getLogger(package).setLevel(logging.DEBUG)
    else:
        logging.getLogger().addHandler(logging.NullHandler())


def on_client(body: Callable[..., Awaitable[object]]) -> Callable[..., object]:
    """Return a command of what it does with a client, which connects to nothing by itself. Adds --address."""

    @functools.wraps(body)
    def verb(*, address: str | None, **values: object) -> object:
        settings = load_settings()

        async def await_body() -> object:
            from client.api import Determinator

            async with Determinator(settings, address=address, say=say) as client:
                return await body(client, **values)

        return run_async(await_body)

    return address_option(verb)


def on_run(body: Callable[..., Awaitable[object]]) -> Callable[..., object]:
    """Return a command of what it does with a run that exists. Adds RUN and --address."""

    @functools.wraps(body)
    async def with_run(client: "Determinator", run: str, **values: object) -> object:
        return await body(await client.run(run), **values)

    return run_argument(on_client(with_run))


async def run_to_change(client: "Determinator", name: str | None) -> str:
    """Return the name of the run that a command changes.

    Where none is given the person at the terminal is asked whether the newest run is meant. Raises
    BadInput, NoSuchRun, NoConnection.
    """
    if name is not None:
        return name
    from client.listing import describe

    run = await client.run("last", worker=False)
    question = plain((await describe(run.connection.client, run.id)).question)
    verb = click.get_current_context().command_path.partition(" ")[2]
    if not interactive():
        raise BadInput(f'name the run to {verb}; the newest is {run.id}: "{question}"')
    if not click.confirm(f'{verb} {run.id}: "{question}"?', err=True):
        raise BadInput("nothing was changed")
    return run.id
