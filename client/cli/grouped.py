"""Help in groups: a command whose options are listed under headings."""

from collections.abc import Mapping, Sequence
from typing import Any

import click


class GroupedCommand(click.Command):
    """Lists its options under headings; `groups` maps each heading to option names. An option that is in none
    is listed under `Other`."""

    def __init__(self, *args: Any, groups: Mapping[str, Sequence[str]], **kwargs: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **kwargs)
        self.groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = {
            parameter.name: row
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option) and (row := parameter.get_help_record(ctx))
        }
        grouped = {name for names in self.groups.values() for name in names}
        others = [name for name in rows if name not in grouped]
        for heading, names in (*self.groups.items(), ("Other", others)):
            if listed := [rows[name] for name in names if name in rows]:
                with formatter.section(heading):
                    formatter.write_dl(listed)
