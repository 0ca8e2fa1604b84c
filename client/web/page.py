"""The page: a form, a run, the list of runs. The address of a run (`/?run=ID`) is a link."""

import html
import os
from collections.abc import Awaitable, Callable

import gradio as gr
from gradio.components import Component
from pydantic import ValidationError

from client.access import RUNS_AN_HOUR, Access, RateLimit, line_of, user_of
from client.api import EXPECTED
from client.failures import BadInput, faults_of
from client.run import Run
from client.runs.request import AskOptions
from client.web.ask_form import AskForm, Fields, ask_form, models_of, options_of
from client.web.rendering import rendered
from client.web.run_view import Look, run_view

GRADIO = {"GRADIO_ANALYTICS_MAX_EVENTS": "1", "GRADIO_ANALYTICS_CACHE_FREQUENCY": str(10**9)}
"""Gradio keeps the last ten thousand events and makes a table of all of them after each one (7 ms), for
statistics that are not served; each tab has an event a second."""
INTO_ADDRESS = (
    "(run) => { if (run) { const u = new URL(window.location); u.searchParams.set('run', run); "
    "history.replaceState({}, '', u); } }"
)
"""Puts the id of the run into the address, so that a reload and a link show it."""


def build_page(access: Access) -> gr.Blocks:
    """The whole page."""
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
        form.button.click(
            asking.ask, {*form.fields.values()}, [run_id, form.message, tabs, view["timer"]]
        ).then(None, [run_id], None, js=INTO_ADDRESS)
        further.button.click(
            asking.further,
            [run_id, further.question],
            [run_id, further.message, further.question, view["timer"]],
        ).then(None, [run_id], None, js=INTO_ADDRESS)
        earlier.select(runs_of(access), None, [listed])
        look = Look(access)

        def opened(request: gr.Request) -> tuple[str, object]:
            name = request.query_params.get("run", "")
            return name, gr.Tabs(selected="run" if name else "ask")

        page.load(opened, None, [run_id, tabs]).then(look.again, [run_id, view["seen"]], [*view.values()])
    page.queue(default_concurrency_limit=16, api_open=False)
    return page


def runs_of(access: Access) -> Callable[[gr.Request], Awaitable[str]]:
    """The runs of a user as a table of links."""

    async def listed(request: gr.Request) -> str:
        try:
            return rendered("runs", rows=await access.runs(user_of(request.username)))
        except EXPECTED as error:
            return f"<p>{html.escape(line_of(error))}</p>"

    return listed


class Asking:
    """Starts runs."""

    def __init__(self, access: Access, form: AskForm, limit: RateLimit) -> None:
        self._access = access
        self._form = form
        self._limit = limit

    async def ask(self, values: dict[Component, object], request: gr.Request) -> list[object]:
        """Start a run and open it: its id, a line for the form, the tab, the timer."""
        client = self._access.client
        try:
            fields = Fields.model_validate({name: values[part] for name, part in self._form.fields.items()})
            options = options_of(fields, shared=self._access.shared, offered=models_of(client.settings))
            run = await self._start(fields.question, None, options, user_of(request.username))
        except ValidationError as error:
            return [gr.skip(), f"**{faults_of(error, 'the form')}**", gr.skip(), gr.skip()]
        except EXPECTED as error:
            return [gr.skip(), f"**{line_of(error)}**", gr.skip(), gr.skip()]
        return [run.id, "", gr.Tabs(selected="run"), gr.Timer(active=True)]

    async def further(self, run_id: str, question: str, request: gr.Request) -> list[object]:
        """Start a run on the evidence of the one that is open, and open it: its id, a line, the empty box,
        the timer."""
        user = user_of(request.username)
        try:
            before = await self._access.run(run_id, user)
            run = await self._start(question, before.id, {}, user)
        except EXPECTED as error:
            return [gr.skip(), f"**{line_of(error)}**", gr.skip(), gr.skip()]
        return [run.id, "", "", gr.Timer(active=True)]

    async def _start(self, question: str, follow_up: str | None, options: AskOptions, user: str) -> Run:
        client = self._access.client
        if wait := self._limit.admit(user):
            raise BadInput(f"{RUNS_AN_HOUR} runs an hour are allowed; wait {wait / 60:.0f} minutes")
        options["clarify"] = client.settings.clarify or "ask"
        return await client.ask(question, follow_up=follow_up, user=user, **options)
