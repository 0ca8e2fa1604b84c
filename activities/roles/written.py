"""The sentences that a writer returns, as claims: what each rests on, and what code finds of it."""

from collections.abc import Iterable, Sequence

from activities.drafts import DraftClaim
from activities.judgements import Refused
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
from activities.types import Statement, Support
from activities.verification.wording import follows, sources_of, wording_problem

MAX_CLAIM_CHARS = 600
MAX_LABELS = 8
"""Sentences that one sentence may rest on."""


class Written(Loose):
    """One sentence and what it rests on."""

    text: Text = limits(length=MAX_CLAIM_CHARS, default="")
    rests_on: SentenceLabels = limits(items=MAX_LABELS, default_factory=list)


def claims_of(given: Iterable[Written], prompt: Prompt, refused: list[Refused]) -> tuple[DraftClaim, ...]:
    """The sentences as claims, each once; one that names nothing that was shown is recorded in `refused`."""
    claims: dict[str, DraftClaim] = {}
    for sentence in given:
        text = line(sentence.text, MAX_CLAIM_CHARS + 20)
        if not text:
            continue
        sentences, unknown = cited(sentence.rests_on[:MAX_LABELS], prompt)
        if not sentences:
            label = ", ".join(unknown)
            code = "label_unknown" if unknown else "cites_nothing"
            refused.append(refusal("claim", text, code, label=label))
            continue
        claims.setdefault(text, checked(text, supports(sentences), prompt, unknown))
    return tuple(claims.values())


def checked(
    text: str, support: tuple[Support, ...], prompt: Prompt, unknown: Sequence[str] = ()
) -> DraftClaim:
    """A sentence as a claim, with what code finds of it."""
    documents = {document.evidence_id: document for document in prompt.shown.values()}
    problem: Statement | None
    if unknown:
        problem = Statement(code="label_unknown", values={"label": ", ".join(unknown)})
    elif is_cut(text):
        problem = Statement(code="text_cut")
    else:
        problem = wording_problem(text, sources_of(support, documents))
    if problem is not None:
        return DraftClaim(text=text, support=support, state="failed", problem=problem)
    one_work = len({one.evidence_id for one in support}) == 1
    if one_work and any(follows(text, one.quote) for one in support):
        return DraftClaim(text=text, support=support)
    return DraftClaim(text=text, support=support, state="unverified")


def is_cut(text: str) -> bool:
    """Whether a text ends at its length limit and not where its sentence ends."""
    return len(text) >= MAX_CLAIM_CHARS - 10 and not text.endswith((".", "!", "?", ")", '"'))
