"""Asking the person at the terminal when a run waits at a gate."""

import asyncio
import sys
from typing import TYPE_CHECKING, Literal

import click

from client.cli.common import say
from client.cli.plan import HEAD, as_toml, from_editor, plan_lines, submit_plan
from client.cli.steering import candidate_line
from client.failures import BadInput, NoAnswer
from client.terminal import plain

if TYPE_CHECKING:
    from client.run import Run
    from workflows.types import Progress

Choice = Literal["a", "r", "d", "e"]
CHOICES: tuple[Choice, ...] = ("a", "r", "d", "e")
"""First letters of the answers; the last is for what can be edited."""
POLL_SECONDS = 1.0
"""How often to look whether the gate was answered elsewhere."""


class Detached(Exception):
    """The person left the run; it continues."""


async def ask_at_gate(run: "Run", seen: "Progress") -> None:
    """Show what waits at the gate of a run; ask until it is decided, here or elsewhere. Raises Detached."""
    gate = seen.waiting_for
    if gate is None:
        return
    if gate == "clarification":
        await _answer(run, seen)
        return
    await _show(run, seen)
    while True:
        answer = await _choice(run, seen)
        if answer is None:
            say(f"the {gate} was decided elsewhere")
            return
        if answer == "d":
            raise Detached
        if answer == "e":
            if await _edit(run, seen):
                return
            continue
        note = await _line(run, seen, "reason (optional): ") if answer == "r" else ""
        if note is not None:
            decide = run.approve if answer == "a" else run.reject
            await decide(gate, note=note.strip())
        return


async def _answer(run: "Run", seen: "Progress") -> None:
    """Ask what the run asks back, a line each. Raises Detached."""
    say("\nBefore it searches. Enter keeps what is assumed, s skips the rest, d detaches.")
    answers: list[str] = []
    for one in seen.readings:
        line = await _line(run, seen, f"{plain(one.question)} [{plain(one.assumed)}] ")
        if line is None:
            say("the questions were answered elsewhere")
            return
        text = line.strip()
        if text.lower() == "d":
            raise Detached
        if text.lower() == "s":
            break
        answers.append(text)
    await run.answer(answers)


async def _show(run: "Run", seen: "Progress") -> None:

    say(f"\nThe {seen.waiting_for} waits for your approval.")
    if seen.waiting_for == "plan":
        for line in plan_lines(await run.plan()):
            say(line)
    elif seen.waiting_for == "candidates":
        for number, candidate in enumerate(seen.candidates, start=1):
            say(f"{number:>3}  {candidate_line(candidate)}")
    else:
        from client.reports.answer import answer_of, claims_of, with_references

        report = await run.draft()
        say(plain(answer_of(report).bottom_line))
        for claim in claims_of(report):
            say(f"- {plain(with_references(claim))}")


async def _choice(run: "Run", seen: "Progress") -> Choice | None:
    """The first letter of the answer; None when the gate no longer waits."""
    editable = seen.waiting_for != "report"
    options = "[a]pprove [e]dit [r]eject [d]etach" if editable else "[a]pprove [r]eject [d]etach"
    while True:
        line = await _line(run, seen, f"{options}: ")
        if line is None:
            return None
        for letter in CHOICES if editable else CHOICES[:3]:
            if line.strip().lower()[:1] == letter:
                return letter


async def _line(run: "Run", seen: "Progress", prompt: str) -> str | None:
    """A line from the terminal, `d` at its end of input; None when the gate was decided meanwhile."""
    from client.runs.query import progress

    click.echo(prompt, nl=False, err=True)
    reading = asyncio.ensure_future(read_line())
    try:
        while True:
            done, _ = await asyncio.wait([reading], timeout=POLL_SECONDS)
            if done:
                return reading.result() or "d"
            try:
                now = await progress(run.connection.client, run.id)
            except NoAnswer:
                continue
            if now.waiting_for != seen.waiting_for:
                say("")
                return None
    finally:
        reading.cancel()


async def _edit(run: "Run", seen: "Progress") -> bool:
    """Edit what waits; whether that decided the gate as well."""
    if seen.waiting_for == "plan":
        view = await run.plan()
        try:
            text = from_editor(HEAD + as_toml(view.plan)) if view.plan else None
            if text and text.strip():
                await submit_plan(run, text, keep=True)
        except BadInput as error:
            say(f"Error: {error}")
        await _show(run, seen)
        return False
    line = await _line(run, seen, "keep which (numbers or names, comma-separated): ")
    if line is None:
        return True
    numbered = {str(n): candidate.name for n, candidate in enumerate(seen.candidates, start=1)}
    names = tuple(numbered.get(word.strip(), word.strip()) for word in line.split(",") if word.strip())
    try:
        await run.choose_candidates(names)
    except BadInput as error:
        say(f"Error: {error}")
        return False
    return True


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
