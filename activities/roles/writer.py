"""Writer: the direct answer and the paragraphs of a section, each sentence with the labels of all sentences
it rests on, of one or several works.

Code fills in the quotes and checks every sentence (`activities.verification.wording`). One that passes and
does not follow its quote closely is left to the verifier. Sentences that failed come back once
(`WriteInput.failed`), and only a wording that follows its quote is then used.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from activities.drafts import (
    DraftClaim,
    DraftParagraph,
    SectionDraft,
    UnusedReason,
    WriteInput,
)
from activities.judgements import Refused, WorkJudgement
from activities.models.base import Review
from activities.models.structured import read_so_far
from activities.roles.assessment import MIN_ANSWERS
from activities.roles.judge import best_sentences
from activities.roles.prompt import compose, fenced, listed
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import (
    Loose,
    OneClaim,
    SentenceLabels,
    Text,
    Texts,
    cited,
    limits,
    line,
    plural,
    refusal,
    supports,
)
from activities.roles.works import compose_works
from activities.roles.written import MAX_CLAIM_CHARS, MAX_LABELS, Written, checked, claims_of
from activities.types import Evidence
from activities.verification.claim_check import numbers
from activities.verification.quote_check import worded
from activities.verification.verdicts import failures, with_quotes
from activities.verification.verdicts import refused as record_of
from activities.verification.wording import unknown_name

MAX_ANSWER_SENTENCES = 5
MAX_PARAGRAPHS = 6
MAX_SENTENCES = 8
"""Of a paragraph."""
MAX_RESERVATIONS = 4
MAX_EARLIER = 10
"""Claims of earlier sections that a prompt shows, the latest ones."""
MAX_SMALL_WORKS = 8
SENTENCES_OF_A_WORK = 2
"""Of each work that a small model judged to answer, chosen by code."""
MAX_UNKNOWN_SHARE = 0.34
"""Of the sentences of an answer that name a label which was not shown: from there on it is asked for
again."""
NOT_ANSWERED = "not answered"
NOTHING_FOUND = "No evidence was found that could be cited here."
TASK = "Write the answer, the paragraphs and the reservations. Answer with JSON."
TASK_AGAIN = (
    "These sentences of your draft were refused. Write each once more, as close to the words of one labelled "
    "sentence as it needs to be, or leave it out. Answer with JSON."
)
TASK_SMALL = (
    "Answer the question in at most 3 sentences, in the words of the sentences above; name the sentence each "
    "is from. If they do not answer it, write: Not answered."
)


class WrittenParagraph(Loose):
    sentences: list[Written] = limits(items=MAX_SENTENCES, default_factory=list)


class DraftAnswer(Loose):
    answer: list[Written] = limits(items=MAX_ANSWER_SENTENCES, default_factory=list)
    paragraphs: list[WrittenParagraph] = limits(items=MAX_PARAGRAPHS)
    reservations: Texts = limits(items=MAX_RESERVATIONS, length=240, default_factory=list)


class ShortDraft(Loose):
    """What a small model is asked for: the summary of quotes that code chose."""

    answer: list[Written] = limits(items=3)


class WrittenAgain(Loose):
    refused: OneClaim = ""
    text: Text = limits(length=MAX_CLAIM_CHARS, default="")
    rests_on: SentenceLabels = limits(items=MAX_LABELS, default_factory=list)


class AgainAnswer(Loose):
    sentences: list[WrittenAgain]


AnyDraft = DraftAnswer | ShortDraft | AgainAnswer


def render(step: WriteInput, documents: Sequence[Evidence], room: int) -> Prompt:
    if step.model.effort == "small":
        return _render_small(step, documents)
    if step.failed and step.draft is not None:
        return _render_again(step, step.draft, documents, room)
    judged = {judgement.evidence_id: judgement for judgement in step.judgements}
    chains = [
        " -> ".join(part for part in (h.drug, h.target, h.pathway, h.effect) if part) for h in step.hypotheses
    ]
    elsewhere = [document.title for document in documents if document.evidence_id in set(step.shared)]
    return compose_works(
        "writer",
        step,
        readable_works(documents, judged),
        room=room,
        given=[
            f"Section: {line(step.title, 160)}" if step.title else "",
            listed("Hypotheses so far", chains, limit=6),
            listed(
                "Said in earlier sections", [c.text for c in step.written[-MAX_EARLIER:]], MAX_EARLIER, 160
            ),
            listed("Questions that other sections answer", step.other_sections, 20, 160),
            listed("Works that another section reports", elsewhere, 12, 100),
        ],
        about={name: about(judgement) for name, judgement in judged.items()},
        task=TASK,
    )


def readable_works(documents: Sequence[Evidence], judged: dict[str, WorkJudgement]) -> list[Evidence]:
    """The works that a writer reads, those that answer best first. Related ones only where none answers, and
    those on another subject only where none is related."""

    def grade(document: Evidence) -> int:
        judgement = judged.get(document.evidence_id)
        return judgement.answers if judgement else (1 if judged else 2)

    best = max(map(grade, documents), default=0)
    least = min(best, MIN_ANSWERS)
    return sorted((one for one in documents if grade(one) >= least), key=lambda document: -grade(document))


def about(judgement: WorkJudgement) -> str:
    """What was judged of a work, in a few words."""
    answers = ("another subject", "related", "answers in part", "answers")[judgement.answers]
    parts = (
        f"judged: {answers}",
        "" if judgement.direction == "not_asked" else f"supports {judgement.direction}",
        f"n = {judgement.participants}" if judgement.participants else "",
        f"compared with {judgement.comparator}" if judgement.comparator else "",
    )
    return "; ".join(part for part in parts if part)


def _render_again(step: WriteInput, draft: SectionDraft, documents: Sequence[Evidence], room: int) -> Prompt:
    """The prompt for the sentences that failed: each with the reason, and the works it cited."""
    failed = failed_claims(draft)
    names = {support.evidence_id for claim in failed for support in claim.support}
    rows = [
        f"C{n}: {claim.text} (refused: {worded([claim.problem]) if claim.problem else 'not verified'})"
        for n, claim in enumerate(failed, 1)
    ]
    prompt = compose_works(
        "writer",
        step,
        [document for document in documents if document.evidence_id in names],
        room=room,
        given=["Refused sentences:\n" + fenced("claims", "\n".join(rows))],
        task=TASK_AGAIN,
    )
    labels = tuple(f"C{n}" for n in range(1, len(failed) + 1))
    choices = {**prompt.choices, "ClaimLabel": labels}
    return replace(prompt, choices=choices, notes=(), answer=AgainAnswer)


def failed_claims(draft: SectionDraft) -> list[DraftClaim]:
    """The claims of a draft that failed, in reading order."""
    claims = [*draft.answer, *(claim for paragraph in draft.paragraphs for claim in paragraph.claims)]
    return [claim for claim in claims if claim.state == "failed"]


def _render_small(step: WriteInput, documents: Sequence[Evidence]) -> Prompt:
    """The prompt for the summary: the question and the sentences that code chose, nothing else."""
    held = {document.evidence_id: document for document in documents}
    answering = [j for j in step.judgements if j.answers > 1 and j.evidence_id in held]
    chosen = [
        sentence
        for judgement in answering[:MAX_SMALL_WORKS]
        for sentence in best_sentences(step.question, held[judgement.evidence_id], SENTENCES_OF_A_WORK)
    ]
    sentences = {f"S{n}": sentence for n, sentence in enumerate(chosen, 1)}
    shown = "\n".join(f"{label}: {line(one.quote, MAX_CLAIM_CHARS)}" for label, one in sentences.items())
    bare = step.model_copy(update={"background": "", "steering": ()})
    prompt = compose("writer", bare, room=10**6, given=[fenced("evidence", shown)], task=TASK_SMALL)
    cited_works = {one.evidence_id: held[one.evidence_id] for one in chosen}
    return replace(
        prompt,
        sentences=sentences,
        shown={f"E{n}": document for n, document in enumerate(cited_works.values(), 1)},
        choices={"SentenceLabel": tuple(sentences)},
        answer=ShortDraft,
    )


def accept(step: WriteInput, prompt: Prompt, answer: AnyDraft) -> Accepted[SectionDraft]:
    """The draft: every sentence with its quotes and with what code finds of it. A sentence that names nothing
    that was shown is refused; a reservation, when it has a number or a name that was not shown."""
    if isinstance(answer, ShortDraft):
        return Accepted(_accept_small(step, prompt, answer))
    if isinstance(answer, AgainAnswer):
        assert step.draft is not None  # it is what the prompt was made of
        return Accepted(_accept_again(step.draft, prompt, answer))
    refused: list[Refused] = []
    direct = claims_of(answer.answer[:MAX_ANSWER_SENTENCES], prompt, refused)
    paragraphs = tuple(
        DraftParagraph(claims=claims)
        for paragraph in answer.paragraphs[:MAX_PARAGRAPHS]
        if (claims := claims_of(paragraph.sentences[:MAX_SENTENCES], prompt, refused))
    )
    reservations = _reservations(step, answer.reservations, prompt, refused)
    draft = SectionDraft(
        title=step.title,
        answer=direct,
        paragraphs=paragraphs,
        reservations=reservations,
        limitations=() if direct or paragraphs or reservations else (NOTHING_FOUND,),
        refused=tuple(refused),
    )
    draft = draft.model_copy(update={"unused": unused(step, prompt, draft)})
    lost = sum(one.kind == "claim" for one in refused)
    notes = (f"{plural(lost, 'sentence')} of the draft cited nothing that was shown",) if lost else ()
    return Accepted(draft, notes)


def _reservations(
    step: WriteInput, given: Sequence[str], prompt: Prompt, refused: list[Refused]
) -> tuple[str, ...]:
    """What the model says that the evidence cannot show, in its words."""
    works = [f"{document.title}\n{document.text}" for document in prompt.shown.values()]
    known = [*works, step.question, *step.other_sections]
    stated = {number.value for text in known for number in numbers(text)} if given else set()
    kept: dict[str, None] = {}
    for text in given:
        said = line(text, 400)
        if not said:
            continue
        if number := next((n.shown for n in numbers(said) if n.value not in stated), ""):
            refused.append(refusal("reservation", said, "number_missing", number=number))
        elif name := unknown_name(said, known):
            refused.append(refusal("reservation", said, "name_missing", name=name))
        else:
            kept[said] = None
    return tuple(kept)[:MAX_RESERVATIONS]


def unused(step: WriteInput, prompt: Prompt, draft: SectionDraft) -> dict[UnusedReason, tuple[str, ...]]:
    """The works at hand that no claim cites, by the reason that code knows."""
    claims = [*draft.answer, *(claim for paragraph in draft.paragraphs for claim in paragraph.claims)]
    used = {support.evidence_id for claim in claims for support in claim.support}
    shown = {document.evidence_id for document in prompt.shown.values()}
    graded = {judgement.evidence_id: judgement.answers for judgement in step.judgements}
    found: dict[UnusedReason, list[str]] = {}
    for ref in step.evidence:
        name = ref.evidence_id
        if name in used:
            continue
        if ref.standing == "retracted":
            reason: UnusedReason = "retracted"
        elif graded.get(name) == 0:
            reason = "another_subject"
        elif graded.get(name) == 1:
            reason = "not_relevant"
        else:
            reason = "not_chosen" if name in shown else "not_read"
        found.setdefault(reason, []).append(name)
    return {reason: tuple(names) for reason, names in found.items()}


def _accept_again(draft: SectionDraft, prompt: Prompt, answer: AgainAnswer) -> SectionDraft:
    """The draft with the new wordings that follow their quotes in place of those that failed; the others stay
    failed."""
    places = {f"C{n}": n - 1 for n in range(1, len(failed_claims(draft)) + 1)}
    repaired: dict[int, DraftClaim] = {}
    for given in answer.sentences:
        sentences, unknown = cited(given.rests_on[:MAX_LABELS], prompt)
        text = line(given.text, MAX_CLAIM_CHARS + 20)
        if given.refused in places and sentences and text and not unknown:
            claim = checked(text, supports(sentences), prompt)
            if claim.state == "stands":
                repaired.setdefault(places[given.refused], claim)
    number = iter(range(len(places)))

    def again(claims: tuple[DraftClaim, ...]) -> tuple[DraftClaim, ...]:
        return tuple(repaired.get(next(number), c) if c.state == "failed" else c for c in claims)

    direct = again(draft.answer)
    paragraphs = tuple(DraftParagraph(claims=again(paragraph.claims)) for paragraph in draft.paragraphs)
    failed = failed_claims(draft)
    reworded = [record_of(failed[place], "reworded") for place in sorted(repaired)]
    update = {"answer": direct, "paragraphs": paragraphs, "refused": (*draft.refused, *reworded)}
    return draft.model_copy(update=update)


def _accept_small(step: WriteInput, prompt: Prompt, answer: ShortDraft) -> SectionDraft:
    """The sentences that code chose, one paragraph a work, and of the model's summary what follows them."""
    refused: list[Refused] = []
    said = [one for one in answer.answer if not one.text.casefold().startswith(NOT_ANSWERED)]
    direct = tuple(claim for claim in claims_of(said, prompt, refused) if claim.state == "stands")
    dropped = [claim for claim in claims_of(said, prompt, []) if claim.state != "stands"]
    refused += [
        refusal("wording", c.text, c.problem or "not_verified", [s.evidence_id for s in c.support])
        for c in dropped
    ]
    by_work: dict[str, list[DraftClaim]] = {}
    for sentence in prompt.sentences.values():
        claim = DraftClaim(text=sentence.text, support=supports([sentence]))
        by_work.setdefault(sentence.evidence_id, []).append(claim)
    paragraphs = tuple(DraftParagraph(claims=tuple(claims)) for claims in by_work.values())
    draft = SectionDraft(title=step.title, answer=direct, paragraphs=paragraphs, refused=tuple(refused))
    return draft.model_copy(update={"unused": unused(step, prompt, draft)})


def review(_step: WriteInput, prompt: Prompt, answer: AnyDraft) -> Review:
    """An answer many of whose sentences name labels that were not shown is asked for once more."""
    if not isinstance(answer, DraftAnswer):
        return Review()
    written = [*answer.answer, *(one for paragraph in answer.paragraphs for one in paragraph.sentences)]
    wrong = [one for one in written if not one.rests_on or cited(one.rests_on, prompt)[1]]
    if not wrong or len(wrong) <= MAX_UNKNOWN_SHARE * len(written):
        return Review()
    named = ", ".join(dict.fromkeys(line(label, 12) for one in wrong for label in one.rests_on[:2]))
    return Review(
        problem=f"{plural(len(wrong), 'sentence')} rest on labels that were not shown ({line(named, 120)}). "
        "Name sentences by their labels (S1, S2); leave out what none says",
        usable=True,
        failures=len(wrong),
    )


def paragraphs_so_far(step: WriteInput, prompt: Prompt, text: str, least: int) -> tuple[str, ...]:
    """The paragraphs of an answer that is still coming, those before its last one, with the quotes in place
    of what is not verified. Empty when they are fewer than `least`."""
    if prompt.answer is not None:
        return ()
    answer = read_so_far(text, DraftAnswer)
    if answer is None or len(answer.paragraphs) <= least:
        return ()
    whole = answer.model_copy(update={"paragraphs": answer.paragraphs[:-1], "reservations": []})
    draft = with_quotes(accept(step, prompt, whole).output)
    return draft.texts if len(draft.paragraphs) >= least else ()


def with_passages(
    step: WriteInput,
    prompt: Prompt,
    accepted: Accepted[SectionDraft],
    alone: Callable[[WriteInput], SectionDraft],
) -> Accepted[SectionDraft]:
    """The summary of a small model above the passages that code finds: the report holds no less than the one
    without a model. The paragraphs stay only where there are no passages, which are shown in their place."""
    if prompt.answer is not ShortDraft:
        return accepted
    found = alone(step)
    update: dict[str, object] = {"passages": found.passages, "related": found.related}
    if found.passages:
        update["paragraphs"] = ()
    return Accepted(accepted.output.model_copy(update=update), accepted.notes)


def by_code(step: WriteInput, documents: Sequence[Evidence]) -> SectionDraft | None:
    """Nothing to read gives nothing to write; nothing that failed needs no new wording."""
    if step.draft is not None and not failures(step.draft):
        return step.draft
    if any(document.standing != "retracted" for document in documents):
        return None
    return SectionDraft(title=step.title, limitations=(NOTHING_FOUND,), unused={})


SPEC = RoleSpec[WriteInput, DraftAnswer, SectionDraft](
    "writer",
    DraftAnswer,
    render,
    accept,
    lambda step: step.evidence,
    by_code,
    review=review,
    combine=with_passages,
    paragraphs=paragraphs_so_far,
)
