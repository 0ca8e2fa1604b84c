"""`determinator review`: a systematic review from its protocol to its report."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from activities.plural import counted
from client.cli.common import (
    Filled,
    Name,
    by_option,
    json_option,
    on_client,
    print_json,
    print_text,
    say,
)
from client.cli.review_studies import add_to
from client.failures import BadInput
from client.terminal import plain

if TYPE_CHECKING:
    from activities.contracts.evidence import Evidence
    from activities.review.decisions import Verdict
    from client.api import Determinator
    from client.reviews.review import Review, Task
    from client.reviews.tasks import TaskKind
    from workflows.review.types import ReviewProgress

VERDICTS = ("include", "exclude", "unsure")
POLL_SECONDS = 0.5
TRIES = 60
"""Looks at a review that was just started."""
STEP_TRIES = 20
"""Looks at a review that is between two steps, before nothing is to be screened."""
FORMATS = ("md", "html", "docx", "pdf", "json")
review_argument = click.argument("name", metavar="REVIEW", default="last")
changed_argument = click.argument("name", metavar="REVIEW")
stage_option = click.option(
    "--full-texts", "full_texts", is_flag=True, help="Decide on full texts, not on titles and abstracts."
)


@click.group()
def review() -> None:
    """Screen and report a systematic review that lasts for months: protocol, search, two screeners, people
    who decide, a stated recall. docs/review.md goes through it."""


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
        show_progress(seen)
    else:
        say(f"its worker is still starting; `determinator review status {started.id}` shows where it stands")


@review.command("list")
@on_client
async def list_reviews(client: "Determinator") -> None:
    """List the ids of all reviews, the newest first."""
    for name in await client.reviews():
        print_text(name)


@review.command()
@review_argument
@json_option
@on_client
async def status(client: "Determinator", name: str, as_json: bool) -> None:
    """Show where a review stands, and whom it waits for."""
    target = await client.review(name)
    seen = await target.progress()
    if as_json:
        print_json({"review": target.id, **seen.model_dump(mode="json")})
        return
    print_text(f"{target.id} ({(await target.row()).status})")
    show_progress(seen)


@review.command()
@changed_argument
@by_option
@on_client
async def approve(client: "Determinator", name: str, by: str | None) -> None:
    """Approve what waits: the protocol, that missing full texts are missing, or the report, which ends it."""
    target = await client.review(name)
    print_text(f"approved: the {(await target.approve(by=by)).replace('_', ' ')} of {target.id}")


def _message(verb: str, line: str, done: str) -> None:
    """Declare the verb that sends a message without content."""

    @review.command(verb, help=line)
    @changed_argument
    @on_client
    async def send(client: "Determinator", name: str) -> None:
        target = await client.review(name)
        await getattr(target, verb)()
        print_text(f"{target.id} {done}")


_message("pause", "Pause a review at its next step.", "pauses at its next step")
_message("resume", "Resume a review, and ask a model that was down again.", "goes on")
_message("finish", "End screening here; the report says what was not read.", "ends screening")
_message("cancel", "Stop a review; a report of what there is is still made.", "is being cancelled")


@review.command()
@changed_argument
@click.option("--by", type=Filled(), required=True, metavar="NAME", help="Who decides.")
@on_client
async def screen(client: "Determinator", name: str, by: str) -> None:
    """Decide on records, one at a time, by keys: i include, e exclude, u unsure, backspace to the record
    before, j to jump to a record, q to leave. Random records that wait for labels come first."""
    await screen_records(await client.review(name), by)


@review.command()
@changed_argument
@click.argument("record", type=click.IntRange(min=0))
@click.argument("verdict", type=Name(VERDICTS))
@click.option("--by", type=Filled(), required=True, metavar="NAME", help="Who decides.")
@click.option("--criterion", default="", metavar="ID", help="The criterion that it rests on.")
@click.option("--reason", default="", metavar="TEXT")
@click.option("--label", is_flag=True, help="Label a record of the random sample.")
@stage_option
@on_client
async def decide(
    client: "Determinator",
    name: str,
    record: int,
    verdict: "Verdict",
    by: str,
    criterion: str,
    reason: str,
    label: bool,
    full_texts: bool,
) -> None:
    """Decide on one record: as a screener, or on a conflict."""
    from activities.review.decisions import Made

    target = await client.review(name)
    made = Made(record=record, verdict=verdict, criterion=criterion, reason=reason)
    if label:
        await target.label([made], by=by)
        print_text(f"record {record} is labelled")
        return
    (state,) = await target.decide([made], by=by, full_texts=full_texts)
    print_text(f"record {record}: {state if state != 'conflict' else 'in conflict, a person decides'}")


@review.command()
@review_argument
@click.option("--full-texts", "full_texts", is_flag=True, help="Full texts that wait for a decision.")
@json_option
@on_client
async def conflicts(client: "Determinator", name: str, full_texts: bool, as_json: bool) -> None:
    """List the records on which the screeners differ; `decide` or `screen` decides."""
    from client.reviews.studies import text_conflicts

    target = await client.review(name)
    found = await (text_conflicts(target) if full_texts else target.conflicts())
    if as_json:
        print_json([task_data(one) for one in found])
        return
    if not found:
        say("no conflict waits")
    for one in found:
        print_text(f"{one.number}  {plain(one.record.title)}")
        for made in one.decisions:
            ground = f" ({made.criterion})" if made.criterion else ""
            words = plain(" / ".join(made.words))
            print_text(f"    {plain(made.by)}: {made.verdict}{ground} {words}".rstrip())


@review.command()
@changed_argument
@click.argument("protocol", type=click.Path(path_type=Path))
@click.option("--reason", type=Filled(), required=True, metavar="TEXT")
@by_option
@on_client
async def amend(client: "Determinator", name: str, protocol: Path, reason: str, by: str | None) -> None:
    """Change the protocol to that of a file: a new version; only what rests on the change is made again."""
    from client.runs.start import user_name

    target = await client.review(name)
    print_text(await target.amend(protocol, by=by or user_name() or "somebody", reason=reason))


@review.command()
@changed_argument
@click.argument("record", type=click.IntRange(min=0))
@click.argument("verdict", type=Name(VERDICTS[:2]))
@click.option("--by", type=Filled(), required=True, metavar="NAME", help="Who decides.")
@click.option("--reason", type=Filled(), required=True, metavar="TEXT")
@click.option("--criterion", default="", metavar="ID")
@stage_option
@on_client
async def overrule(
    client: "Determinator",
    name: str,
    record: int,
    verdict: "Verdict",
    by: str,
    reason: str,
    criterion: str,
    full_texts: bool,
) -> None:
    """Overrule what was decided on a record."""
    target = await client.review(name)
    await target.overrule(record, verdict, by=by, reason=reason, criterion=criterion, full_texts=full_texts)
    print_text(f"record {record} is {verdict}d by the word of {by}")


@review.command()
@changed_argument
@click.argument("key", type=Filled())
@by_option
@on_client
async def part(client: "Determinator", name: str, key: str, by: str | None) -> None:
    """Make a record that was merged with another one a record of its own; KEY stands in merged.csv."""
    from client.runs.start import user_name

    target = await client.review(name)
    await target.part(key, by=by or user_name() or "somebody")
    print_text("it becomes a record of its own at the next step")


@review.command()
@review_argument
@click.option("--format", "form", type=Name(FORMATS), default="md", show_default=True)
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Default: standard output.")
@click.option("--names", is_flag=True, help="Name people; by default they are numbered.")
@on_client
async def report(client: "Determinator", name: str, form: str, output: Path | None, names: bool) -> None:
    """Print or save the report that a review has published last."""
    from activities.private_files import write_whole
    from client.reviews.exporting import report_as

    target = await client.review(name)
    made = await report_as(target, form, names=names)
    if output is None and form in ("docx", "pdf"):
        raise BadInput(f"{form} is no text: name a file with --output")
    if output is None:
        click.echo(made.decode(), nl=False)
    else:
        write_whole(output, made)
        print_text(str(output))


@review.command()
@review_argument
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", help="Default: the review's id.")
@click.option("--names", is_flag=True, help="Name people; by default they are numbered.")
@on_client
async def export(client: "Determinator", name: str, output: Path | None, names: bool) -> None:
    """Save what a review has come to: the report, decisions.csv (ASReview's columns), records.ris with the
    decisions, the log of all decisions, searches.csv, merged.csv."""
    from client.reviews.exporting import export_to

    target = await client.review(name)
    folder = output or Path(target.id)
    for path in await export_to(target, folder, names=names):
        print_text(str(path))


async def waits(target: "Review") -> "ReviewProgress | None":
    """The progress once the review waits for a person, or after a while; None where no worker answers."""
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


def show_progress(seen: "ReviewProgress") -> None:
    print_text(f"{plain(seen.title)}: {seen.phase}{' (paused)' if seen.paused else ''}")
    if seen.text:
        print_text(plain(seen.text))
    for origin, hits in seen.counted.items():
        if not seen.total:
            print_text(f"  {plain(origin)}: {f'{hits:,} hits' if hits >= 0 else 'not reached'}")
    if not seen.total and seen.estimate:
        print_text(f"expected: {seen.estimate}")
    if seen.total:
        facts = [
            f"{counted(seen.total, 'record')}, {seen.settled:,} settled, {seen.included:,} included",
            counted(seen.conflicts, "conflict") if seen.conflicts else "",
            f"{seen.labelled} of {seen.sample} labelled" if seen.labelled < seen.sample else "",
            f"recall at least {seen.recall:.1%}" if seen.recall is not None else "",
            f"protocol version {seen.version}" if seen.version > 1 else "",
            f"{counted(seen.calls, 'model call')}, ${seen.spent_microusd / 1e6:.2f}" if seen.calls else "",
        ]
        print_text("; ".join(filter(None, facts)))


def task_data(task: "Task") -> dict[str, object]:
    return {
        "record": task.number,
        "kind": task.kind,
        "title": task.record.title,
        "text": task.record.text,
        "decisions": [one.model_dump(mode="json") for one in task.decisions],
    }


async def screen_records(target: "Review", by: str) -> None:
    """The loop of keys at a terminal."""
    from client.reviews.tasks import screener_place

    if (status := (await target.row()).status) != "running":
        raise BadInput(
            f"{target.id} is over ({status}); `determinator review report {target.id}` prints its report"
        )
    view = await target.view()
    criteria = view.protocol.criteria
    people = ", ".join(view.protocol.people)
    if screener_place(view, by) is None and not view.labelling:
        say(f"{by} is no screener of the protocol ({people or 'both are models'}): conflicts are shown")
    for number, rule in enumerate(criteria, start=1):
        say(f"{number}  {rule.id} ({rule.kind}): {plain(rule.text)}")
    say("i include, e exclude, u unsure, backspace: the one before, j: jump, q: leave")
    done: list[tuple[int, TaskKind]] = []
    again: list[Task] = []
    while True:
        waiting = again or await target.tasks(by, 1)
        if not waiting:
            waiting = await next_record(target, by)
        if not waiting:
            return
        task = waiting[0]
        again = []
        show_record(task.record, task.number, task.kind, task.left)
        for made in task.decisions:
            say(f"  {plain(made.by)}: {made.verdict} {made.criterion} {plain(' / '.join(made.words))}")
        key = await read_key()
        if key in ("q", "", "\x03", "\x04"):
            return
        if key in ("\x7f", "\b"):
            again = [await task_of(target, *done.pop())] if done else [task]
        elif key == "j":
            jump = await read_number("record: ")
            again = [task if jump is None else await task_of(target, jump, task.kind)]
        elif key in ("i", "e", "u"):
            if await send_decision(target, task, key, by, [rule.id for rule in criteria]):
                done.append((task.number, task.kind))
            else:
                again = [task]
        else:
            again = [task]


async def next_record(target: "Review", by: str) -> "list[Task]":
    """Return the next record of a person, once the review has done its step; say why there is none."""
    waited = False
    for _ in range(STEP_TRIES):
        seen = await target.progress()
        if waiting := await target.tasks(by, 1):
            return waiting
        if seen.gate or seen.paused or seen.phase == "waiting" or (await target.row()).status != "running":
            say(f"nothing waits for {by}. {plain(seen.title)}: {seen.phase}; {plain(seen.text)}")
            return []
        if not waited:
            say(f"one moment: {plain(seen.text)}")
        waited = True
        await asyncio.sleep(POLL_SECONDS)
    say(f"nothing waits for {by} yet; {plain(seen.text)}. Screen again in a minute")
    return []


async def task_of(target: "Review", number: int, kind: "TaskKind") -> "Task":
    from client.reviews.review import Task

    return Task(number, kind, await target.record(number))


async def send_decision(target: "Review", task: "Task", key: str, by: str, criteria: list[str]) -> bool:
    """Send what a key says; False where the review refuses it."""
    from activities.review.decisions import VERDICTS, Made

    criterion = ""
    if key == "e":
        choice = await read_key(f"criterion 1 to {len(criteria)}, Enter for none: ")
        if choice.isdigit() and 0 < int(choice) <= len(criteria):
            criterion = criteria[int(choice) - 1]
    made = Made(record=task.number, verdict=VERDICTS[key], criterion=criterion)
    try:
        if task.kind == "label":
            await target.label([made], by=by)
        else:
            await target.decide([made], by=by)
    except BadInput as error:
        say(f"Error: {error}")
        return False
    say(f"{made.verdict}{f' ({criterion})' if criterion else ''}")
    return True


def show_record(record: "Evidence", number: int, kind: str, left: int) -> None:
    from activities.review.records import NO_ABSTRACT

    waits_for = f", {counted(left, 'record')} left" if left else ""
    say(f"\n[{number}] {kind}{waits_for}")
    print_text(plain(record.title))
    facts = [", ".join(record.authors[:3]), record.venue or "", str(record.year or "")]
    say(plain("; ".join(filter(None, facts))))
    print_text("" if NO_ABSTRACT in record.facts else plain(record.text))


async def read_key(prompt: str = "> ") -> str:
    """One key of a terminal; elsewhere the first character of a line."""
    import sys

    click.echo(prompt, nl=False, err=True)
    if sys.stdin.isatty():
        try:
            key = await asyncio.to_thread(click.getchar)
        except (KeyboardInterrupt, EOFError):
            return "q"
        click.echo("", err=True)
        return str(key)
    line = await asyncio.to_thread(sys.stdin.readline)
    return line[:1] if line.strip() else ("\n" if line else "")


async def read_number(prompt: str) -> int | None:
    import sys

    click.echo(prompt, nl=False, err=True)
    line = (await asyncio.to_thread(sys.stdin.readline)).strip()
    return int(line) if line.isdigit() else None


add_to(review)
