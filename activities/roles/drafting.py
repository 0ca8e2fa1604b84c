"""What the two writers share: claims with quotes in, paragraphs of claims out."""

from collections.abc import Sequence

from pydantic import Field

from activities.roles.caution import cautious
from activities.roles.prompt import compose, listed
from activities.roles.role import Accepted, Prompt
from activities.roles.validation import (
    Loose,
    Quoted,
    Score,
    Text,
    Texts,
    line,
    lines,
    plural,
    supports,
)
from activities.steps import DraftClaim, DraftParagraph, Role, SectionDraft, WriteInput
from activities.types import Evidence, Support

CLAIM_CHARS = 600
MOST_CLAIMS = 40
NOTHING_FOUND = "No evidence was found that could be cited here."


class ClaimAnswer(Loose):
    paragraph: Score = 1
    text: Text
    item: Text
    quote: Text
    contradicts: Text = ""


class DraftAnswer(Loose):
    title: Text = ""
    claims: list[ClaimAnswer]
    limitations: Texts = Field(default_factory=list)


def render(role: Role, step: WriteInput, documents: Sequence[Evidence], room: int, task: str) -> Prompt:
    """The writer's prompt: fuller text of fewer items than the judge sees."""
    chains = [
        " -> ".join(part for part in (h.drug, h.target, h.pathway, h.effect) if part) for h in step.hypotheses
    ]
    stopped = step.stop_reason.replace("_", " ")
    return compose(
        role,
        step,
        room=room,
        given=[
            f"Title: {line(step.title, 160)}" if step.title else "",
            f"The search ended because: {stopped}.",
            listed("Hypotheses so far", chains, limit=6),
            listed("Claims of earlier sections", [claim.text for claim in step.written[-20:]], 20, 160),
            listed("Questions that other sections answer", step.other_sections, 20, 160),
            listed(
                "Items that another section reports (cite one only for a statement this section needs)",
                [document.title for document in documents if document.evidence_id in set(step.shared)],
                12,
                120,
            ),
        ],
        documents=documents,
        per_item=2_400,
        at_most=20,
        best_first=True,
        task=task,
    )


def accept(step: WriteInput, prompt: Prompt, answer: DraftAnswer) -> Accepted[SectionDraft]:
    """Claims that rest on an item that was shown, in paragraphs. The same sentence on two items is one
    claim."""
    paragraphs: dict[int, dict[str, tuple[list[Support], list[str]]]] = {}
    unknown = 0
    for claim in answer.claims[:MOST_CLAIMS]:
        text = line(claim.text, CLAIM_CHARS)
        support, missed = supports([Quoted(item=claim.item, quote=claim.quote)], prompt)
        if not text or not support:
            unknown += missed or 1
            continue
        held, against = paragraphs.setdefault(claim.paragraph, {}).setdefault(text, ([], []))
        held += [one for one in support if one not in held]
        if claim.contradicts.strip():
            against.append(line(claim.contradicts, CLAIM_CHARS))
    drafted = tuple(
        DraftParagraph(
            claims=tuple(
                DraftClaim(text=text, support=tuple(held), contradicts=tuple(dict.fromkeys(against)))
                for text, (held, against) in claims.items()
            )
        )
        for _, claims in sorted(paragraphs.items())
    )
    limits = lines(answer.limitations, 4)
    cautions = tuple(text for text in limits if cautious(text, step.question))
    notes = [f"{plural(unknown, 'claim')} of the draft cited nothing that was shown"] if unknown else []
    if len(cautions) < len(limits):
        dropped = plural(len(limits) - len(cautions), "limitation")
        notes.append(f"{dropped} went beyond what evidence cannot tell and had no quote")
    draft = SectionDraft(
        title=line(answer.title, 160) or step.title,
        paragraphs=drafted,
        limitations=cautions,
    )
    return Accepted(draft, tuple(notes))


def by_code(step: WriteInput, documents: Sequence[Evidence]) -> SectionDraft | None:
    return None if documents else SectionDraft(title=step.title, limitations=(NOTHING_FOUND,))
