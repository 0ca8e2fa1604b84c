"""`determinator ask`: a question in, a report out."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from activities.messages import plural
from activities.settings import user_config_path
from client.cli.common import (
    Filled,
    address_option,
    json_option,
    load_settings,
    print_json,
    print_text,
    run_async,
    say,
)
from client.cli.options import FILTERS, GroupedCommand, question_options
from client.cli.watch import follow_run, show_detached, show_started
from client.failures import BadInput
from client.model_servers import listed_models, local_servers
from client.runs.checks import check_output
from client.runs.options import KEYS, chosen
from client.runs.request import build_request
from client.terminal import plain

if TYPE_CHECKING:
    from activities.settings import Settings
    from client.runs.planning import Planned

GROUPS = {
    "What to search": ["sources", "library", "also_web", "offline", *FILTERS, "follow_up"],
    "How to answer": ["graph"],
    "Limits": [n for n, key in KEYS.items() if key.limit or n in ("judge_threshold", "search_timeout")],
    "People": ["approve", "approval_timeout", "approval_default"],
    "Question": ["audio", "image", "yes"],
    "Statistics": ["analyse", "effects", "expect"],
    "Output": ["output", "dry_run", "detach", "as_json"],
}
"""Heading of the help -> options."""
_PLACED = {name for names in GROUPS.values() for name in names}
GROUPS["How to answer"] += [name for name, key in KEYS.items() if key.flag and name not in _PLACED]

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


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
@click.option(
    "--dry-run", is_flag=True, help="Print what is expected, planned and searched; buy nothing but the plan."
)
@click.option("--detach", is_flag=True, help="Start the run and return.")
@json_option
@address_option
def ask(
    question: tuple[str, ...],
    output: Path | None,
    dry_run: bool,
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
    options = chosen(flags)
    if not (detach or as_json or options.get("clarify") or settings.clarify):
        from client.terminal import interactive

        if interactive():
            options["clarify"] = "ask"
    asked_for = dry_run or yes
    text = with_files(settings, " ".join(question).strip(), audio, image, confirmed=asked_for)
    if output is not None:
        check_output(output)
    build_request(settings, text, options)

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
            if dry_run:
                show_planned(await client.plan(text, **options), as_json=as_json)
                return 0
            run = await client.ask(text, follow_up=follow_up, **options)
            show_started(run, as_json=as_json, detach=detach)
        if detach:
            show_detached(run.id, as_json=as_json)
            return 0
        return await follow_run(run, output=output, as_json=as_json)

    return run_async(body)


def show_planned(planned: "Planned", *, as_json: bool) -> None:
    if as_json:
        print_json(planned)
        return
    parsed = planned.parsed
    expected = planned.estimate.text if planned.estimate else "no language model, so nothing is spent"
    print_text(f"Expected: {expected}")
    print_text(
        f"Mode {parsed.research_mode}, profile {parsed.profile}, searching {', '.join(planned.sources)}"
    )
    sections = planned.plan.report_outline if parsed.research_mode in PLANNED else ()
    for section in sections:
        print_text(plain(f"{section.id}  {section.title}: {section.key_question}"))
        for query in section.queries:
            print_text(plain(f"    search: {query}"))
    for query in dict.fromkeys((parsed.improved_query, *parsed.research_questions)) if not sections else ():
        print_text(plain(f"    search: {query}"))
    print_text(f"The plan itself took {plural(planned.usage.calls, 'model call')}.")


PLANNED = ("deep", "hierarchical")
"""Modes whose report has the sections of a plan."""


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


NAMED_MODELS = 8
"""Models of those that a server offers, in the line about them."""


def with_files(
    settings: "Settings", question: str, audio: Path | None, image: Path | None, *, confirmed: bool
) -> str:
    """Return the question with what a recording and a picture add to it.

    What was heard or read may be wrong: a person sees it and may change it before it is asked, or has
    `confirmed` it. Raises BadInput.
    """
    from client.runs.checks import question_of_file
    from client.terminal import interactive

    files = [(path, heard) for path, heard in ((audio, "heard"), (image, "read")) if path is not None]
    if not files:
        return question
    parts = [question]
    for path, heard in files:
        parts.append(question_of_file(settings, path))
        say(f"{heard}: {parts[-1]}")
    whole = " ".join(part for part in parts if part)
    if confirmed:
        return whole
    if not interactive():
        raise BadInput("what a file says is not asked unseen: repeat with --yes, or type it as QUESTION")
    return str(click.prompt("Enter asks this; or type the question", default=whole, err=True)).strip()
