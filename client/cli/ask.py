"""`determinator ask`: a question in, a report out."""

from pathlib import Path
from typing import Any

import click

from client.cli.checks import check_output
from client.cli.common import (
    Amount,
    Duration,
    Filled,
    Name,
    Names,
    address_option,
    json_option,
    load_settings,
    run_async,
    say,
)
from client.cli.request import AskOptions, build_request, check_enabled, check_model
from client.cli.watch import follow_run, show_detached, show_started

GATES = ("plan", "candidates", "report")


@click.command(short_help="Ask a question and follow the research to its report.")
@click.argument("question", nargs=-1, metavar="QUESTION")
@click.option("--mode", type=Name(["auto", "iterative", "deep"]), default="auto", show_default=True)
@click.option(
    "--profile",
    default="auto",
    show_default=True,
    metavar="NAME|FILE",
    help="auto, drug_repurposing, biomedical, general, a profile of your own, or its TOML file.",
)
@click.option("--source", "sources", multiple=True, metavar="NAME", help="Search only this one; repeatable.")
@click.option("--library", type=Filled(), metavar="DIR", help="Folder with documents of your own.")
@click.option("--model", type=Filled(), metavar="NAME", help="Model for every role; `extractive` for none.")
@click.option(
    "--fallback",
    "fallbacks",
    type=Filled(),
    multiple=True,
    metavar="NAME",
    help="Model to try when one is down.",
)
@click.option("--wait-for-model", is_flag=True, help="Wait for a model that is down, without a limit.")
@click.option("--writer", type=Name(["long_writer", "proofreader"]), help="How a deep report is written.")
@click.option("--max-iterations", type=click.IntRange(1, 50))
@click.option("--max-tokens", type=click.IntRange(0))
@click.option("--max-cost", type=Amount(0), metavar="USD", help="US dollars.")
@click.option("--max-time", type=Duration(), metavar="TIME", help="As in 90s, 30m or 2h.")
@click.option("--max-sections", type=click.IntRange(1, 20))
@click.option(
    "--approve", type=Names(GATES), metavar="GATES", help="Wait for a person at: plan,candidates,report."
)
@click.option("--approval-timeout", type=Duration(), metavar="TIME", help="How long a gate waits at most.")
@click.option(
    "--approval-default", type=Name(["approve", "reject"]), default="approve", help="What its end means."
)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), metavar="PATH")
@click.option("--detach", is_flag=True, help="Start the run and return.")
@json_option
@address_option
def ask(
    question: tuple[str, ...],
    output: Path | None,
    detach: bool,
    as_json: bool,
    address: str | None,
    **flags: Any,  # noqa: ANN401 - click hands them over untyped; `AskOptions` names them
) -> int:
    """Ask a question and follow the research to its report.

    Asking the same question with the same settings again attaches to the run while it is running, and
    starts it again once it has ended. Ctrl-C detaches; the run continues.
    """
    settings = load_settings()
    request = build_request(settings, " ".join(question).strip(), AskOptions(**flags))
    if output is not None:
        check_output(output)

    async def body() -> int:
        from client.connect import connect
        from client.connection import configured
        from client.runs.start import start

        if address is None and configured() is None:
            check_model(settings, request)
            await check_enabled(settings, request)
        connection = await connect(settings, address, renew=True, say=say)
        started = await start(connection.client, request, settings.task_queue)
        show_started(connection, started, as_json=as_json, detach=detach)
        if detach:
            show_detached(started.run_id, as_json=as_json)
            return 0
        return await follow_run(settings, connection, started.run_id, output=output, as_json=as_json)

    return run_async(body)
