"""Judge: reads works whole and judges each one for the question. Whether the judgements suffice is decided by
code elsewhere (`activities.roles.assessment`, `workflows.rules.stopping`).

A small model is asked about one work a call, in two words; code chooses the sentences.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator

from activities.iterations import Recommendation
from activities.judgements import BACKGROUND, Direction, Refused, WorkJudgement
from activities.models.tokens import estimate
from activities.roles.allowances import PASSAGES_CHARS, SMALL_MODEL_WORK_CHARS
from activities.roles.prompt import clip, fenced, left_out, listed
from activities.roles.role import Accepted, Prompt, RoleSpec, prompt_file
from activities.roles.validation import (
    Loose,
    OneWork,
    Score,
    SentenceLabels,
    Text,
    Texts,
    cited,
    clamped,
    limits,
    line,
    lines,
    refusal,
    supports,
)
from activities.roles.works import compose_works, show
from activities.steps import JudgeBatch, JudgeInput
from activities.text.entities import link
from activities.text.question_form import asks_yes_or_no
from activities.text.sentences import Sentence
from activities.types import Evidence
from activities.verification import gate
from activities.verification.wording import unknown_name

MAX_GAPS = 3
MAX_SUPPORT = 3
"""Sentences of a judgement."""
MAX_FINDING_CHARS = 400
MAX_JUDGED_SHOWN = 12
"""Findings of earlier batches that a prompt shows."""
MAX_TITLES_SHOWN = 12
ADVICE: dict[str, Recommendation] = {"continue": "continue", "synthesize": "synthesize"}
DIRECTIONS: tuple[Direction, ...] = ("yes", "no", "mixed", "not_asked")
TASK = "Judge every work shown. Answer with JSON."
SURE = 0.55
"""Share of probability of a small model's "yes" from which a work answers, where the server gives it: 8
abstracts that answer were at 0.64 and more, 13 of 14 asked about another thing at 0.53 and less."""
SAYS_NO, SAYS_YES = 0.6, 0.85
"""The same of the answer that a work gives: small models say yes too readily. Between them no direction is
given."""


class WorkAnswer(Loose):
    work: OneWork = ""
    answers: Score = 0
    direction: Text = "not_asked"
    role: Text = "background"
    finding: Text = limits(length=MAX_FINDING_CHARS, default="")
    sentences: SentenceLabels = limits(items=MAX_SUPPORT, default_factory=list)
    comparator: Text = limits(length=120, default="")
    participants: Score = 0
    design: Text = limits(length=60, default="")
    reason: Text = limits(length=90, default="")


class ScoreAnswer(Loose):
    criterion: Text = limits(length=60)
    score: Score
    reason: Text = limits(length=90, default="")


def _entries(value: object) -> object:
    """`{"sources": 6}` as a list of entries."""
    if isinstance(value, dict) and not value.keys() & {"criterion", "score"}:
        return [{"criterion": name, "score": score} for name, score in value.items()]
    return value


class JudgeAnswer(Loose):
    works: list[WorkAnswer]
    scores: Annotated[list[ScoreAnswer], BeforeValidator(_entries)] = limits(items=8, default_factory=list)
    recommendation: Text = limits(length=12, default="")
    gaps: Texts = limits(items=MAX_GAPS, length=200, default_factory=list)
    searches: Texts = limits(items=MAX_GAPS, length=120, default_factory=list)


class ShortJudgeAnswer(Loose):
    """What a small model is asked of one work."""

    answers: Text = ""


class ShortDirectedAnswer(ShortJudgeAnswer):
    """The same for a yes-or-no question."""

    says: Text = ""


def render(step: JudgeInput, documents: Sequence[Evidence], room: int) -> Prompt:
    if step.model.effort == "small":
        return _render_small(step, documents, room)
    criteria = "\n".join(f"- {c.name}: {line(c.description, 200)}" for c in step.profile.criteria)
    judged = [f"answers {j.answers}: {j.finding}" for j in step.judged if j.answers > 1 and j.finding]
    prompt = compose_works(
        "judge",
        step,
        documents,
        room=room,
        given=[
            f"Criteria:\n{criteria}",
            listed("Works judged before", judged, MAX_JUDGED_SHOWN, 160),
            listed("Also found", step.titles, MAX_TITLES_SHOWN, 100),
        ],
        task=TASK,
        passages=PASSAGES_CHARS,
    )
    prompt.choices.update(
        {
            "works.direction": DIRECTIONS,
            "works.role": (*step.profile.roles, BACKGROUND),
            "scores.criterion": tuple(c.name for c in step.profile.criteria),
            "recommendation": tuple(ADVICE),
        }
    )
    return prompt


def _render_small(step: JudgeInput, documents: Sequence[Evidence], room: int) -> Prompt:
    """The work first, the question after it: of another question about that work a server reads only the
    question (docs/models.md)."""
    file = prompt_file("judge", evidence=True, small=True)
    sound = [document for document in documents[:1] if document.standing != "retracted"]
    steering = "".join(f"The reviewer says: {clip(text, 200)}\n" for text in step.steering[-1:])
    directed = asks_yes_or_no(step.question)
    asked = ", and which answer does it give?" if directed else "?"
    task = f"Question: {clip(step.question, 400)}\n{steering}Does the text answer this question{asked}"
    left = room - estimate(file.text, f"Text:\n{fenced('text', '')}\n\n{task}")
    works = show(step.question, sound, left, chars=SMALL_MODEL_WORK_CHARS, labelled=False)
    return Prompt(
        file.text,
        f"Text:\n{fenced('text', works.text)}\n\n{task}",
        file.version,
        shown=works.items,
        choices=dict.fromkeys(("answers", "says") if directed else ("answers",), ("yes", "no")),
        weigh=True,
        notes=left_out(len(works.items), len(sound)),
        answer=ShortDirectedAnswer if directed else ShortJudgeAnswer,
    )


def accept(step: JudgeInput, prompt: Prompt, answer: JudgeAnswer | ShortJudgeAnswer) -> Accepted[JudgeBatch]:
    """Judgements of the works that were shown, each once; what a work does not say is left out of them.
    Scores of the profile's criteria only, within 0 and 10; a criterion without a score has none."""
    if isinstance(answer, ShortJudgeAnswer):
        return Accepted(_accept_small(step, prompt, answer))
    refused: list[Refused] = []
    judged: dict[str, WorkJudgement] = {}
    for given in answer.works:
        document = prompt.shown.get(given.work)
        if document is None:
            text = given.finding or given.reason or given.work
            refused.append(refusal("judgement", text, "label_unknown", label=line(given.work, 40)))
        elif document.evidence_id not in judged:
            judged[document.evidence_id] = _judgement(given, document, prompt, refused)
    criteria = {c.name.casefold(): c.name for c in step.profile.criteria}
    scored = {
        criteria[name]: entry
        for entry in reversed(answer.scores)
        if (name := entry.criterion.strip().casefold()) in criteria
    }
    missing = len(prompt.shown) - len(judged)
    notes = (f"{missing} of the works shown were not judged",) if missing else ()
    batch = JudgeBatch(
        judgements=tuple(judged.values()),
        scores={
            name: int(clamped(scored[name].score, 0, 10)) for name in criteria.values() if name in scored
        },
        score_reasons={name: line(entry.reason, 200) for name, entry in scored.items() if entry.reason},
        gaps=lines(answer.gaps, MAX_GAPS),
        recommended_searches=lines(answer.searches, MAX_GAPS, 160),
        recommendation=ADVICE.get(answer.recommendation.strip().casefold(), ""),
        refused=tuple(refused),
        model=step.model.model,
    )
    return Accepted(batch, notes)


def _judgement(
    given: WorkAnswer, document: Evidence, prompt: Prompt, refused: list[Refused]
) -> WorkJudgement:
    """A judgement with what its own work bears out: sentences of that work, and fields that it says."""
    name = document.evidence_id
    sentences, unknown = cited(given.sentences, prompt)
    own = [one for one in sentences if one.evidence_id == name][:MAX_SUPPORT]
    support = supports(own)
    refused += [
        refusal("judgement", given.finding or label, "label_unknown", [name], label=label)
        for label in unknown
    ]
    if len(own) < len(sentences) and given.finding:
        refused.append(refusal("judgement", given.finding, "other_work", [name]))
    corpus = f"{document.title}\n{document.text}"

    def kept(field: str, text: str, decision: gate.Decision) -> str:
        """What stands; what does not is listed as refused, under the name of its field."""
        if text and decision.refusal is not None:
            refused.append(refusal("judgement", f"{field}{text}", decision.refusal, [name]))
        return text if text and decision.stands else ""

    people = kept(
        "participants: ", str(given.participants or ""), gate.participants(given.participants, corpus)
    )
    roles = prompt.choices["works.role"]
    comparator, design = line(given.comparator, 160), line(given.design, 80)
    finding = line(given.finding, MAX_FINDING_CHARS + 20)
    quote = line(support[0].quote, 600) if support else ""
    reason = line(given.reason, 120)
    return WorkJudgement(
        evidence_id=name,
        answers=int(clamped(given.answers, 0, 3)),
        direction=next((d for d in DIRECTIONS if d == given.direction.strip().casefold()), "not_asked"),
        role=next((r for r in roles if r == given.role.strip().casefold()), BACKGROUND),
        finding=kept("", finding, gate.finding(finding, support, document)) or quote,
        support=support,
        comparator=kept("comparator: ", comparator, gate.field(comparator, corpus)),
        participants=int(people) if people else None,
        design=kept("design: ", design, gate.design(design, document)),
        reason=reason if gate.reason(reason, corpus).stands else "",
    )


def _accept_small(step: JudgeInput, prompt: Prompt, answer: ShortJudgeAnswer) -> JudgeBatch:
    """`answers` as a grade: one word of a small model leaves no work out of the report. Code chooses the
    sentence. A direction is read from probabilities only: the word itself is yes too often."""
    document = next(iter(prompt.shown.values()), None)
    if document is None:
        return JudgeBatch(model=step.model.model)
    said = answer.answers.strip().casefold() == "yes"
    share = prompt.shares.get("answers", {}).get("yes")
    if share is None and answer.answers.strip().casefold() not in ("yes", "no"):
        return JudgeBatch(model=step.model.model)  # an answer that cannot be read judges nothing
    grade = 3 if (said if share is None else share >= SURE) else 1
    best = best_sentences(step.question, document, 1)
    support = supports(best) if grade >= 2 else ()
    judgement = WorkJudgement(
        evidence_id=document.evidence_id,
        answers=grade,
        direction=_direction(prompt.shares.get("says", {}).get("yes")) if grade >= 2 else "not_asked",
        finding=line(support[0].quote, 600) if support else "",
        support=support,
    )
    return JudgeBatch(judgements=(judgement,), model=step.model.model)


def _direction(share: float | None) -> Direction:
    """Which answer a work gives, by the share of probability of "yes"."""
    if share is None or SAYS_NO < share < SAYS_YES:
        return "not_asked"
    return "yes" if share >= SAYS_YES else "no"


def best_sentences(question: str, document: Evidence, most: int) -> list[Sentence]:
    """The sentences of a work that answer best, the best first."""
    from activities.text.ranking import rank

    (item,) = rank(question, [document])
    return [ranked.sentence for ranked in item.ranked[:most]]


def lacks_a_name(question: str, document: Evidence) -> bool:
    """Whether a question names a drug or a disease that a work does not, under any of its names."""
    work = f"{document.title}\n{document.text}"
    named = [entity.surface for entity in link(question) if entity.kind in ("drug", "disease")]
    return any(unknown_name(name.lower(), [work]) for name in named)


def by_code(step: JudgeInput, documents: Sequence[Evidence]) -> JudgeBatch | None:
    """Nothing is asked of works that were retracted; a small model only of a work that names what the
    question names: of 250 works that answer, 247 do."""
    if step.model.effort == "small" and any(lacks_a_name(step.question, one) for one in documents[:1]):
        judgement = WorkJudgement(evidence_id=documents[0].evidence_id, answers=1)
        return JudgeBatch(judgements=(judgement,), model=step.model.model)
    if any(document.standing != "retracted" for document in documents):
        return None
    return JudgeBatch(recommendation="continue", gaps=() if documents else (line(step.question, 300),))


SPEC = RoleSpec[JudgeInput, JudgeAnswer, JudgeBatch](
    "judge", JudgeAnswer, render, accept, lambda step: step.evidence, by_code
)
