"""`determinator ask` and `watch`: a question in, followed to its end, a report out."""

import asyncio
import gc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from activities.settings import user_config_path
from client.cli.common import (
    Filled,
    address_option,
    json_option,
    load_settings,
    on_client,
    print_json,
    print_json_line,
    print_text,
    run_argument,
    run_async,
    say,
)
from client.cli.options import FILTERS, GroupedCommand, question_options
from client.failures import BadInput, Exit, NoSuchRun
from client.model_servers import listed_models, local_servers
from client.runs.checks import check_output, question_of_file
from client.runs.options import KEYS, non_empty
from client.runs.request import build_request
from client.terminal import TEMPORALS_VIEW, interactive, plain, print_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from activities.report.schema import Report
    from activities.settings import Settings
    from client.api import Determinator
    from client.run import Run
    from client.runs.follow import RunEnd

    PrintJson = Callable[[object], None]


GROUPS = {
    "What to search": ["sources", "library", "also_web", "offline", *FILTERS, "follow_up"],
    "How to answer": ["graph"],
    "Limits": [n for n, key in KEYS.items() if key.limit or n in ("judge_threshold", "search_timeout")],
    "People": ["approve", "approval_timeout", "approval_default"],
    "Question": ["audio", "image", "yes"],
    "Statistics": ["analyse", "effects", "expect"],
    "Output": ["output", "detach", "as_json"],
}
"""Heading of the help -> options."""
_PLACED = {name for names in GROUPS.values() for name in names}
GROUPS["How to answer"] += [name for name, key in KEYS.items() if key.flag and name not in _PLACED]

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NAMED_MODELS = 8
"""Models of those that a server offers, in the line about them."""


@click.command(cls=GroupedCommand, groups=GROUPS)
@click.argument("question", nargs=-1, metavar="QUESTION")
@click.option(
    "--follow-up",
    type=Filled(),
    metavar="RUN",
    help="Begin with the evidence of this finished run, and take its folder, sources, filters, models and "
    "limits where you name none.",
)
@click.option("--audio", type=FILE, metavar="FILE", help="Hear the question, or more of it, in a recording.")
@click.option("--image", type=FILE, metavar="FILE", help="Read the question, or more of it, from a picture.")
@click.option("--yes", is_flag=True, help="Ask what --audio and --image say without a look at it.")
@question_options
@click.option(
    "--output",
    type=click.Path(path_type=Path),
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
    openai_base_url: str | None,
    follow_up: str | None,
    audio: Path | None,
    image: Path | None,
    yes: bool,
    as_json: bool,
    address: str | None,
    **flags: Any,  # noqa: ANN401 - click passes them untyped; `AskOptions` names them
) -> int:
    """Ask a question and follow the research to its report.

    Asking the same question with the same settings again joins the run while it is running; once it has
    ended, a new run with an id of its own starts. Ctrl-C detaches; the run continues.
    """
    settings = load_settings(offline=offline or None, openai_base_url=openai_base_url)
    options = non_empty(flags)
    if interactive() and not (detach or as_json or options.get("clarify") or settings.clarify):
        options["clarify"] = "ask"
    text = with_files(settings, " ".join(question).strip(), audio, image, is_confirmed=yes)
    if output is not None:
        check_output(output)
    build_request(settings, text, options)  # a wrong option is refused before anything is connected

    async def body() -> int:
        from client.api import Determinator

        async with Determinator(settings, address=address, say=say) as client:
            if (offline or openai_base_url) and not client.embedded:
                flag = "--offline" if offline else "--base-url"
                raise BadInput(
                    f"{flag} holds for the embedded worker only; set it where the workers of the configured "
                    "server run"
                )
            if not (options.get("model") or settings.model):
                await offer_model(settings)
            run = await client.ask(text, follow_up=follow_up, **options)
            show_started(run, as_json=as_json, detach=detach)
        if detach:
            show_detached(run.id, as_json=as_json)
            return 0
        return await follow_run(run, output=output, as_json=as_json)

    return run_async(body)


async def offer_model(settings: "Settings") -> None:
    """Say which models there are, where none is named.

    They are those of the configured server, else of a server of this machine, to which nothing is sent.
    """
    if settings.openai_base_url is None and settings.openai_api_key is None:
        for server in (await local_servers())[:1]:
            say(server.line())
        return
    address, names = ("", ()) if settings.offline else await listed_models(settings)
    say(
        f"no model is named, so none is used; {address or 'the server'} "
        + (f"offers {', '.join(names[:NAMED_MODELS])}" if names else "does not list its models")
        + (f" and {len(names) - NAMED_MODELS} more" if len(names) > NAMED_MODELS else "")
        + ": name one with --model or DETERMINATOR_MODEL, or as `name` under [model] in "
        f"{user_config_path()} (`extractive`: none)"
    )


def with_files(
    settings: "Settings", question: str, audio: Path | None, image: Path | None, *, is_confirmed: bool
) -> str:
    """Return the question with what a recording and a picture add to it.

    What was heard or read may be wrong: a person sees it and may change it before it is asked, or has
    confirmed it (`is_confirmed`). Raises BadInput.
    """
    files = [(path, verb) for path, verb in ((audio, "heard"), (image, "read")) if path is not None]
    if not files:
        return question
    parts = [question]
    for path, verb in files:
        parts.append(question_of_file(settings, path))
        say(f"{verb}: {parts[-1]}")
    text = " ".join(part for part in parts if part)
    if is_confirmed:
        return text
    if not interactive():
        raise BadInput("what a file says is not asked unseen: repeat with --yes, or type it as QUESTION")
    return str(click.prompt("Enter asks this; or type the question", default=text, err=True)).strip()


@click.command()
@run_argument
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), metavar="PATH")
@json_option
@on_client
async def watch(client: "Determinator", run: str, output: Path | None, as_json: bool) -> int:
    """Follow a run to its end; Ctrl-C stops following, not the run.

    --json prints each event as one line of JSON while it happens, from the first, and the outcome as the last
    line.
    """
    if output is not None:
        check_output(output)
    return await follow_run(await client.run(run), output=output, as_json=as_json, event_lines=as_json)


def show_started(run: "Run", *, as_json: bool, detach: bool) -> None:
    link = run.link
    if run.attached:
        say(f"the same question is being researched already; joining the run {run.id}")
    elif run.earlier:
        from client.listing import shortest_name

        name = shortest_name(run.earlier)
        say(f"the same question was researched before ({name}); this run has an id of its own")
    if as_json:
        if detach:
            print_json(
                {
                    "run_id": run.id,
                    "status": "running",
                    "attached": run.attached,
                    "earlier": run.earlier or None,
                    "ui": link,
                    "address": run.connection.address,
                }
            )
        return
    print_text(f"Run  {run.id}")
    if link:
        click.echo(f"{TEMPORALS_VIEW}{link}")


def show_detached(run_id: str, *, as_json: bool) -> None:
    from client.listing import shortest_name

    name = shortest_name(run_id)
    (say if as_json else print_text)(
        f"The run continues in the background. Return to it with `determinator watch {name}`; "
        f"have it write what it has by now with `determinator finish {name}`; "
        f"stop it with `determinator cancel {name}`."
    )


async def follow_run(
    run: "Run",
    *,
    output: Path | None,
    as_json: bool,
    event_lines: bool = False,
) -> int:
    """Follow to the end, save the report and print where; return the exit code.

    With `event_lines`, every event goes to stdout as a line of JSON, and so does the outcome.
    """
    from client.cli.gate import Detached, ask_at_gate
    from client.runs.display import EventLines, open_display

    # `main` disabled garbage collection; what is imported stays, and need not be looked through
    gc.freeze()
    gc.enable()
    dialog = ask_at_gate if interactive() and not as_json else None
    try:
        with EventLines(print_json_line) if event_lines else open_display(run.id) as display:
            end = await run.follow(display, at_gate=dialog)
    except Detached:
        show_detached(run.id, as_json=as_json)
        return Exit.DONE
    except asyncio.CancelledError:
        say("Detached.")
        show_detached(run.id, as_json=True)
        raise
    write = print_json_line if event_lines else print_json
    return await show_ended(run, end, output=output, write=write if as_json else None)


async def show_ended(run: "Run", end: "RunEnd", *, output: Path | None, write: "PrintJson | None") -> int:
    """Save the report, print the answer and where the report is, and return the exit code."""
    from activities.report.formats.prose import model_fault
    from client.reports.answer_panel import show_answer
    from client.reports.load import load_report, save_report

    outcome, path = end.outcome, None
    report: Report | None = None
    try:
        report = await load_report(run.settings, run.connection, run.id, outcome)
        if outcome is None and report.draft and report.stop_reason != "cancelled":
            report = None  # a run that failed leaves none
        else:
            path = save_report(run.settings, report, output, say=say)
    except (NoSuchRun, OSError) as error:
        if outcome is not None or report is not None:
            print_error(f"the report could not be saved: {error}")
    fault = model_fault(report) if report and outcome else ""
    code = Exit.FAILED
    if outcome is not None and path is not None and not fault:
        code = Exit.DONE if outcome.answered else Exit.NOT_ENOUGH_EVIDENCE
    if write is not None:
        write(ending_of(run, end, report, path, fault, code))
    elif report is not None:
        show_answer(report, path)
    if outcome is None and report is None:
        print_error(f"the run {run.id} failed: {plain(end.reason)}")
    if fault:
        print_error(f"the language model could not be used: {fault}")
    return code


def ending_of(
    run: "Run", end: "RunEnd", report: "Report | None", path: Path | None, fault: str, code: Exit
) -> dict[str, object]:
    """Return how a run ended, as `--json` prints it."""
    from client.reports.answer import answer_of, claims_of

    if end.outcome is None and report is None:
        return {"run_id": run.id, "status": "failed", "error": end.reason, "ui": run.link}
    answer = answer_of(report) if report else None
    if end.outcome is None:
        return {"run_id": run.id, "status": "cancelled", "answer": answer, "report": path}
    return {
        **{name: value for name, value in end.outcome if name != "events"},
        "status": "completed",
        # without a model nothing says whether what is quoted answers
        "answered": None if report and report.written_by == "extractive" else end.outcome.answered,
        "answer": answer,
        "claims": claims_of(report) if report else [],
        "report": path,
        "ui": run.link,
        "exit_code": int(code),
        **({"error": fault} if fault else {}),
    }
