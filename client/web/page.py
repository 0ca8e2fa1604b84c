"""The page: a form, a run, the list of runs. The address of a run (`/?run=ID`) is a link."""

import asyncio
import html
import os
from collections.abc import AsyncIterator, Awaitable, Callable

import gradio as gr
from gradio.components import Component
from pydantic import ValidationError

from client.access import RUNS_AN_HOUR, Access, RateLimit, line_of, models_of, user_of
from client.api import EXPECTED, Determinator
from client.failures import BadInput, faults_of
from client.runs.options import SharedOptions
from client.web.ask_form import AskForm, ask_form, options_of
from client.web.rendering import rendered
from client.web.run_view import LOADING, Look, run_view
from workflows.details import escaped

GRADIO = {"GRADIO_ANALYTICS_MAX_EVENTS": "1", "GRADIO_ANALYTICS_CACHE_FREQUENCY": str(10**9)}
"""Gradio keeps the last ten thousand events and makes a table of all of them after each one (7 ms), for
statistics that are not served; each tab has an event a second."""
INTO_ADDRESS = (
    "(run) => { if (run) { const u = new URL(window.location); u.searchParams.set('run', run); "
    "history.replaceState({}, '', u); } }"
)
"""Puts the id of the run into the address, so that a reload and a link show it."""

SAID_CHARS = 1_000
"""Characters of a line that is said while a run starts."""


def build_page(access: Access) -> gr.Blocks:
    settings = access.client.settings
    shared = access.shared
    os.environ.update(GRADIO)
    page = gr.Blocks(title="Determinator", analytics_enabled=False, fill_width=True)
    with page:
        run_id = gr.Textbox(visible="hidden")  # a `State` is not seen by the script that sets the address
        gr.Markdown(
            "# Determinator\nA question goes in, a report comes out in which every claim quotes its source."
            + (" [Sign out](/sign-out)" if shared else "")
        )
        with gr.Tabs(selected="ask") as tabs:
            with gr.Tab("Ask", id="ask"):
                form = ask_form(settings, shared=shared)
            with gr.Tab("Run", id="run"):
                view, further = run_view(access, run_id)
            with gr.Tab("Earlier runs", id="runs") as earlier:
                listed = gr.HTML(elem_id="runs")
        asking = Asking(access, form, RateLimit(RUNS_AN_HOUR, 3600))
        opens = [run_id, view["message"], view["progress"], view["timer"]]
        form.button.click(asking.ask, {*form.fields.values()}, [form.message, tabs, *opens]).then(
            None, [run_id], None, js=INTO_ADDRESS
        )
        further.button.click(
            asking.further, [run_id, further.question], [further.message, further.question, *opens]
        ).then(None, [run_id], None, js=INTO_ADDRESS)
        earlier.select(runs_of(access), None, [listed])
        look = Look(access)

        def opened(request: gr.Request) -> tuple[str, object, object]:
            name = request.query_params.get("run", "")
            return name, gr.Tabs(selected="run" if name else "ask"), LOADING if name else gr.skip()

        page.load(opened, None, [run_id, tabs, view["progress"]]).then(
            look.again, [run_id, view["seen"]], [*view.values()]
        )
    page.queue(default_concurrency_limit=16, api_open=False)
    return page


def runs_of(access: Access) -> Callable[[gr.Request], Awaitable[str]]:
    async def listed(request: gr.Request) -> str:
        try:
            return rendered("runs", rows=await access.runs(user_of(request.username)))
        except EXPECTED as error:
            return f"<p>{html.escape(line_of(error))}</p>"

    return listed


class Asking:
    """Starts runs. While one starts, each update shows what is said of it: what leaves this machine, what it
    is expected to take, and on a first start what is made ready."""

    def __init__(self, access: Access, form: AskForm, limit: RateLimit) -> None:
        self._access = access
        self._form = form
        self._limit = limit

    async def ask(self, values: dict[Component, object], request: gr.Request) -> AsyncIterator[list[object]]:
        """Start a run and open it: a line for the form, the tab, and `_start`."""
        client = self._access.client
        try:
            fields = {name: values[part] for name, part in self._form.fields.items()}
            options = options_of(fields, shared=self._access.shared, offered=models_of(client.settings))
        except (ValidationError, BadInput) as error:
            wrong = line_of(error) if isinstance(error, BadInput) else faults_of(error, "the form")
            yield [f"**{wrong}**", *[gr.skip()] * 5]
            return
        question = str(fields["question"] or "")
        async for line, begun in self._start(question, None, options, user_of(request.username)):
            yield [line, gr.Tabs(selected="run") if begun else gr.skip(), *(begun or [gr.skip()] * 4)]

    async def further(self, run_id: str, question: str, request: gr.Request) -> AsyncIterator[list[object]]:
        """Start a run on the evidence of the one that is open, and open it: a line, the box, and `_start`."""
        async for line, begun in self._start(question, run_id, {}, user_of(request.username)):
            yield [line, "" if begun else gr.skip(), *(begun or [gr.skip()] * 4)]

    async def _start(
        self, question: str, after: str | None, options: SharedOptions, user: str
    ) -> AsyncIterator[tuple[str, list[object] | None]]:
        """What is said meanwhile, or what went wrong; then nothing, with what opens the run: its id, all that
        was said, a line in place of its progress, the timer."""
        told: asyncio.Queue[str | None] = asyncio.Queue()
        said: list[str] = []
        try:
            follow_up = (await self._access.run(after, user)).id if after is not None else None
            if wait := self._limit.admit(user):
                raise BadInput(f"{RUNS_AN_HOUR} runs an hour are allowed; wait {wait / 60:.0f} minutes")
            held = self._access.client
            client = Determinator(held.settings, address=held.address, say=told.put_nowait)
            clarify = client.settings.clarify or "ask"
            asked = client.ask(question, follow_up=follow_up, user=user, clarify=clarify, **options)
            starting = asyncio.create_task(asked)
            starting.add_done_callback(lambda _: told.put_nowait(None))
            while (line := await told.get()) is not None:
                said.append(escaped(line, SAID_CHARS))
                yield "\n\n".join(said), None
            run = await starting
        except EXPECTED as error:
            yield f"**{line_of(error)}**", None
        else:
            yield "", [run.id, "\n\n".join(said), LOADING, gr.Timer(active=True)]
