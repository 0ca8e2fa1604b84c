"""The sentences that a writer returns, as claims: what each rests on, and what the gate decides of it."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator

from activities.contracts.evidence import Support
from activities.contracts.judge import Refused
from activities.contracts.write import DraftClaim, SentenceKind
from activities.roles.role import Prompt
from activities.roles.validation import (
    Loose,
    SentenceLabels,
    Text,
    cited,
    limits,
    line,
    refusal,
    supports,
)
from activities.verification import gate
from activities.verification.gate import MAX_CLAIM_CHARS

MAX_LABELS = 16
"""Sentences that one sentence may rest on."""
WrittenKind = Literal["finding", "synthesis", "computed", "missing"]
"""What a writer calls its sentences; the first one where it says nothing."""
KINDS: tuple[WrittenKind, ...] = get_args(WrittenKind)


class Written(Loose):
    kind: Annotated[WrittenKind, BeforeValidator(lambda kind: kind if kind in KINDS else KINDS[0])] = KINDS[0]
    text: Text = limits(length=MAX_CLAIM_CHARS, default="")
    rests_on: SentenceLabels = limits(items=MAX_LABELS, default_factory=list)


def claims_of(written: Iterable[Written], prompt: Prompt, refused: list[Refused]) -> tuple[DraftClaim, ...]:
    """The sentences as claims, each once; one that may not go without a quote and names nothing that was
    shown is recorded in `refused`."""
    claims: dict[str, DraftClaim] = {}
    for sentence in written:
        text = line(sentence.text, MAX_CLAIM_CHARS + 20)
        if not text:
            continue
        sentences, unknown = cited(sentence.rests_on[:MAX_LABELS], prompt)
        claim = checked(text, supports(sentences), prompt, unknown, sentence.kind)
        if claim.state == "refused" and not claim.support:
            label = ", ".join(unknown)
            code = "label_unknown" if unknown else claim.problem or "cites_nothing"
            refused.append(refusal("claim", text, code, **{"label": label} if unknown else {}))
            continue
        claims.setdefault(text, claim)
    return tuple(claims.values())


def checked(
    text: str,
    support: tuple[Support, ...],
    prompt: Prompt,
    unknown: Sequence[str] = (),
    kind: SentenceKind = "finding",
) -> DraftClaim:
    """A sentence as a claim, with what the gate decides of it."""
    documents = {document.evidence_id: document for document in prompt.shown.values()}
    if kind == "missing":  # a sentence that denies nothing is a finding, whatever it is called
        kind, support = (kind, ()) if gate.denies(text) else ("finding", support)
    claim = DraftClaim(text=text, support=support, kind=kind)
    if unknown and support:
        return gate.decided(claim, gate.refused("label_unknown", label=", ".join(unknown)))
    return gate.decided(claim, gate.sentence(text, kind, support, documents, prompt.question))
