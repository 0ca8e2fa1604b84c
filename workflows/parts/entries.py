"""Dated events and amounts of the works, for a question that asks when or how much.

A model lists them, code adds up.
"""

from collections.abc import Collection, Mapping, Sequence

from activities.contracts.entries import Entries
from activities.contracts.evidence import EvidenceRef
from activities.contracts.write import Extracted, ExtractInput
from activities.plural import plural
from activities.role_steps import EXTRACT
from activities.roles.allowances import MAX_TABLE_ITEMS, WORKS_A_BATCH
from workflows.part_state import EntriesState
from workflows.parts.rows import Part
from workflows.rules.payload_limits import shown
from workflows.steps.writing import run_all


class EntriesPart(Part):
    """Lists what the works state, before the answer is written."""

    def published(self, cited: Collection[str]) -> Mapping[str, object]:
        """Return the entries."""
        return {"entries": self.state.part(EntriesState).entries or Entries()}

    async def before_answer(self, use_model: bool) -> None:
        """List the entries once, so that the answer is told what they come to."""
        state, own = self.state, self.state.part(EntriesState)
        if own.entries is not None or not use_model or not self.models.is_paid("extractor"):
            return
        related = (one for one in state.evidence.judgements.values() if one.answers)
        ranked = sorted(related, key=lambda one: -one.answers)
        usable = state.evidence.usable
        works = [usable[one.evidence_id] for one in ranked if one.evidence_id in usable]
        works = works[:MAX_TABLE_ITEMS]
        if not works or self.models.refusal("extractor"):
            return
        asks = asked_for(state.question.parsed.asks if state.question.parsed else ())
        message = f"listing what {plural(len(works), 'work')} state"
        self.events.emit("extracting", message, items=len(works))
        batches = [works[at : at + WORKS_A_BATCH] for at in range(0, len(works), WORKS_A_BATCH)]

        async def read(batch: Sequence[EvidenceRef]) -> Extracted:
            evidence = shown(batch, MAX_TABLE_ITEMS)
            step = ExtractInput(**self.context.step_inputs(), columns=(), evidence=evidence, asks=asks)
            return await self.models.execute(EXTRACT, step)

        answers = await run_all(map(read, batches))
        own.entries = Entries(asks=asks, entries=tuple(one for answer in answers for one in answer.entries))
        state.evidence.refused += [refused for answer in answers for refused in answer.refused]

    beside_drafts = before_answer


def asked_for(asks: Collection[str]) -> tuple[str, ...]:
    """Return what of a question's kind entries answer."""
    return tuple(one for one in ("when", "how_much") if one in asks)


PART = EntriesPart
