"""A run on the page: what it does, what it waits for, and what it is told."""

from collections.abc import Awaitable, Callable, Mapping

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, Response
from sse_starlette import EventSourceResponse
from starlette.datastructures import FormData

from activities.contracts.evidence import ReportPlanSection
from client.access import line_of
from client.api import EXPECTED
from client.failures import BadInput
from client.messages import MESSAGES
from client.reports.load import NoReport
from client.run import Run
from client.web.frame import Frame
from client.web.home import Home
from client.web.live import Live, steps_later, stream
from client.web.reading import Reading
from client.web.talking import Talking

NOTE_CHARS = 2_000
Act = Callable[[Run, str, FormData], Awaitable[str]]
"""What a button does with a run, for a user, with the fields of its form; returns what is said of it."""


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
        """The report where there is one to read, else how the run goes."""
        run = await self._frame.run(request, run_id)
        live, html = Live(run), ""
        row = await run.row()
        if row.status == "running":
            live.question = row.question
            try:
                html = await live.look()
            except EXPECTED:  # the page is shown, and looks again
                self._frame.access.forget(run_id)
            if live.waits != "report" and not live.over:
                return await self._frame.page(
                    "run",
                    run_id=run.id,
                    question=live.question,
                    live=html,
                    said=self._home.said.get(run.id, []),
                    turns=await self._talking.turns(live.continues, self._frame.user(request)),
                )
        try:
            return await self._reading.page(request, run, waits=live.waits == "report")
        except NoReport as error:
            return await self._frame.page("error", 404, line=line_of(error), signed_in=True)

    async def live(self, request: Request, run_id: str) -> EventSourceResponse:
        """What changes on the page while the run goes on."""
        run = await self._frame.run(request, run_id)
        return EventSourceResponse(stream(self._frame.access, run.id, self._frame.user(request)))

    async def steps(self, request: Request, run_id: str) -> HTMLResponse:
        """The steps of a run that is over."""
        return HTMLResponse(await steps_later(await self._frame.run(request, run_id)))

    async def act(self, request: Request, run_id: str, act: str) -> Response:
        """Do what a button says."""
        if act not in ACTS and act not in MESSAGES:
            raise HTTPException(404, "there is no such button")
        run, user = await self._frame.run(request, run_id), self._frame.user(request)
        form = await request.form()
        return await self._frame.answer(request, run.id, await ACTS.get(act, plain(act))(run, user, form))


def plain(name: str) -> Act:
    """The message of this name, which has no content."""

    async def act(run: Run, _user: str, _form: FormData) -> str:
        message = next(message for key, message in MESSAGES.items() if key == name)
        await message.send(run)
        return f"It {message.sent}."

    return act


def text_of(form: FormData, name: str) -> str:
    """A field as text, empty where there is none. Raises BadInput for one that is too long."""
    text = str(form.get(name, "")).strip()
    if len(text) > NOTE_CHARS:
        raise BadInput(f"that is too long; write {NOTE_CHARS:,} characters at most")
    return text


def texts_of(form: FormData, name: str) -> list[str]:
    return [str(value).strip() for value in form.getlist(name)]


async def approve(run: Run, user: str, form: FormData) -> str:
    return f"The {await run.approve(by=user, note=text_of(form, 'note'))} is approved."


async def reject(run: Run, user: str, form: FormData) -> str:
    return f"The {await run.reject(by=user, note=text_of(form, 'note'))} is rejected."


async def plan(run: Run, user: str, form: FormData) -> str:
    """Approve the plan as it was edited; a section without a title is left out. Raises BadInput for what the
    run refuses."""
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
            await run.edit_plan(present.replace(report_outline=outline), by=user)
    await run.approve("plan", by=user, note=text_of(form, "note"))
    return "The plan is approved; the run follows it."


async def candidates(run: Run, user: str, form: FormData) -> str:
    """Keep the candidates that are ticked."""
    kept = await run.choose_candidates(texts_of(form, "name"), by=user)
    return f"Kept: {', '.join(kept) or 'none'}."


async def answers(run: Run, user: str, form: FormData) -> str:
    """Answer what the run asks back; an empty answer keeps what is assumed."""
    given = texts_of(form, "answer")
    if any(given) and "assumed" not in form:
        await run.answer(given, by=user)
    else:
        await run.approve("clarification", by=user)
    return "It searches what you mean."


async def steer(run: Run, user: str, form: FormData) -> str:
    await run.steer(text_of(form, "text"), by=user)
    return "The run follows it from its next step on."


async def extend(run: Run, _user: str, form: FormData) -> str:
    try:
        tokens, cost, minutes = (float(text_of(form, name) or 0) for name in ("tokens", "cost", "minutes"))
    except ValueError as error:
        raise BadInput("tokens, dollars and minutes are numbers") from error
    await run.extend(tokens=int(tokens), cost=cost, seconds=minutes * 60)
    return "The budget is extended."


ACTS: Mapping[str, Act] = {
    act.__name__: act for act in (approve, reject, plan, candidates, answers, steer, extend)
}
"""Buttons by their names, beside those of `MESSAGES`."""
