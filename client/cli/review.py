"""`determinator review`: a systematic review from its protocol to its report."""

import contextlib
import functools
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click

from activities.messages import count_of
from client.cli.common import Filled, Group, Name, json_option, on_client, print_json, print_text, say
from client.failures import BadInput, NoAnswer
from client.reviews.acts import ACTS, Act, commands
from client.terminal import plain

if TYPE_CHECKING:
    from client.api import Determinator
    from client.reviews.review import Review, ReviewStatus
    from client.reviews.tasks import Task

MAX_LISTED = 500
FORMATS = ("md", "html", "docx", "pdf", "json")
Option = Callable[[Callable[..., object]], Callable[..., object]]
ANY_REVIEW = click.argument("name", metavar="REVIEW", default="last")
CHANGED_REVIEW = click.argument("name", metavar="REVIEW")
PERSON = click.option("--by", type=Filled(), required=True, metavar="NAME", help="Who decides.")
BY = click.option("--by", type=Filled(), metavar="NAME", help="Who decides; default: your user name.")
NAMES = click.option("--names", is_flag=True, help="Name people; by default they are numbered.")


@click.group(cls=Group)
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
    pairs = [name for name in act.arguments if (info := act.field_info(name)) and info.title]
    for name, parameter in act.arguments.items():
        info, is_required = act.field_info(name), parameter.default is parameter.empty
        flag, text = f"--{name.replace('_', '-')}", info.description if info else ""
        if name == "by":
            options.append(PERSON if is_required else BY)
        elif name in act.files:
            options.append(click.argument(name, required=is_required, type=click.Path(path_type=Path)))
        elif name == "record" and not is_required:
            options.append(click.option(flag, type=click.IntRange(min=0), metavar="N", help=text))
        elif name == "record":
            options.append(click.argument("record", type=click.IntRange(min=0)))
        elif info and info.title and parameter.kind is parameter.KEYWORD_ONLY:
            options.append(click.option(flag, multiple=True, metavar=info.title, help=text))
        elif info and info.title:
            words = f"{info.title}..." if is_required else f"[{info.title}]..."
            options.append(click.argument(name, nargs=-1, required=is_required, metavar=words))
        elif get_origin(act.types[name]) is Literal:
            options.append(click.argument(name, metavar=name.upper(), type=Name(get_args(act.types[name]))))
        elif parameter.default is False:
            options.append(click.option(flag, is_flag=True, help=text))
        elif is_required and parameter.kind is parameter.KEYWORD_ONLY:
            options.append(click.option(flag, required=True, type=Filled(), metavar="TEXT", help=text))
        elif is_required:
            options.append(click.argument(name, type=Filled()))
        elif parameter.default is not None:
            options.append(click.option(flag, default="", metavar="TEXT", help=text))

    async def do(target: "Review", **values: Any) -> None:  # noqa: ANN401 - what click has read
        from client.run import actor

        values |= {name: _read_pairs(values[name]) for name in pairs}
        for line in (await act.do(target, values, actor(values.get("by")))).splitlines():
            print_text(plain(line))

    do.__name__, do.__doc__ = act.name, act.method.__doc__
    verb(*options, changes=True)(do)


for _act in ACTS.values():
    command_of(_act)


@review.command()
@click.argument("question", type=Filled())
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Default: protocol.toml.")
@click.option("--empty", is_flag=True, help="A template without a model's draft.")
@on_client
async def draft(client: "Determinator", question: str, output: Path | None, empty: bool) -> None:
    """Write a protocol for a question: drafted by the connected model, or a template without one."""
    from client.reviews.drafting import draft_protocol

    path = output or Path("protocol.toml")
    if path.exists():
        raise BadInput(f"{path} is there already; name another file with --output")
    text, author = await draft_protocol(client.settings, question, empty=empty)
    path.write_text(text, encoding="utf-8")
    print_text(f"{path}: {author}")
    say(f"read and change it, then `determinator review start {path}`")


@review.command()
@click.argument("protocol", type=click.Path(path_type=Path))
@json_option
@on_client
async def start(client: "Determinator", protocol: Path, as_json: bool) -> None:
    """Start the review of a protocol file. It waits for approval before it searches."""
    review = await client.start_review(protocol)
    if not as_json:
        print_text(review.id)
    try:
        await review.at_rest()
        state = await review.status()
    except NoAnswer:
        say(f"its worker is still starting; `determinator review status {review.id}` shows where it stands")
        if as_json:
            print_json({"review": review.id})
        return
    if as_json:
        print_json(state)
    else:
        show_progress(state)


@review.command("list")
@on_client
async def list_reviews(client: "Determinator") -> None:
    """List the ids of all reviews, the newest first."""
    for name in await client.reviews():
        print_text(name)


@verb(json_option)
async def status(target: "Review", as_json: bool) -> None:
    """Show where a review stands, and whom it waits for."""
    from client.listing import FAILED

    state = await target.status()
    if as_json:
        print_json(state)
        return
    print_text(f"{target.id} ({'cancelled' if state.status == 'canceled' else state.status})")
    if state.status in FAILED:
        from client.cli.runs import failure

        print_text(f"it ended because {plain(await failure(target.connection, target.id))}")
    show_progress(state)


@verb(PERSON, changes=True)
async def screen(target: "Review", by: str) -> None:
    """Decide on records, one at a time, by keys: i include, e exclude, u unsure, backspace to the record
    before, j to jump to a record, q to leave. Random records that wait for labels come first."""
    from client.cli.screen import screen_records

    await screen_records(target, by)


@verb(json_option, click.option("--by", type=Filled(), metavar="NAME", help="What waits for this person."))
async def waiting(target: "Review", as_json: bool, by: str | None) -> None:
    """List what waits for people: conflicts of the screeners, full texts that are missing, fields on which
    the extractors differ, and risks of bias with the answers that a model proposes."""
    from client.cli.screen import next_commands, progress_line

    progress, tasks = await target.tasks_soon(by or "", MAX_LISTED)
    if as_json:
        print_json(tasks)
        return
    for blanks, text in (line for task in tasks for line in lines_of_task(task)):
        print_text(" " * blanks + plain(text))
    if not tasks:
        has_none = by or not (progress.gate or progress.awaited)
        message = f"nothing waits{f' for {by}' if by else ''}. " if has_none else ""
        say(f"{message}{progress_line(progress)}{next_commands(progress.gate, target.id)}")


def lines_of_task(task: "Task") -> Iterator[tuple[int, str]]:
    """Yield the lines of a task, each with its indentation."""
    stage = "" if task.stage == "titles" else " (full text)"
    name = f"{task.id}  " if task.kind == "text" else ""
    title = f"{task.title} {task.warning}".rstrip()
    yield 0, f"{task.record}  {name}{title}{f': {task.outcome}' if task.outcome else stage}"
    for decision in task.decisions:
        ground = f" ({decision.criterion})" if decision.criterion else ""
        words = " / ".join(decision.words) or decision.reason
        yield 4, f"{decision.by}: {decision.verdict}{ground} {words}".rstrip()
    if task.kind == "field":
        for field in task.fields:
            yield 2, f"{field.id}: {field.label}"
        for place, value in zip(("first: ", "second:"), task.values, strict=True):
            quote = f'  "{value.support[0].quote}"' if value and value.support else ""
            yield 4, f"{place} {value.text}{quote}" if value else f"{place} not stated"
    elif task.kind == "bias":
        from activities.review.bias import ANSWER_NAMES, open_questions

        answers = {value.field: value for value in task.values if value}
        open_ids = open_questions({name: value.text for name, value in answers.items()})
        for field in task.fields:
            if value := answers.get(field.id):
                yield 2, f"{field.id} {field.label} {ANSWER_NAMES[value.text]}"
                quotes = [f'"{support.quote}"' for support in value.support]
                yield from ((6, ground) for ground in quotes or filter(None, (value.reason,)))
            elif field.id in open_ids:
                yield 2, f"{field.id} {field.label} open"


def _read_pairs(texts: Iterable[str]) -> Mapping[str, str]:
    pairs = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not value.strip():
            raise BadInput(f"{text} is no FIELD=VALUE")
        pairs[name.strip()] = value.strip()
    return pairs


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

    await first_report(target)
    data = await target.report(form, names=names)
    if output is None and form in ("docx", "pdf"):
        raise BadInput(f"{form} is no text: name a file with --output")
    if output is None:
        click.echo(data.decode(), nl=False)
    else:
        write_whole(output, data)
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
    await first_report(target)
    for path in await target.export(output or Path(target.id), names=names):
        print_text(str(path))


async def first_report(target: "Review") -> None:
    """Wait for the first report of a review that is about to publish it."""
    if await target.archive.published_review(target.id) is None:
        with contextlib.suppress(NoAnswer):
            await target.at_rest()


def show_progress(state: "ReviewStatus") -> None:
    print_text(f"{plain(state.title)}: {state.phase}{' (paused)' if state.paused else ''}")
    for line in (state.text, *commands(state.gate, state.review)):
        print_text(plain(line))
    if not state.total:
        for file in state.files:
            facts = [count_of(file.records, "record")]
            facts += [f"{file.titles_only:,} without an abstract"] if file.titles_only else []
            facts += [f"{file.set_aside:,} could not be read"] if file.set_aside else []
            print_text(f"  {plain(file.name)}: {', '.join(facts)}")
        for origin, hits in state.counted.items():
            print_text(f"  {plain(origin)}: {f'{hits:,} hits' if hits >= 0 else 'not reached'}")
        if state.estimate:
            print_text(f"expected: {state.estimate}")
        return
    records = count_of(state.total, "record")
    facts = [
        f"{records}, {state.settled:,} settled by title, {state.included:,} of them included",
        count_of(state.conflicts, "conflict") if state.conflicts else "",
        *(f"{name} has {count:,} to decide" for name, count in state.awaited.items()),
        f"{state.labelled} of {state.sample} labelled" if state.labelled < state.sample else "",
        f"recall at least {state.recall:.1%}" if state.recall is not None else "",
        f"protocol version {state.version}" if state.version > 1 else "",
        f"{count_of(state.calls, 'model call')}, ${state.spent_microusd / 1e6:.2f}" if state.calls else "",
    ]
    print_text("; ".join(filter(None, facts)))
