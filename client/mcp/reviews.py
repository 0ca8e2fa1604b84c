"""Tools of a systematic review: where it stands with the next records for a person, and that person's
decisions. A model that calls them decides for the person whose name it gives."""

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from pydantic import Field, JsonValue

from client.api import Determinator
from client.mcp.answers import clearly
from client.mcp.research import CHANGES, READS
from client.reviews.acts import REMOTE, act_of
from client.reviews.review import ReviewStatus

AnyReview = Annotated[str, Field(min_length=1, max_length=200, description="A review's id, or `last`")]
Person = Annotated[str, Field(min_length=1, max_length=80, description="Who decides")]


ACTIONS = "; ".join(
    f"{act.name} ({', '.join(fields)})"
    for act in REMOTE.values()
    if (fields := [name for name in act.arguments if name != "by"])
)
"""The actions that have a content, each with its fields."""


class Reviews:
    def __init__(self, client: Determinator) -> None:
        self._client = client

    def register(self, server: MCPServer) -> None:
        server.add_tool(clearly(self.review_status), annotations=READS)
        server.add_tool(clearly(self.review_change), annotations=CHANGES)

    async def review_status(
        self,
        review: AnyReview = "last",
        by: Annotated[str, Field(max_length=80, description="The person whose records are listed")] = "",
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> ReviewStatus:
        """Where a systematic review stands, and the next records for a person to decide on."""
        return await (await self._client.review(review)).status(by, limit)

    async def review_change(
        self,
        review: AnyReview,
        action: Annotated[str, Field(description=ACTIONS, json_schema_extra={"enum": [*REMOTE]})],
        by: Person,
        content: Annotated[dict[str, JsonValue] | None, Field(description="Fields of the action")] = None,
    ) -> ReviewStatus:
        """Decide for a person on records, fields and risks of bias; approve, pause or end a review."""
        handle = await self._client.review(review)
        await act_of(action).do(handle, content or {}, by)
        return await handle.status(by)
