"""A run on the page: how it goes, what it waits for, what it can be told, and its report."""

import html
from contextlib import suppress
from dataclasses import dataclass, field

import gradio as gr

from activities.contracts.publish import Continued
from activities.plural import plural
from activities.report.format_table import CHARTS, FORMATS
from activities.report.formats.charts import chart_of
from client.access import Access, line_of, user_of
from client.api import EXPECTED
from client.failures import NoSuchRun
from client.reports.answer import answer_of
from client.reports.read_aloud import can_speak
from client.run import Run
from client.web.actions import Act, Actions
from client.web.rendering import events_html, progress_html, rendered
from workflows.details import escaped
from workflows.event_types import AgentEvent
from workflows.types import Progress

ANSWERS = "Your answers, one a line; an empty line keeps what is assumed"
TICK_SECONDS = 1.0
MAX_EVENTS = 2_000
"""Events that a tab remembers, the latest."""
MAX_TURNS = 20
"""Earlier questions of a conversation that are shown, the latest."""
MECHANISM_CHARS = 300
NO_RUN = "<p>Ask a question, or choose a run from the list.</p>"
LOADING = "<p role=status>The run is being read; this takes some seconds where a worker is just starting.</p>"


@dataclass
class Seen:
    """What a tab has shown of a run. It can be lost: a reload reads it again."""

    run_id: str = ""
    events: list[AgentEvent] = field(default_factory=list)
    shown: tuple[str, ...] = ()
    """`PARTS` of the view."""
    gate: str | None = None
    over: bool = False
    turns: bool = False
    """The earlier questions are shown."""
    trouble: bool = False
    """The message says that the run could not be read."""


OUTPUTS = (
    *("progress", "searches", "events", "link"),
    *("message", "gate", "gate_text", "plan", "candidates"),
    *("report", "works", "follow_up", "timer", "turns", "sentence", "note", "seen"),
)
"""The components that a look at the run updates, in the order of `Look.again`."""
OF_REPORT = ("report", "works", "sentence")
"""What shows the report: replaced when it is there, and when a person has changed it."""
PARTS = OUTPUTS[:4]
"""How the run goes. Each is replaced only when it has changed: what a person has opened, marked or reached
with the keyboard in another stays as it is."""
View = dict[str, gr.components.Component | gr.blocks.BlockContext]
"""The components by their names in `OUTPUTS`."""
Buttons = dict[gr.Button, tuple[Act, list[gr.components.Component]]]
"""What each does, and the fields that it reads."""


@dataclass(frozen=True, slots=True)
class Further:
    """A further question about the evidence of the run that is open."""

    question: gr.Textbox
    button: gr.Button
    message: gr.Markdown


def run_view(access: Access, run_id: gr.Textbox) -> tuple[View, Further]:
    """Build the view and connect its buttons."""
    turns = gr.HTML(elem_id="turns")
    progress = gr.HTML(NO_RUN, elem_id="progress")
    message = gr.Markdown(elem_id="run-message")
    with gr.Group(visible=False, elem_id="gate") as gate:
        gate_text = gr.Markdown()
        plan = gr.Dataframe(
            headers=["id", "title", "key question"],
            datatype="str",
            type="array",
            interactive=True,
            visible=False,
            wrap=True,
            label="Plan (edit it in place; a row without a title is removed)",
        )
        candidates = gr.CheckboxGroup(label="Candidates to keep", visible=False)
        note = gr.Textbox(label="Note", lines=2, max_lines=4)  # with one line, Enter makes no second
        with gr.Row():
            approve = gr.Button("Approve", variant="primary", elem_id="approve")
            reject = gr.Button("Reject", variant="stop", elem_id="reject")
    with gr.Accordion("Tell the run something", open=False):
        with gr.Row():
            instruction = gr.Textbox(label="Instruction", scale=4)
            steer = gr.Button("Steer", scale=1)
        with gr.Row():
            pause, resume = gr.Button("Pause"), gr.Button("Resume")
            finish, cancel = gr.Button("Write now"), gr.Button("Cancel", variant="stop")
        with gr.Row():
            tokens = gr.Number(label="More tokens", minimum=0, precision=0, value=0)
            cost = gr.Number(label="More US dollars", minimum=0, value=0)
            minutes = gr.Number(label="More minutes", minimum=0, value=0)
            extend = gr.Button("Extend")
    report = gr.HTML(elem_id="report")
    works = gr.Dataframe(label="Works", visible=False, interactive=False, wrap=True, elem_id="works")
    with gr.Group(visible=False, elem_id="further") as follow_up:
        question = gr.Textbox(label="Ask further: it begins with the evidence of this run", max_lines=4)
        further = Further(question, gr.Button("Ask further", elem_id="ask-further"), gr.Markdown())
        with gr.Row():
            message_to_report = gr.Textbox(label="Ask the report, or say what is to be changed", scale=4)
            tell, change = gr.Button("Ask it", elem_id="tell"), gr.Button("Change it", elem_id="change")
        told = gr.Markdown(elem_id="told")
        with gr.Accordion("A sentence is wrong", open=False, elem_id="dispute"):
            sentence = gr.Dropdown(label="Sentence", choices=[], filterable=True)
            reason = gr.Textbox(label="What is wrong; or a note on your decision", max_lines=3)
            with gr.Row():
                dispute = gr.Button("Dispute it")
                uphold = gr.Button("Decide: it goes", variant="stop")
                keep = gr.Button("Decide: it stays")
    with gr.Accordion("Searches", open=True):
        searches = gr.HTML(elem_id="searches")
    with gr.Accordion("What happened", open=True):
        events = gr.HTML(elem_id="events")
    link = gr.HTML(elem_id="web-ui")
    timer = gr.Timer(TICK_SECONDS, active=False)
    seen = gr.State(Seen())
    made = (progress, searches, events, link, message, gate, gate_text, plan, candidates)
    view: View = dict(
        zip(OUTPUTS, (*made, report, works, follow_up, timer, turns, sentence, note, seen), strict=True)
    )

    actions, look = Actions(access), Look(access)
    told_by: Buttons = {
        approve: (actions.approve, [note, plan, candidates]),
        reject: (actions.reject, [note]),
        steer: (actions.steer, [instruction]),
        pause: (actions.plain("pause"), []),
        resume: (actions.plain("resume"), []),
        finish: (actions.plain("finish"), []),
        cancel: (actions.plain("cancel"), []),
        extend: (actions.extend, [tokens, cost, minutes]),
    }
    for button, (act, fields) in told_by.items():
        button.click(actions.on(act), [run_id, *fields], [message])
    tell.click(actions.on(actions.tell), [run_id, message_to_report], [told])
    changed_by: Buttons = {
        change: (actions.change, [message_to_report]),
        dispute: (actions.dispute, [sentence, reason]),
        uphold: (actions.decide(upheld=True), [sentence, reason]),
        keep: (actions.decide(upheld=False), [sentence, reason]),
    }
    for button, (act, fields) in changed_by.items():
        clicked = button.click(actions.on(act), [run_id, *fields], [told])
        clicked.then(look.report, [run_id, sentence], [view[name] for name in OF_REPORT])
    timer.tick(look.again, [run_id, seen], [*view.values()], show_progress="hidden", concurrency_limit=8)
    return view, further


class Look:
    """Looks at a run and updates what has changed."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def again(self, run_id: str, seen: Seen, request: gr.Request) -> list[object]:
        """The updates of the view, in the order of `OUTPUTS`."""
        updates: dict[str, object] = {}
        if run_id and seen.run_id != run_id:
            seen = Seen(run_id)
            updates = {"report": "", "works": gr.Dataframe(visible=False), "turns": ""}
        updates |= await self._updates(run_id, seen, request) if run_id else {"timer": gr.Timer(active=False)}
        return [{**updates, "seen": seen}.get(name, gr.skip()) for name in OUTPUTS]

    async def _updates(self, run_id: str, seen: Seen, request: gr.Request) -> dict[str, object]:
        try:
            run = await self._access.run(run_id, user_of(request.username))
            status = await run.status()
            last = seen.events[-1].seq if seen.events else 0
            if status.progress is not None and status.progress.last_seq > last:
                new = [event async for event in run.events(last, follow=False)]
                seen.events = [*seen.events, *new][-MAX_EVENTS:]
        except EXPECTED as error:
            self._access.forget(run_id)
            seen.trouble = True
            if isinstance(error, NoSuchRun):
                return {"message": f"{line_of(error)}.", "progress": NO_RUN, "timer": gr.Timer(active=True)}
            kept = "The run itself is kept; this page looks again."
            return {"message": f"{line_of(error)}. {kept}", "timer": gr.Timer(active=True)}
        now = status.progress
        if now is None:
            self._access.forget(run_id)
            seen.trouble = True
            text = f"{html.escape(status.row.question)}: {status.row.status}; no worker answers at the moment"
            return {"message": text, "timer": gr.Timer(active=True)}
        over = status.row.status != "running"
        updates: dict[str, object] = {"follow_up": gr.Group(visible=over), "timer": gr.Timer(active=not over)}
        shown = (
            progress_html(now, seen.events),
            rendered("searches", seen=now),
            events_html(now, seen.events),
            rendered("link", address=run.link),
        )
        before, seen.shown = seen.shown or ("",) * len(PARTS), shown
        updates |= {n: new for n, new, old in zip(PARTS, shown, before, strict=True) if new != old}
        if now.waiting_for != seen.gate:
            seen.gate = now.waiting_for
            updates |= await self._gate(run, now)
        if seen.trouble:
            seen.trouble, updates["message"] = False, ""
        if now.continues is not None and not seen.turns:
            seen.turns = True
            updates["turns"] = rendered(
                "turns", turns=await self._turns(now.continues, user_of(request.username))
            )
        if over and not seen.over:
            seen.over = True
            updates |= await self._report(run)
        return updates

    async def report(self, run_id: str, chosen: str | None, request: gr.Request) -> list[object]:
        """The report as it is now, in the order of `OF_REPORT`; the sentence that is chosen stays so."""
        try:
            shown = await self._report(await self._access.run(run_id, user_of(request.username)), chosen)
        except EXPECTED:
            return [gr.skip() for _ in OF_REPORT]
        return [shown[name] for name in OF_REPORT]

    async def _gate(self, run: Run, now: Progress) -> dict[str, object]:
        """What waits for approval, and what of it can be changed."""
        names = [candidate.name for candidate in now.candidates]
        chosen = now.waiting_for == "candidates" and bool(names)
        shown: dict[str, object] = {}
        if now.waiting_for == "report":  # who decides of it reads it
            with suppress(*EXPECTED):
                shown = await self._report(run)
        return {
            **shown,
            "gate": gr.Group(visible=now.waiting_for is not None),
            "gate_text": gate_text(now),
            "note": gr.Textbox(value="", label=ANSWERS if now.waiting_for == "clarification" else "Note"),
            "plan": await self._plan(run) if now.waiting_for == "plan" else gr.Dataframe(visible=False),
            "candidates": gr.CheckboxGroup(choices=names, value=names, visible=chosen),
        }

    async def _plan(self, run: Run) -> gr.Dataframe:
        plan = (await run.plan()).plan
        rows = [[s.id, s.title, s.key_question] for s in plan.report_outline] if plan else []
        return gr.Dataframe(value=rows, visible=True)

    async def _turns(self, before: Continued, user: str) -> list[tuple[str, str, str]]:
        """The questions before this one, the first first: the run, what was asked and its answer."""
        turns: list[tuple[str, str, str]] = []
        earlier: Continued | None = before
        while earlier is not None and len(turns) < MAX_TURNS:
            try:
                report = await (await self._access.run(earlier.run_id, user)).draft()
            except EXPECTED:
                break
            answer = " ".join(answer_of(report).first)
            turns.insert(0, (report.run_id, report.asked or report.question, answer))
            earlier = report.continues
        return turns

    async def _report(self, run: Run, chosen: str | None = None) -> dict[str, object]:
        report = await run.draft()
        rows = report.work_rows()
        table = report.table
        keys = ["number", "title", "year", "evidence_type", "standing"]
        head = ["no.", "title", "year", "kind", "standing"]
        cells = {row.evidence_id: row.cells for row in table.rows}
        values = [
            [row.get(name) for name in keys]
            + [getattr(cells.get(str(row["evidence_id"]), {}).get(c), "text", "") for c in table.columns]
            for row in rows
        ]
        works = gr.Dataframe(
            value=values,
            headers=[*head, *table.columns],
            column_widths=["60px", "360px", "70px", "150px", "110px", *["220px"] * len(table.columns)],
            visible=bool(values),
        )
        charts = [name for name in CHARTS if (chart := chart_of(report, name)) and chart.is_clearer]
        disputable = report.sentences() if report.written_by == "model" else ()
        labels = {claim.id: f"{claim.id} {claim.text}" for claim in disputable}
        none = None if labels else "This report has quotes only, word for word: none of them can be disputed."
        offered = [(text, name) for name, text in labels.items()]
        sentence = gr.Dropdown(choices=offered, value=chosen if chosen in labels else None, info=none)
        frames = rendered(
            "report",
            run_id=run.id,
            at=report.generated_at,
            charts=charts,
            aloud=can_speak(),
            formats=[*FORMATS.values()],
        )
        return {"report": frames, "works": works, "sentence": sentence}


def gate_text(now: Progress) -> str:
    """What waits, in Markdown."""
    if now.waiting_for is None:
        return ""
    if now.waiting_for == "candidates":
        rows = "".join(
            f"\n- {escaped(one.name)} ({one.evidence_quality}, {plural(len(one.support), 'quote')}) "
            f"{escaped(one.proposed_mechanism or one.mechanism, MECHANISM_CHARS)}"
            for one in now.candidates
        )
        return f"**The candidates wait for your approval.**\n{rows}"
    if now.waiting_for != "clarification":
        return f"**The {now.waiting_for} waits for your approval.**"
    asked = "".join(f"\n1. {escaped(one.question)} ({escaped(one.assumed)})" for one in now.readings)
    return f"**Before it searches**, what do you mean? What it would assume is in brackets.\n{asked}"
