"""`determinator review`: a systematic review from its protocol to its report."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from pydantic import BaseModel

from activities.messages import counted
from client.cli.common import Filled, Name, json_option, on_client, print_json, print_text, say
from client.failures import BadInput
from client.reviews.acts import ACTS, Act
from client.terminal import plain

if TYPE_CHECKING:
    from activities.review.decisions import ScreenedStage
    from activities.review.decisions import Task as Part
    from activities.review.extraction import Value
    from client.api import Determinator
    from client.reviews.review import OpenBias, OpenField, Review
    from client.reviews.tasks import Task
    from workflows.review.types import ReviewProgress

R = TypeVar("R")
VERDICTS = ("include", "exclude", "unsure")
POLL_SECONDS = 0.5
TRIES = 60
"""Looks at a review that was just started."""
FORMATS = ("md", "html", "docx", "pdf", "json")
Option = Callable[[Callable[..., object]], Callable[..., object]]
ANY_REVIEW = click.argument("name", metavar="REVIEW", default="last")
CHANGED_REVIEW = click.argument("name", metavar="REVIEW")
RECORD = click.argument("record", type=click.IntRange(min=0))
VERDICT = click.argument("verdict", type=Name(VERDICTS))
PERSON = click.option("--by", type=Filled(), required=True, metavar="NAME", help="Who decides.")
BY = click.option("--by", type=Filled(), metavar="NAME", help="Who decides; default: your user name.")
REASON = click.option("--reason", default="", metavar="TEXT")
NEEDED_REASON = click.option("--reason", type=Filled(), required=True, metavar="TEXT")
CRITERION = click.option("--criterion", default="", metavar="ID", help="The criterion that it rests on.")
FULL_TEXTS = click.option(
    "--full-texts",
    "stage",
    flag_value="full_texts",
    default="titles",
    help="Of full texts, not of titles and abstracts.",
)
NAMES = click.option("--names", is_flag=True, help="Name people; by default they are numbered.")


@click.group()
def review() -> None:
    """Screen and report a systematic review that lasts for months: protocol, search, two screeners, people
    who decide, a stated recall. docs/review.md goes through it."""


def verb(
    *options: Option, changes: bool = False
) -> Callable[[Callable[..., Awaitable[object]]], Callable[..., object]]:
    """Declare a verb on a review by its options and what it does with the review. One that changes it needs
    its name; else it is the newest."""

    def declare(body: Callable[..., Awaitable[object]]) -> Callable[..., object]:
        @functools.wraps(body)
        async def on_review(client: "Determinator", name: str, **values: object) -> object:
            if BY in options and not values["by"]:
                from client.runs.start import user_name

                values["by"] = user_name() or "somebody"
            return await body(await client.review(name), **values)

        command: Callable[..., object] = on_client(on_review)
        for option in reversed(options):
            command = option(command)
        argument = CHANGED_REVIEW if changes else ANY_REVIEW
        return review.command(body.__name__)(argument(command))

    return declare


def command_of(act: Act) -> None:
    """Declare the command of an act: its arguments, options and flags are those of its method."""
    options: list[Option] = []
    pairs = [name for name in act.arguments if (about := act.about(name)) and about.title]
    for name, parameter in act.arguments.items():
        about, needed = act.about(name), parameter.default is parameter.empty
        flag, text = f"--{name.replace('_', '-')}", about.description if about else ""
        if name == "by":
            options.append(PERSON if needed else BY)
        elif name == "record":
            options.append(RECORD)
        elif about and about.title:
            words = f"{about.title}..." if needed else f"[{about.title}]..."
            options.append(click.argument(name, nargs=-1, required=needed, metavar=words))
        elif needed:
            options.append(click.argument(name, type=Filled()))
        elif parameter.default is False:
            options.append(click.option(flag, is_flag=True, help=text))
        elif parameter.default is not None:
            options.append(click.option(flag, default="", metavar="TEXT", help=text))

    async def do(target: "Review", **values: Any) -> None:  # noqa: ANN401 - what click has read
        by = values.pop("by", None)
        values |= {name: _pairs(values[name]) for name in pairs}
        print_text(act.replied(target, values, await act.do(target, values, by)))

    do.__name__, do.__doc__ = act.name, act.method.__doc__
    verb(*options, changes=True)(do)


for _act in ACTS.values():
    if _act.name != "decide":  # below: on one record
        command_of(_act)


def show_rows(
    as_json: bool, rows: Sequence[R], shown: Callable[[R], Iterable[tuple[int, str]]], none: str
) -> None:
    """Print rows as JSON, or as indented lines of text, and say where there are none."""
    if as_json:
        print_json([row.model_dump(mode="json") if isinstance(row, BaseModel) else row for row in rows])
        return
    for row in rows:
        for blanks, text in shown(row):
            print_text(" " * blanks + plain(text))
    if not rows:
        say(none)


@review.command()
@click.argument("question", type=Filled())
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Default: protocol.toml.")
@click.option("--empty", is_flag=True, help="A template without a model's draft.")
@on_client
async def draft(client: "Determinator", question: str, output: Path | None, empty: bool) -> None:
    """Write a protocol for a question: drafted by the connected model, or a template without one."""
    from client.reviews.drafting import drafted

    path = output or Path("protocol.toml")
    if path.exists():
        raise BadInput(f"{path} is there already; name another file with --output")
    text, by = await drafted(client.settings, question, empty=empty)
    path.write_text(text, encoding="utf-8")
    print_text(f"{path}: {by}")
    say(f"read and change it, then `determinator review start {path}`")


@review.command()
@click.argument("protocol", type=click.Path(path_type=Path))
@json_option
@on_client
async def start(client: "Determinator", protocol: Path, as_json: bool) -> None:
    """Start the review of a protocol file. It waits for approval before it searches."""
    started = await client.start_review(protocol)
    if not as_json:
        print_text(started.id)
    seen = await waits(started)
    if as_json:
        print_json({"review": started.id, **(seen.model_dump(mode="json") if seen else {})})
    elif seen:
        show_progress(seen, started.id)
    else:
        say(f"its worker is still starting; `determinator review status {started.id}` shows where it stands")


@review.command("list")
@on_client
async def list_reviews(client: "Determinator") -> None:
    """List the ids of all reviews, the newest first."""
    for name in await client.reviews():
        print_text(name)


@verb(json_option)
async def status(target: "Review", as_json: bool) -> None:
    """Show where a review stands, and whom it waits for."""
    seen = await target.progress()
    if as_json:
        print_json({"review": target.id, **seen.model_dump(mode="json")})
        return
    print_text(f"{target.id} ({(await target.row()).status})")
    show_progress(seen, target.id)


@verb(PERSON, changes=True)
async def screen(target: "Review", by: str) -> None:
    """Decide on records, one at a time, by keys: i include, e exclude, u unsure, backspace to the record
    before, j to jump to a record, q to leave. Random records that wait for labels come first."""
    from client.cli.screen import screen_records

    await screen_records(target, by)


@verb(
    *(RECORD, VERDICT, PERSON, CRITERION, REASON, FULL_TEXTS),
    click.option("--label", is_flag=True, help="Label a record of the random sample."),
    changes=True,
)
async def decide(target: "Review", by: str, stage: "ScreenedStage", label: bool, **made: object) -> None:
    """Decide on one record: as a screener, or on a conflict."""
    state = await _decided(target, "label" if label else "screener", by, stage, made)
    state = "in conflict, a person decides" if state == "conflict" else state
    print_text(f"record {made['record']}: {state}")


async def _decided(
    target: "Review", task: "Part", by: str, stage: "ScreenedStage", made: Mapping[str, object]
) -> str:
    from activities.review.decisions import Made
    from client.reviews.review import refusals

    with refusals():
        decision = Made.model_validate(made)
    (state,) = await target.decide([decision], by=by, task=task, stage=stage)
    return state


@verb(json_option)
async def conflicts(target: "Review", as_json: bool) -> None:
    """List the records and full texts on which the screeners differ; `decide` or `screen` decides."""
    rows = await target.conflicts()

    def shown(task: "Task") -> Iterator[tuple[int, str]]:
        yield 0, f"{task.record}  {task.work.title}{'' if task.stage == 'titles' else ' (full text)'}"
        for made in task.decisions:
            ground = f" ({made.criterion})" if made.criterion else ""
            yield 4, f"{made.by}: {made.verdict}{ground} {' / '.join(made.words)}".rstrip()

    show_rows(as_json, rows, shown, "no conflict waits")


@verb(click.argument("protocol", type=click.Path(path_type=Path)), NEEDED_REASON, BY, changes=True)
async def amend(target: "Review", protocol: Path, reason: str, by: str) -> None:
    """Change the protocol to that of a file: a new version; only what rests on the change is made again."""
    print_text(await target.amend(protocol, by=by, reason=reason))


@verb(
    *(
        RECORD,
        click.argument("verdict", type=Name(VERDICTS[:2])),
        PERSON,
        NEEDED_REASON,
        CRITERION,
        FULL_TEXTS,
    ),
    changes=True,
)
async def overrule(target: "Review", by: str, stage: "ScreenedStage", **made: object) -> None:
    """Overrule what was decided on a record."""
    await _decided(target, "word", by, stage, made)
    print_text(f"record {made['record']} is {made['verdict']}d by the word of {by}")


@verb(json_option)
async def missing(target: "Review", as_json: bool) -> None:
    """List the records whose full text is awaited."""
    texts = await target.missing_texts()
    rows = [{"record": number, "id": ref.evidence_id, "title": ref.title} for number, ref in texts]
    none = "no full text is awaited"
    show_rows(as_json, rows, lambda row: [(0, "  ".join(map(str, row.values())))], none)


@verb(
    click.argument("path", type=click.Path(path_type=Path), required=False),
    click.option(
        "--record", type=click.IntRange(min=0), metavar="N", help="The file is the text of this one."
    ),
    click.option("--none", is_flag=True, help="With --record: its full text cannot be retrieved."),
    BY,
    changes=True,
)
async def provide(target: "Review", path: Path | None, record: int | None, none: bool, by: str) -> None:
    """Provide full texts from a folder, or from one file. Files are matched by name (`pmid-123.pdf`, a DOI
    with - for /), by the identifiers in them, or by their title."""
    if none and record is not None:
        await target.provide(record, None, by=by)
        print_text(f"record {record}: not retrieved")
        return
    if path is None:
        raise BadInput("name a folder or a file, or --record N --none")
    made = await target.provide_texts(path, by=by, record=record)
    print_text(f"{counted(len(made.texts), 'full text')} provided")
    for file in made.unmatched:
        say(plain(f"{file} is the text of no awaited record, or of several: name it with --record"))
    for line in made.unread:
        say(plain(line))


@verb(json_option)
async def differences(target: "Review", as_json: bool) -> None:
    """Show the fields on which two extractors differ, side by side."""
    rows = await target.open_fields()

    def shown_value(value: "Value | None") -> str:
        quote = f'  "{value.support[0].quote}"' if value and value.support else ""
        return f"{value.text}{quote}" if value else "not stated"

    def shown(open_field: "OpenField") -> Iterator[tuple[int, str]]:
        yield 0, f"{open_field.record}  {open_field.title}"
        yield 2, f"{open_field.field.id}: {open_field.field.label}"
        yield 4, f"first:  {shown_value(open_field.first)}"
        yield 4, f"second: {shown_value(open_field.second)}"

    show_rows(as_json, rows, shown, "no field waits for a decision")


def _pairs(texts: Iterable[str]) -> Mapping[str, str]:
    pairs = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not value.strip():
            raise BadInput(f"{text} is no FIELD=VALUE")
        pairs[name.strip()] = value.strip()
    return pairs


@verb(json_option)
async def bias(target: "Review", as_json: bool) -> None:
    """Show the results whose risk of bias waits for a person, with the answers that a model proposes."""
    from activities.review.bias import ANSWER_NAMES, QUESTIONS, open_questions

    rows = await target.open_bias()

    def shown(open_bias: "OpenBias") -> Iterator[tuple[int, str]]:
        yield (
            0,
            f"{open_bias.record}  {open_bias.title}{f': {open_bias.outcome}' if open_bias.outcome else ''}",
        )
        for row in open_bias.proposal.values:
            yield 2, f"{row.field} {QUESTIONS[row.field]} {ANSWER_NAMES[row.text]}"
            for ground in [f'"{support.quote}"' for support in row.support] or filter(None, (row.reason,)):
                yield 6, ground
        for number in open_questions({row.field: row.text for row in open_bias.proposal.values}):
            yield 2, f"{number} {QUESTIONS[number]} open"

    show_rows(as_json, rows, shown, "no risk of bias waits for a decision")


@verb(
    click.option("--format", "form", type=Name(FORMATS), default="md", show_default=True),
    click.option(
        "--output", type=click.Path(path_type=Path), metavar="FILE", help="Default: standard output."
    ),
    NAMES,
)
async def report(target: "Review", form: str, output: Path | None, names: bool) -> None:
    """Print or save the report that a review has published last."""
    from activities.private_files import write_whole

    made = await target.report(form, names=names)
    if output is None and form in ("docx", "pdf"):
        raise BadInput(f"{form} is no text: name a file with --output")
    if output is None:
        click.echo(made.decode(), nl=False)
    else:
        write_whole(output, made)
        print_text(str(output))


@verb(
    click.option(
        "--output", type=click.Path(path_type=Path), metavar="DIR", help="Default: the review's id."
    ),
    NAMES,
)
async def export(target: "Review", output: Path | None, names: bool) -> None:
    """Save what a review has come to: the report, decisions.csv (ASReview's columns), records.ris with the
    decisions, the log of all decisions, searches.csv, merged.csv."""
    for path in await target.export(output or Path(target.id), names=names):
        print_text(str(path))


async def waits(target: "Review") -> "ReviewProgress | None":
    """Return the progress once the review waits for a person; None where no worker answers."""
    from client.failures import NoAnswer

    seen = None
    for _ in range(TRIES):
        try:
            seen = await target.progress()
        except NoAnswer:
            continue
        if seen.gate or (await target.row()).status != "running":
            return seen
        await asyncio.sleep(POLL_SECONDS)
    return seen


def show_progress(seen: "ReviewProgress", name: str) -> None:
    from client.reviews.tasks import commands

    print_text(f"{plain(seen.title)}: {seen.phase}{' (paused)' if seen.paused else ''}")
    for line in (seen.text, *commands(seen.gate, name)):
        print_text(plain(line))
    if not seen.total:
        for file in seen.files:
            facts = [counted(file.records, "record")]
            facts += [f"{file.titles_only:,} without an abstract"] if file.titles_only else []
            facts += [f"{file.set_aside:,} could not be read"] if file.set_aside else []
            print_text(f"  {plain(file.name)}: {', '.join(facts)}")
        for origin, hits in seen.counted.items():
            print_text(f"  {plain(origin)}: {f'{hits:,} hits' if hits >= 0 else 'not reached'}")
        if seen.estimate:
            print_text(f"expected: {seen.estimate}")
        return
    facts = [
        f"{counted(seen.total, 'record')}, {seen.settled:,} settled, {seen.included:,} included",
        counted(seen.conflicts, "conflict") if seen.conflicts else "",
        *(f"{name} has {count:,} to decide" for name, count in seen.awaited.items()),
        f"{seen.labelled} of {seen.sample} labelled" if seen.labelled < seen.sample else "",
        f"recall at least {seen.recall:.1%}" if seen.recall is not None else "",
        f"protocol version {seen.version}" if seen.version > 1 else "",
        f"{counted(seen.calls, 'model call')}, ${seen.spent_microusd / 1e6:.2f}" if seen.calls else "",
    ]
    print_text("; ".join(filter(None, facts)))
