"""The options that narrow a search, the same for `ask` and `search`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from client.cli.common import Names, Words, unknown
from client.cli.failures import BadInput

if TYPE_CHECKING:
    from activities.types import Filters

F = TypeVar("F", bound=Callable[..., object])

NAMES = ("since", "until", "types", "free_full_text", "phases")
"""The parameters of these options, in the order of `filters`."""
YEAR = click.IntRange(1500, 2100)
PHASES = ("1", "2", "3", "4")


def filter_options(*, years: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Decorate a command with the options; `years` are other names of `--since` and `--until`."""
    since, until = (years[:1], years[1:])
    options = (
        click.option(
            "--since", *since, "since", type=YEAR, metavar="YEAR", help="Only works of this year or later."
        ),
        click.option(
            "--until", *until, "until", type=YEAR, metavar="YEAR", help="Only works of this year or earlier."
        ),
        click.option(
            "--type",
            "types",
            type=Words(),
            default=(),
            metavar="TYPES",
            help="Only these types, where the source knows them: review,rct,meta-analysis,guideline ...",
        ),
        click.option(
            "--free-full-text", is_flag=True, help="Only works that are free to read, where it is known."
        ),
        click.option(
            "--phase",
            "phases",
            type=Names(PHASES),
            default=(),
            metavar="PHASES",
            help="Only trials of these phases, registered and published, where the source knows them: "
            "1,2,3,4.",
        ),
    )

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def filters(
    since: int | None,
    until: int | None,
    types: tuple[str, ...],
    free_full_text: bool,
    phases: tuple[str, ...],
) -> "Filters":
    """What a search is narrowed to. Raises BadInput for a type that no source knows, or no years."""
    from activities.sources.filters import TYPES, canonical
    from activities.types import Filters

    names = tuple(canonical(name) for name in types)
    for name in names:
        if name not in TYPES:
            raise BadInput(f"type {unknown(name, list(TYPES))}")
    if since and until and since > until:
        raise BadInput(f"--since {since} is after --until {until}; no work is of both")
    return Filters(
        year_from=since,
        year_to=until,
        publication_types=names,
        free_full_text=free_full_text,
        phases=tuple(f"PHASE{phase}" for phase in phases),
    )
