"""Works that will be cited are read in full before a model writes from them, where the run permits it.

A run that searches only this machine asks nobody; one whose sources were named asks only those.
"""

from collections.abc import Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.contracts.evidence import EvidenceRef, SourceOption
from activities.full_text_activity import FullTextActivities, FullTexts, ReadInFull, Way
from activities.messages import plural
from activities.roles.assessment import MIN_ANSWERS
from workflows.part_state import FullTextsState
from workflows.parts.rows import OptionalPart
from workflows.steps import policy
from workflows.steps.policy import reason_of

MIN_SECONDS = 60.0
"""Time left for research below which nothing is read in full."""


class FullTextsPart(OptionalPart):
    """Reads works in full."""

    async def before_draft(self, use_model: bool) -> None:
        await self.read(self.run.writing.citable())

    async def read(self, evidence: Sequence[EvidenceRef]) -> tuple[EvidenceRef, ...]:
        """Return the works of a section, best first, with the full texts that could be read.

        Those are read that answer and have an open text. Nothing is read without a model that judged them and
        writes, nor twice.
        """
        state, ways = self.state, self.ways()
        remaining = self.context.research_seconds()
        if not ways or state.people.finish or (remaining is not None and remaining < MIN_SECONDS):
            return tuple(evidence)
        works = [ref for ref in evidence if self._is_wanted(ref)][: self.request.limits.full_texts]
        if not works:
            return tuple(evidence)
        state.part(FullTextsState).tried += [ref.evidence_id for ref in works]
        self.events.set_phase("writing", f"reading {plural(len(works), 'work')} in full")
        try:
            answer: FullTexts = await workflow.execute_activity_method(
                FullTextActivities.read_in_full,
                ReadInFull(run_id=self.context.run_id, evidence=tuple(works), ways=ways),
                **policy.look_up(remaining, f"read {plural(len(works), 'work')} in full"),
            )
        except ActivityError as error:
            reason = reason_of(error)
            self.events.emit("error", f"full texts: {reason}", kind="step_failed", role="full texts")
            return tuple(evidence)
        by_id = {ref.evidence_id: ref for ref in answer.evidence}
        state.evidence.refs = [by_id.get(ref.evidence_id, ref) for ref in state.evidence.refs]
        return tuple(by_id.get(ref.evidence_id, ref) for ref in evidence)

    def _is_wanted(self, ref: EvidenceRef) -> bool:
        state = self.state
        judgements = {**state.evidence.judgements}
        for findings in state.sections.findings.values():
            judgements |= {judgement.evidence_id: judgement for judgement in findings.judgements}
        judgement = judgements.get(ref.evidence_id)
        has_answers = judgement is not None and judgement.answers >= MIN_ANSWERS
        return has_answers and not ref.full_text and ref.evidence_id not in state.part(FullTextsState).tried

    def ways(self) -> tuple[Way, ...]:
        """Return how full texts may be had, in the order of trying; none without a model that writes."""
        prepared, request = self.state.question.prepared, self.request
        if prepared is None or not request.limits.full_texts or not self.models.asks_model("writer"):
            return ()
        return ways_of(self.run.searches.sources(), fixed=bool(request.sources), unpaywall=prepared.unpaywall)


def ways_of(options: Sequence[SourceOption], *, fixed: bool, unpaywall: bool) -> tuple[Way, ...]:
    """Return how full texts may be had by a run that searches these sources.

    `fixed`: the request names them; `unpaywall`: the worker may ask Unpaywall.
    """
    if all("local" in option.info.domains for option in options):
        return ()
    names = {option.info.name for option in options}
    ways: list[Way] = []
    if "europepmc" in names:
        ways.append("europepmc")
    if names & {"openalex", "semanticscholar"}:
        ways.append("open_address")
    if unpaywall and not fixed:
        ways.append("unpaywall")
    return tuple(ways)


PART = FullTextsPart
