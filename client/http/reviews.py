"""`/reviews`: systematic reviews over HTTP. A caller sees those it started, screens or decides in."""

import asyncio
import inspect
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Depends, HTTPException, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, create_model
from pydantic import Field as Declared

from activities.contracts.evidence import Frozen
from activities.review.protocol import MAX_BYTES, ProtocolError, parse_protocol
from client.access import unknown_run
from client.failures import BadInput
from client.http.desk import Desk
from client.http.tokens import Scope, Token
from client.reviews.review import OpenBias, OpenField, Review
from client.reviews.tasks import Task as Waiting
from client.reviews.tasks import may_open
from workflows.review.types import ReviewProgress

Name = Annotated[str, Declared(pattern=r"\S", max_length=80, description="Who decides")]
MEDIA = {"md": "text/markdown", "html": "text/html", "json": "application/json"}


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Start(Body):
    protocol: Annotated[
        str, Declared(max_length=MAX_BYTES, description="The protocol as TOML, without files")
    ]


class ReviewState(Frozen):
    review: str
    status: str
    progress: ReviewProgress


ACTS: Mapping[str, Callable[..., Awaitable[object]]] = {
    "decide": Review.decide,
    "field": Review.decide_field,
    "extract": Review.extract,
    "assess": Review.assess,
    "approve": Review.approve,
    "pause": Review.pause,
    "resume": Review.resume,
    "finish": Review.finish,
    "cancel": Review.cancel,
}
"""Route below a review -> what it does; its arguments are the body."""


class OpenStudies(Frozen):
    """What waits for a person after the full texts."""

    fields: tuple[OpenField, ...]
    bias: tuple[OpenBias, ...]


def reviews(desk: Desk) -> APIRouter:
    router = APIRouter(prefix="/reviews", tags=["reviews"])
    asker, reader, decider = (Depends(desk.needs(scope)) for scope in ("ask", "read", "decide"))

    def review_for(scope: Scope) -> Callable[..., Awaitable[Review]]:
        async def review_of(review_id: str, token: Annotated[Token, Depends(desk.needs(scope))]) -> Review:
            review = await desk.client.review(review_id)
            if desk.access.shared and not may_open(
                await review.view(), (await review.row()).user, token.user or ""
            ):
                raise unknown_run(review_id)
            return review

        return review_of

    reading, deciding = (Depends(review_for(scope)) for scope in ("read", "decide"))

    def person(token: Token, name: str | None) -> str:
        """Who decides. Raises BadInput where nobody is named."""
        if (desk.access.shared and token.user) or not name:
            if not token.user:
                raise BadInput("say who decides: `by`")
            return token.user
        return name

    @router.post("", status_code=201)
    async def start(body: Start, token: Token = asker) -> ReviewState:
        """Start the review of a protocol that searches sources; it waits for approval before it searches."""
        try:
            parsed = await asyncio.to_thread(parse_protocol, body.protocol)
        except ProtocolError as error:
            raise BadInput(str(error)) from error
        if parsed.records:
            raise BadInput(
                "files of records are read by `determinator review start` only; leave `records` out"
            )
        desk.admit_run(token)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "protocol.toml"
            await asyncio.to_thread(path.write_text, body.protocol, "utf-8")
            review = await desk.client.start_review(path, user=token.user or "")
        return await state_of(review)

    @router.get("/{review_id}")
    async def state(review: Review = reading) -> ReviewState:
        """Where a review stands, and whom it waits for."""
        return await state_of(review)

    @router.get("/{review_id}/records")
    async def records(
        review: Review = reading,
        token: Token = reader,
        by: Annotated[str | None, Query(max_length=80)] = None,
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
    ) -> list[Waiting]:
        """List the next records for a person, who is shown no decision before both have decided."""
        return await review.tasks(person(token, by), limit)

    @router.get("/{review_id}/studies")
    async def studies(review: Review = reading) -> OpenStudies:
        """List the fields on which extractors differ, and the results whose risk of bias is open."""
        fields, bias = await review.open_fields(), await review.open_bias()
        return OpenStudies(fields=tuple(fields), bias=tuple(bias))

    def route_of(act: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        """Return the route of an act: who decides is the user of the token, where callers are users."""
        arguments = inspect.signature(act).parameters
        types: dict[str, Any] = get_type_hints(act, include_extras=True) | {"by": Name | None}
        defaults = {
            name: ... if argument.default is argument.empty else argument.default
            for name, argument in arguments.items()
        }
        fields: dict[str, Any] = {
            name: (types[name], value) for name, value in defaults.items() if name != "self"
        }
        form = create_model(act.__name__, __base__=Body, **fields | {"by": (Name | None, None)})

        async def route(body, review=deciding, token=decider):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            values = {name: getattr(body, name) for name in type(body).model_fields if name in arguments}
            if "by" in arguments:
                values["by"] = person(token, body.by)
            made = await act(review, **values)
            return list(made) if isinstance(made, tuple) else await state_of(review)

        route.__annotations__ = {"body": form, "review": Review, "token": Token}
        return route

    for name, act in ACTS.items():
        router.post(f"/{{review_id}}/{name}", summary=act.__doc__)(route_of(act))

    @router.get("/{review_id}/report", response_class=Response)
    async def report(
        review: Review = reading, form: Annotated[str, Query(alias="format", max_length=20)] = "md"
    ) -> Response:
        """Return the report that it has published last; people are numbered in it."""
        if form not in MEDIA:
            raise HTTPException(400, f"there is no format {form}; there are {', '.join(MEDIA)}")
        headers = {"X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment"}
        return Response(await review.report(form), media_type=MEDIA[form], headers=headers)

    return router


async def state_of(review: Review) -> ReviewState:
    row = await review.row()
    return ReviewState(review=review.id, status=row.status, progress=await review.progress())
