"""The order of the passages by a small model: it is asked of each work whether it answers, one word a call.

Nothing is judged by it. What it was not asked about, or did not answer, keeps its place by the encoder.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence

from temporalio import workflow

from activities.contracts.judge import WeighInput
from activities.contracts.write import Passage, SectionDraft, WriteInput
from activities.role_calls import ORDER
from activities.roles.allowances import MAX_WEIGHED
from workflows.context import RunPart

BESIDE = 0.5
"""Probability of "yes" below which a work is beside the question."""
SECONDS_A_WORK = 4
"""Until the first answer has come: 700 tokens at 200 a second, as is read without a graphics card."""


class OrderSteps(RunPart):
    """Puts passages in order, where a small model serves."""

    async def order(self, step: WriteInput, draft: SectionDraft) -> SectionDraft:
        """Return the draft with its passages in the order of a small model.

        As it is where there is none, and as far as it has come where a reviewer asks to finish.
        """
        ids = list(dict.fromkeys(passage.evidence_id for passage in draft.passages))[:MAX_WEIGHED]
        if len(ids) < 2 or not self.models.asks_model("orderer"):
            return draft
        model, people = self.models.choice("orderer").model, self.state.people
        refs = {ref.evidence_id: ref for ref in step.evidence}
        scores: dict[str, float] = {}
        began = self.context.now()
        self._say(f"{model} puts {len(ids)} works in order", len(ids) * SECONDS_A_WORK)

        async def weigh(name: str) -> None:
            weigh_input = WeighInput(
                **self.context.step_inputs(question=step.question),
                section=step.section,
                evidence=(refs[name],),
            )
            answer = await self.models.execute(ORDER, weigh_input)
            if answer.yes is not None:
                scores[name] = answer.yes
                remaining = (self.context.now() - began) / len(scores) * (len(ids) - len(scores))
                self._say(f"{model}: {len(scores)} of {len(ids)} works", remaining)

        await until_finished([asyncio.create_task(weigh(name)) for name in ids], lambda: people.finish)
        if scores:
            self.events.add_limitation("ordered_by_small_model", model=model, works=len(scores))
        return draft.replace(passages=in_order(draft.passages, scores))

    def _say(self, text: str, seconds: float) -> None:
        duration = f"{round(seconds)} s" if seconds < 90 else f"{round(seconds / 60)} minutes"
        message = f"{text}, about {duration} more" if round(seconds) else text
        self.events.set_phase("writing", message)
        self.events.emit("synthesizing", message)


def in_order(passages: Sequence[Passage], scores: Mapping[str, float]) -> tuple[Passage, ...]:
    """Passages by a model's probability and their place by the encoder, both 0 to 1, added.

    Those of works that it was not asked about after these, and last those of works that it calls beside the
    question.
    """

    def key(place: int) -> tuple[int, float]:
        yes = scores.get(passages[place].evidence_id)
        if yes is None:
            return 1, place
        return 2 * (yes < BESIDE), place / len(passages) - yes

    return tuple(passages[place] for place in sorted(range(len(passages)), key=key))


async def until_finished(tasks: Iterable[asyncio.Task[object]], finish: Callable[[], bool]) -> None:
    """Wait until all tasks have ended.

    Those that have not are dropped when a reviewer asks to finish or the run is cancelled.
    """
    tasks = list(tasks)
    try:
        await workflow.wait_condition(lambda: finish() or all(task.done() for task in tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
