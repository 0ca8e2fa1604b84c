"""The paragraphs of a draft are reported to its run while the model still writes."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import ActivityEnvironment

from activities import role_activity
from activities.contracts.write import SectionDraft
from activities.role_activity import MAX_REPORTS, DraftProgress, ThinkActivities
from activities.role_steps import WRITE
from activities.roles.writer import WRITER, paragraphs_so_far
from tests.activities.roles.conftest import DOCUMENTS, Case
from tests.fake_openai import SSE, completion, events
from tests.replay import Asked, Reply

TEXTS = {
    "S1": "In 4120 adults metformin was associated with a lower risk of dementia over five years.",
    "S3": "Metformin did not change cognition in a randomised trial of 80 adults.",
    "S5": "Some page about dementia.",
}
ANSWER = {
    "answer": [],
    "blocks": [{"claims": [{"text": text, "rests_on": [name]}]} for name, text in TEXTS.items()],
    "reservations": [],
}


@dataclass
class Runs:
    """A client whose runs record what is signalled to them, or fail then."""

    failure: Exception | None = None
    reports: list[DraftProgress] = field(default_factory=list)
    received: threading.Event = field(default_factory=threading.Event)

    def get_workflow_handle(self, run_id: str) -> "Runs":
        assert run_id == "ask-1"
        return self

    async def signal(self, name: str, report: DraftProgress, **_: object) -> None:
        assert name == role_activity.SIGNAL
        self.reports.append(report)
        self.received.set()
        if self.failure:
            raise self.failure


def slow(runs: Runs) -> Any:
    """An answer whose end comes only after its first paragraphs were reported."""

    def chunks() -> Iterator[bytes]:
        whole = events(completion(ANSWER), size=len(json.dumps(ANSWER)) - 40)
        yield from whole[:2]
        assert runs.received.wait(60), "nothing was reported while the model wrote"
        yield from whole[2:]

    def answer(_: Asked) -> Reply:
        return Reply(200, headers=SSE, chunks=cast(tuple[bytes, ...], chunks()))

    return answer


async def written(case: Case, runs: Runs) -> SectionDraft:
    step = case.step("writer").replace(report_to="ask-1")
    environment = ActivityEnvironment(client=cast(Client, runs))
    environment.info = replace(environment.info, start_to_close_timeout=None, schedule_to_close_timeout=None)
    charged = await environment.run(getattr(ThinkActivities(case.thinker), WRITE.activity), step)
    return cast(SectionDraft, charged.output)


@pytest.mark.parametrize(
    "failure", [None, RPCError("gone", RPCStatusCode.NOT_FOUND, b""), RuntimeError("no client")]
)
async def test_paragraphs_are_reported_before_the_answer_ends(
    case: Case, monkeypatch: pytest.MonkeyPatch, failure: Exception | None
) -> None:
    """A report that fails costs no draft."""
    monkeypatch.setattr(role_activity, "PAUSE_SECONDS", 0.01)
    runs = Runs(failure)
    case.server.script(slow(runs))
    draft = await written(case, runs)
    assert runs.reports[0].paragraphs == draft.texts[:2]
    assert len(runs.reports) <= MAX_REPORTS


async def test_a_draft_that_is_written_at_once_is_not_reported(case: Case) -> None:
    runs = Runs()
    case.server.script(lambda _: Reply(200, headers=SSE, chunks=events(completion(ANSWER))))
    assert len((await written(case, runs)).texts) == 3
    assert runs.reports == []


def test_the_paragraphs_of_an_answer_that_is_coming_are_those_of_the_draft(case: Case) -> None:
    step = case.step("writer")
    prompt = WRITER.render(step, DOCUMENTS, 6_000)
    assert {TEXTS[name] for name in TEXTS} <= {sentence.quote for sentence in prompt.sentences.values()}
    text = json.dumps(ANSWER)
    whole = WRITER.accept(step, prompt, WRITER.answer.model_validate(ANSWER)).output.texts
    counts = []
    for end in range(len(text)):
        paragraphs = paragraphs_so_far(step, prompt, text[:end], 1)
        assert paragraphs == whole[: len(paragraphs)]
        counts.append(len(paragraphs))
    assert counts == sorted(counts)
    assert counts[-1] == 2
    assert paragraphs_so_far(step, prompt, text, 3) == ()
