"""The candidates that a profile asks for: named with their mechanisms, looked up, and chosen by a reviewer.

They are looked up at the same time, within the time that research has left. A candidate that cannot be
looked up stays in the report, and its page says which sources did not answer. A run that searches only what
is on this machine looks nothing up; one for which sources were named uses no other.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.candidate_activity import CandidateActivities
from activities.candidates import both_sides
from activities.candidates.fields import SOURCES, unanswered_fields
from activities.contracts.candidates import Candidate, CandidateLookUp, Drug, LookedUp
from activities.contracts.evidence import SourceOption, fields_of
from activities.contracts.judge import Hypotheses, HypothesisInput, MechanismHypothesis
from activities.contracts.stop_reasons import STOPS
from activities.contracts.write import Verdicts, VerifyInput
from activities.messages import plural
from activities.role_calls import HYPOTHESIZE, NAME_CANDIDATES, VERIFY, RoleCall
from activities.roles.allowances import MAX_WRITER_ITEMS
from workflows.part_state import CandidatesState
from workflows.parts.rows import OptionalPart
from workflows.rules.payload_limits import input_refs
from workflows.rules.stopping import judged_end
from workflows.steps import policy
from workflows.steps.ordering import until_finished
from workflows.steps.policy import reason_of, run_all


class CandidatesPart(OptionalPart):
    """Names candidates with their mechanisms, looks them up, and lets a reviewer choose among them."""

    @property
    def part(self) -> CandidatesState:
        return self.state.part(CandidatesState)

    def cited_ids(self) -> Iterable[str]:
        """Works that are quoted for or against a candidate."""
        return (support.evidence_id for candidate in self.part.candidates for support in candidate.quotes)

    def published_value(self, cited_ids: Collection[str]) -> object:
        return tuple(self.part.candidates)

    async def before_writing(self, use_model: bool) -> None:
        """Name candidates, look them up, and let the reviewer choose if requested."""
        state = self.state
        if use_model:
            await self.gates.checkpoint()
        await self._propose(use_model)
        if not self.part.candidates or (state.stop_reason and not STOPS[state.stop_reason].asks):
            return
        candidates = tuple(self.part.candidates) if use_model else ()
        verdicts: list[Verdicts] = []
        await run_all((self._look_up_all(), self._read_both_sides(candidates, verdicts)))
        self._leave_out_refuted(candidates, verdicts)
        if not await self.gates.approval_gate("candidates", "the candidates wait for approval"):
            state.people.left_out += [c.name for c in self.part.candidates]
            self.part.candidates, self.part.hypotheses = [], []
            self.events.add_limitation("candidates_rejected")
        if use_model:
            await self.gates.checkpoint()

    async def after_judging(self, use_model: bool) -> None:
        """Form hypotheses once, so that the next searches test them.

        This follows the first judgement that does not suffice, where the budget allows it.
        """
        context, state, loop = self.context, self.state, self.state.loop
        if self.part.guided or not state.evidence.relevant or loop.judge_failures:
            return
        is_last = loop.iteration >= loop.max_iterations or state.people.finish
        if is_last or judged_end(context.profile, loop.judged, loop.gained):
            return
        if self.models.refusal("hypothesis_generator") is None:
            self.part.guided = True
            await self.form_hypotheses()

    async def form_hypotheses(self) -> int:
        """Hypotheses of mechanisms while research goes on; they and their searches guide it.

        Returns how many name a drug that none named before. Raises OutOfBudget.
        """
        state = self.state
        answer = await self._ask(HYPOTHESIZE, "forming hypotheses")
        drugs = {hypothesis.drug.casefold() for hypothesis in self.part.hypotheses}
        self.part.hypotheses = list(answer.hypotheses) or self.part.hypotheses
        searches = [text for hypothesis in answer.hypotheses for text in hypothesis.search_suggestions]
        state.loop.recommended = list(dict.fromkeys([*searches, *state.loop.recommended]))
        return len([h for h in answer.hypotheses if h.drug.casefold() not in drugs])

    async def _propose(self, use_model: bool) -> None:
        state = self.state
        if self.part.named or not state.evidence.refs or state.stop_reason == "rejected_by_reviewer":
            return
        answer = await self._ask(NAME_CANDIDATES, "naming candidates", use_model)
        self.part.named = True
        self.part.hypotheses = list(answer.hypotheses)
        self.part.candidates = [as_candidate(h) for h in answer.hypotheses if h.supporting_evidence]

    async def _look_up_all(self) -> None:
        """Look up every candidate that has not been, unless the run is limited to this machine."""
        state = self.state
        candidates = [c for c in self.part.candidates if not c.looked_up and not c.fields]
        sources = self._sources()
        if not candidates or not sources:
            return
        if self.context.must_end:
            self.events.add_limitation("candidates_not_looked_up", candidates=len(candidates))
            return
        message = f"looking up {plural(len(candidates), 'candidate')}"
        self.events.set_phase("hypothesising", message)
        self.events.emit("hypothesizing", message, items=len(candidates))
        running = [asyncio.create_task(self._look_up(candidate, sources)) for candidate in candidates]
        try:
            await until_finished(running, lambda: state.people.finish)
        finally:
            finished = [t.result() for t in running if t.done() and not t.cancelled() and not t.exception()]
            by_name = {candidate.name: candidate for candidate in finished}
            self.part.candidates = [by_name.get(c.name, c) for c in self.part.candidates]
        for task in running:
            try:
                task.result()
            except (asyncio.CancelledError, ActivityError) as error:
                if not (state.people.finish and is_cancelled_exception(error)):
                    raise

    def _sources(self) -> tuple[str, ...]:
        options, searched = self.context.prepared.sources, self.run.searches.sources()
        return permitted_sources(options, searched, self.request.sources, self.context.profile.look_up)

    async def _look_up(self, candidate: Candidate, sources: tuple[str, ...]) -> Candidate:
        """Return the candidate with the key of its findings, or with what did not answer."""
        context = self.context
        try:
            answer: LookedUp = await workflow.execute_activity_method(
                CandidateActivities.look_up_candidate,
                CandidateLookUp(
                    run_id=context.run_id,
                    name=candidate.name,
                    generic_name=candidate.generic_name,
                    question=context.run_question,
                    sources=sources,
                ),
                **policy.look_up(context.research_seconds(), policy.shorten(f"look up {candidate.name}")),
            )
        except ActivityError as error:
            reason = reason_of(error)
            self.events.add_limitation("candidate_not_looked_up", name=candidate.name, reason=reason)
            return candidate.replace(fields=unanswered_fields(sources))
        return candidate.replace(looked_up=answer.blob)

    async def _read_both_sides(self, candidates: Sequence[Candidate], verdicts: list[Verdicts]) -> None:
        """Ask the second reader about what is offered for and against the candidates.

        It reads while they are looked up.
        """
        sentences = both_sides.to_read(candidates)
        if not sentences or not self.models.asks_model("verifier"):
            return
        ids = {support.evidence_id for sentence in sentences for support in sentence.support}
        step = VerifyInput(
            **self.context.step_inputs(),
            sentences=sentences,
            evidence=tuple(ref for ref in self.state.evidence.refs if ref.evidence_id in ids),
        )
        verdicts.append(await self.models.execute(VERIFY, step))

    def _leave_out_refuted(self, candidates: Sequence[Candidate], verdicts: Sequence[Verdicts]) -> None:
        """Leave out what does not speak for the side where it stands."""
        state = self.state
        in_favour = {name for name, j in state.evidence.judgements.items() if j.direction == "yes"}
        rows = tuple(verdict for answer in verdicts for verdict in answer.verdicts)
        checked, quote_counts = both_sides.with_verdicts(candidates, Verdicts(verdicts=rows), in_favour)
        by_name = {candidate.name: candidate for candidate in checked}
        self.part.candidates = [
            candidate.replace(
                support=by_name[candidate.name].support, against=by_name[candidate.name].against
            )
            if candidate.name in by_name
            else candidate
            for candidate in self.part.candidates
        ]
        for side, quotes in quote_counts.items():
            if quotes:
                self.events.add_limitation("not_for" if side == "support" else "not_against", quotes=quotes)

    async def _ask(
        self, call: RoleCall[HypothesisInput, Hypotheses], message: str, use_model: bool = True
    ) -> Hypotheses:
        evidence = input_refs(self.run.writing.citable(), MAX_WRITER_ITEMS)
        self.events.set_phase("hypothesising", message)
        self.events.emit("hypothesizing", message, items=len(evidence))
        choice = tuple(self.state.people.chosen)
        step = HypothesisInput(**self.context.step_inputs(), evidence=evidence, chosen=choice)
        answer = await self.models.execute(call, step, use_model=use_model)
        names = ", ".join(hypothesis.drug for hypothesis in answer.hypotheses)
        searches = sum(len(hypothesis.search_suggestions) for hypothesis in answer.hypotheses)
        count = plural(len(answer.hypotheses), "drug")
        message = f"{count}: {names}" if names else "no drug is named by the evidence"
        self.events.emit("hypotheses", message, candidates=names, searches=searches)
        return answer


def as_candidate(hypothesis: MechanismHypothesis) -> Candidate:
    """Return a hypothesis as a row of the candidates table.

    Publishing grades the quality of its evidence.
    """
    # what the effect says itself is not said before it
    links = (p for p in (hypothesis.target, hypothesis.pathway) if p and p not in hypothesis.effect)
    chain = " -> ".join(filter(None, (*links, hypothesis.effect)))
    return Candidate(
        **fields_of(Drug, hypothesis),
        name=hypothesis.drug,
        mechanism=hypothesis.target,
        proposed_mechanism=chain,
        support=hypothesis.supporting_evidence,
        against=hypothesis.contradicting_evidence,
    )


def permitted_sources(
    options: Sequence[SourceOption],
    searched: Sequence[SourceOption],
    requested: Collection[str],
    by_profile: Collection[str],
) -> tuple[str, ...]:
    """Names of the sources to ask, in the order of `SOURCES`.

    `options`: what the worker has; `searched`: what the run searches; `requested`: the sources that the
    request names, if any; `by_profile`: what the profile adds for candidates.
    """
    if all("local" in option.info.domains for option in searched):
        return ()
    allowed = {*(() if requested else by_profile), *(option.info.name for option in searched)}
    enabled = {option.info.name for option in options if option.enabled}
    return tuple(name for name in SOURCES if name in allowed and name in enabled)


PART = CandidatesPart
