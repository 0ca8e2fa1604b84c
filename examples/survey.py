"""Questions at once under one budget: a workflow of one's own that hires research.

    python examples/survey.py NAME TOKENS QUESTION...

The process may be killed at any time: the same command goes on where it was, and nothing is paid for twice.
"""

import asyncio
import json
import sys
from typing import Any

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.worker import Worker

with workflow.unsafe.imports_passed_through():
    from determinator import Determinator, temporal

QUEUE = "surveys"


@workflow.defn
class Survey:
    """Answers each question; together they use no more than `tokens`."""

    @workflow.run
    async def run(self, questions: list[str], tokens: int) -> dict[str, Any]:
        budget = temporal.Budget(limits=temporal.Limits(max_tokens=tokens))
        share = temporal.Limits(max_tokens=tokens // len(questions))
        hired = [
            temporal.research_child(
                temporal.ResearchRequest(question=question, mode="simple", limits=share), budget
            )
            for question in questions
        ]
        outcomes = await asyncio.gather(*hired)
        answers = {outcome.run_id: outcome.summary for outcome in outcomes}
        return {"answers": answers, "tokens": budget.used.tokens}


async def main(name: str, tokens: int, questions: list[str]) -> None:
    """Start the survey, or join it, and work for it until it is done."""
    async with Determinator() as client:
        connection = await client.connect(for_run=True)
        async with Worker(connection.client, task_queue=QUEUE, workflows=[Survey]):
            try:
                handle = await connection.client.start_workflow(
                    Survey.run,
                    args=[questions, tokens],
                    id=name,
                    task_queue=QUEUE,
                    id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                )
            except WorkflowAlreadyStartedError:
                handle = connection.client.get_workflow_handle(name)
            print(json.dumps(await handle.result(), indent=2))
        connection.release()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
