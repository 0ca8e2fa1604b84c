"""The first page: a box for a question, how it will be asked, and the list of runs.

The form holds no key: models are those that the settings in force name.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import groupby
from typing import Annotated, cast, get_args

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import escape
from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile

from activities.contracts.evidence import ApprovalGate, Length
from activities.profiles.loader import profile_names
from activities.settings import Settings
from activities.sources.names import SOURCES, info_of, source_names
from client.access import RUNS_AN_HOUR, RateLimit, line_of, models_of
from client.api import EXPECTED, Determinator
from client.checkup import Check, check_model
from client.failures import BadInput, faults_of
from client.guard import QUESTION_FILE
from client.listing import FAILED, Listing, Row
from client.run import Run
from client.runs.checks import question_of
from client.runs.destinations import destinations, network_sources
from client.runs.options import AskOptions, SharedOptions
from client.runs.request import build_request
from client.web.frame import SEE_OTHER, Frame, describe, is_part, run_url
from workflows.modes import TABLE

EXAMPLES = (
    "Can metformin lower the risk of colorectal cancer?",
    "Which approved drugs could be repurposed for glioblastoma?",
    "What is known about survival in lung cancer?",
)
"""They fill the box and do not run by themselves."""
WITHOUT_MODEL = "without a model"
AUTO_MODE = "chosen by the question: a single fact, several searches, or a plan with sections"
AUTO_PROFILE = "chosen by the question"
LIMITS = {
    "max_tokens": ("tokens", "1"),
    "max_cost": ("US dollars", "any"),
    "minutes": ("minutes", "any"),
    "max_iterations": ("rounds", "1"),
    "max_sections": ("sections", "1"),
}
"""Field -> its unit, and the step of its values."""
LISTS = ("sources", "approve")
"""Fields that may have several values."""
NAMED = 2
"""Sources that a chip names."""
OPTIONS = TypeAdapter(SharedOptions)
PLACED = frozenset(
    {"mode", "profile", "sources", "library", "columns", "length", "language", "model", "approve", "max_time"}
)
"""Options with a place of their own in the form; all others stand under More, as they are declared."""
INPUTS = {"integer": "number", "number": "number", "boolean": "checkbox"}
"""Type of an option -> how it is entered; else as text."""
Fields = dict[str, str | list[str]]
FORM = frozenset({"question", "file", "minutes", *SharedOptions.__annotations__})


async def form_options(settings: Settings, *, is_shared: bool) -> dict[str, object]:
    """Return what the form shows beside what was typed."""
    names = [] if settings.offline else [*await network_sources(settings)]
    default_sources = settings.default_sources or tuple(names)
    libraries = [settings.library.name] if settings.library else []
    return {
        "examples": EXAMPLES,
        "modes": [("auto", AUTO_MODE), *((info.name, info.good_for) for info in TABLE)],
        "profiles": ["auto", *profile_names(settings.profiles_dir or settings.home / "profiles")],
        "models": [*models_of(settings), WITHOUT_MODEL],
        "sources": sorted({"library", *names}, key=lambda name: title_of(name).casefold()),
        "sources_in_force": line_of_sources([*libraries, *default_sources]),
        "titles": {name: title_of(name) for name in source_names()},
        "limits": LIMITS,
        "more": MORE,
        "lengths": get_args(Length),
        "length": settings.length,
        "language": settings.language or "",
        "gates": get_args(ApprovalGate),
        "model": settings.model if settings.model not in (None, "extractive") else WITHOUT_MODEL,
        "mode": settings.mode,
        "profile": settings.profile if settings.profile != "auto" else AUTO_PROFILE,
        "shared": is_shared,
    }


def extra_options() -> list[tuple[str, str, str]]:
    """Return the options without a place of their own: name, help, and how each is entered."""
    rows = []
    for name, option in OPTIONS.json_schema()["properties"].items():
        if name not in PLACED | LIMITS.keys():
            kinds = [kind for kind in option.get("anyOf", [option]) if kind.get("type") != "null"]
            about = str((kinds[0] | option)["description"]).rstrip(" .")
            rows.append((name, about, INPUTS.get(kinds[0]["type"], "text") if len(kinds) == 1 else "text"))
    return rows


MORE = extra_options()


def title_of(name: str) -> str:
    """Return a source by its title; one of an installed package by its name."""
    return info_of(name).title if name in dict(SOURCES) else name


def line_of_sources(names: Sequence[str]) -> str:
    """Return `PubMed, Europe PMC and 7 more`."""
    titles, count = [title_of(name) for name in names[:NAMED]], len(names) - NAMED
    if not titles:
        return "your documents"
    return ", ".join(titles) + (f" and {count} more" if count > 0 else "")


def fields_of(form: FormData) -> Fields:
    """Return the fields of a form that were filled in."""
    fields: Fields = {}
    for name in form:
        values = [value.strip() for value in form.getlist(name) if isinstance(value, str) and value.strip()]
        if values:
            fields[name] = values if name in LISTS else values[-1]
    return fields


def options_of(fields: Mapping[str, object], *, is_shared: bool, models: Sequence[str]) -> SharedOptions:
    """Return what the form asks beside the question; what is empty stands for the setting, and 0 is 0.

    A browser may send anything. Raises BadInput for what the page does not offer, ValidationError.
    """
    values = {name: value for name, value in fields.items() if name not in ("question", "file")}
    if extras := values.keys() - FORM:
        raise BadInput(f"the form has no field {min(extras)[:50]!r}")
    model = values.pop("model", None)
    if model not in (None, WITHOUT_MODEL, *models):
        raise BadInput(f"the model {str(model)[:100]!r} is not offered here")
    if is_shared and "library" in values:
        raise BadInput("a page of several users reads no folder of its machine")
    if model is not None:
        values["model"] = "extractive" if model == WITHOUT_MODEL else model
    if minutes := values.pop("minutes", None):
        values["max_time"] = f"{minutes}m"
    for name in ("columns", "types"):
        if names := values.pop(name, None):
            values[name] = [part.strip() for part in str(names).split(",") if part.strip()]
    return OPTIONS.validate_python(values)


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
        self.notices: OrderedDict[str, list[str]] = OrderedDict()
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

    async def home(self, request: Request, q: Annotated[str, Query(max_length=4000)] = "") -> Response:
        """Return the form."""
        self._frame.user(request)
        return await self._form({"question": q})

    async def _form(self, fields: Fields, problem: str = "", status: int = 200) -> Response:
        frame = self._frame
        values: Fields = {
            **dict.fromkeys(FORM, ""),
            "sources": [],
            "approve": [],
            **fields,
        }
        form = await form_options(frame.settings, is_shared=frame.access.is_shared)
        line = ""
        with suppress(ValidationError, *EXPECTED):  # what is wrong with the form is said above it
            line = await self._destinations(
                fields if len(str(fields.get("question", ""))) > MIN_CHARS else {}
            )
        return await frame.page(
            "home",
            status,
            form=form,
            fields=values,
            problem=problem,
            leaves=line,
            question_file=QUESTION_FILE,
        )

    def _options(self, fields: Fields) -> SharedOptions:
        settings = self._frame.settings
        return options_of(fields, is_shared=self._frame.access.is_shared, models=models_of(settings))

    async def _destinations(self, fields: Fields) -> str:
        settings = self._frame.settings
        question = str(fields.get("question") or EXAMPLES[0])
        request = build_request(settings, question, cast("AskOptions", self._options(fields)))
        return await destinations(settings, request, title_of)

    async def leaves(self, request: Request) -> HTMLResponse:
        """Return what would leave this machine, with what the form has now."""
        self._frame.user(request)
        fields = fields_of(await request.form())
        if len(str(fields.get("question", ""))) <= MIN_CHARS:
            fields.pop("question", None)
        try:
            text = await self._destinations(fields)
        except (ValidationError, BadInput) as error:
            text = describe(error)[1]
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
        shared_client, notices = self._frame.client, list[str]()
        client = Determinator(shared_client.settings, address=shared_client.address, say=notices.append)
        clarify = client.settings.clarify or "ask"
        run = await client.ask(question, follow_up=follow_up, user=user, clarify=clarify, **options)
        self.notices[run.id] = notices
        while len(self.notices) > SAID_KEPT:
            self.notices.popitem(last=False)
        return run

    async def history(
        self, request: Request, q: Annotated[str, Query(max_length=200)] = "", at: str = ""
    ) -> Response:
        """Return the runs of the user, by day. `q`: a part of the question or of the id."""
        frame = self._frame
        user = frame.user(request)
        rows = await frame.access.runs(user)
        days = [*by_day([row for row in rows if Listing(text=q).admits(row)], datetime.now().astimezone())]
        return await frame.part_or_page(request, "history", "runs", days=days, q=q, at=at, word=word_of)

    async def trouble(self, request: Request) -> HTMLResponse:
        """Return what is wrong with the model that would be asked, in red; nothing where it answers."""
        self._frame.user(request)
        time_now = time.monotonic()
        if self._trouble is None or time_now - self._trouble[0] > TROUBLE_SECONDS:
            self._trouble = (time_now, await check_model(self._frame.settings))
        check = self._trouble[1]
        return await self._frame.part("trouble", lines=[check.message] if check.state == "fail" else [])

    async def question_file(self, request: Request) -> Response:
        """Return the box with the text of a picture, a scan or a recording; nothing is kept, nothing runs."""
        frame, user = self._frame, self._frame.user(request)
        async with request.form(max_part_size=10_000) as form:
            file, words = form.get("file"), str(form.get("question", ""))
            data = await file.read() if isinstance(file, UploadFile) else b""
        if not data:
            raise BadInput("choose a file first")
        if wait := self._files.admit(user):
            raise HTTPException(429, f"{FILES_AN_HOUR} files an hour are read; wait {wait / 60:.0f} minutes")
        async with self._reading:
            text = await asyncio.to_thread(question_of, frame.settings, data)
        question = f"{words} {text}".strip()
        return (
            await frame.part("box", question=question)
            if is_part(request)
            else await self._form({"question": question})
        )


def by_day(rows: Sequence[Row], now: datetime) -> Iterator[tuple[str, list[Row]]]:
    """Yield the runs under the names of their days, the newest first."""

    def day(row: Row) -> str:
        date = row.started.astimezone(now.tzinfo).date()
        if date == now.date():
            return "Today"
        if date == (now - timedelta(days=1)).date():
            return "Yesterday"
        return f"{date:%A}" if (now.date() - date).days < 7 else f"{date.day} {date:%B %Y}"

    return ((name, [*group]) for name, group in groupby(rows, day))


def word_of(row: Row) -> tuple[str, str]:
    """Return the state of a run as a class of its dot, and as a word."""
    if row.status == "running":
        phase = row.phase.replace("_", " ")
        return ("waits", "waits for you") if "approval" in phase else ("running", phase or "running")
    state = "done" if row.status == "completed" else "ended"
    return ("failed" if row.status in FAILED else state), WORDS.get(row.status, row.status)
