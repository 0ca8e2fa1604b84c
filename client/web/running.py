"""A run on the page: what it does, looked at once a second, what it waits for, and what it is told."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import get_origin

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, Response
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.datastructures import FormData

from activities.contracts.evidence import ReportPlan, ReportPlanSection
from activities.contracts.prepare import Continued
from activities.messages import clock, count_of
from client.access import Access, line_of
from client.api import EXPECTED
from client.failures import BadInput, NoSuchRun
from client.messages import MESSAGES, Verb
from client.reports.load import NoReport
from client.run import Run
from client.web.frame import Frame, drafts_of, render_template
from client.web.home import Home
from client.web.reading import Reading, Talking
from workflows.event_types import AgentEvent
from workflows.types import PERMANENT, Progress

NOTE_CHARS = 2_000
Said = tuple[Verb, dict[str, object]]
TOLD = tuple(verb for verb in MESSAGES.values() if verb.on_page)
"""The messages that the page of a run has a form for, whatever it does."""


class Running:
    def __init__(self, frame: Frame, home: Home, reading: Reading, talking: Talking) -> None:
        self._frame = frame
        self._home = home
        self._reading = reading
        self._talking = talking

    def router(self) -> APIRouter:
        router = APIRouter(prefix="/run/{run_id}")
        router.get("")(self.page)
        router.get("/live", response_class=EventSourceResponse)(self.live)
        router.get("/steps")(self.steps)
        router.post("/do/{act}")(self.act)
        return router

    async def page(self, request: Request, run_id: str) -> Response:
        """Return the report where there is one to read, else how the run goes."""
        run = await self._frame.run(request, run_id)
        live, html = Live(run), ""
        row = await run.row()
        if row.status == "running":
            live.question = row.question
            with suppress(*EXPECTED):  # the page is shown, and looks again
                html = await live.look()
            if live.waits != "report" and not live.over:
                return await self._frame.page(
                    "run",
                    run_id=run.id,
                    question=live.question,
                    live=html,
                    said=self._home.notices.get(run.id, []),
                    told=[(verb, *inputs_of(verb)) for verb in TOLD],
                    turns=await self._talking.turns(live.continues, self._frame.user(request)),
                )
        try:
            return await self._reading.page(request, run, is_waiting=live.waits == "report")
        except NoReport as error:
            return await self._frame.page("error", 404, line=line_of(error), signed_in=True)

    async def live(self, request: Request, run_id: str) -> EventSourceResponse:
        """Return what changes on the page while the run goes on."""
        run = await self._frame.run(request, run_id)
        return EventSourceResponse(stream(self._frame.access, run.id, self._frame.user(request)))

    async def steps(self, request: Request, run_id: str) -> HTMLResponse:
        """Return the steps of a run that is over."""
        return HTMLResponse(await steps_of_run(await self._frame.run(request, run_id)))

    async def act(self, request: Request, run_id: str, act: str) -> Response:
        """Do what a button says: send the message of its name, made of the fields of its form."""
        if act not in MESSAGES and act not in FORMS:
            raise HTTPException(404, "there is no such button")
        run, user = await self._frame.run(request, run_id), self._frame.user(request)
        form = await request.form()
        verb, values = await FORMS[act](run, user, form) if act in FORMS else (MESSAGES[act], {})
        if verb.to == "report":
            return await self._talking.say(request, run, user, verb, values_of(verb, form))
        answer = await run.deliver(verb, verb.read(values or values_of(verb, form)), user)
        return await self._frame.answer(request, run.id, f"The run {verb.reply_to(answer)}.")


def values_of(verb: Verb, form: FormData) -> dict[str, object]:
    """Return the fields of a message that a form has; what is left empty is as it would be."""
    values: dict[str, object] = {}
    for name, info in verb.fields.items():
        texts = texts_of(form, name)
        if get_origin(info.annotation) is tuple:
            values[name] = texts
        elif any(texts):
            values[name] = texts[-1]
    return values


def inputs_of(verb: Verb) -> tuple[str, list[dict[str, str | bool]]]:
    """Return the field of a message that is text of many words, if any, and the inputs of the others."""
    text_field = verb.positional[-1] if verb.positional else ""
    inputs: list[dict[str, str | bool]] = [
        {
            "name": name,
            "label": (info.description or name).rstrip("."),
            "number": info.annotation in (int, float) and name != "seconds",
            "step": "any" if info.annotation is float else "1",
        }
        for name, info in verb.fields.items()
        if name != text_field
    ]
    return text_field, inputs


def text_of(form: FormData, name: str) -> str:
    """Return a field as text, empty where there is none. Raises BadInput for one that is too long."""
    text = str(form.get(name, "")).strip()
    if len(text) > NOTE_CHARS:
        raise BadInput(f"that is too long; write {NOTE_CHARS:,} characters at most")
    return text


def texts_of(form: FormData, name: str) -> list[str]:
    return [str(value).strip() for value in form.getlist(name)]


async def plan(run: Run, user: str, form: FormData) -> Said:
    """Replace the plan where it was edited, a section without a title left out; then it is approved.

    Raises BadInput for what the run refuses.
    """
    draft = (await run.plan()).plan
    rows = zip(*(texts_of(form, name) for name in ("section", "title", "asked")), strict=False)
    if draft is not None:
        queries = {section.id: section.queries for section in draft.report_outline}
        outline = tuple(
            ReportPlanSection(
                id=name, title=title, key_question=question or title, queries=queries.get(name, ())
            )
            for name, title, question in rows
            if title
        )
        if outline != draft.report_outline:
            await run.edit_plan(plan=draft.replace(report_outline=outline), by=user)
    return MESSAGES["approve"], {"gate": "plan", "note": text_of(form, "note")}


async def answers(_run: Run, _user: str, form: FormData) -> Said:
    """Answer what the run asks back, or accept what it assumes."""
    if "assumed" in form or not any(texts_of(form, "answers")):
        return MESSAGES["approve"], {"gate": "clarification"}
    return MESSAGES["answer"], {"answers": texts_of(form, "answers")}


FORMS: Mapping[str, Callable[[Run, str, FormData], Awaitable[Said]]] = {"plan": plan, "answers": answers}
"""Forms that are more than the fields of a message."""


LOOK_SECONDS = 1.0
MAX_EVENTS = 2_000
"""Events that a tab remembers, the latest."""
PAGE_CHANGES = "run-changed"
"""The event after which a browser loads the page again: the run is over, or its report waits for approval."""


@dataclass
class Live:
    """The part that a tab has seen of a run. It can be lost: a reload reads it again."""

    run: Run
    events: list[AgentEvent] = field(default_factory=list)
    over: bool = False
    waits: str | None = None
    """The gate that waits for a person."""
    question: str = ""
    continues: Continued | None = None

    async def look(self) -> str:
        """Return the part of the page that changes, as HTML. Raises what `Run.status` raises."""
        status = await self.run.status()
        progress, row = status.progress, status.row
        self.over, self.question = row.status != "running", row.question
        if progress is None:
            return render_template("live", now=None, row=row, said="")
        self.question = row.question or progress.question
        seq = self.events[-1].seq if self.events else 0
        if progress.last_seq > seq:
            events = [event async for event in self.run.events(seq, follow=False)]
            self.events = [*self.events, *events][-MAX_EVENTS:]
        self.waits, self.continues = progress.waiting_for, progress.continues
        plan = (await self.run.plan()).plan if progress.waiting_for == "plan" else None
        return await asyncio.to_thread(partial(self._html, progress, plan))

    def _html(self, progress: Progress, plan: ReportPlan | None) -> str:
        titles = {section.id: section.title for section in progress.sections}
        return render_template(
            "live",
            now=progress,
            run_id=self.run.id,
            plan=plan,
            line=phase_line(progress),
            quiet=quiet_line(progress),
            steps=steps_of(self.events, titles),
            drafts=drafts_of(self.events, titles),
            troubles=troubles_of(self.events),
            link=self.run.link,
        )


def phase_line(progress: Progress) -> str:
    """Return what it does now; at a gate, the message says all."""
    phase = "paused" if progress.paused else progress.phase.replace("_", " ")
    is_whole = progress.waiting_for and progress.message
    line = progress.message if is_whole else ": ".join(filter(None, (phase, progress.message)))
    return line[:1].upper() + line[1:]


def quiet_line(progress: Progress) -> str:
    """Return `24 works · 12,300 of 250,000 tokens · $0.0123 · 1:05`."""
    budget, usage = progress.budget, progress.budget.used
    limit, max_cost = budget.limits.max_tokens, budget.limits.max_cost_microusd
    parts = [count_of(progress.evidence, "work")]
    if usage.tokens:
        parts.append(f"{usage.tokens:,}{f' of {limit:,}' if limit is not None else ''} tokens")
    if usage.cost_microusd:
        cost_limit = f" of ${max_cost / 1e6:.2f}" if max_cost is not None else ""
        parts.append(f"${usage.cost_microusd / 1e6:.4f}{cost_limit}")
    is_waiting = progress.paused or progress.waiting_for or not budget.as_of
    seconds = budget.elapsed_seconds + (0 if is_waiting else max(time.time() - budget.as_of, 0))
    return " · ".join((*parts, clock(seconds)))


async def stream(access: Access, run_id: str, user: str) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield what the page shows, each time it has changed; then that the page is another one."""
    last_html, live = "", None
    while True:
        try:
            live = live or Live(await access.run(run_id, user))
            html = await live.look()
        except EXPECTED as error:
            live = None
            note = "" if isinstance(error, NoSuchRun) else " The run itself is kept; this page looks again."
            html = render_template("said", text=f"{line_of(error)}.{note}", wrong=True)
        if html != last_html:
            last_html = html
            yield ServerSentEvent(html)
        if live is not None and (live.over or live.waits == "report"):
            yield ServerSentEvent("", event=PAGE_CHANGES)
            return
        await asyncio.sleep(LOOK_SECONDS)


async def steps_of_run(run: Run) -> str:
    """Return the steps of a run that is over."""
    live = Live(run)
    titles: dict[str, str] = {}
    with suppress(*EXPECTED):
        live.events = [event async for event in run.events(0, follow=False)]
        progress = await run.progress()
        titles = {section.id: section.title for section in progress.sections} if progress else {}
    return await asyncio.to_thread(
        partial(render_template, "steps", steps=steps_of(live.events, titles), run_id=run.id, over=True)
    )


LINES = 60
"""Events that are listed under a step, the latest."""
STEPS: Mapping[str, tuple[str, ...]] = {
    "Read the question": (
        "started",
        "reading",
        "read",
        "mode_chosen",
        "clarification_needed",
        "imported",
    ),
    "Planned": ("planned", "replanning"),
    "Researched the sections": ("section_started", "section_complete"),
    "Searched": ("searching", "search_complete", "source_added"),
    "Judged": ("judging", "judge_complete", "evidence_shared"),
    "Formed hypotheses": ("hypothesizing", "hypotheses"),
    "Looked for what is missing": ("gap", "reflected", "looping"),
    "Read the works for the table": ("extracting", "analyzing", "analysis_complete"),
    "Wrote and checked": ("synthesizing", "streaming", "verifying", "refused", "editing"),
    "Ended": ("stopping", "complete"),
}
"""Name of each step, and the events that begin it. Any other event belongs to the step that is open."""
NAMES = {kind: name for name, kinds in STEPS.items() for kind in kinds}


@dataclass(slots=True)
class Step:
    name: str
    key: str
    """The same for as long as the run is looked at."""
    note: str = ""
    """Its end, in a few words."""
    events: list[AgentEvent] = field(default_factory=list)

    @property
    def lines(self) -> Sequence[AgentEvent]:
        return [event for event in self.events if event.type != "streaming"][-LINES:]


def steps_of(events: Iterable[AgentEvent], titles: Mapping[str, str]) -> list[Step]:
    """Return the steps in the order in which they began. The steps of a section are one, under its title."""
    steps: dict[str, Step] = {}
    open_step = Step("Started", "start")
    for event in events:
        if event.section:
            name, key = titles.get(event.section) or event.section, f"section-{event.section}"
        elif event.type in NAMES:
            name = NAMES[event.type]
            key = f"{name}-{event.iteration}"
        else:
            name, key = open_step.name, open_step.key
        step = steps.setdefault(key, Step(name, key))
        step.events.append(event)
        if not event.section:
            open_step = step
    for step in steps.values():
        step.note = note_of(step)
    return [*steps.values()]


def note_of(step: Step) -> str:
    """`3 searches in pubmed, europepmc: 24 new works`, or the last message."""
    searches = [event for event in step.events if event.type == "search_complete"]
    if searches and step.name == "Searched":
        sources = ", ".join(dict.fromkeys(event.text("source") for event in searches))
        works = count_of(sum(event.number("new") for event in searches), "new work")
        return f"{count_of(len(searches), 'search', 'searches')} in {sources}: {works}"
    judgements = [event for event in step.events if event.type == "judge_complete"]
    if judgements and (count := judgements[-1].number("works")):
        return f"{count_of(count, 'work')}, {judgements[-1].number('relevant')} of them answer"
    lines = [event for event in step.lines if event.section or NAMES.get(event.type) == step.name]
    return lines[-1].message if lines else ""


def troubles_of(events: Iterable[AgentEvent]) -> list[str]:
    """Return what only a person can mend, such as a key that is refused; each once."""
    reasons = (
        event.text("reason") or event.message
        for event in events
        if event.type == "error" and event.text("category") in PERMANENT
    )
    return [*dict.fromkeys(reasons)]
