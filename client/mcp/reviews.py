"""Tools of a systematic review: where it stands with the next records for a person, and that person's
decisions. A model that calls them decides for the person whose name it gives."""

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from activities.contracts.evidence import Frozen
from activities.review.decisions import ScreenedStage
from activities.review.decisions import Task as Part
from client.api import Determinator
from client.mcp.answers import clearly
from client.mcp.research import CHANGES, READS
from client.reviews.tasks import Task
from workflows.review.types import Batch

AnyReview = Annotated[str, Field(min_length=1, max_length=200, description="A review's id, or `last`")]
Person = Annotated[str, Field(min_length=1, max_length=80, description="Who decides")]


class ReviewAnswer(Frozen):
    review: str
    waits_for: str
    """What it does, or whom it waits for."""
    total: int
    settled: int
    included: int
    conflicts: int
    recall: float | None = None
    records: tuple[Task, ...] = ()


class Reviews:
    def __init__(self, client: Determinator) -> None:
        self._client = client

    def register(self, server: MCPServer) -> None:
        server.add_tool(clearly(self.review_status), annotations=READS)
        server.add_tool(clearly(self.review_decide), annotations=CHANGES)

    async def review_status(
        self,
        review: AnyReview = "last",
        by: Annotated[str, Field(max_length=80, description="The person whose records are listed")] = "",
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> ReviewAnswer:
        """Where a systematic review stands, and the next records for a person to decide on."""
        handle = await self._client.review(review)
        waiting = await handle.tasks(by, limit) if by else []
        seen = await handle.progress()
        return ReviewAnswer(
            review=handle.id,
            waits_for=seen.text,
            total=seen.total,
            settled=seen.settled,
            included=seen.included,
            conflicts=seen.conflicts,
            recall=seen.recall,
            records=tuple(waiting),
        )

    async def review_decide(
        self,
        review: AnyReview,
        by: Person,
        decisions: Batch,
        task: Annotated[
            Part, Field(description="label: records of the random sample; word: overrule, with a reason")
        ] = "screener",
        stage: ScreenedStage = "titles",
    ) -> tuple[str, ...]:
        """Decide on records for a person; returns what became of each."""
        handle = await self._client.review(review)
        return await handle.decide(decisions, by=by, task=task, stage=stage)
