"""The judgement of what was found: batches of whole works at once, and one assessment of them by code.

A work is judged once for a question. A batch that fails leaves its works to the next round; only when every
batch fails has the judge failed. A batch that the budget does not allow is left out, the most promising works
come first.
"""

from collections.abc import Iterable, Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.contracts.bounds import within
from activities.contracts.evidence import Allowance, EvidenceRef
from activities.contracts.judge import (
    MAX_QUERIES,
    JudgeAssessment,
    JudgeBatch,
    JudgeInput,
    OrderInput,
    WorkJudgement,
)
from activities.messages import plural
from activities.role_activity import ThinkActivities
from activities.role_calls import JUDGE
from activities.roles.allowances import (
    MAX_JUDGED,
    PASSAGES_CHARS,
    allowance_to_judge,
    judge_batches,
    max_judged_works,
    works_a_batch,
)
from activities.roles.assessment import assess
from workflows.context import RunPart
from workflows.rules.payload_limits import REFS_ROOM, input_refs, to_order
from workflows.rules.stopping import MAX_JUDGE_FAILURES, is_off_subject, is_worth_judging, judged_end
from workflows.steps import policy
from workflows.steps.policy import OutOfBudget, StepFailed, run_all
from workflows.types import PERMANENT

MAX_WEAKEST = 30
"""Works that answered, the weakest of them, with which new ones are compared."""
MAX_ORDERED = 120
"""References that are put in order for the judge at most: the newest of those that are not judged."""
MAX_TITLES = 20
"""Titles of other works that a batch is told of."""
JUDGED_ROOM = 30 * 1024
"""Bytes of earlier judgements in one batch's input."""
MAX_RELEVANT = 120
"""Ids of relevant items that are kept, best first."""
JUDGE_PAUSE_SECONDS = 15.0
"""Before a judge that failed is asked again; doubled each time."""


class JudgeSteps(RunPart):
    """Has works judged, and decides what the judgements come to."""

    async def judge(self) -> None:
        """Judge the works that no judgement covers yet. Raises OutOfBudget when not one batch fits."""
        state, loop = self.state, self.state.loop
        unjudged = loop.unjudged  # more may be found meanwhile
        if (batches := await self._batches()) is None:
            loop.unjudged -= unjudged
            return
        answers, failure = await self._ask_all(batches)
        if failure and not answers:
            await self._count_failure(failure)
            return
        loop.judge_failures = 0
        loop.unjudged -= unjudged
        grades = [judgement.answers for batch in answers for judgement in batch.judgements]
        loop.off_subject = bool(state.evidence.judgements) and is_off_subject(grades)
        for batch in answers:
            state.evidence.judgements.update(
                (judgement.evidence_id, self._with_side(judgement)) for judgement in batch.judgements
            )
            state.evidence.refused += batch.refused
        self._record(self._assess(answers))

    async def _batches(self) -> Sequence[tuple[EvidenceRef, ...]] | None:
        """Return the works to judge, as they are shown together; None where none is worth it."""
        has_model, refs = self.models.asks_model("judge"), self.state.evidence.ranked_refs
        works = await self._works_to_judge() if has_model else input_refs(refs, MAX_ORDERED)
        if works is None:
            return None
        self._announce(len(works))
        if not has_model:
            return [works]
        allowance = self._one_call_allowance([ref.chars for ref in works])
        has_budget = allowance is not None and self.models.has_budget("judge", allowance)
        return [works] if has_budget else judge_batches(works, self.models.choice("judge"))

    async def _count_failure(self, category: str) -> None:
        """Count a judgement that failed whole, and pause before the next where there is to be one."""
        loop = self.state.loop
        loop.judge_failures = MAX_JUDGE_FAILURES if category in PERMANENT else loop.judge_failures + 1
        if loop.judge_failures < MAX_JUDGE_FAILURES:
            remaining = self.context.research_seconds()
            pause = JUDGE_PAUSE_SECONDS * 2 ** (loop.judge_failures - 1)
            seconds = pause if remaining is None else min(pause, remaining)
            await self.models.pause_for(seconds, "before the judge is asked again")

    def _with_side(self, judgement: WorkJudgement) -> WorkJudgement:
        """Return a judgement without a side where the question of the run has no yes or no."""
        parsed = self.state.question.parsed
        is_overview = parsed is not None and parsed.is_overview and not self.context.section_id
        return judgement.replace(direction="not_asked") if is_overview else judgement

    def _announce(self, items: int) -> None:
        self.events.set_phase("judging", f"judging {plural(items, 'item')}")
        self.events.emit("judging", f"judging {plural(items, 'item')}", items=items)

    @property
    def max_works(self) -> int:
        """Works that are judged in one round at most."""
        return max_judged_works(self.models.choice("judge"))

    def tokens_of_a_round(self) -> int:
        """Return what the calls of a round may use, for works as long as most are."""
        allowance = self._one_call_allowance([PASSAGES_CHARS] * self.max_works)
        if allowance is not None:
            return allowance.tokens
        calls = -(-self.max_works // works_a_batch(self.models.choice("judge")))
        return calls * self.models.allowance("judge").tokens

    def _one_call_allowance(self, chars: Sequence[int]) -> Allowance | None:
        """Return what one call needs that reads works of so many characters.

        None where they are more than a judge is shown at once, or its model is not known to read as much.
        """
        choice = self.models.choice("judge")
        allowance = allowance_to_judge(chars, choice)
        context_tokens = self.context.prepared.contexts.get(choice.model, 0)
        return allowance if len(chars) <= MAX_JUDGED and allowance.tokens <= context_tokens else None

    async def _works_to_judge(self) -> tuple[EvidenceRef, ...] | None:
        """Return the works without a judgement that are worth one, the most promising first.

        None where nearly all that were found are far from the question.
        """
        context, state = self.context, self.state
        refs = [
            ref for name, ref in state.evidence.usable_refs.items() if name not in state.evidence.judgements
        ]
        refs = list(within(refs[-MAX_ORDERED:][::-1], REFS_ROOM))[::-1]
        if not refs:
            return ()
        max_works, weakest = self.max_works, set(state.evidence.relevant[-MAX_WEAKEST:])
        queries = tuple(dict.fromkeys(search.asked or search.query for search in state.evidence.searches))
        queries = queries[-MAX_QUERIES:]
        later_queries = {s.asked or s.query for s in state.evidence.searches if s.iteration > 1}
        requested = {*later_queries, *state.people.searches_asked_for}
        in_folder = [s for s in state.evidence.searches if s.source == "library" and s.kept]
        step = OrderInput(
            **context.loop_inputs(),
            evidence=tuple(to_order(ref, queries) for ref in refs),
            queries=queries,
            asked_for=tuple(query for query in queries if query in requested),
            whole_folder=bool(in_folder) and all(search.kept >= search.hits for search in in_folder),
            answered=tuple(to_order(ref, ()) for ref in state.evidence.refs if ref.evidence_id in weakest),
            most=max_works,
        )
        try:
            order = await workflow.execute_activity_method(
                ThinkActivities.order_evidence, step, **policy.internal_step(f"order {len(refs)} works")
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return tuple(refs[:max_works])
        if not is_worth_judging(len(order.ids), order.far):
            works = plural(len(refs), "work")
            text = f"none is judged: {order.far} of {works} found far from the question"
            self.events.emit("judging", text, items=0)
            return None
        by_id = {ref.evidence_id: ref for ref in refs}
        return tuple(by_id[name] for name in order.ids if name in by_id)[:max_works]

    async def _ask_all(self, batches: Sequence[tuple[EvidenceRef, ...]]) -> tuple[list[JudgeBatch], str]:
        """Ask the judge about every batch at the same time: what it answered, and the category of a failure.

        Raises OutOfBudget when no batch was answered for lack of budget.
        """

        async def ask(batch: tuple[EvidenceRef, ...]) -> JudgeBatch | StepFailed | OutOfBudget:
            try:
                return await self._ask(batch, batches)
            except (StepFailed, OutOfBudget) as error:
                return error

        results = await run_all(ask(batch) for batch in batches if batch)
        answers = [answer for answer in results if isinstance(answer, JudgeBatch)]
        failures = [failure.category for failure in results if isinstance(failure, StepFailed)]
        out_of_budget = next((refusal for refusal in results if isinstance(refusal, OutOfBudget)), None)
        if out_of_budget and not answers:
            raise out_of_budget
        permanent = next((category for category in failures if category in PERMANENT), "")
        return answers, permanent or next(iter(failures), "")

    async def _ask(
        self, batch: tuple[EvidenceRef, ...], batches: Sequence[tuple[EvidenceRef, ...]]
    ) -> JudgeBatch:
        judgements = tuple(
            WorkJudgement(evidence_id=work.evidence_id, answers=work.answers, finding=work.finding)
            for work in self.judgements()
            if work.answers > 0
        )
        ids = {ref.evidence_id for ref in batch}
        titles = [ref.title for works in batches for ref in works if ref.evidence_id not in ids]
        step = JudgeInput(
            **self.context.loop_inputs("criteria", "roles", "guidance", "aspects"),
            iteration=self.state.loop.iteration,
            evidence=input_refs(batch, MAX_ORDERED),
            judged=within(judgements, JUDGED_ROOM),
            titles=tuple(titles[:MAX_TITLES]),
        )
        return await self.models.execute(JUDGE, step)

    def judgements(self) -> tuple[WorkJudgement, ...]:
        """Return what was judged so far, the works that answer best first."""
        return best_first(self.state.evidence.judgements.values())

    def findings(self) -> tuple[WorkJudgement, ...]:
        """Return the `judgements` without their quotes, as far as there is room."""
        return within((judgement.replace(support=()) for judgement in self.judgements()), JUDGED_ROOM)

    def _assess(self, answers: Sequence[JudgeBatch]) -> JudgeAssessment:
        """All judgements so far as one assessment. A criterion keeps the best score that a round gave it."""
        context, state = self.context, self.state
        earlier = state.loop.judged
        batches = [JudgeBatch(scores=earlier.scores, score_reasons=earlier.score_reasons)] if earlier else []
        return assess(
            [*batches, *answers], state.evidence.judgements.values(), context.profile, state.evidence.refs
        )

    def _record(self, judged: JudgeAssessment) -> None:
        """Keep an assessment, and say what it is."""
        state, loop = self.state, self.state.loop
        earlier_ids = set(loop.judged.relevant) if loop.judged else set[str]()
        loop.judged = judged
        loop.gained = len(set(judged.relevant) - earlier_ids)
        stop = judged_end(self.context.profile, judged, loop.gained)
        state.loop.memory.judged = judged
        state.loop.memory.sufficient = stop is not None and stop.stop == "sufficient_evidence"
        state.loop.recommended = list(judged.recommended_searches)
        ids = {ref.evidence_id for ref in state.evidence.refs}
        relevant = [name for name in judged.relevant if name in ids]
        kept_ids = state.evidence.relevant if judged.by_code else []
        state.evidence.relevant = list(dict.fromkeys([*relevant, *kept_ids]))[:MAX_RELEVANT]
        state.evidence.screened = max(state.evidence.screened, judged.shown)
        scores = ", ".join(f"{name.replace('_', ' ')} {score}" for name, score in judged.scores.items())
        if judged.confidence is None:
            message = (
                f"near the question: {len(relevant)} of {plural(len(ids), 'work')}; no model judged them"
            )
        else:
            share = f"{len(relevant)} of {plural(judged.shown, 'work')} answer"
            message = "; ".join(filter(None, (share, f"confidence {judged.confidence:.2f}", scores)))
        self.events.emit(
            "judge_complete",
            message,
            confidence=judged.confidence,
            scores=judged.scores,
            gaps=len(judged.gaps),
            sufficient=state.loop.memory.sufficient,
            recommendation=judged.recommendation,
            works=judged.shown,
            relevant=len(relevant),
        )


def best_first(judgements: Iterable[WorkJudgement]) -> tuple[WorkJudgement, ...]:
    """Judgements, those of works that answer most directly first."""
    return tuple(sorted(judgements, key=lambda judgement: -judgement.answers))
