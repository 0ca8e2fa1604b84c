"""A run on the page: what it does, what it waits for, and what it is told."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import get_origin

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, Response
from sse_starlette import EventSourceResponse
from starlette.datastructures import FormData

from activities.contracts.evidence import ReportPlanSection
from client.access import line_of
from client.api import EXPECTED
from client.failures import BadInput
from client.messages import MESSAGES, Verb
from client.reports.load import NoReport
from client.run import Run
from client.web.frame import Frame
from client.web.home import Home
from client.web.live import Live, steps_later, stream
from client.web.reading import Reading
from client.web.talking import Talking

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
                    said=self._home.said.get(run.id, []),
                    told=[(verb, *inputs_of(verb)) for verb in TOLD],
                    turns=await self._talking.turns(live.continues, self._frame.user(request)),
                )
        try:
            return await self._reading.page(request, run, waits=live.waits == "report")
        except NoReport as error:
            return await self._frame.page("error", 404, line=line_of(error), signed_in=True)

    async def live(self, request: Request, run_id: str) -> EventSourceResponse:
        """Return what changes on the page while the run goes on."""
        run = await self._frame.run(request, run_id)
        return EventSourceResponse(stream(self._frame.access, run.id, self._frame.user(request)))

    async def steps(self, request: Request, run_id: str) -> HTMLResponse:
        """Return the steps of a run that is over."""
        return HTMLResponse(await steps_later(await self._frame.run(request, run_id)))

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
        return await self._frame.answer(request, run.id, f"The run {verb.replied(answer)}.")


def values_of(verb: Verb, form: FormData) -> dict[str, object]:
    """Return the fields of a message that a form has; what is left empty is as it would be."""
    values: dict[str, object] = {}
    for name, field in verb.fields.items():
        texts = texts_of(form, name)
        if get_origin(field.annotation) is tuple:
            values[name] = texts
        elif any(texts):
            values[name] = texts[-1]
    return values


def inputs_of(verb: Verb) -> tuple[str, list[dict[str, str | bool]]]:
    """Return the field of a message that is text of many words, if any, and the inputs of the others."""
    whole = verb.positional[-1] if verb.positional else ""
    inputs: list[dict[str, str | bool]] = [
        {
            "name": name,
            "label": (field.description or name).rstrip("."),
            "number": field.annotation in (int, float) and name != "seconds",
            "step": "any" if field.annotation is float else "1",
        }
        for name, field in verb.fields.items()
        if name != whole
    ]
    return whole, inputs


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
    present = (await run.plan()).plan
    rows = zip(*(texts_of(form, name) for name in ("section", "title", "asked")), strict=False)
    if present is not None:
        queries = {section.id: section.queries for section in present.report_outline}
        outline = tuple(
            ReportPlanSection(
                id=name, title=title, key_question=asked or title, queries=queries.get(name, ())
            )
            for name, title, asked in rows
            if title
        )
        if outline != present.report_outline:
            await run.edit_plan(plan=present.replace(report_outline=outline), by=user)
    return MESSAGES["approve"], {"gate": "plan", "note": text_of(form, "note")}


async def answers(_run: Run, _user: str, form: FormData) -> Said:
    """Answer what the run asks back, or accept what it assumes."""
    if "assumed" in form or not any(texts_of(form, "answers")):
        return MESSAGES["approve"], {"gate": "clarification"}
    return MESSAGES["answer"], {"answers": texts_of(form, "answers")}


FORMS: Mapping[str, Callable[[Run, str, FormData], Awaitable[Said]]] = {"plan": plan, "answers": answers}
"""Forms that are more than the fields of a message."""
