"""Screening at a terminal: one record at a time, by keys."""

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from activities.contracts.evidence import NO_ABSTRACT
from activities.messages import count_of
from activities.review.decisions import VERDICTS
from client.cli.common import print_text, say
from client.failures import BadInput
from client.reviews.acts import commands
from client.reviews.tasks import Task
from client.terminal import plain

if TYPE_CHECKING:
    from client.reviews.review import Review
    from workflows.review.types import ReviewProgress

SCREENING_KINDS = ("label", "screen", "conflict")
KEYS = "i include, e exclude, u unsure, backspace: the one before, j: jump, q: leave"
GATES = {"extract": "extraction", "field": "extraction", "bias": "bias", "text": "full_texts"}
"""Kind of a task that is no screening -> the gate whose commands do it."""


async def screen_records(target: "Review", by: str) -> None:
    """Show record after record to a person, and send what their keys say."""
    if (status := (await target.row()).status) != "running":
        raise BadInput(
            f"{target.id} is over ({status}); `determinator review report {target.id}` prints its report"
        )
    view = await target.view()
    criteria = view.protocol.criteria
    if view.place_of(by) is None and not view.is_labelling:
        people = ", ".join(view.protocol.people) or "both are models"
        say(f"{by} is no screener of the protocol ({people}): conflicts are shown")
    for number, rule in enumerate(criteria, start=1):
        say(f"{number}  {rule.id} ({rule.kind}): {plain(rule.text)}")
    say(KEYS)
    history: list[Task] = []
    task: Task | None = None
    while task := task or await next_record(target, by):
        show_record(task)
        key = await read_key()
        if key in ("q", "", "\x03", "\x04"):
            return
        if key in ("\x7f", "\b"):
            task = history.pop() if history else task
        elif key == "j":
            task = await jump(target, task)
        elif key not in VERDICTS:
            say(KEYS)
        elif await send_decision(target, task, key, by, [rule.id for rule in criteria]):
            history.append(task)
            task = None


async def jump(target: "Review", task: Task) -> Task | None:
    """Return the record that a person names, or the one that is shown where there is none of that number.

    None where they name none: the next that waits.
    """
    number = await read_number("record, or Enter for the next that waits: ")
    try:
        return None if number is None else await target.task(number, task.kind, task.stage)
    except BadInput as error:
        say(f"Error: {error}")
        return task


async def next_record(target: "Review", by: str) -> Task | None:
    progress, tasks = await target.tasks_soon(by)
    if tasks and tasks[0].kind in SCREENING_KINDS:
        return tasks[0]
    gate = GATES[tasks[0].kind] if tasks else progress.gate
    say(f"nothing to screen for {by}. {progress_line(progress)}{next_commands(gate, target.id)}")
    return None


def next_commands(gate: str, review: str) -> str:
    """Return the commands of a gate as the end of a sentence."""
    rows = [f"`{command}`" for command in commands(gate, review)]
    return f"; next: {', '.join(rows)}" if rows else ""


def progress_line(progress: "ReviewProgress") -> str:
    """Say where a review stands, and who has works to decide on."""
    people = (f"{name} has {count:,} to decide" for name, count in progress.awaited.items())
    return plain("; ".join((f"{progress.title}: {progress.phase}", progress.text, *people)))


async def send_decision(target: "Review", task: Task, key: str, by: str, criteria: list[str]) -> bool:
    """Send what a key says; False where the review refuses it."""
    criterion = ""
    if key == "e":
        choice = await read_key(f"criterion 1 to {len(criteria)}, Enter for none: ")
        if choice.isdigit() and 0 < int(choice) <= len(criteria):
            criterion = criteria[int(choice) - 1]
    label, full_texts = task.kind == "label", task.stage == "full_texts"
    try:
        await target.decide(
            task.record, VERDICTS[key], by=by, criterion=criterion, full_texts=full_texts, label=label
        )
    except BadInput as error:
        say(f"Error: {error}")
        return False
    say(f"{VERDICTS[key]}{f' ({criterion})' if criterion else ''}")
    return True


def show_record(task: Task) -> None:
    work = task.work
    waits_for = f", {count_of(task.left, 'record')} left" if task.left else ""
    say(f"\n[{task.record}] {task.request}{waits_for}")
    print_text(plain(work.title))
    facts = [task.warning, ", ".join(work.authors[:3]), work.venue or "", str(work.year or "")]
    say(plain("; ".join(filter(None, facts))))
    if NO_ABSTRACT in work.facts and task.stage == "titles":
        say("No abstract.")
    else:
        for line in work.text.splitlines():
            print_text(plain(line))
    for decision in task.decisions:
        words = plain(" / ".join(decision.words) or decision.reason)
        say(f"  {plain(decision.by)}: {decision.verdict} {decision.criterion} {words}")


async def read_key(prompt: str = "> ") -> str:
    """Read one key of a terminal; elsewhere the first character of a line."""
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
    click.echo(prompt, nl=False, err=True)
    line = (await asyncio.to_thread(sys.stdin.readline)).strip()
    return int(line) if line.isdigit() else None
