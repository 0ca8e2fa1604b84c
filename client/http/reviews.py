"""`/reviews`: systematic reviews over HTTP. A caller sees those it started, screens or decides in."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query
from fastapi.responses import Response
from pydantic import Field as Declared

from activities.contracts.evidence import Frozen
from activities.review.protocol import MAX_BYTES
from client.http.desk import Desk
from client.http.tokens import Scope, Token
from client.reviews.acts import REMOTE, Act, Body
from client.reviews.review import Review, ReviewStatus
from client.reviews.start import check_text

MEDIA = {"md": "text/markdown", "html": "text/html", "json": "application/json"}


class Start(Body):
    protocol: Annotated[
        str, Declared(max_length=MAX_BYTES, description="The protocol as TOML, without files")
    ]


class Done(Frozen):
    reply: str
    """The outcome of an act, as a sentence."""


def reviews(desk: Desk) -> APIRouter:
    router = APIRouter(prefix="/reviews", tags=["reviews"])
    asker, reader, decider = (Depends(desk.needs(scope)) for scope in ("ask", "read", "decide"))

    def review_for(scope: Scope) -> Callable[..., Awaitable[Review]]:
        async def review_of(review_id: str, token: Annotated[Token, Depends(desk.needs(scope))]) -> Review:
            return await desk.access.review(review_id, token.user or "")

        return review_of

    reading, deciding = (Depends(review_for(scope)) for scope in ("read", "decide"))

    def person(token: Token, by: str | None) -> str:
        """Who acts: the user of the token, where callers are users."""
        return (token.user if desk.access.is_shared else "") or by or token.user or ""

    @router.post("", status_code=201)
    async def start(body: Start, token: Token = asker) -> ReviewStatus:
        """Start the review of a protocol that searches sources; it waits for approval before it searches."""
        check_text(body.protocol)
        desk.admit_run(token)
        review = await desk.client.start_review(body.protocol, user=token.user or "")
        return await review.status()

    @router.get("/{review_id}")
    async def state(
        review: Review = reading,
        token: Token = reader,
        by: Annotated[str | None, Query(max_length=80)] = None,
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
    ) -> ReviewStatus:
        """Where a review stands, with the next records for a person, who is shown no decision before both
        have decided."""
        return await review.status(person(token, by), limit)

    def route_of(act: Act) -> Callable[..., Awaitable[Done]]:
        async def route(body, review=deciding, token=decider):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            return Done(reply=await act.do(review, body, person(token, body.by)))

        route.__annotations__ = {"body": act.form, "review": Review, "token": Token}
        return route

    for name, act in REMOTE.items():
        router.post(f"/{{review_id}}/{name}", summary=act.method.__doc__)(route_of(act))

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
