"""The `determinator` command: one verb a module, imported when it is called.

Nothing here may import temporalio, a model client or a source, so that `--help` answers at once.
"""

import errno
import gc
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

import click

from activities.configuration.declaration import did_you_mean
from activities.processes import leave
from client.failures import Exit, Failure, Mistakes
from client.messages import MESSAGES
from client.terminal import open_streams, print_error

MESSAGE = "client.cli.steering:command_of"
"""Place where the command of a message is made."""
GROUPS: Mapping[str, dict[str, tuple[str, str]]] = {
    "Ask and follow": {
        "ask": ("client.cli.ask:ask", "Ask a question and follow the research to its report."),
        "watch": ("client.cli.ask:watch", "Follow a run again."),
        "status": ("client.cli.runs:status", "Show the state of a run."),
        "list": ("client.cli.runs:list_runs", "List runs, the newest first."),
        "events": ("client.cli.runs:events", "Print what happened in a run."),
    },
    "Read": {
        "report": ("client.cli.results:report", "Print or save a run's report."),
        "open": ("client.cli.results:open_run", "Open the folder of a finished run."),
        "chart": ("client.cli.results:chart", "Print or draw a chart of a run's report."),
        "evidence": ("client.cli.results:evidence", "Print what a run found, with its full text."),
        "export": ("client.cli.results:export", "Save everything an outsider needs to check a report."),
        "verify": ("client.cli.results:verify", "Check every quote of a report against the stored text."),
        "refresh": ("client.cli.steering:refresh", "Check a report's references again, and its searches."),
    },
    "Decide": {
        "review": ("client.cli.review:review", "Screen and report a systematic review."),
        "plan": ("client.cli.gate:plan", "Show or edit the plan of a deep run."),
    },
    "Set up": {
        "doctor": ("client.cli.local:doctor", "Check this installation and how to repair it."),
        "config": ("client.cli.config:config", "Show the configuration in force."),
        "sources": ("client.cli.sources:sources", "List the sources and how to enable them."),
        "documents": ("client.cli.sources:documents", "List the files of a library, read or not, and why."),
        "up": ("client.cli.local:up", "Start the embedded server and its worker."),
        "down": ("client.cli.local:down", "Stop the embedded worker and server."),
    },
    "Serve": {
        "web": ("client.cli.servers:web", "Serve the web page."),
        "serve": (
            "client.cli.servers:serve_http",
            "Serve runs over HTTP: Responses, chat completions, /runs.",
        ),
        "mcp": ("client.cli.servers:mcp", "Serve search, runs and reports to programs that speak MCP."),
        "worker": ("client.cli.local:worker", "Run a worker in the foreground."),
    },
    "Advanced": {
        "inspect": ("client.cli.runs:inspect", "Show each iteration of a run, and what it cost."),
        "rewind": ("client.cli.runs:rewind", "Reset a run to the beginning of an iteration."),
        "search": ("client.cli.sources:search", "Search one source, outside of any run."),
        "graph": ("client.cli.sources:graph", "List, show and check graphs."),
    },
}
"""Verb -> where it is, and its line in the help; by group."""
for _verb in MESSAGES.values():
    if _verb.group:
        GROUPS[_verb.group][_verb.name] = (MESSAGE, _verb.help)
VERBS = {name: verb for group in GROUPS.values() for name, verb in group.items()}


class Verbs(click.Group):
    """Verbs by name, imported when called. A question without a verb goes to `ask`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module, _, name = VERBS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), name)
        if VERBS[cmd_name][0] == MESSAGE:
            command = command(MESSAGES[cmd_name])
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, VERBS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in group.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        verb = args[0]
        if verb not in VERBS and (" " in verb.strip() or not verb.strip()):
            args = ["ask", *args]
        elif verb not in VERBS and not verb.startswith("-"):
            hint = did_you_mean(verb, VERBS) or "; see `determinator --help`"
            raise click.UsageError(f"No such command '{verb}'{hint}", ctx)
        return super().resolve_command(ctx, args)


def _show_version(ctx: click.Context, _option: click.Parameter, is_set: bool) -> None:
    if is_set and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(version("determinator"))
        ctx.exit()


@click.command(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="A run is named by its id, the start of its id, or `last`.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def determinator() -> None:
    """Answer research questions with reports in which every claim quotes its source.

    \b
      determinator ask "Can metformin lower the risk of colorectal cancer?"
      determinator ask "Statins in sepsis" --library ./papers --detach
      determinator watch last
    """


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; errors become one line on stderr."""
    try:
        " ".join(arguments).encode()
    except UnicodeEncodeError:
        print_error("the command line is not valid UTF-8; check the terminal's encoding")
        return Exit.BAD_INPUT
    try:
        code = determinator.main(list(arguments), prog_name="determinator", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return Exit.BAD_INPUT
    except click.ClickException as error:
        print_error(error.format_message())
        return error.exit_code
    except Failure as error:
        for line in str(error).splitlines() if isinstance(error, Mistakes) else [str(error)]:
            print_error(line)
        return error.code
    except (click.Abort, KeyboardInterrupt):
        return Exit.INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # the reader (`| head`) closed the pipe, which click turns into SystemExit; flushing the rest of the
        # buffer must not fail either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    except Exception as error:
        if os.environ.get("DETERMINATOR_DEBUG"):
            raise
        print_error(_describe(error))
        return Exit.FAILED
    return code if isinstance(code, int) else Exit.DONE


def _describe(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        place = f" for {error.filename}" if error.filename else ""
        return f"there is no space left{place}; free some, and repeat the command"
    return f"{type(error).__name__}: {error} (unexpected; set DETERMINATOR_DEBUG=1 for the traceback)"


def main() -> NoReturn:
    # Importing creates many objects that stay, and looking through them is a tenth of the time of a short
    # command. One that follows a run enables the collector again.
    gc.disable()
    open_streams()
    try:
        code = run(sys.argv[1:])
    except BaseException:  # noqa: BLE001 - every error leaves through `leave`
        import traceback

        traceback.print_exc()
        code = Exit.FAILED
    leave(code)


if __name__ == "__main__":
    main()
