"""Judge: reads works whole and judges each one for the question.

Code decides elsewhere whether the judgements suffice (`activities.roles.assessment`,
`workflows.rules.stopping`).
"""

from collections.abc import Sequence
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator

from activities.contracts.evidence import Evidence, Statement, Support
from activities.contracts.judge import (
    BACKGROUND,
    Design,
    Direction,
    DocumentKind,
    JudgeBatch,
    JudgeInput,
    Refused,
    WorkJudgement,
)
from activities.extractive import passages
from activities.roles.allowances import MAX_JUDGED_CHARS, PASSAGES_CHARS
from activities.roles.fields import Labels, Loose, OneWork, Score, SentenceLabels, Text, Texts, Truth, limits
from activities.roles.prompt import listing
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import clamp, line, lines, one_of, refusal, resolve, supports
from activities.roles.works import compose_works
from activities.verification import fields
from activities.verification.gate import Decision

MAX_GAPS = 3
MAX_SUPPORT = 3
"""Sentences of a judgement."""
MAX_FINDING_CHARS = 400
MAX_EARLIER_FINDINGS = 12
"""Findings of earlier batches that a prompt shows."""
MAX_OTHER_TITLES = 12
DESIGNS: tuple[Design, ...] = get_args(Design)
OTHER = "other"
ADVICE = ("continue", "synthesize")
DOCUMENT_KINDS: tuple[DocumentKind, ...] = get_args(DocumentKind)
KIND = "`kind` of a document: what it is, `other` for none of these. "
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
TASK = "Judge every work shown. Answer with JSON."


class WorkAnswer(Loose):
    work: OneWork = ""
    answers: Score = 0
    direction: Text = "not_asked"
    role: Text = "background"
    finding: Text = limits(length=MAX_FINDING_CHARS, default="")
    sentences: SentenceLabels = limits(items=MAX_SUPPORT, default_factory=list)
    comparator: Text = limits(length=120, default="")
    compares: Truth = None
    participants: Score = 0
    design: Text = ""
    design_from: Labels = limits(items=MAX_SUPPORT, default_factory=list)
    kind: Text = ""
    reason: Text = limits(length=90, default="")


def _score_or_zero(value: object) -> object:
    """Read a score without a number as 0: a criterion that was named and not scored is not met."""
    return value if isinstance(value, int | float) or any(map(str.isdigit, str(value))) else 0


class ScoreAnswer(Loose):
    criterion: Text = limits(length=60)
    score: Annotated[Score, BeforeValidator(_score_or_zero)]
    reason: Text = limits(length=90, default="")


def _score_rows(value: object) -> object:
    """Read `{"sources": 6}` as a list of entries."""
    if isinstance(value, dict) and not value.keys() & {"criterion", "score"}:
        return [{"criterion": name, "score": score} for name, score in value.items()]
    return value


class JudgeAnswer(Loose):
    works: list[WorkAnswer]
    scores: Annotated[list[ScoreAnswer], BeforeValidator(_score_rows)] = limits(items=8, default_factory=list)
    recommendation: Text = limits(length=12, default="")
    gaps: Texts = limits(items=MAX_GAPS, length=200, default_factory=list)
    searches: Texts = limits(items=MAX_GAPS, length=120, default_factory=list)


def render(step: JudgeInput, documents: Sequence[Evidence], room: int) -> Prompt:
    criteria = "\n".join(f"- {c.name}: {line(c.description, 200)}" for c in step.profile.criteria)
    findings = [f"answers {j.answers}: {j.finding}" for j in step.judged if j.answers > 1 and j.finding]
    has_kinds = any(document.evidence_type == "document" for document in documents)
    prompt = compose_works(
        "judge",
        step,
        documents,
        room=room,
        inputs=[
            f"Criteria:\n{criteria}",
            listing("Works judged before", findings, MAX_EARLIER_FINDINGS, 160),
            listing("Also found", step.titles, MAX_OTHER_TITLES, 100),
        ],
        task=KIND + TASK if has_kinds else TASK,
        chars=MAX_JUDGED_CHARS,
        passages=PASSAGES_CHARS,
    )
    prompt.choices.update(
        {
            "works.direction": DIRECTIONS,
            "works.role": (*step.profile.roles, BACKGROUND),
            "scores.criterion": tuple(c.name for c in step.profile.criteria),
            "works.design": (*DESIGNS, OTHER),
            "recommendation": ADVICE,
            "works.kind": (*DOCUMENT_KINDS, OTHER) if has_kinds else (),
        }
    )
    return prompt


def accept(step: JudgeInput, prompt: Prompt, answer: JudgeAnswer) -> Accepted[JudgeBatch]:
    """Accept judgements of the works that were shown, each once, without what a work does not say.

    Scores are of the profile's criteria only, within 0 and 10; a criterion without a score has none.
    """
    refusals: list[Refused] = []
    judgements: dict[str, WorkJudgement] = {}
    for work in answer.works:
        document = prompt.works.get(work.work)
        if document is None:
            text = work.finding or work.reason or work.work
            refusals.append(refusal("judgement", text, "label_unknown", label=line(work.work, 40)))
        elif document.evidence_id not in judgements:
            judgements[document.evidence_id] = _judge(work, document, prompt, refusals)
    criteria = [c.name for c in step.profile.criteria]
    entries = {
        name: entry
        for entry in reversed(answer.scores)
        if (name := one_of(entry.criterion, criteria)) is not None
    }
    missing = len(prompt.works) - len(judgements)
    notes = (Statement.of("not_judged", works=missing),) if missing else ()
    batch = JudgeBatch(
        judgements=tuple(judgements.values()),
        scores={name: int(clamp(entries[name].score, 0, 10)) for name in criteria if name in entries},
        score_reasons={name: line(entry.reason, 200) for name, entry in entries.items() if entry.reason},
        gaps=lines(answer.gaps, MAX_GAPS),
        recommended_searches=lines(answer.searches, MAX_GAPS, 160),
        recommendation=one_of(answer.recommendation, ADVICE) or "",
        refused=tuple(refusals),
        model=step.model.model,
    )
    return Accepted(batch, notes)


def _judge(work: WorkAnswer, document: Evidence, prompt: Prompt, refusals: list[Refused]) -> WorkJudgement:
    """Make a judgement of what its own work bears out: sentences of that work, and fields that it says."""
    name = document.evidence_id
    sentences, labels = resolve(work.sentences, prompt)
    own_sentences = [sentence for sentence in sentences if sentence.evidence_id == name][:MAX_SUPPORT]
    support = supports(own_sentences)
    refusals += [
        refusal("judgement", work.finding or label, "label_unknown", [name], label=label) for label in labels
    ]
    if len(own_sentences) < len(sentences) and work.finding:
        refusals.append(refusal("judgement", work.finding, "other_work", [name]))
    corpus = f"{document.title}\n{document.text}"

    def keep(field: str, text: str, decision: Decision) -> str:
        """Return what stands; list what does not as refused, under the name of its field."""
        if text and decision.refusal is not None:
            refusals.append(refusal("judgement", f"{field}{text}", decision.refusal, [name]))
        return text if text and decision.stands else ""

    design, design_support, text = _design(work, document, prompt)
    people = keep(
        "participants: ", str(work.participants or ""), fields.participants(work.participants, text)
    )
    comparator = line(work.comparator, 160)
    finding = line(work.finding, MAX_FINDING_CHARS + 20)
    quote = line(support[0].quote, 600) if support else ""
    reason = line(work.reason, 120)
    return WorkJudgement(
        evidence_id=name,
        answers=int(clamp(work.answers, 0, 3)),
        direction=one_of(work.direction, DIRECTIONS) or "not_asked",
        role=one_of(work.role, prompt.choices["works.role"]) or BACKGROUND,
        finding=keep("", finding, fields.finding(finding, support)) or quote,
        support=support,
        comparator=keep("comparator: ", comparator, fields.field(comparator, corpus)),
        compares=work.compares is True,
        participants=int(people) if people else None,
        design=design,
        design_support=design_support,
        kind=(one_of(work.kind, DOCUMENT_KINDS) or "") if document.evidence_type == "document" else "",
        reason=reason if fields.reason(reason, corpus).stands else "",
    )


def _design(
    work: WorkAnswer, document: Evidence, prompt: Prompt
) -> tuple[Design | Literal[""], tuple[Support, ...], str]:
    """Return the design, the sentences that were named for it and their words; none where none was named."""
    sentences = [s for s in resolve(work.design_from, prompt)[0] if s.evidence_id == document.evidence_id]
    title = (document.title,) if work.work in work.design_from else ()
    text = "\n".join((*title, *(sentence.quote for sentence in sentences)))
    design = one_of(work.design, DESIGNS) if text else None
    return design or "", supports(sentences), text


JUDGE = RoleSpec("judge", JudgeAnswer, render, accept, passages.judge, reads=True)
