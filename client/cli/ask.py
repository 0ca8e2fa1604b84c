"""`determinator ask`: a question in, a report out."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
    unknown,
)
from client.cli.failures import BadInput

if TYPE_CHECKING:
    from activities.settings import Settings
    from workflows.types import ResearchRequest

GATES = ("plan", "candidates", "report")
EXAMPLE = "Does metformin lower the risk of colorectal cancer?"
LEAST_LETTERS = 3
"""Letters and digits of the shortest thing that may be asked about (`p53`)."""
ENDINGS = (".md", ".markdown", ".txt", ".html", ".htm", ".json", ".bib", ".ris", ".csl", ".docx", ".pdf", "")
"""What a report file may end in; `.txt` and nothing stand for Markdown."""
NEEDED = {".docx": ("docx", "docx"), ".pdf": ("typst", "pdf")}
"""Ending -> the library that writes it, and the extra of this package that brings it."""


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
@click.option("--wait-for-model", is_flag=True, help="Wait for a model that is down, however long it takes.")
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
    **flags: Any,  # noqa: ANN401 - the flags of the request, checked by `build_request`
) -> int:
    """Ask a question and follow the research to its report.

    Asking the same question with the same settings again attaches to the run while it is under way, and
    starts it anew once it has ended. Ctrl-C detaches; the run goes on.
    """
    text = " ".join(question).strip()
    check_question(text)
    settings = load_settings()
    request = build_request(settings, text, **flags)
    if output is not None:
        check_output(output)

    async def body() -> int:
        from client.cli.watch import follow_run, tell_detached, tell_started
        from client.connection import configured, connect
        from client.runs.start import start

        if address is None and configured() is None:
            check_model(settings, request)
            await check_enabled(settings, request)
        connection = await connect(settings, address, renew=True, say=say)
        started = await start(connection.client, request, settings.task_queue)
        tell_started(connection, started, as_json=as_json, detach=detach)
        if detach:
            tell_detached(started.run_id, as_json=as_json)
            return 0
        return await follow_run(settings, connection, started.run_id, output=output, as_json=as_json)

    return run_async(body)


def build_request(
    settings: "Settings",
    question: str,
    *,
    mode: str = "auto",
    profile: str = "auto",
    sources: tuple[str, ...] = (),
    library: str | None = None,
    model: str | None = None,
    fallbacks: tuple[str, ...] = (),
    wait_for_model: bool = False,
    writer: str | None = None,
    max_iterations: int | None = None,
    max_tokens: int | None = None,
    max_cost: float | None = None,
    max_time: float | None = None,
    max_sections: int | None = None,
    approve: tuple[str, ...] | None = None,
    approval_timeout: float | None = None,
    approval_default: str = "approve",
) -> "ResearchRequest":
    """Everything `ask` was told as one request. Raises BadInput with one line on what is wrong."""
    from pydantic import ValidationError

    from activities.settings import choice
    from workflows.types import QUESTION_CHARS, Limits, ResearchRequest

    if len(question) > QUESTION_CHARS:
        raise BadInput(
            f"the question has {len(question):,} characters; the most is {QUESTION_CHARS:,}. "
            "Ask for one thing, and give long material as documents with --library"
        )
    limits: dict[str, Any] = {
        "max_iterations": max_iterations,
        "max_tokens": max_tokens,
        "max_cost_microusd": None if max_cost is None else round(max_cost * 1e6),
        "max_seconds": max_time,
        "max_sections": max_sections,
    }
    name, path = check_profile(settings, profile)
    given: dict[str, Any] = {
        "question": question,
        "mode": mode,
        "profile": name,
        "profile_path": path,
        "sources": check_sources(sources),
        "library": check_library(library),
        "models": {"default": choice(model)} if model else {},
        "fallbacks": tuple(choice(name) for name in fallbacks),
        "limits": Limits(**{key: value for key, value in limits.items() if value is not None}),
        "approve": approve or (),
        "approval_timeout_seconds": approval_timeout,
        "approval_default": approval_default,
        "writer": writer or settings.writer,
        "wait_for_model": wait_for_model or settings.wait_for_model,
    }
    try:
        return ResearchRequest.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{where}: {first['msg'].removeprefix('Value error, ')}") from error


def check_question(question: str) -> None:
    """Raises BadInput, with what a question looks like, for what cannot be one."""
    if sum(character.isalnum() for character in question) >= LEAST_LETTERS:
        return
    wrong = f"{question!r} is too short for a question" if question else "the question is empty"
    raise BadInput(f'{wrong}; write a whole one in quotes: `determinator ask "{EXAMPLE}"`')


def check_library(folder: str | None) -> str | None:
    """The folder's absolute path. Raises BadInput when it is not there."""
    if folder is None:
        return None
    path = Path(folder).expanduser().absolute()
    if not path.exists():
        raise BadInput(f"the library {folder} does not exist; give a folder with your documents")
    if not path.is_dir():
        raise BadInput(f"the library {folder} is not a folder; give the folder the documents are in")
    from activities.errors import Refused
    from activities.sources.library.files import list_folder

    try:
        files = list_folder(path).files
    except Refused as error:
        raise BadInput(str(error)) from error
    if not files:
        raise BadInput(
            f"the library {folder} has no document that can be read; give a folder with "
            ".txt, .md, .html, .pdf, .json or .jsonl files"
        )
    return str(path)


def check_sources(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names without repetition. Raises BadInput for one that is not in the registry."""
    from importlib.metadata import entry_points

    from activities.sources.registry import ENTRY_POINTS, SOURCES

    if not names:
        return ()
    known = [name for name, _ in SOURCES] + [point.name for point in entry_points(group=ENTRY_POINTS)]
    for name in names:
        if name not in known:
            raise BadInput(f"source {unknown(name, known)}")
    return tuple(dict.fromkeys(names))


async def check_enabled(settings: "Settings", request: "ResearchRequest") -> None:
    """Raises BadInput, with how to enable it, for a source that the embedded worker cannot use."""
    if not request.sources:
        return
    from client.cli.sources import available

    offered = {option.info.name: option for option in await available(settings)}
    for name in request.sources:
        if name not in offered:
            raise BadInput(f"source {unknown(name, list(offered))}")
        if not offered[name].enabled:
            raise BadInput(f"the source {name} is not enabled: {offered[name].reason}")


def check_profile(settings: "Settings", profile: str) -> tuple[str, str | None]:
    """A profile's name and, for a file, its path. Raises BadInput."""
    from activities.profiles.loader import ProfileError, load_profile, profile_names

    if profile == "auto":
        return profile, None
    try:
        if profile.endswith(".toml"):
            path = Path(profile).expanduser().absolute()
            return load_profile("", path=path).name, str(path)
        folder = settings.profiles_dir or settings.home / "profiles"
        names = profile_names(folder)
        if profile not in names:
            raise BadInput(f"profile {unknown(profile, ['auto', *names])}")
        load_profile(profile, folder=folder)
    except ProfileError as error:
        raise BadInput(str(error)) from error
    return profile, None


def check_model(settings: "Settings", request: "ResearchRequest") -> None:
    """Raises BadInput when the embedded worker has no way to the model that is asked for."""
    chosen = [*request.models.values(), *request.fallbacks]
    wanted = next((one.model for one in chosen if one.backend == "openai"), None)
    if wanted and settings.openai_api_key is None and settings.openai_base_url is None:
        raise BadInput(
            f"the model {wanted} needs OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own; "
            "without a model, leave --model out"
        )


def check_output(output: Path, *, formats: bool = True) -> None:
    """Raises BadInput when a report could not be written there: better now than after the research. With
    `formats`, the ending must name a format that this installation can write."""
    import os

    if output.is_dir():
        raise BadInput(f"{output} is a folder; give the file the report is to be written to")
    if formats:
        check_format(output)
    folder = output.expanduser().absolute().parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise BadInput(f"the report cannot be written to {output}: {folder} is not a folder one can write to")


def check_format(output: Path) -> None:
    """Raises BadInput when the ending names no format, or one whose library is not installed."""
    from importlib.util import find_spec

    ending = output.suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(
            f"{output}: no report format ends in {ending}; there are {', '.join(filter(None, ENDINGS))}"
        )
    library, extra = NEEDED.get(ending, ("", ""))
    if library and find_spec(library) is None:
        raise BadInput(f"{output}: {ending} files need an extra: pip install 'determinator[{extra}]'")
