"""Hypothesis generator: drug -> target -> pathway -> effect, with what speaks for and against."""

from collections.abc import Sequence

from activities.candidates.passages import Passages
from activities.candidates.reading import standing_of
from activities.contracts.evidence import Evidence, Statement, Support
from activities.contracts.judge import Hypotheses, HypothesisInput, MechanismHypothesis
from activities.extractive.candidates import hypothesise
from activities.roles.fields import Loose, SentenceLabels, Share, Text, Texts, limits
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import clamp, line, lines, resolve, supports
from activities.roles.works import compose_works
from activities.text.tokens import is_named

MAX_WORK_CHARS = 1_600
"""Characters of a work that are shown: the sentences nearest to the question."""


class HypothesisAnswer(Loose):
    drug: Text = limits(length=80)
    generic_name: Text = limits(length=80, default="")
    target: Text = limits(length=120, default="")
    pathway: Text = limits(length=160, default="")
    effect: Text = limits(length=200, default="")
    confidence: Share = 0.0
    supporting: SentenceLabels = limits(items=3, default_factory=list)
    contradicting: SentenceLabels = limits(items=2, default_factory=list)
    safety: SentenceLabels = limits(items=3, default_factory=list)
    current_indications: Texts = limits(items=4, length=100, default_factory=list)
    regulatory_status: Text = limits(length=120, default="")
    trial_status: Text = limits(length=120, default="")
    search_suggestions: Texts = limits(items=3, length=100, default_factory=list)


class HypothesesAnswer(Loose):
    hypotheses: list[HypothesisAnswer] = limits(items=6)


def render(step: HypothesisInput, documents: Sequence[Evidence], room: int) -> Prompt:
    restriction = f"Only these drugs: {line(', '.join(step.chosen), 600)}" if step.chosen else ""
    return compose_works(
        "hypothesis_generator",
        step,
        documents,
        room=room,
        inputs=[restriction],
        task=f"Name at most {step.max_candidates} drugs. Answer with JSON.",
        chars=MAX_WORK_CHARS,
    )


def accept(step: HypothesisInput, prompt: Prompt, answer: HypothesesAnswer) -> Accepted[Hypotheses]:
    """Accept only drugs that the shown items name and that a quote of a shown item supports.

    What is said of them stands only in the items' words.
    """
    corpus = "\n".join(f"{e.title}\n{e.text}" for e in prompt.works.values())

    def grounded(text: str, max_chars: int) -> str:
        field = line(text, max_chars)
        return field if passages.places_of(field) is not None else ""

    allowed = {name.casefold() for name in step.chosen}
    hypotheses: dict[str, MechanismHypothesis] = {}
    dropped_count = 0
    for hypothesis in answer.hypotheses:
        drug = line(hypothesis.drug, 120)
        supporting = _of_drug(drug, hypothesis.supporting, prompt)
        contradicting = _of_drug(drug, hypothesis.contradicting, prompt)
        is_allowed = not allowed or drug.casefold() in allowed
        if not is_named(drug, corpus) or not supporting or not is_allowed:
            dropped_count += 1
            continue
        generic = line(hypothesis.generic_name, 120)
        safety = _of_drug(drug, hypothesis.safety, prompt)
        records = standing_of(drug, tuple(prompt.works.values())).quotes
        cites = {record.evidence_id for record in (*supporting, *contradicting, *safety, *records)}
        works = [item for item in prompt.works.values() if item.evidence_id in cites]
        passages = Passages(works, drug, generic)
        hypotheses.setdefault(
            drug.casefold(),
            MechanismHypothesis(
                drug=drug,
                generic_name=generic if is_named(generic, corpus) else "",
                target=grounded(hypothesis.target, 160),
                pathway=grounded(hypothesis.pathway, 200),
                effect=grounded(hypothesis.effect, 240),
                confidence=clamp(hypothesis.confidence, 0.0, 1.0),
                supporting_evidence=supporting,
                contradicting_evidence=contradicting,
                current_indications=lines((grounded(i, 120) for i in hypothesis.current_indications), 5, 120),
                regulatory_status=grounded(hypothesis.regulatory_status, 160),
                trial_status=grounded(hypothesis.trial_status, 160),
                search_suggestions=lines(hypothesis.search_suggestions, 3, 200),
                safety=safety,
                records=records,
            ),
        )
    notes = (Statement.of("candidates_unsupported", candidates=dropped_count),) if dropped_count else ()
    return Accepted(Hypotheses(hypotheses=tuple(hypotheses.values())[: step.max_candidates]), notes)


def _of_drug(drug: str, labels: Sequence[str], prompt: Prompt) -> tuple[Support, ...]:
    """Return the sentences that were named, of works that name the drug."""
    works = {item.evidence_id: f"{item.title}\n{item.text}" for item in prompt.works.values()}
    sentences, _ = resolve(labels, prompt)
    return supports(sentence for sentence in sentences if is_named(drug, works[sentence.evidence_id]))


HYPOTHESIS_GENERATOR = RoleSpec(
    "hypothesis_generator", HypothesesAnswer, render, accept, hypothesise, reads=True
)
