"""`determinator plan show` and `plan edit`."""

import json
import tomllib
from typing import TYPE_CHECKING, Any, TextIO

import click
from pydantic import ValidationError

from activities.contracts.evidence import ReportPlan
from activities.plural import plural
from activities.private_files import file_name, write_whole
from client.cli.common import json_option, load_settings, on_changed_run, on_run, print_json, print_text, say
from client.failures import BadInput, faults_of
from client.terminal import plain

if TYPE_CHECKING:
    from client.run import Run
    from workflows.types import PlanView

HEAD = """\
# The plan, as TOML. Save and close to hand it in; delete everything to leave it as it is.
# An id that stays keeps its section; leave the id out for a new one.
"""


@click.group()
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
@on_changed_run
async def edit(run: "Run", file: TextIO | None) -> None:
    """Replace the plan while it waits for approval; the gate goes on waiting."""
    await run.running()
    view = await run.plan()
    if file is None:
        if view.plan is None:
            raise BadInput(f"{run.id} has no plan to edit (yet)")
        text = from_editor(HEAD + as_toml(view.plan))
        if text is None or not text.strip():
            say("the plan is left as it is")
            return
    else:
        try:
            text = file.read()
        except UnicodeDecodeError as error:
            raise BadInput(f"{file.name} cannot be read: {error}") from error
    edited = await submit_plan(run, text, keep=file is None)
    sections = len(edited.plan.report_outline) if edited.plan else 0
    print_text(f"the plan now has {plural(sections, 'section')} ({edited.plan_hash}); approve it to go on")


def plan_lines(view: "PlanView") -> list[str]:
    """The plan for a person; empty when there is none."""
    if view.plan is None:
        return []
    state = "approved" if view.approved else "not approved" if view.asked else "runs without approval"
    lines = [plain(view.plan.report_title), f"plan {view.plan_hash}, {state}"]
    for section in view.plan.report_outline:
        lines += [plain(f"{section.id}  {section.title}"), f"    {plain(section.key_question)}"]
    return lines


async def submit_plan(run: "Run", text: str, *, keep: bool) -> "PlanView":
    """Replace the plan of a run; with `keep`, the text is kept in home until the run has accepted it, so that
    an error does not lose the work. Raises BadInput."""
    if not keep:
        return await run.edit_plan(read_plan(text))
    kept = load_settings().home / "edits" / f"{file_name(run.id)}.toml"
    write_whole(kept, text.encode())
    hint = f"your edit is kept: correct it, then `determinator plan edit {run.id} --file {kept}`"
    try:
        edited = await run.edit_plan(read_plan(text))
    except BadInput as error:
        raise BadInput(f"{error}; {hint}") from error
    except BaseException:
        say(hint)
        raise
    kept.unlink(missing_ok=True)
    return edited


def from_editor(text: str) -> str | None:
    """The text as edited; None when it was not saved. Raises BadInput without an editor."""
    try:
        return click.edit(text, extension=".toml", require_save=True)
    except click.ClickException as error:
        raise BadInput(
            f"{error.format_message()}; set EDITOR to your editor, or give the plan with --file"
        ) from error


def read_plan(text: str) -> "ReportPlan":
    """A plan written in JSON or TOML. Raises BadInput with the place that is wrong."""
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
    """The plan as a person edits it. JSON's strings are valid TOML strings."""

    def quoted(text: str) -> str:
        # TOML knows no \/ and JSON writes none; DEL is the one control character JSON leaves bare
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

    lines = [f"report_title = {quoted(plan.report_title)}"]
    lines.append(f"background_context = {quoted(plan.background_context)}")
    for section in plan.report_outline:
        lines += ["", "[[report_outline]]", f"id = {quoted(section.id)}"]
        lines += [f"title = {quoted(section.title)}", f"key_question = {quoted(section.key_question)}"]
    return "\n".join(lines) + "\n"
