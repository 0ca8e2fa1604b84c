"""Reviews on the page: one record at a time with the criteria beside it, then fields and risks of bias.

Who signs in is the person who decides; where nobody signs in, the person gives a name. Nobody is shown
another's decision on a record before both have decided (`Review.tasks`).
"""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData, UploadFile

from activities.review.bias import ANSWER_NAMES
from activities.review.decisions import ScreenedStage
from client.failures import BadInput
from client.guard import TEXTS
from client.reviews.acts import act_of
from client.reviews.review import Review
from client.reviews.tasks import Task
from client.web.frame import SEE_OTHER, Frame, is_part
from client.web.running import text_of

MAX_LISTED = 100
"""Works whose full texts are awaited that are listed."""
MAX_MATCHES = 50
MAX_NAME_CHARS = 60


class Screening:
    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def router(self) -> APIRouter:
        router = APIRouter(prefix="/review")
        router.get("")(self.reviews)
        router.get("/{review_id}")(self.page)
        router.post("/{review_id}" + TEXTS)(self.texts)
        router.post("/{review_id}/{name}")(self.act)
        return router

    async def reviews(self, request: Request) -> Response:
        """Return the reviews that the user may see."""
        rows = await self._frame.access.reviews(self._frame.user(request))
        return await self._frame.page("reviews", reviews=rows)

    async def page(
        self,
        request: Request,
        review_id: str,
        at: Annotated[int | None, Query(ge=0)] = None,
        kind: Literal["screen", "label", "extract", "conflict", "overrule"] = "screen",
        stage: ScreenedStage = "titles",
        find: Annotated[str, Query(max_length=200)] = "",
    ) -> Response:
        """Return the next record for a person, the one of a number, or those that are looked for."""
        review, by = await self._review(request, review_id), self._actor(request)
        task = None if at is None else await review.task(at, kind, stage, by)
        matches = await review.find(find, MAX_MATCHES) if find.strip() else []
        return await self._respond(request, review, by, task, find=find, matches=matches)

    async def act(self, request: Request, review_id: str, name: str) -> Response:
        """Do what a form says, and show what is next: a decision on a record leaves a way back to it."""
        review, form, by = await self._read_form(request, review_id)
        content = nest_fields(form)
        if content.get("verdict") != "exclude":  # the criterion of the record before may still be chosen
            content.pop("criterion", None)
        reply = await act_of(name).do(review, content, by)
        previous, notes = "", [reply] if name == "overrule" else []
        if name in ("decide", "extract"):
            kind = "extract" if name == "extract" else "label" if "label" in content else "screen"
            stage = "full_texts" if "full_texts" in content or name == "extract" else "titles"
            previous = f"{content['record']}.{kind}.{stage}"
        if not is_part(request):
            return RedirectResponse(self._url(review, by, before=previous), SEE_OTHER)
        return await self._respond(request, review, by, before=previous, notes=notes)

    async def texts(self, request: Request, review_id: str) -> Response:
        """Take in full texts from files, and say which are of no work that waits for one."""
        review, form, by = await self._read_form(request, review_id)
        files = [file for file in form.getlist("files") if isinstance(file, UploadFile) and file.filename]
        with TemporaryDirectory() as folder:
            for file in files:
                path = Path(folder, plain_name(file.filename or ""))
                await asyncio.to_thread(path.write_bytes, await file.read())
            await form.close()
            notes = await review.provide(Path(folder), by=by)
        return await self._respond(request, review, by, notes=notes)

    async def _read_form(self, request: Request, review_id: str) -> tuple[Review, FormData, str]:
        """Return the review, what a form sent, and who sent it. Raises BadInput where that is nobody."""
        review, form = await self._review(request, review_id), await request.form()
        by = self._actor(request, text_of(form, "by"))
        if not by:
            await form.close()
            raise BadInput("give your name first: a decision has an author")
        return review, form, by

    async def _respond(
        self, request: Request, review: Review, by: str, record: Task | None = None, **extras: object
    ) -> Response:
        """Return the page: a record that is asked for, or what is next for a person."""
        progress, view = await review.progress(), await review.view()
        tasks = [record] if record else await review.tasks(by, 1) if by else []
        texts = await review.tasks(by, MAX_LISTED) if by and progress.gate == "full_texts" else []
        values = {
            "review": review,
            "progress": progress,
            "protocol": view.protocol,
            "task": next(iter(tasks), None),
            "by": by,
            "before": request.query_params.get("before", ""),
            "notes": [],
            "find": "",
            "matches": [],
            "url": self._url,
            "missing": [task for task in texts if task.kind == "text"],
            "answers": ANSWER_NAMES,
            **extras,
        }
        if is_part(request):
            return await self._frame.part("record", **values)
        return await self._frame.page("review", **values)

    async def _review(self, request: Request, name: str) -> Review:
        """Return a review that who is signed in may see. Raises NoSuchRun, HTTPException 401."""
        return await self._frame.access.review(name, self._frame.user(request))

    def _actor(self, request: Request, name: str = "") -> str:
        """Return who decides: the user who is signed in, else the name in the request."""
        if self._frame.access.is_shared:
            return self._frame.user(request)
        self._frame.user(request)
        return (name or request.query_params.get("by", ""))[:80].strip()

    def _url(self, review: Review, by: str, **parameters: str) -> str:
        query = {key: value for key, value in ({"by": by} | parameters).items() if value}
        path = f"/review/{quote(review.id, safe='')}"
        return f"{path}?{urlencode(query)}" if query else path


def plain_name(name: str) -> str:
    """Return the name of a file that somebody sent as one of a folder of ours, whatever it was."""
    letters = (letter if letter.isalnum() or letter in ".-_" else "-" for letter in Path(name).name)
    return "".join(letters).lstrip(".")[-MAX_NAME_CHARS:] or "unnamed"


def nest_fields(form: FormData) -> dict[str, object]:
    """Return what a form says: of inputs with one name the last that is filled in; `a/b` is `b` of `a`."""
    values: dict[str, object] = {}
    for name, value in form.multi_items():
        outer, _, inner = name.partition("/")
        if inner and value:
            values[outer] = {**dict(values.get(outer, {})), inner: value}  # type: ignore[call-overload]
        elif value:
            values[outer] = value
    return values
