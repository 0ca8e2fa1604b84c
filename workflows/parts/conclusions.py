"""Conclusions by outcome: the effects of works that compare, which a model reads once.

They are read beside the last step that writes: the model concludes in its text, and code computes beside it.
"""

from collections.abc import Awaitable, Collection, Iterable, Sequence

from activities.contracts.appraisal import Appraisal, AppraiseInput
from activities.contracts.bounds import within
from activities.contracts.evidence import EvidenceRef
from activities.messages import plural
from activities.role_calls import APPRAISE
from activities.roles.allowances import MAX_APPRAISED
from activities.roles.assessment import MIN_ANSWERS
from workflows.part_state import ConclusionsState
from workflows.parts.rows import OptionalPart
from workflows.rules.payload_limits import input_refs
from workflows.steps.writing import JUDGEMENTS_ROOM


class ConclusionsPart(OptionalPart):
    """Reads the effects of works on the outcomes of the question."""

    def beside_writing(self, use_model: bool) -> Iterable[Awaitable[None]]:
        if use_model and (works := self._works()):
            yield self._appraise(works)

    def published_value(self, cited_ids: Collection[str]) -> object:
        return self.state.part(ConclusionsState).appraisal or Appraisal()

    def _works(self) -> Sequence[EvidenceRef]:
        """Return the works that answer, where one of them compares and none was read for effects.

        None for an overview. Where none answers, the related ones that compare: their conclusion is that
        there are not enough data.
        """
        state = self.state
        parsed = state.question.parsed
        if state.part(ConclusionsState).appraisal is not None or (parsed and parsed.is_overview):
            return ()
        by_id, refs = state.evidence.judgements, state.evidence.usable_refs
        answer_ids = [n for n in state.evidence.relevant if n in by_id and by_id[n].answers >= MIN_ANSWERS]
        related_ids = [n for n, j in by_id.items() if j.answers and j.compares]
        works = [refs[name] for name in answer_ids or related_ids if name in refs][:MAX_APPRAISED]
        has_comparison = any(by_id[ref.evidence_id].compares for ref in works)
        return works if has_comparison and self.models.asks_model("appraiser") else ()

    async def _appraise(self, works: Sequence[EvidenceRef]) -> None:
        state = self.state
        message = f"reading the effects of {plural(len(works), 'work')}"
        self.events.emit("extracting", message, items=len(works))
        judgements = (state.evidence.judgements[ref.evidence_id].replace(support=()) for ref in works)
        step = AppraiseInput(
            **self.context.step_inputs(),
            evidence=input_refs(works, MAX_APPRAISED),
            judgements=within(judgements, JUDGEMENTS_ROOM),
        )
        appraisal = await self.models.execute(APPRAISE, step)
        state.part(ConclusionsState).appraisal = appraisal
        state.evidence.refused += appraisal.refused


PART = ConclusionsPart
