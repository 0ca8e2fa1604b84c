"""Screening on the page: one record at a time, with the criteria beside it, by keys or buttons.

Who signs in is the person who decides; where nobody signs in, the person gives a name. Nobody is shown
another's decision on a record before both have decided (`client.reviews.tasks`).
"""

from collections import OrderedDict
from urllib.parse import quote, urlencode

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from activities.review.decisions import VERDICTS, Made
from client.access import unknown_run
from client.failures import BadInput
from client.reviews.review import Review, Task
from client.reviews.tasks import may_open
from client.web.frame import SEE_OTHER, Frame, is_part
from client.web.running import text_of

KEPT = 16
"""Reviews whose handles are kept."""
KINDS = ("label", "screen", "conflict")


class Screening:
    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._reviews: OrderedDict[str, Review] = OrderedDict()

    def router(self) -> APIRouter:
        router = APIRouter(prefix="/review")
        router.get("")(self.reviews)
        router.get("/{review_id}")(self.page)
        router.post("/{review_id}/decide")(self.decide)
        router.post("/{review_id}/approve")(self.approve)
        return router

    async def reviews(self, request: Request) -> Response:
        """The reviews that the user may see."""
        user = self._frame.user(request)
        rows = await self._frame.client.reviews()
        shown = [row for row in rows if not self._frame.access.shared or await self._may(row, user)]
        return await self._frame.page("reviews", reviews=shown)

    async def page(self, request: Request, review_id: str) -> Response:
        """The next record for a person, or the one that is asked for by its number."""
        review, by = await self._review(request, review_id), self._by(request)
        asked = request.query_params.get("at", "")
        if asked and not asked.isdigit():
            raise BadInput(f"{asked[:20]!r} is no number of a record")
        kind = request.query_params.get("kind", "screen")
        values = await self._values(review, by, int(asked) if asked else None, kind)
        return await self._shown(request, values)

    async def decide(self, request: Request, review_id: str) -> Response:
        """Take in a decision, and show the next record."""
        review = await self._review(request, review_id)
        form = await request.form()
        by = self._by(request, text_of(form, "by"))
        if not by:
            raise BadInput("give your name first: a decision has an author")
        verdict = VERDICTS.get(text_of(form, "verdict"))
        number, kind = text_of(form, "record"), text_of(form, "kind")
        if verdict is None or not number.isdigit() or kind not in KINDS:
            raise HTTPException(400, "choose include, exclude or unsure")
        criterion = text_of(form, "criterion") if verdict == "exclude" else ""
        made = Made(record=int(number), verdict=verdict, criterion=criterion)
        await (review.label if kind == "label" else review.decide)([made], by=by)
        if not is_part(request):
            return RedirectResponse(self._url(review, by, before=f"{number}.{kind}"), SEE_OTHER)
        return await self._shown(request, await self._values(review, by) | {"before": f"{number}.{kind}"})

    async def approve(self, request: Request, review_id: str) -> Response:
        """Approve what waits."""
        review = await self._review(request, review_id)
        by = self._by(request, text_of(await request.form(), "by"))
        if not by:
            raise BadInput("give your name first: an approval has an author")
        await review.approve(by=by)
        return RedirectResponse(self._url(review, by), SEE_OTHER)

    async def _values(
        self, review: Review, by: str, number: int | None = None, kind: str = "screen"
    ) -> dict[str, object]:
        seen, view = await review.progress(), await review.view()
        task = None
        if number is not None and kind in ("label", "screen"):
            task = Task(number, "label" if kind == "label" else "screen", await review.record(number))
        elif by and (waiting := await review.tasks(by, 1)):
            task = waiting[0]
        return {
            "review": review,
            "seen": seen,
            "protocol": view.protocol,
            "task": task,
            "by": by,
            "named": self._frame.access.shared,
            "before": "",
            "url": self._url,
        }

    async def _shown(self, request: Request, values: dict[str, object]) -> Response:
        values = values | ({"before": before} if (before := request.query_params.get("before")) else {})
        if is_part(request):
            return await self._frame.part("record", **values)
        return await self._frame.page("review", **values)

    async def _review(self, request: Request, name: str) -> Review:
        """A review that who is signed in may see. Raises NoSuchRun, HTTPException 401."""
        user = self._frame.user(request)
        review = self._reviews.get(name) or await self._frame.client.review(name)
        self._reviews[name] = review
        while len(self._reviews) > KEPT:
            self._reviews.popitem(last=False)
        if self._frame.access.shared and not await self._may(review.id, user, review):
            raise unknown_run(name)
        return review

    async def _may(self, review_id: str, user: str, review: Review | None = None) -> bool:
        """The review is one of the user's own."""
        review = review or await self._frame.client.review(review_id)
        return may_open(await review.view(), (await review.row()).user, user)

    def _by(self, request: Request, given: str = "") -> str:
        """Who decides: who is signed in, else the name that was given."""
        if self._frame.access.shared:
            return self._frame.user(request)
        self._frame.user(request)
        return (given or request.query_params.get("by", ""))[:80].strip()

    def _url(self, review: Review, by: str, **more: str) -> str:
        query = {key: value for key, value in ({"by": by} | more).items() if value}
        path = f"/review/{quote(review.id, safe='')}"
        return f"{path}?{urlencode(query)}" if query else path
