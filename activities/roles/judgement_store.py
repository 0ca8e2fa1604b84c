"""Judgements that were paid for: no work is judged twice for one question.

They are stored under the question and that of its run, the text of the work, the profile, the model and the
prompt, and used again by later rounds, follow-ups and refreshes.
"""

import hashlib
import json
from collections.abc import Callable, Mapping

from pydantic import ValidationError

from activities.contracts.errors import StoreError
from activities.contracts.evidence import EvidenceRef
from activities.contracts.iterations import Recommendation, Scores
from activities.contracts.judge import JudgeBatch, JudgeInput, WorkJudgement
from activities.evidence_store import EvidenceStore
from activities.logs import log
from activities.roles.role import prompt_file


class StoredJudgement(Scores):
    """The judgement of one work, with what its batch said of the criteria."""

    judgement: WorkJudgement
    gaps: tuple[str, ...] = ()
    recommended_searches: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    """Ids of all works that the recommendation rests on: those of its batch and those judged before."""
    scope: str = ""


class JudgementStore:
    """Reading and writing never fail a step: what cannot be read is asked for again."""

    def __init__(self, store: EvidenceStore) -> None:
        self._store = store

    async def load(self, step: JudgeInput) -> dict[str, StoredJudgement]:
        """Return the judgements of the step's works that were made before, by evidence id."""
        judgements: dict[str, StoredJudgement] = {}
        key = _key_of(step)
        for ref in step.evidence:
            try:
                data = await self._store.get_named(key(ref))
                if data:
                    stored = StoredJudgement.model_validate_json(data)
                    if step.scope and stored.scope == step.scope:
                        continue  # of an attempt of this very step: its answer is kept with its price
                    judgement = stored.judgement.replace(evidence_id=ref.evidence_id)
                    judgements[ref.evidence_id] = stored.replace(judgement=judgement)
            except (StoreError, ValidationError):
                continue
        return judgements

    async def keep(self, step: JudgeInput, batch: JudgeBatch) -> None:
        refs, key = {ref.evidence_id: ref for ref in step.evidence}, _key_of(step)
        beside = tuple(j.evidence_id for j in (*step.judged, *batch.judgements) if j.answers > 0)
        values = batch.model_dump(exclude={"judgements", "refused"})
        for judgement in batch.judgements:
            entry = {"judgement": judgement, "beside": beside, "scope": step.scope}
            stored = StoredJudgement.model_validate({**values, **entry})
            try:
                name = key(refs[judgement.evidence_id])
                await self._store.put_named(name, stored.model_dump_json().encode())
            except StoreError as error:
                log.warning("judgement_not_stored", run_id=step.run_id, error=str(error))


def _key_of(step: JudgeInput) -> Callable[[EvidenceRef], str]:
    """Make the digest of everything that decides the judgement of a work.

    The prompt is the role's file or the text of a graph's node in its place; what a reviewer or the manager
    of a team said is part of it.
    """
    prompt = prompt_file("judge", step.prompt, evidence=True)
    questions = [step.question, step.run_question]
    parts = [
        step.profile.model_dump(mode="json", include={"name", "criteria", "guidance", "roles"}),
        [step.model.model, step.model.base_url or "", step.model.effort or ""],
        prompt.version,
        [step.instruction, *(reading.text for reading in step.readings), *step.steering],
    ]

    def key(ref: EvidenceRef) -> str:
        text = json.dumps([questions, ref.blob, *parts], sort_keys=True, ensure_ascii=False)
        return f"judgements/{hashlib.sha256(text.encode()).hexdigest()}.json"

    return key


def with_stored(
    step: JudgeInput, judgements: Mapping[str, StoredJudgement], batch: JudgeBatch, model: str
) -> JudgeBatch:
    """Add the judgements that were known before to a batch.

    Their recommendation to write holds only where all works it rests on are there. Their gaps and next
    searches count where no work is judged anew, which would name its own.
    """
    scores, reasons = dict(batch.scores), dict(batch.score_reasons)
    for stored in judgements.values():
        for name, score in stored.scores.items():
            if score > scores.get(name, -1):
                scores[name] = score
                reasons[name] = stored.score_reasons.get(name, "")
    all_judgements = (*step.judged, *batch.judgements, *(stored.judgement for stored in judgements.values()))
    ids = {judgement.evidence_id for judgement in all_judgements}
    advice = {stored.recommendation for stored in judgements.values() if ids.issuperset(stored.beside)}
    recommendation: Recommendation = "synthesize" if "synthesize" in advice else ""
    gaps, searches = batch.gaps, batch.recommended_searches
    continuing = [stored for stored in judgements.values() if stored.recommendation == "continue"]
    if not batch.judgements and not recommendation and continuing:
        recommendation = "continue"
        gaps = tuple(dict.fromkeys(gap for stored in continuing for gap in stored.gaps))
        searches = tuple(
            dict.fromkeys(search for stored in continuing for search in stored.recommended_searches)
        )
    return batch.replace(
        judgements=(*(stored.judgement for stored in judgements.values()), *batch.judgements),
        scores=scores,
        score_reasons=reasons,
        recommendation=batch.recommendation or recommendation,
        gaps=gaps,
        recommended_searches=searches,
        model=batch.model or model,
    )
