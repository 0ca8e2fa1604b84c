"""`/reviews`: systematic reviews over HTTP. A caller sees those it started, screens or decides in."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, HTTPException, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict
from pydantic import Field as Declared

from activities.contracts.evidence import Frozen
from activities.review.decisions import Made, ScreenedStage, Task
from activities.review.protocol import MAX_BYTES, ProtocolError, parse_protocol
from client.access import unknown_run
from client.failures import BadInput
from client.http.desk import Desk
from client.http.tokens import Scope, Token
from client.reviews.review import OpenBias, OpenField, Review
from client.reviews.tasks import Task as Waiting
from client.reviews.tasks import may_open
from workflows.review.types import MAX_AT_ONCE, ReviewProgress

Name = Annotated[str, Declared(pattern=r"\S", max_length=80, description="Who decides")]
MEDIA = {"md": "text/markdown", "html": "text/html", "json": "application/json"}


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Start(Body):
    protocol: Annotated[
        str, Declared(max_length=MAX_BYTES, description="The protocol as TOML, without files")
    ]


class By(Body):
    by: Name | None = None
    """Where callers are users, it is the user of the token."""


class Decisions(By):
    decisions: Annotated[tuple[Made, ...], Declared(min_length=1, max_length=MAX_AT_ONCE)]
    task: Task = "screener"
    """`label`: records of the random sample; `word`: overrule what holds, with a reason."""
    stage: ScreenedStage = "titles"


class ReviewState(Frozen):
    review: str
    status: str
    progress: ReviewProgress


class Field(By):
    record: int
    field: str
    value: str
    """`first`, `second`, `absent`, or the value itself."""
    quote: str = ""
    reason: str = ""


class Bias(By):
    record: int
    outcome: str = ""
    answers: dict[str, str] = {}
    several: bool = False
    reason: str = ""
    not_a_trial: bool = False


class OpenStudies(Frozen):
    """What waits for a person after the full texts."""

    fields: tuple[OpenField, ...]
    bias: tuple[OpenBias, ...]


def reviews(desk: Desk) -> APIRouter:
    router = APIRouter(prefix="/reviews", tags=["reviews"])
    asker, reader, decider = (Depends(desk.needs(scope)) for scope in ("ask", "read", "decide"))

    def review_for(scope: Scope) -> Callable[..., Awaitable[Review]]:
        async def found(review_id: str, token: Annotated[Token, Depends(desk.needs(scope))]) -> Review:
            review = await desk.client.review(review_id)
            if desk.access.shared and not may_open(
                await review.view(), (await review.row()).user, token.user or ""
            ):
                raise unknown_run(review_id)
            return review

        return found

    reading, deciding = (Depends(review_for(scope)) for scope in ("read", "decide"))

    def person(token: Token, given: str | None) -> str:
        """Who decides. Raises BadInput where nobody is named."""
        if (desk.access.shared and token.user) or not given:
            if not token.user:
                raise BadInput("say who decides: `by`")
            return token.user
        return given

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

    @router.post("/{review_id}/field")
    async def field(body: Field, review: Review = deciding, token: Token = decider) -> ReviewState:
        """Decide on a field of a study."""
        values = body.model_dump(exclude={"by"})
        await review.decide_field(**values, by=person(token, body.by))
        return await state_of(review)

    @router.post("/{review_id}/assess")
    async def assess(body: Bias, review: Review = deciding, token: Token = decider) -> ReviewState:
        """Decide on the risk of bias of a result; what is not answered stands as proposed."""
        values = body.model_dump(exclude={"by"})
        await review.assess(**values, by=person(token, body.by))
        return await state_of(review)

    @router.post("/{review_id}/decide")
    async def decide(body: Decisions, review: Review = deciding, token: Token = decider) -> list[str]:
        """Decide on records, as a screener, on a conflict or on the random sample; what became of each."""
        values = body.model_dump(exclude={"by", "decisions"})
        return list(await review.decide(body.decisions, **values, by=person(token, body.by)))

    @router.post("/{review_id}/{act}")
    async def act(
        act: Literal["approve", "pause", "resume", "finish", "cancel"],
        body: By,
        review: Review = deciding,
        token: Token = decider,
    ) -> ReviewState:
        """Approve what waits, or send it a message."""
        if act == "approve":
            await review.approve(by=person(token, body.by))
        else:
            await getattr(review, act)()
        return await state_of(review)

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
