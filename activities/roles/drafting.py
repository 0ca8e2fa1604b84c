"""Shared code of the two writers: it receives sentences to choose from and returns paragraphs of claims.

A model names sentences by their labels, orders them and may reword each; code fills in the quote. A wording
that is not supported by its quote is replaced by the sentence itself. An answer that quotes in place of
naming is read too, and its quotes are checked.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from pydantic.json_schema import SkipJsonSchema

from activities.drafts import DraftClaim, DraftParagraph, SectionDraft, UnusedReason, WriteInput
from activities.models.base import Review
from activities.models.structured import read_so_far
from activities.models.tokens import estimate
from activities.roles.allowances import size_of
from activities.roles.caution import cautious
from activities.roles.prompt import compose, fenced, left_out, listed
from activities.roles.role import Accepted, Prompt
from activities.roles.sentences import numbered
from activities.roles.validation import (
    Loose,
    Quoted,
    Score,
    Text,
    Texts,
    limits,
    line,
    lines,
    plural,
    supports,
)
from activities.steps import Role
from activities.text.ranking import RELEVANT, rank
from activities.text.sentences import readable
from activities.text.stance import same
from activities.text.tokens import terms, weak_stems
from activities.types import Evidence, Support
from activities.verification.quote_check import QuoteChecker, normalise, verbatim
from activities.verification.quote_check import worded as refusals_worded
from activities.verification.wording import wording_problem

CLAIM_CHARS = 600
MOST_CLAIMS = 40
MOST_PARAGRAPHS = 6
MOST_NAMED = 8
"""Failures that a repair turn names."""
EARLIER = 12
"""Claims of earlier sections a writer is shown, the latest ones."""
ON_TOPIC = RELEVANT / 2
"""Relevance (0 to 1) from which an item may answer the question; half of what code alone cites from. Where
the names that a work does not mention are left aside, 98 % of the works that answer are above it, and for
questions that nothing answers never two; on the other half of the sample's questions (as they are, reworded,
with a word exchanged, with the answer taken out) 96 % are, and for 8 % two."""
FEW_STANDING = 3
"""Claims that stand, below which a model of any size is held unable to write from this evidence."""
FILLED_PARAGRAPH = 4
"""Claims of a paragraph that code adds."""
UNLIMITED = 10**9
"""Token limit of a prompt whose parts were already measured."""
NOTHING_FOUND = "No evidence was found that could be cited here."


class ClaimAnswer(Loose):
    paragraph: Score = 1
    sentence: Text = ""
    text: Text = limits(length=260, default="")
    contradicts: Text = limits(length=260, default="")
    item: SkipJsonSchema[Text] = ""
    """With `quote`, in place of `sentence`: an answer that copies its quote."""
    quote: SkipJsonSchema[Text] = ""


class ShortClaim(Loose):
    """A claim as a small model is asked for it."""

    paragraph: Score = 1
    sentence: Text = ""
    text: Text = limits(length=200, default="")
    contradicts: Text = ""


class ShortDraft(Loose):
    """A draft as a small model is asked for it: titles and limitations of its own are copied from the example
    or made up."""

    claims: list[ShortClaim] = limits(items=8)


class DraftAnswer(Loose):
    title: Text = limits(length=120, default="")
    claims: list[ClaimAnswer] = limits(items=14)
    limitations: Texts = limits(items=3, length=160, default_factory=list)


def render(role: Role, step: WriteInput, documents: Sequence[Evidence], room: int, task: str) -> Prompt:
    """The writer's prompt: numbered sentences, as many as the model's size and the prompt's limit allow.
    Neither the reason the search ended nor the background is in it: small models copy them."""
    size = size_of(step.model)
    chains = [
        " -> ".join(part for part in (h.drug, h.target, h.pathway, h.effect) if part) for h in step.hypotheses
    ]
    earlier = {f"C{n}": claim.text for n, claim in enumerate(step.written[-EARLIER:], 1)}
    small = step.model.effort == "small"
    given = [
        f"Title: {line(step.title, 160)}" if step.title and not small else "",
        "" if small else listed("Hypotheses so far", chains, limit=6),
        listed(
            "Claims of earlier sections",
            [f"{label}: {text}" for label, text in earlier.items()],
            EARLIER,
            160,
        ),
        listed("Questions that other sections answer", step.other_sections, 20, 160),
        listed(
            "Items that another section reports (cite one only for a statement this section needs)",
            [document.title for document in documents if document.evidence_id in set(step.shared)],
            12,
            120,
        ),
    ]
    bare = step.model_copy(update={"background": ""})
    task = f"{task.format(most=size.claims)} Answer with JSON."
    frame = compose(role, bare, room=room, given=given, task=task, evidence=True)
    left = room - estimate(frame.system, frame.user) - 40
    shown = numbered(
        step.question,
        documents,
        most=size.sentences,
        an_item=size.sentences_an_item,
        room=left,
        helping_only=small,
    )
    sentences = "Sentences:\n" + fenced("evidence", shown.text)
    whole = compose(role, bare, room=UNLIMITED, given=[*given, sentences], task=task, evidence=True)
    labels = tuple(shown.sentences)
    return Prompt(
        whole.system,
        whole.user,
        whole.version,
        shown={f"E{n}": item for n, item in enumerate(shown.items, 1)},
        sentences=shown.sentences,
        choices={
            "claims.sentence": labels,
            "claims.contradicts": ("", *labels, *earlier) if labels else (),
        },
        notes=left_out(len(shown.items), sum(d.standing != "retracted" for d in documents)),
        answer=ShortDraft if small else None,
    )


Topic = Literal["on", "near", "beside", "off"]


@dataclass(slots=True)
class _Made:
    """A claim on its way into a paragraph."""

    text: str
    support: list[Support]
    against: list[str] = field(default_factory=list)
    label: str = ""
    topic: Topic = "off"


def accept(step: WriteInput, prompt: Prompt, answer: DraftAnswer) -> Accepted[SectionDraft]:
    """Claims that rest on what was shown, in paragraphs. The same sentence on two items is one claim."""
    made: dict[int, dict[str, _Made]] = {}
    unknown = reworded = 0
    topic = _Topic(step.question, list(prompt.shown.values()))
    for claim in answer.claims[:MOST_CLAIMS]:
        support, missed = support_of(claim, prompt)
        if not support:
            unknown += missed or 1
            continue
        text, kept = worded(line(claim.text, CLAIM_CHARS), support, prompt)
        reworded += not kept
        paragraph = made.setdefault(min(max(claim.paragraph, 1), MOST_PARAGRAPHS), {})
        one = paragraph.setdefault(text, _Made(text, [], label=claim.sentence.strip().upper()))
        one.topic = topic.of(support)
        one.support += [s for s in support if s not in one.support]
        if claim.contradicts.strip():
            one.against.append(claim.contradicts.strip())
    made, beside = on_topic(made, strict=step.model.effort == "small")
    texts = {one.label: one.text for paragraph in made.values() for one in paragraph.values() if one.label}
    texts |= {f"C{n}": claim.text for n, claim in enumerate(step.written[-EARLIER:], 1)}
    paragraphs = tuple(
        DraftParagraph(claims=tuple(_claim(one, texts, prompt) for one in paragraph.values()))
        for _, paragraph in sorted(made.items())
    )
    limitations = lines(answer.limitations, 4)
    cautions = tuple(text for text in limitations if cautious(text, step.question))
    notes = [f"{plural(unknown, 'claim')} of the draft cited nothing that was shown"] if unknown else []
    if beside:
        notes.append(f"{plural(beside, 'claim')} of the draft did not address the question")
    if reworded:
        notes.append(
            f"{plural(reworded, 'wording')} of the model said more or less than the quote: the source's "
            "words are used"
        )
    if len(cautions) < len(limitations):
        dropped = plural(len(limitations) - len(cautions), "limitation")
        notes.append(f"{dropped} made a factual statement without a quote")
    title = line(answer.title, 160)
    cited = {support.evidence_id for p in paragraphs for claim in p.claims for support in claim.support}
    draft = SectionDraft(
        title=title or step.title,
        paragraphs=paragraphs,
        limitations=cautions,
        unused=topic.unused(cited),
    )
    return Accepted(draft, tuple(notes))


def paragraphs_so_far(step: WriteInput, prompt: Prompt, text: str, least: int) -> tuple[str, ...]:
    """The paragraphs of an answer that is still coming: those before the one that its last claim belongs to,
    as they would be accepted if the answer ended there. Empty when they are fewer than `least`."""
    answer = read_so_far(text, DraftAnswer)
    if answer is None or not answer.claims:
        return ()
    last = min(max(claim.paragraph for claim in answer.claims), MOST_PARAGRAPHS)
    whole = [claim for claim in answer.claims if claim.paragraph < last]
    if len({claim.paragraph for claim in whole}) < least:
        return ()
    draft = accept(step, prompt, answer.model_copy(update={"claims": whole})).output
    return draft.texts if len(draft.paragraphs) >= least else ()


def support_of(claim: ClaimAnswer, prompt: Prompt) -> tuple[tuple[Support, ...], int]:
    """What a claim rests on: the sentence it names, else its quote of an item that was shown; and how many
    others it named."""
    sentence = prompt.sentences.get(claim.sentence.strip().strip("[]").upper())
    if sentence is not None:
        return (Support(evidence_id=sentence.evidence_id, quote=sentence.quote),), 0
    return supports([Quoted(item=claim.item, quote=claim.quote)], prompt)


def worded(text: str, support: Sequence[Support], prompt: Prompt) -> tuple[str, bool]:
    """The claim's text, and whether it is the model's: the sentence itself where the model has no words of
    its own or words that do not stand on it. A quote that is not in its item is left to the quote check."""
    items = {item.evidence_id: item for item in prompt.shown.values()}
    cited = [items[s.evidence_id] for s in support]
    if not all(verbatim(s.quote, item.text) for s, item in zip(support, cited, strict=True)):
        return text, True
    own = line(readable(support[0].quote), CLAIM_CHARS)
    if not text:
        return own, True
    years = [item.year for item in cited if item.year]
    problem = wording_problem(text, [s.quote for s in support], [item.title for item in cited], years)
    return (own, False) if problem else (text, True)


def _claim(one: _Made, texts: dict[str, str], prompt: Prompt) -> DraftClaim:
    """`contradicts` holds texts: a label is replaced by the claim it stands for, or left out where no claim
    does."""
    against = (
        texts.get(name.upper(), "" if name.upper() in prompt.sentences else line(name, CLAIM_CHARS))
        for name in one.against
    )
    return DraftClaim(
        text=one.text,
        support=tuple(one.support),
        contradicts=tuple(dict.fromkeys(text for text in against if text and text != one.text)),
    )


class _Topic:
    """How near to the question a claim is: `on` it when its item is relevant and mentions all that the
    question names, `near` it when the item is relevant but for something it does not mention, `beside` it
    when a word of the question is in the quote or the title, else `off`."""

    def __init__(self, question: str, documents: Sequence[Evidence]) -> None:
        self._items = {item.document.evidence_id: item for item in rank(question, documents)}
        self._words = set(terms(question)) - weak_stems()

    def of(self, support: Sequence[Support]) -> Topic:
        best: Topic = "off"
        for one in support:
            item = self._items[one.evidence_id]
            if item.relevance >= ON_TOPIC and not item.missing:
                return "on"
            if item.near >= ON_TOPIC:
                best = "near"
            elif best == "off" and self._words & {*terms(one.quote), *terms(item.document.title)}:
                best = "beside"
        return best

    def unused(self, cited: Collection[str]) -> dict[UnusedReason, tuple[str, ...]]:
        """The works that were shown and are not cited, by whether they are near enough to the question."""
        found: dict[UnusedReason, tuple[str, ...]] = {}
        for name, item in self._items.items():
            if name not in cited:
                reason: UnusedReason = "not_chosen" if item.near >= ON_TOPIC else "not_relevant"
                found[reason] = (*found.get(reason, ()), name)
        return found


def on_topic(made: dict[int, dict[str, _Made]], *, strict: bool) -> tuple[dict[int, dict[str, _Made]], int]:
    """The claims that address the question, and how many did not. A claim on the question answers it, and so
    do two near it; `strict` (a small model, which cannot judge this): only one on it. Other claims with a
    word of the question stand only with these: by themselves they are no answer."""
    claims = [one for paragraph in made.values() for one in paragraph.values()]
    near = sum(one.topic == "near" for one in claims)
    answered = any(one.topic == "on" for one in claims) or (near > 1 and not strict)
    wanted = ("on", "near", "beside") if answered else ()
    kept = {
        number: {text: one for text, one in paragraph.items() if one.topic in wanted}
        for number, paragraph in made.items()
    }
    kept = {number: paragraph for number, paragraph in kept.items() if paragraph}
    return kept, len(claims) - sum(len(paragraph) for paragraph in kept.values())


def review(step: WriteInput, prompt: Prompt, answer: DraftAnswer) -> Review:
    """Claims that rest on nothing, with the reason: they are asked for once more. What stands is used
    whatever the second answer contains."""
    if not size_of(step.model).repairs_claims:
        return Review()
    checker = checker_of(prompt)
    wrong: list[str] = []
    for number, claim in enumerate(answer.claims[:MOST_CLAIMS], 1):
        support, _ = support_of(claim, prompt)
        refused = checker.supports(support).refused
        if not support:
            named = claim.sentence or claim.item or "nothing"
            wrong.append(f"claim {number} names {line(named, 40)}, which was not shown")
        elif refused:
            wrong.append(f"claim {number}: {refusals_worded(refused[:1])}")
    if not wrong:
        return Review()
    return Review(
        problem=f"{'; '.join(wrong[:MOST_NAMED])}. Name sentences by their labels; leave out what none says",
        usable=True,
        failures=2 * len(wrong) - len(answer.claims),
    )


def checker_of(prompt: Prompt) -> QuoteChecker:
    """Checks quotes against the items a prompt showed."""
    return QuoteChecker({item.evidence_id: item for item in prompt.shown.values()})


def filled(
    step: WriteInput,
    prompt: Prompt,
    accepted: Accepted[SectionDraft],
    alone: Callable[[WriteInput], SectionDraft],
) -> Accepted[SectionDraft]:
    """The draft with claims that code chose, marked as such, where fewer of the model's stand than the
    evidence carries: at least as many as code alone would make for a small model and for one of which hardly
    a claim stands, half as many for others. Where neither has a claim, with what comes nearest."""
    draft, checker = accepted.output, checker_of(prompt)
    own = [claim for paragraph in draft.paragraphs for claim in paragraph.claims]
    chosen = alone(step)
    by_code = [claim for paragraph in chosen.paragraphs for claim in paragraph.claims]
    standing = [claim for claim in own if checker.check(claim).kept]
    share = size_of(step.model).share_filled if len(standing) >= FEW_STANDING else 1.0
    wanted = math.ceil(share * len(by_code)) - len(standing)
    if not by_code and not standing:
        near = {"nearest": chosen.nearest, "not_mentioned": chosen.not_mentioned}
        return Accepted(draft.model_copy(update=near), accepted.notes)
    if wanted <= 0:
        return accepted
    used = {normalise(s.quote) for claim in standing for s in claim.support}
    others = (
        claim.model_copy(update={"added_by_code": True})
        for claim in by_code
        if not any(normalise(s.quote) in used for s in claim.support)
        and not any(same(claim.text, other.text) for other in standing)
    )
    added = list(islice(others, wanted))
    if not added:
        return accepted
    paragraphs = tuple(
        DraftParagraph(claims=tuple(added[at : at + FILLED_PARAGRAPH]))
        for at in range(0, len(added), FILLED_PARAGRAPH)
    )
    note = f"{plural(len(added), 'claim')} added by code: the model's were fewer than the evidence carries"
    whole = draft.model_copy(update={"paragraphs": (*draft.paragraphs, *paragraphs)})
    return Accepted(whole, (*accepted.notes, note))


def by_code(step: WriteInput, documents: Sequence[Evidence]) -> SectionDraft | None:
    return None if documents else SectionDraft(title=step.title, limitations=(NOTHING_FOUND,), unused={})
