"""`determinator modes`: the ways of working, and the parameter type that names one."""

import click

from client.cli.common import json_option, print_json
from client.failures import unknown
from client.terminal import to_stdout
from workflows.modes import AUTO, CHOICES, TABLE, ModeInfo

AUTO_LINE = "chooses the mode that fits the question and what is available, and says why"


class ModeName(click.ParamType[str]):
    """The name or an alias of a mode, as the name."""

    name = "mode"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in CHOICES:
            self.fail(unknown(value, list(CHOICES)), param, ctx)
        return CHOICES[value]


@click.command()
@json_option
def modes(as_json: bool) -> None:
    """List the modes of `ask`: what each is good for, what it needs and its own defaults."""
    if as_json:
        print_json([{"name": AUTO, "good_for": AUTO_LINE}, *map(as_row, TABLE)])
        return
    from rich.table import Table

    listed = Table.grid(padding=(0, 2, 0, 0))
    listed.add_row(AUTO, AUTO_LINE)
    for info in TABLE:
        needs, defaults = _beside(info)
        lines = [info.good_for, f"needs {needs}", f"defaults: {defaults}" if defaults else ""]
        listed.add_row("\n".join((info.name, *info.aliases)), "\n".join(filter(None, lines)))
    to_stdout().print(listed, markup=False, highlight=False)


def _beside(info: ModeInfo) -> tuple[str, str]:
    """Return what a mode needs, and its own defaults."""
    best = f"; best with {', '.join(info.best_with).replace('_', ' ')}" if info.best_with else ""
    defaults = ", ".join(f"{name} {value}" for name, value in info.defaults.items())
    return ", ".join(info.needs) + best, defaults


def as_row(info: ModeInfo) -> dict[str, object]:
    return {
        "name": info.name,
        "aliases": info.aliases,
        "workflow": info.workflow,
        "good_for": info.good_for,
        "needs": info.needs,
        "best_with": info.best_with,
        "least_tokens": info.least_tokens,
        "defaults": dict(info.defaults),
    }
