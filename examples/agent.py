"""An agent of pydantic-ai that has research as a tool, as a workflow: whatever is killed, it goes on.

pip install determinator 'pydantic-ai-slim[openai,temporal]'
python examples/agent.py NAME MODEL QUESTION        with a `determinator worker` at TEMPORAL_ADDRESS
"""

import asyncio
import os
import sys
from typing import Annotated

from pydantic import Field
from pydantic_ai import Agent, RunContext
from pydantic_ai.durable_exec.temporal import PydanticAIPlugin, PydanticAIWorkflow, TemporalDurability
from pydantic_ai.models.openai import OpenAIChatModel
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from determinator import temporal

QUEUE = "agents"
EACH = temporal.Limits(max_tokens=50_000)
agent = Agent(
    OpenAIChatModel(sys.argv[2]),
    name="researcher",
    deps_type=temporal.Budget,
    instructions="Answer from what the tool `research` reports, and name its run.",
    capabilities=[TemporalDurability()],
)


@agent.tool(metadata={"temporal": False})  # in the workflow itself, which hires a run
async def research(
    context: RunContext[temporal.Budget],
    question: Annotated[str, Field(min_length=3, max_length=4_000)],
) -> str:
    """Research a question in the literature: an answer that was checked against its sources."""
    request = temporal.ResearchRequest(question=question, mode="simple", limits=EACH)
    outcome = await temporal.research_child(request, context.deps)
    return f"{outcome.summary}\n\nRun: {outcome.run_id}"


@workflow.defn
class Answer(PydanticAIWorkflow):
    """Answers a question; its tools together use no more than `tokens`."""

    __pydantic_ai_agents__ = (agent,)

    @workflow.run
    async def run(self, question: str, tokens: int) -> str:
        budget = temporal.Budget(limits=temporal.Limits(max_tokens=tokens))
        return (await agent.run(question, deps=budget)).output


async def main(name: str, question: str) -> None:
    """Start the workflow, and work for it until it is done."""
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"], plugins=[PydanticAIPlugin()])
    runner = UnsandboxedWorkflowRunner()  # a sandbox would import the client of the model in each workflow
    async with Worker(client, task_queue=QUEUE, workflows=[Answer], workflow_runner=runner):
        print(await client.execute_workflow(Answer.run, args=[question, 200_000], id=name, task_queue=QUEUE))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[3]))
