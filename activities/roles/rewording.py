"""The writer's second task: paragraphs with sentences that were refused, written once more without them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from activities.contracts.evidence import Evidence, Support
from activities.contracts.write import DraftClaim, DraftParagraph, SectionDraft, SentenceKind, WriteInput
from activities.report.formats.statements import sentence as in_words
from activities.roles.fields import Loose, OneClaim, SentenceLabels, Text, Texts, Truth, limits
from activities.roles.prompt import fenced
from activities.roles.role import Prompt, prompt_text
from activities.roles.validation import cited, sentence_text, supports
from activities.roles.works import compose_works
from activities.verification import gate
from activities.verification.computed import MAX_EXPRESSION_CHARS
from activities.verification.gate import MAX_CLAIM_CHARS
from activities.verification.verdicts import is_rewordable, leaning_on_refused

MAX_LABELS = 16
"""Sentences that one sentence may rest on."""
MAX_COMPUTED = 4
"""Computations that one sentence shows."""
MAX_CHARS = 1_500
"""Characters of a work that are shown: what the sentences quote, its neighbours, and what is nearest."""
TASK_AGAIN = "Write the refused sentences once more. Answer with JSON."


class WrittenAgain(Loose):
    claim: OneClaim = ""
    text: Text = limits(length=MAX_CLAIM_CHARS, default="")
    rests_on: SentenceLabels = limits(items=MAX_LABELS, default_factory=list)
    computed: Texts = limits(items=MAX_COMPUTED, length=MAX_EXPRESSION_CHARS, default_factory=list)
    leans: Truth = None


class AgainAnswer(Loose):
    sentences: list[WrittenAgain]


def render_again(step: WriteInput, documents: Sequence[Evidence], room: int) -> Prompt:
    """Show the paragraphs with refused sentences, the reason of each, and the works they cite."""
    named: dict[str, list[str]] = {}
    labels: dict[str, str] = {}
    rows: list[str] = []
    for paragraph in step.failed:
        if rows:
            rows.append("")
        leaning = leaning_on_refused(paragraph.claims)
        for claim in paragraph.claims:
            labels[label := f"C{len(labels) + 1}"] = claim.id
            why = in_words(claim.problem) if claim.problem else "not verified"
            refused = f" (refused: {why})" if claim.state != "stands" else ""
            rows.append(f"{label}: {claim.text}{refused}{' (leans on it)' if claim.id in leaning else ''}")
            if refused or claim.id in leaning:
                for support in claim.support:
                    named.setdefault(support.evidence_id, []).append(support.quote)
    prompt = compose_works(
        "writer",
        step.replace(prompt=prompt_text("rewording")),
        [document for document in documents if document.evidence_id in named],
        room=room,
        inputs=["Paragraphs:\n" + fenced("claims", "\n".join(rows))],
        named=named,
        task=TASK_AGAIN,
        chars=MAX_CHARS,
    )
    choices = {**prompt.choices, "ClaimLabel": tuple(labels)}
    return replace(prompt, choices=choices, claims=labels, notes=(), answer=AgainAnswer)


def checked(
    text: str,
    support: tuple[Support, ...],
    prompt: Prompt,
    shown: Sequence[str] = (),
    unknown: Sequence[str] = (),
    kind: SentenceKind = "finding",
) -> DraftClaim:
    """Make a sentence a claim, with what the gate decides of it. `shown`: its computations."""
    documents = {document.evidence_id: document for document in prompt.shown.values()}
    support = () if kind == "missing" else support
    claim = DraftClaim(text=text, support=support, kind=kind)
    if unknown and support:
        return gate.decided(claim, gate.refused("label_unknown", label=", ".join(unknown)))
    return gate.decided(claim, gate.sentence(text, kind, support, documents, prompt.question, shown=shown))


def accept_again(step: WriteInput, prompt: Prompt, answer: AgainAnswer) -> SectionDraft:
    """Accept second wordings under the ids of the first ones: of what was refused, and what leans on that.

    A refused sentence that the model did not write again is left out.
    """
    rows = [one for paragraph in step.failed for one in paragraph.claims]
    leaning = {name for paragraph in step.failed for name in leaning_on_refused(paragraph.claims)}
    first = {one.id: one for one in rows if is_rewordable(one) or one.id in leaning}
    again: dict[str, DraftClaim] = {}
    for written in answer.sentences:
        name = prompt.claims.get(written.claim)
        text = sentence_text(written.text)
        if name is None or name not in first or name in again or not text:
            continue
        sentences, unknown = cited(written.rests_on[:MAX_LABELS], prompt)
        support = supports(sentences) or (first[name].support if name in leaning else ())
        claim = checked(text, support, prompt, written.computed, unknown)
        again[name] = claim.replace(id=name, reworded=True, leans=written.leans is True)

    def second(one: DraftClaim) -> Iterator[DraftClaim]:
        claim = again.get(one.id)
        if claim is not None and claim.state != "refused":
            yield claim
        elif claim is not None and one.state == "refused":  # its first quotes stand in its place
            yield one.replace(problem=claim.problem, reworded=True)
        elif claim is None and one.state == "refused":
            yield one.replace(state="out")

    claims = tuple(new for one in first.values() for new in second(one))
    return SectionDraft(paragraphs=(DraftParagraph(claims=claims),) if claims else ())
