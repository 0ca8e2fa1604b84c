"""A run on the page: how it goes, what it waits for, what it can be told, and its report."""

import html
from dataclasses import dataclass, field
from urllib.parse import quote

import gradio as gr

from activities.report.format_table import FORMATS
from client.run import Run, RunStatus
from client.web.access import CLIENT_ERRORS, Access, line_of, user_of
from client.web.actions import Actions
from client.web.rendering import events_html, link_html, progress_html, searches_html
from workflows.event_types import AgentEvent

TICK_SECONDS = 1.0
MAX_EVENTS = 2_000
"""Events that a tab remembers, the latest."""
PARTS = 4
"""Of the progress; see `RunView.parts`."""
NO_RUN = "<p>Ask a question, or choose a run from the list.</p>"


@dataclass
class Seen:
    """What a tab has shown of a run. It can be lost: a reload reads it again."""

    run_id: str = ""
    events: list[AgentEvent] = field(default_factory=list)
    shown: tuple[str, ...] = ()
    """The parts of the progress, in the order of `RunView.parts`."""
    gate: str | None = None
    over: bool = False
    trouble: bool = False
    """The message says that the run could not be read."""


@dataclass(frozen=True, slots=True)
class RunView:
    """The components of the view."""

    parts: tuple[gr.HTML, ...]
    """How the run goes, its searches, its events, its link. Each is replaced only when it has changed: what a
    person has opened, marked or reached with the keyboard in another stays as it is."""
    message: gr.Markdown
    gate: gr.Group
    gate_text: gr.Markdown
    plan: gr.Dataframe
    candidates: gr.CheckboxGroup
    report: gr.HTML
    works: gr.Dataframe
    follow_up: gr.Group
    timer: gr.Timer
    seen: gr.State

    @property
    def outputs(self) -> list[gr.components.Component | gr.blocks.BlockContext]:
        """What a look at the run updates, in the order of `Look.updates`."""
        return [
            *self.parts,
            *(self.message, self.gate, self.gate_text, self.plan, self.candidates),
            *(self.report, self.works, self.follow_up, self.timer, self.seen),
        ]


def run_view(access: Access, run_id: gr.Textbox) -> RunView:
    """Build the view and connect its buttons."""
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
        note = gr.Textbox(label="Note", max_lines=3)
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
    with gr.Accordion("Searches", open=True):
        searches = gr.HTML(elem_id="searches")
    with gr.Accordion("What happened", open=True):
        events = gr.HTML(elem_id="events")
    link = gr.HTML(elem_id="web-ui")
    with gr.Group(visible=False) as follow_up:
        gr.Markdown("A follow-up question begins with the evidence of this run: choose it in the tab Ask.")
    timer = gr.Timer(TICK_SECONDS, active=False)
    seen = gr.State(Seen())
    view = RunView(
        (progress, searches, events, link),
        *(message, gate, gate_text, plan, candidates, report, works, follow_up, timer, seen),
    )

    actions = Actions(access)
    approve.click(actions.approve, [run_id, note, plan, candidates], [message])
    reject.click(actions.reject, [run_id, note], [message])
    steer.click(actions.steer, [run_id, instruction], [message])
    pause.click(actions.pause, [run_id], [message])
    resume.click(actions.resume, [run_id], [message])
    finish.click(actions.finish, [run_id], [message])
    cancel.click(actions.cancel, [run_id], [message])
    extend.click(actions.extend, [run_id, tokens, cost, minutes], [message])
    timer.tick(Look(access).again, [run_id, seen], view.outputs, show_progress="hidden", concurrency_limit=8)
    return view


class Look:
    """Looks at a run and updates what has changed."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def again(self, run_id: str, seen: Seen, request: gr.Request) -> list[object]:
        """The updates of the view, in the order of `RunView.outputs`."""
        if not run_id:
            return [gr.skip()] * (PARTS + 8) + [gr.Timer(active=False), seen]
        if seen.run_id != run_id:
            seen = Seen(run_id)
        try:
            run = await self._access.run(run_id, user_of(request.username))
            status = await run.status()
            await self._read_events(run, status, seen)
        except CLIENT_ERRORS as error:
            self._access.forget(run_id)
            seen.trouble = True
            message = f"{line_of(error)}. The run itself is kept; this page looks again."
            return [*[gr.skip()] * PARTS, message, *[gr.skip()] * 7, gr.Timer(active=True), seen]
        return await self._updates(run, status, seen)

    async def _read_events(self, run: Run, status: RunStatus, seen: Seen) -> None:
        last = seen.events[-1].seq if seen.events else 0
        if status.progress is None or status.progress.last_seq <= last:
            return
        new = [event async for event in run.events(last, follow=False)]
        seen.events = [*seen.events, *new][-MAX_EVENTS:]

    async def _updates(self, run: Run, status: RunStatus, seen: Seen) -> list[object]:
        now = status.progress
        if now is None:
            seen.trouble = True
            text = f"{html.escape(status.row.question)}: {status.row.status}; no worker answers at the moment"
            return [*[gr.skip()] * PARTS, text, *[gr.skip()] * 7, gr.Timer(active=True), seen]
        shown = (
            progress_html(now, seen.events),
            searches_html(now),
            events_html(now, seen.events),
            link_html(run.link or ""),
        )
        before, seen.shown = seen.shown or ("",) * PARTS, shown
        gate, plan, candidates = gr.skip(), gr.skip(), gr.skip()
        gate_text: object = gr.skip()
        if now.waiting_for != seen.gate:
            seen.gate = now.waiting_for
            gate = gr.Group(visible=now.waiting_for is not None)
            gate_text = f"**The {now.waiting_for} waits for your approval.**" if now.waiting_for else ""
            plan = await self._plan(run) if now.waiting_for == "plan" else gr.Dataframe(visible=False)
            names = [candidate.name for candidate in now.candidates]
            candidates = gr.CheckboxGroup(
                choices=names, value=names, visible=now.waiting_for == "candidates" and bool(names)
            )
        over = status.row.status != "running"
        message: object = "" if seen.trouble else gr.skip()
        seen.trouble = False
        report, works = gr.skip(), gr.skip()
        if over and not seen.over:
            seen.over = True
            report, works = await self._report(run)
        return [
            *(new if new != old else gr.skip() for new, old in zip(shown, before, strict=True)),
            message,
            gate,
            gate_text,
            plan,
            candidates,
            report,
            works,
            gr.Group(visible=over),
            gr.Timer(active=not over),
            seen,
        ]

    async def _plan(self, run: Run) -> gr.Dataframe:
        plan = (await run.plan()).plan
        rows = [[s.id, s.title, s.key_question] for s in plan.report_outline] if plan else []
        return gr.Dataframe(value=rows, visible=True)

    async def _report(self, run: Run) -> tuple[str, gr.Dataframe]:
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
        return report_frames(run.id), works


def report_frames(run_id: str) -> str:
    """The report beside its evidence, and the downloads.

    The frame of the report has no `sandbox`, under which its links could not open in the frame beside it; the
    policy that it is served with allows no script.
    """
    base = f"/runs/{quote(run_id)}"
    links = " · ".join(
        f'<a href="{base}/download/{entry.name}" download title="{html.escape(entry.about)}">{entry.name}</a>'
        for entry in FORMATS.values()
    )
    return (
        f'<section class="run" aria-label="Report"><p>Download: {links}</p><div class="beside">'
        f'<iframe src="{base}/reading" title="Report"></iframe>'
        f'<iframe name="evidence" title="The quote in its work" sandbox="allow-same-origin allow-popups" '
        'srcdoc="&lt;p style=&quot;font-family:system-ui&quot;&gt;Open a citation: its quote is shown here, '
        'in the stored text of its work.&lt;/p&gt;"></iframe></div></section>'
    )
