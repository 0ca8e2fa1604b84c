"""Asking the person at the terminal when a run waits at a gate."""

import asyncio
import json
import sys
import tomllib
from typing import TYPE_CHECKING, Any, TextIO

import click
from pydantic import ValidationError

from activities.contracts.evidence import ReportPlan
from activities.messages import plural
from activities.private_files import file_name, write_whole
from client.cli.common import (
    Group,
    changed_run_argument,
    json_option,
    load_settings,
    on_client,
    on_run,
    print_json,
    print_text,
    run_to_change,
    say,
)
from client.cli.steering import candidate_line
from client.failures import BadInput, NoAnswer, faults_of
from client.terminal import plain

if TYPE_CHECKING:
    from client.api import Determinator
    from client.run import Run
    from workflows.types import PlanView, Progress


HEAD = """\
# The plan, as TOML. Save and close to hand it in; delete everything to leave it as it is.
# An id that stays keeps its section; leave the id out for a new one.
"""


@click.group(cls=Group)
def plan() -> None:
    """Show or edit the plan of a deep run."""


@plan.command()
@json_option
@on_run
async def show(run: "Run", as_json: bool) -> None:
    """Show the plan: sections with a key question each."""
    view = await run.plan()
    if as_json:
        print_json(view)
    elif view.plan is None:
        say(f"{run.id} has no plan (yet)")
    else:
        for line in plan_lines(view):
            print_text(line)


@plan.command()
@click.option(
    "--file",
    "file",
    type=click.File(encoding="utf-8"),
    help="The whole plan in JSON or TOML, `-` for stdin; default: your $EDITOR.",
)
@changed_run_argument
@on_client
async def edit(client: "Determinator", run: str | None, file: TextIO | None) -> None:
    """Replace the plan while it waits for approval; the gate goes on waiting."""
    target = await client.run(await run_to_change(client, run))
    await target.running()
    view = await target.plan()
    if file is None:
        if view.plan is None:
            raise BadInput(f"{target.id} has no plan to edit (yet)")
        text = from_editor(HEAD + as_toml(view.plan))
        if text is None or not text.strip():
            say("the plan is left as it is")
            return
    else:
        try:
            text = file.read()
        except UnicodeDecodeError as error:
            raise BadInput(f"{file.name} cannot be read: {error}") from error
    view = await submit_plan(target, text, keep=file is None)
    sections = len(view.plan.report_outline) if view.plan else 0
    print_text(f"the plan now has {plural(sections, 'section')} ({view.plan_hash}); approve it to go on")


def plan_lines(view: "PlanView") -> list[str]:
    """Return the plan for a person; empty when there is none."""
    if view.plan is None:
        return []
    state = "approved" if view.approved else "not approved" if view.asked else "runs without approval"
    lines = [plain(view.plan.report_title), f"plan {view.plan_hash}, {state}"]
    for section in view.plan.report_outline:
        lines += [plain(f"{section.id}  {section.title}"), f"    {plain(section.key_question)}"]
    return lines


async def submit_plan(run: "Run", text: str, *, keep: bool) -> "PlanView":
    """Replace the plan of a run; with `keep`, an error does not lose the text.

    It is kept in the home until the run has accepted it. Raises BadInput.
    """
    if not keep:
        return await run.edit_plan(plan=read_plan(text))
    path = load_settings().home / "edits" / f"{file_name(run.id)}.toml"
    write_whole(path, text.encode())
    hint = f"your edit is kept: correct it, then `determinator plan edit {run.id} --file {path}`"
    try:
        view = await run.edit_plan(plan=read_plan(text))
    except BadInput as error:
        raise BadInput(f"{error}; {hint}") from error
    except BaseException:
        say(hint)
        raise
    path.unlink(missing_ok=True)
    return view


def from_editor(text: str) -> str | None:
    """Return the text as edited; None when it was not saved. Raises BadInput without an editor."""
    try:
        return click.edit(text, extension=".toml", require_save=True)
    except click.ClickException as error:
        raise BadInput(
            f"{error.format_message()}; set EDITOR to your editor, or give the plan with --file"
        ) from error


def read_plan(text: str) -> "ReportPlan":
    """Return a plan written in JSON or TOML. Raises BadInput with the place that is wrong."""
    try:
        data: Any = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except ValueError as error:
        raise BadInput(f"the plan is neither JSON nor TOML: {error}") from error
    if isinstance(data, dict) and isinstance(data.get("plan"), dict):
        data = data["plan"]  # what `plan show --json` prints
    try:
        return ReportPlan.model_validate(data, extra="forbid")
    except ValidationError as error:
        raise BadInput(
            f"the plan cannot be used: {faults_of(error, 'the plan')}; `plan show --json` prints one that can"
        ) from error


def as_toml(plan: "ReportPlan") -> str:
    """Return the plan as a person edits it. JSON's strings are valid TOML strings."""

    def quote(text: str) -> str:
        # TOML knows no \/ and JSON writes none; DEL is the one control character JSON leaves bare
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

    lines = [f"report_title = {quote(plan.report_title)}"]
    lines.append(f"background_context = {quote(plan.background_context)}")
    for section in plan.report_outline:
        lines += ["", "[[report_outline]]", f"id = {quote(section.id)}"]
        lines += [f"title = {quote(section.title)}", f"key_question = {quote(section.key_question)}"]
    return "\n".join(lines) + "\n"


POLL_SECONDS = 1.0
"""Interval at which it is checked whether the gate was answered elsewhere."""


class Detached(Exception):
    """The person left the run; it continues."""


async def ask_at_gate(run: "Run", progress: "Progress") -> None:
    """Show what waits at the gate of a run; ask until it is decided, here or elsewhere. Raises Detached."""
    gate = progress.waiting_for
    if gate is None:
        return
    if gate == "clarification":
        await _answer(run, progress)
        return
    await _show(run, progress)
    while True:
        line = await _line(run, progress, "[a]pprove [r]eject [d]etach: ")
        if line is None:
            say(f"the {gate} was decided elsewhere")
            return
        answer = line.strip().lower()[:1]
        if answer == "d":
            raise Detached
        if answer not in ("a", "r"):
            continue
        note = await _line(run, progress, "reason (optional): ") if answer == "r" else ""
        if note is not None:
            decide = run.approve if answer == "a" else run.reject
            await decide(gate=gate, note=note.strip())
        return


async def _answer(run: "Run", progress: "Progress") -> None:
    """Ask what the run asks back, a line each. Raises Detached."""
    say("\nBefore it searches. Enter keeps what is assumed, s skips the rest, d detaches.")
    answers: list[str] = []
    for reading in progress.readings:
        line = await _line(run, progress, f"{plain(reading.question)} [{plain(reading.assumed)}] ")
        if line is None:
            say("the questions were answered elsewhere")
            return
        text = line.strip()
        if text.lower() == "d":
            raise Detached
        if text.lower() == "s":
            break
        answers.append(text)
    await run.answer(answers=answers)


async def _show(run: "Run", progress: "Progress") -> None:

    say(f"\nThe {progress.waiting_for} waits for your approval.")
    if progress.waiting_for == "plan":
        for line in plan_lines(await run.plan()):
            say(line)
        say(f"To change it, detach: `determinator plan edit {run.id}`")
    elif progress.waiting_for == "candidates":
        for candidate in progress.candidates:
            say(candidate_line(candidate))
        say(f"To keep some of them, detach: `determinator candidates {run.id} --keep NAME`")
    else:
        from client.reports.answer import answer_of, claims_of, with_references

        report = await run.draft()
        say(plain(answer_of(report).bottom_line))
        for claim in claims_of(report):
            say(f"- {plain(with_references(claim))}")


async def _line(run: "Run", state: "Progress", prompt: str) -> str | None:
    """Return a line from the terminal, `d` at its end of input; None when the gate was decided meanwhile."""
    from client.runs.query import progress

    click.echo(prompt, nl=False, err=True)
    reading = asyncio.ensure_future(read_line())
    try:
        while True:
            done, _ = await asyncio.wait([reading], timeout=POLL_SECONDS)
            if done:
                return reading.result() or "d"
            try:
                latest = await progress(run.connection.client, run.id)
            except NoAnswer:
                continue
            if latest.waiting_for != state.waiting_for:
                say("")
                return None
    finally:
        reading.cancel()


async def read_line() -> str:
    """One line of standard input with its line end; empty at the end of input.

    Cancelling leaves standard input unread where the event loop can watch it.
    """
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(sys.stdin.fileno(), ready.set)
    except NotImplementedError:  # Windows
        return await asyncio.to_thread(sys.stdin.readline)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline()
