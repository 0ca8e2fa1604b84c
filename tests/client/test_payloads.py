"""What is too large for a history fails a run with a clear error; nothing blocks, nothing is paid twice."""

import uuid
from datetime import timedelta

import pytest
from pydantic import BaseModel
from temporalio import activity, workflow
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from activities.contracts.evidence import EvidenceRef
from activities.contracts.search import Hits, HitsOfAll
from activities.payloads import DATA_CONVERTER, PAYLOAD_LIMIT


class Body(BaseModel):
    text: str


LARGE = PAYLOAD_LIMIT + 1
attempts: list[str] = []


@activity.defn
async def measure(body: Body) -> int:
    attempts.append("measure")
    return len(body.text)


@activity.defn
async def inflate(size: int) -> Body:
    attempts.append("inflate")
    return Body(text="x" * size)


@activity.defn
async def complain(size: int) -> None:
    attempts.append("complain")
    raise ApplicationError("the source failed", Body(text="x" * size))


@workflow.defn(name="PayloadsTest", sandboxed=False)
class Carrier:
    @workflow.run
    async def run(self, way: str, size: int) -> Body:
        limit = timedelta(seconds=30)
        if way == "activity input":
            await workflow.execute_activity(measure, Body(text="x" * size), start_to_close_timeout=limit)
        elif way == "activity result":
            return await workflow.execute_activity(inflate, size, start_to_close_timeout=limit)
        elif way == "activity error":
            await workflow.execute_activity(complain, size, start_to_close_timeout=limit)
        elif way == "workflow error":
            raise ApplicationError("the run failed", Body(text="x" * size))
        return Body(text="x" * size)

    @workflow.query
    def blob(self, size: int) -> Body:
        return Body(text="x" * size)


async def outcome(client: Client, way: str, size: int) -> str:
    """`done`, or type and message of the innermost application error."""
    attempts.clear()
    queue = f"payloads-{uuid.uuid4()}"
    async with Worker(client, task_queue=queue, workflows=[Carrier], activities=[measure, inflate, complain]):
        handle: WorkflowHandle[Carrier, Body] = await client.start_workflow(
            Carrier.run,
            args=[way, size],
            id=queue,
            task_queue=queue,
            # without the guard the run would hang: this turns a hang into a failure of the test
            execution_timeout=timedelta(seconds=20),
        )
        try:
            await handle.result()
        except WorkflowFailureError as failed:
            error: BaseException | None = failed.cause
            while error is not None and not isinstance(error, ApplicationError):
                error = error.__cause__
            return f"{error.type}: {error.message}" if error else repr(failed.cause)
        return "done"


@pytest.mark.parametrize(
    ("way", "done"), [("activity input", []), ("activity result", ["inflate"]), ("workflow result", [])]
)
async def test_a_value_that_is_too_large_fails_the_run_is_named_and_is_made_once(
    temporal_client: Client, way: str, done: list[str]
) -> None:
    message = await outcome(temporal_client, way, LARGE)
    assert message.startswith("PayloadTooLarge: a Body of 256 KiB is over the limit")
    assert "evidence store" in message
    assert attempts == done


@pytest.mark.parametrize(
    ("way", "message"), [("activity error", "the source failed"), ("workflow error", "the run failed")]
)
async def test_an_error_with_details_that_are_too_large_still_arrives(
    temporal_client: Client, way: str, message: str
) -> None:
    assert message in await outcome(temporal_client, way, LARGE)


async def test_a_value_under_the_limit_passes(temporal_client: Client) -> None:
    assert await outcome(temporal_client, "activity result", PAYLOAD_LIMIT - 100) == "done"


async def test_a_run_is_not_started_with_an_input_that_is_too_large(temporal_client: Client) -> None:
    with pytest.raises(ApplicationError, match="list of Body of 264 KiB") as caught:
        await temporal_client.start_workflow(
            "Nothing", [Body(text="x" * 90_000)] * 3, id="too-large", task_queue="nobody"
        )
    assert caught.value.non_retryable


async def test_the_guard_measures_what_is_sent_and_not_what_is_held() -> None:
    quotes = '"' * (PAYLOAD_LIMIT // 2)  # each needs two bytes in JSON
    with pytest.raises(ApplicationError):
        await DATA_CONVERTER.encode([quotes])


def test_what_is_sent_in_each_round_travels_without_its_defaults_and_comes_back_whole() -> None:
    ref = EvidenceRef(evidence_id="library:1", blob="b", source="library", title="A title", year=2020)
    sent = HitsOfAll(answers=(Hits(source="library", query="q", status="ok", kept=(ref,)),))
    converter = DATA_CONVERTER.payload_converter
    (payload,) = converter.to_payloads([sent])
    assert b"null" not in payload.data
    assert len(payload.data) < len(sent.model_dump_json()) / 2
    assert converter.from_payloads([payload], [HitsOfAll]) == [sent]
