"""The first page: a box for a question, how it will be asked, and the list of runs."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import groupby
from typing import Annotated, cast

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import escape
from pydantic import ValidationError
from starlette.datastructures import UploadFile

from client.access import RUNS_AN_HOUR, RateLimit, line_of, models_of
from client.api import EXPECTED, Determinator
from client.checkup import Check, check_model
from client.failures import BadInput, faults_of
from client.guard import QUESTION_FILE
from client.listing import Filter, Row
from client.run import Run
from client.runs.destinations import destinations
from client.runs.options import AskOptions, SharedOptions
from client.runs.request import build_request
from client.runs.spoken import question_of
from client.web.asking import EXAMPLES, FORM, Fields, fields_of, offered, options_of
from client.web.frame import SEE_OTHER, Frame, described, is_part
from client.web.rendering import run_url

FILES_AN_HOUR = 60
"""Pictures and recordings that one user may have read within an hour."""
FILES_AT_ONCE = 2
"""Files that are read for all users at once: one uses a processor for seconds or minutes."""
MIN_CHARS = 3
"""Characters up to which a question is not yet looked at."""
SAID_KEPT = 64
"""Runs of which it is kept what was said while they started."""
TROUBLE_SECONDS = 60.0
"""Time for which an answer of a model's server about its key is believed."""
WORDS = {"completed": "done", "canceled": "cancelled", "timed_out": "timed out"}


class Home:
    def __init__(self, frame: Frame) -> None:
        self.said: OrderedDict[str, list[str]] = OrderedDict()
        """Lines said while a run started, by its id. It can be lost."""
        self._frame = frame
        self._starts = RateLimit(RUNS_AN_HOUR, 3600)
        self._files = RateLimit(FILES_AN_HOUR, 3600)
        self._reading = asyncio.Semaphore(FILES_AT_ONCE)
        self._trouble: tuple[float, Check] | None = None

    def router(self) -> APIRouter:
        router = APIRouter()
        router.get("/")(self.home)
        router.post("/ask")(self.ask)
        router.post("/leaves")(self.leaves)
        router.get("/history")(self.history)
        router.get("/trouble")(self.trouble)
        router.post(QUESTION_FILE)(self.question_file)
        return router

    async def home(
        self,
        request: Request,
        q: Annotated[str, Query(max_length=4000)] = "",
        run: Annotated[str, Query(max_length=200)] = "",
    ) -> Response:
        """Return the form. `run` was the address of a run in earlier versions."""
        self._frame.user(request)
        if run:
            return RedirectResponse(run_url(run), SEE_OTHER)
        return await self._form({"question": q})

    async def _form(self, fields: Fields, problem: str = "", status: int = 200) -> Response:
        frame = self._frame
        chosen: Fields = {
            **dict.fromkeys(FORM, ""),
            "sources": [],
            "approve": [],
            **fields,
        }
        form = await offered(frame.settings, shared=frame.access.shared)
        leaves = ""
        with suppress(ValidationError, *EXPECTED):  # what is wrong with the form is said above it
            leaves = await self._leaves(fields if len(str(fields.get("question", ""))) > MIN_CHARS else {})
        return await frame.page(
            "home",
            status,
            form=form,
            fields=chosen,
            problem=problem,
            leaves=leaves,
            question_file=QUESTION_FILE,
        )

    def _options(self, fields: Fields) -> SharedOptions:
        settings = self._frame.settings
        return options_of(fields, shared=self._frame.access.shared, models=models_of(settings))

    async def _leaves(self, fields: Fields) -> str:
        settings = self._frame.settings
        question = str(fields.get("question") or EXAMPLES[0])
        request = build_request(settings, question, cast("AskOptions", self._options(fields)))
        return await destinations(settings, request)

    async def leaves(self, request: Request) -> HTMLResponse:
        """Return what would leave this machine, with what the form has now."""
        self._frame.user(request)
        fields = fields_of(await request.form())
        if len(str(fields.get("question", ""))) <= MIN_CHARS:
            fields.pop("question", None)
        try:
            text = await self._leaves(fields)
        except (ValidationError, BadInput) as error:
            text = described(error)[1]
        return HTMLResponse(escape(text))

    async def ask(self, request: Request) -> Response:
        """Start a run and lead to it; what is wrong with the form stands above it."""
        user = self._frame.user(request)
        fields = fields_of(await request.form())
        question = str(fields.get("question", ""))
        try:
            run = await self.start(question, self._options(fields), user)
        except ValidationError as error:
            return await self._form(fields, faults_of(error, "the form"), 400)
        except EXPECTED as error:
            return await self._form(fields, line_of(error), 400)
        return RedirectResponse(run_url(run.id), SEE_OTHER)

    async def start(
        self, question: str, options: SharedOptions, user: str, follow_up: str | None = None
    ) -> Run:
        """Start a run, and keep what is said of it. Raises what `Determinator.ask` raises."""
        if wait := self._starts.admit(user):
            raise BadInput(f"{RUNS_AN_HOUR} runs an hour are allowed; wait {wait / 60:.0f} minutes")
        held, notices = self._frame.client, list[str]()
        client = Determinator(held.settings, address=held.address, say=notices.append)
        clarify = client.settings.clarify or "ask"
        run = await client.ask(question, follow_up=follow_up, user=user, clarify=clarify, **options)
        self.said[run.id] = notices
        while len(self.said) > SAID_KEPT:
            self.said.popitem(last=False)
        return run

    async def history(
        self, request: Request, q: Annotated[str, Query(max_length=200)] = "", at: str = ""
    ) -> Response:
        """Return the runs of the user, by day. `q`: a part of the question or of the id."""
        frame = self._frame
        user = frame.user(request)
        rows = await frame.access.runs(user)
        days = [*by_day([row for row in rows if Filter(text=q).admits(row)], datetime.now().astimezone())]
        return await frame.either(request, "history", "runs", days=days, q=q, at=at, word=word_of)

    async def trouble(self, request: Request) -> HTMLResponse:
        """Return what is wrong with the model that would be asked, in red; nothing where it answers."""
        self._frame.user(request)
        now = time.monotonic()
        if self._trouble is None or now - self._trouble[0] > TROUBLE_SECONDS:
            self._trouble = (now, await check_model(self._frame.settings))
        check = self._trouble[1]
        return await self._frame.part("trouble", lines=[check.message] if check.state == "fail" else [])

    async def question_file(self, request: Request) -> Response:
        """Return the box with the text of a picture, a scan or a recording; nothing is kept, nothing runs."""
        frame, user = self._frame, self._frame.user(request)
        async with request.form(max_part_size=10_000) as form:
            file, typed = form.get("file"), str(form.get("question", ""))
            data = await file.read() if isinstance(file, UploadFile) else b""
        if not data:
            raise BadInput("choose a file first")
        if wait := self._files.admit(user):
            raise HTTPException(429, f"{FILES_AN_HOUR} files an hour are read; wait {wait / 60:.0f} minutes")
        async with self._reading:
            text = await asyncio.to_thread(question_of, frame.settings, data)
        question = f"{typed} {text}".strip()
        return (
            await frame.part("box", question=question)
            if is_part(request)
            else await self._form({"question": question})
        )


def by_day(rows: Sequence[Row], now: datetime) -> Iterator[tuple[str, list[Row]]]:
    """Yield the runs under the names of their days, the newest first."""

    def day(row: Row) -> str:
        began = row.started.astimezone(now.tzinfo).date()
        if began == now.date():
            return "Today"
        if began == (now - timedelta(days=1)).date():
            return "Yesterday"
        return f"{began:%A}" if (now.date() - began).days < 7 else f"{began.day} {began:%B %Y}"

    return ((name, [*group]) for name, group in groupby(rows, day))


def word_of(row: Row) -> tuple[str, str]:
    """Return the state of a run as a class of its dot, and as a word."""
    if row.status == "running":
        phase = row.phase.replace("_", " ")
        return ("waits", "waits for you") if "approval" in phase else ("running", phase or "running")
    state = "done" if row.status == "completed" else "ended"
    return ("failed" if row.status in ("failed", "timed_out", "terminated") else state), WORDS.get(
        row.status, row.status
    )
