"""The options of `ask` for statistics over effects."""

from collections.abc import Callable
from typing import TypeVar

import click

from client.cli.common import Filled, Name

Command = TypeVar("Command", bound=Callable[..., object])
NAMES = ("analyse", "effects", "expect")


def analysis_options(command: Command) -> Command:
    """Decorate a command with them."""
    options = (
        click.option(
            "--analyse", is_flag=True, help="Pool the effects that the works report; a forest plot."
        ),
        click.option(
            "--effects",
            type=Filled(),
            metavar="FILE.csv",
            help="Effects of your own to pool as well: study, outcome, measure, estimate, low, high ...",
        ),
        click.option(
            "--expect",
            type=Name(("lower", "higher", "different")),
            help="Where the effect is expected: below, above or merely off no effect (default).",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command
