"""`/runs/ID/tell`, `change`, `dispute`, `decide`, `answer`: what a person asks of a finished report, and
what a run asks before it searches. What calls a model needs the scope `ask` and counts as a run; what
decides needs `decide`."""

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from activities.contracts.revise import MAX_INSTRUCTION_CHARS
from activities.contracts.step import Reading
from client.http.desk import Desk
from client.http.rest import Text, by, changeable
from client.http.tokens import Token
from client.reports.replies import Changed, Told

Sentence = Annotated[str, Field(max_length=20, description="Its id, as s1.2")]


class Instruction(BaseModel):
    """A question about a report, or what is to be changed of it."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=2, max_length=MAX_INSTRUCTION_CHARS)]


class Disputed(Instruction):
    """A sentence, and why it is wrong."""

    sentence: Sentence


class Decided(BaseModel):
    """The decision of a dispute."""

    model_config = ConfigDict(extra="forbid")

    sentence: Sentence
    upheld: Annotated[bool, Field(description="true: the sentence goes, its quote stands in its place")]
    note: Text = ""


class Answers(BaseModel):
    """What a person means."""

    model_config = ConfigDict(extra="forbid")

    answers: Annotated[list[Text], Field(max_length=10, description="In order; empty: what is assumed")]


def dialogue(desk: Desk) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/runs/{run_id}", tags=["runs"])
    ask, decide = (Depends(desk.needs(scope)) for scope in ("ask", "decide"))
    client = desk.client

    @router.post("/tell")
    async def tell(run_id: str, body: Instruction, token: Token = ask) -> Told:
        """Ask a finished report: the evidence of its run answers, or does not have it."""
        run = await desk.run(run_id, token)
        desk.admit_run(token)
        return Told.of(await client.tell(run.id, body.text, by=by(token)))

    @router.post("/change")
    async def change(run_id: str, body: Instruction, token: Token = ask) -> Changed:
        """Have a finished report changed: a version beside it."""
        run = await changeable(desk, run_id, token)
        desk.admit_run(token)
        return Changed.of(await client.change(run.id, body.text, by=by(token)))

    @router.post("/dispute")
    async def dispute(run_id: str, body: Disputed, token: Token = ask) -> Changed:
        """Dispute a sentence: its works are read again, and it stays until somebody decides."""
        run = await changeable(desk, run_id, token)
        desk.admit_run(token)
        return Changed.of(await client.dispute(run.id, body.sentence, body.text, by=by(token)))

    @router.post("/decide")
    async def settle(run_id: str, body: Decided, token: Token = decide) -> Changed:
        """Decide a dispute."""
        run = await changeable(desk, run_id, token)
        decided = client.decide(run.id, body.sentence, upheld=body.upheld, by=by(token), note=body.note)
        return Changed.of(await decided)

    @router.post("/answer")
    async def answer(run_id: str, body: Answers, token: Token = decide) -> list[Reading]:
        """Answer what a run asks before it searches."""
        run = await changeable(desk, run_id, token)
        return [*await run.answer(body.answers, by=by(token))]

    return router
