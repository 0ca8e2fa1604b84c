"""`determinator ask`: a question in, a report out."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from client.cli.checks import check_output
from client.cli.common import (
    Amount,
    Duration,
    Filled,
    Name,
    Names,
    address_option,
    complete_profile,
    complete_run,
    complete_source,
    json_option,
    load_settings,
    run_async,
    say,
)
from client.cli.compare import compare
from client.cli.failures import BadInput
from client.cli.grouped import GroupedCommand
from client.cli.modes import ModeName
from client.cli.narrowing import NAMES as FILTERS
from client.cli.narrowing import filter_options
from client.cli.request import AskOptions, build_request, checked
from client.cli.watch import follow_run, show_detached, show_started
from workflows.modes import AUTO

if TYPE_CHECKING:
    from activities.settings import Settings
    from activities.steps import FollowUp

GATES = ("plan", "candidates", "report")
GROUPS = {
    "What to search": ("sources", "library", "also_web", "offline", *FILTERS, "follow_up"),
    "How to answer": (
        "modes",
        "graph",
        "profile",
        "model",
        "effort",
        "fallbacks",
        "wait_for_model",
        "writer",
    ),
    "Limits": ("max_iterations", "max_tokens", "max_cost", "max_time", "max_sections"),
    "People": ("approve", "approval_timeout", "approval_default"),
    "Output": ("output", "detach", "as_json"),
}


@click.command(
    cls=GroupedCommand, groups=GROUPS, short_help="Ask a question and follow the research to its report."
)
@click.argument("question", nargs=-1, metavar="QUESTION")
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_source,
    help="Search only this source, and the library if one is given; repeatable.",
)
@click.option(
    "--library",
    type=Filled(),
    metavar="DIR",
    help="Search your own documents in this folder, and nothing else unless you name it.",
)
@click.option(
    "--follow-up",
    type=Filled(),
    metavar="RUN",
    shell_complete=complete_run,
    help="Begin with the evidence of this finished run.",
)
@filter_options()
@click.option("--also-web", is_flag=True, help="With a library: search the other enabled sources too.")
@click.option(
    "--offline", is_flag=True, help="Use no network: neither sources nor a model beyond this machine."
)
@click.option(
    "--mode",
    "modes",
    type=ModeName(),
    multiple=True,
    help="A way of working that `determinator modes` lists; auto (default): what fits the question. Several: "
    "run each and compare them.",
)
@click.option(
    "--graph",
    type=Filled(),
    metavar="NAME|FILE",
    help="The graph of steps to walk: a built-in one or a TOML file (mode graph).",
)
@click.option(
    "--profile",
    metavar="NAME|FILE",
    shell_complete=complete_profile,
    help="auto (default), drug_repurposing, biomedical, general, one of your own, or its TOML file.",
)
@click.option("--model", type=Filled(), metavar="NAME", help="Model for every role; `extractive` for none.")
@click.option(
    "--effort",
    type=Name(["small", "normal", "large"]),
    help="How much the model is asked for; default: by its size.",
)
@click.option(
    "--fallback",
    "fallbacks",
    type=Filled(),
    multiple=True,
    metavar="NAME",
    help="Model to use while one is down; repeatable, in this order.",
)
@click.option("--wait-for-model", is_flag=True, help="Wait for a model that is down, without a limit.")
@click.option(
    "--writer",
    type=Name(["long_writer", "proofreader"]),
    help="Deep reports: written section by section (default), or drafted by the sections and edited.",
)
@click.option(
    "--max-iterations", type=click.IntRange(1, 50), help="Rounds of searching and judging; default: 5."
)
@click.option("--max-tokens", type=click.IntRange(0), help="Tokens of all model calls; default: 250,000.")
@click.option(
    "--max-cost", type=Amount(0), metavar="USD", help="US dollars of all model calls; default: none."
)
@click.option("--max-time", type=Duration(), metavar="TIME", help="Working time: 90s, 30m, 2h; default: 1h.")
@click.option("--max-sections", type=click.IntRange(1, 20), help="Sections of a deep report; default: 5.")
@click.option(
    "--approve",
    type=Names(GATES),
    metavar="GATES",
    help="Wait for your approval at these gates: plan,candidates,report.",
)
@click.option(
    "--approval-timeout", type=Duration(), metavar="TIME", help="How long a gate waits; default: for ever."
)
@click.option(
    "--approval-default",
    type=Name(["approve", "reject"]),
    help="What the end of that time means; default: approve.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Save the report here, in the format of the ending (.md .html .json .docx .pdf ...).",
)
@click.option("--detach", is_flag=True, help="Start the run and return.")
@json_option
@address_option
def ask(
    question: tuple[str, ...],
    output: Path | None,
    detach: bool,
    offline: bool,
    modes: tuple[str, ...],
    follow_up: str | None,
    as_json: bool,
    address: str | None,
    **flags: Any,  # noqa: ANN401 - click hands them over untyped; `AskOptions` names them
) -> int:
    """Ask a question and follow the research to its report.

    Asking the same question with the same settings again joins the run while it is running; once it has
    ended, a new run with an id of its own starts. Ctrl-C detaches; the run continues.

    With several modes each gets a run of its own, and the runs are printed side by side at the end.
    """
    settings = load_settings(offline=offline or None)
    options = AskOptions(**flags)
    wanted_modes = tuple(dict.fromkeys(modes)) or (None,)
    if options.graph is not None and modes and not {"graph", AUTO} & set(modes):
        raise BadInput(f"--graph is for the mode graph; leave out --mode {modes[0]}, or add --mode graph")
    text = " ".join(question).strip()
    requests = [build_request(settings, text, replace(options, mode=mode)) for mode in wanted_modes]
    if output is not None:
        check_output(output)

    async def body() -> int:
        from client.connect import connect, keep_worker
        from client.connection import configured
        from client.reports.kept import is_kept
        from client.runs.destinations import destinations
        from client.runs.start import signing_key, start

        wanted = requests
        if address is None and configured(settings=settings) is None:
            wanted = [await checked(settings, request, named=bool(options.sources)) for request in requests]
            say(await destinations(settings, wanted[0]))
        elif offline:
            raise BadInput(
                "--offline holds for the embedded worker only; set DETERMINATOR_OFFLINE where the workers of "
                "the configured server run"
            )
        if follow_up is not None:
            earlier = await followed_up(settings, address, follow_up)
            wanted = [request.model_copy(update={"follow_up": earlier}) for request in wanted]
        connection = await connect(settings, address, for_run=True, say=say)
        runs: list[tuple[str, str]] = []
        for request in wanted:
            if runs:
                keep_worker(settings, connection)
            started = await start(
                connection.client,
                request,
                connection.task_queue,
                kept=partial(is_kept, settings),
                indexed=connection.embedded,
                key=signing_key(settings),
            )
            keep_worker(settings, connection, started.run_id)
            show_started(connection, started, as_json=as_json, detach=detach)
            runs.append((request.mode, started.run_id))
        if detach:
            for _, run_id in runs:
                show_detached(run_id, as_json=as_json)
            return 0
        if len(runs) > 1:
            return await compare(settings, connection, runs, output=output, as_json=as_json)
        return await follow_run(settings, connection, runs[0][1], output=output, as_json=as_json)

    return run_async(body)


async def followed_up(settings: "Settings", address: str | None, name: str) -> "FollowUp":
    """The evidence of a finished run as another one imports it: what its report cites first. Raises
    NoSuchRun, NoConnection and StoreError."""
    from activities.evidence_store import EvidenceStore
    from activities.report.archive import standings
    from activities.steps import FollowUp
    from client.reports.finished import find_finished
    from client.runs.refreshing import known_items

    found = await find_finished(settings, address, name, say, whole=False)
    if not found.items:
        raise BadInput(f"{found.run_id} has no evidence that another run could build on")
    cited = {reference.evidence_id for reference in found.report.references}
    standing = standings(found.report, found.versions)
    refs = [
        ref.model_copy(update={"standing": standing.get(ref.evidence_id, ref.standing)})
        for ref, _ in sorted(found.items, key=lambda pair: pair[0].evidence_id not in cited)
    ]
    blob = await known_items(EvidenceStore.at(settings.evidence_url), refs)
    say(f"building on {len(refs)} items of {found.run_id}")
    return FollowUp(run_id=found.run_id, blob=blob)
