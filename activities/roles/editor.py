"""Editor: title, direct answer, executive summary, mechanism and transitions of a report whose claims are
checked. It adds no fact.

There is no second reader of what the editor writes, so code accepts a sentence only where each of its clauses
follows one of the claims it names, or a quote of these (`activities.verification.wording.joins`); else these
claims stand in its place. A claim is
removed as a repetition only where another one that stays says the same by its words.
"""

from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz import fuzz

from activities.drafts import Edited, EditedSentence, EditInput
from activities.judgements import Refused
from activities.models.tokens import BYTES_PER_TOKEN, estimate
from activities.roles.prompt import compose, fenced
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import (
    ClaimLabels,
    Loose,
    OneClaim,
    Text,
    limits,
    line,
    plural,
    refusal,
)
from activities.text.tokens import terms
from activities.types import Claim, Evidence, Statement
from activities.verification.claim_check import missing_number, numbers, reversal
from activities.verification.normal_form import normalise
from activities.verification.wording import joins, unknown_name

MIN_SAME = 60.0
"""Likeness (0 to 100, words in any order) from which one claim may be removed as a repetition of another."""
MAX_SENTENCES = {"answer": 5, "executive_summary": 6, "mechanism": 5}
MAX_CLAIM_CHARS = 400
"""Of a claim in the prompt."""
MAX_TEXT_CHARS = 400
MAX_TITLE_CHARS = 120
MAX_TRANSITION_CHARS = 240
MAX_REPEATED_SHARE = 0.5
"""Of the claims of a report that may be removed as repetition."""
TASK = "Edit the report. Answer with JSON."


class SentenceAnswer(Loose):
    text: Text = limits(length=MAX_TEXT_CHARS, default="")
    rests_on: ClaimLabels = limits(items=6, default_factory=list)


class TransitionAnswer(Loose):
    section: Text = limits(length=20, default="")
    text: Text = limits(length=200, default="")


class RepeatedAnswer(Loose):
    claim: OneClaim = ""
    repeats: OneClaim = ""


class PairAnswer(Loose):
    one: OneClaim = ""
    other: OneClaim = ""


class EditAnswer(Loose):
    title: Text = limits(length=140, default="")
    answer: list[SentenceAnswer] = limits(items=MAX_SENTENCES["answer"], default_factory=list)
    executive_summary: list[SentenceAnswer] = limits(items=6, default_factory=list)
    mechanism: list[SentenceAnswer] = limits(items=5, default_factory=list)
    transitions: list[TransitionAnswer] = limits(items=10, default_factory=list)
    repeated: list[RepeatedAnswer] = limits(items=20, default_factory=list)
    contradictions: list[PairAnswer] = limits(items=10, default_factory=list)


def labelled(step: EditInput) -> dict[str, tuple[str, Claim]]:
    """Label -> (section id, claim) of every claim, in reading order."""
    every = [(section, claim) for section, claims in step.claims.items() for claim in claims]
    return {f"C{n}": one for n, one in enumerate(every, 1)}


def labelled_answers(step: EditInput) -> dict[str, tuple[str, Claim]]:
    """Label -> (section id, sentence) of the answers of the sections, in reading order."""
    every = [(section, claim) for section, answer in step.answers.items() for claim in answer]
    return {f"A{n}": one for n, one in enumerate(every, 1)}


def render(step: EditInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    wanted = "the disease mechanism is asked for" if step.asks_mechanism else "no mechanism is asked for"
    several, alone = len(step.claims) > 1, _answers_itself(step)
    answered = "write the answer too" if several else "leave the answer empty, the section has one"
    answered = "leave the answer and the summary empty: the section has its own" if alone else answered
    task = f"The report has {plural(len(step.claims), 'section')}: {answered}; {wanted}. {TASK}"
    frame = compose("editor", step, room=room, task=task)
    left = int((room - estimate(frame.system, frame.user)) * BYTES_PER_TOKEN) - 160
    rows: list[str] = []
    shown: dict[str, str] = {}
    before = ""
    claims = labelled(step)
    answers = labelled_answers(step) if several else {}
    for label, (section, claim) in {**answers, **claims}.items():
        row = f"{label}: {line(claim.text, MAX_CLAIM_CHARS)}"
        if section != before or label == "C1":
            part = "Answer of section" if label in answers else "Section"
            row = f"{part} {section}: {line(step.outline.get(section, section), 120)}\n{row}"
        if (left := left - len(row.encode()) - 1) < 0:
            break
        before = section
        rows.append(row)
        shown[label] = claim.id
    given = ["Claims:\n" + fenced("claims", "\n".join(rows))]
    prompt = compose("editor", step, room=room, given=given, task=task)
    unread = len(claims) + len(answers) - len(shown)
    notes = (f"{plural(unread, 'claim')} at the end were not edited, so that the prompt would fit",)
    choices = {"ClaimLabel": tuple(shown), "transitions.section": tuple(step.claims)}
    return replace(prompt, claims=shown, choices=choices, notes=notes if unread else ())


def accept(step: EditInput, prompt: Prompt, answer: EditAnswer) -> Accepted[Edited]:
    """What adds no fact; all else is listed as refused."""
    claims = {label: one for label, one in labelled(step).items() if label in prompt.claims}
    answers = {label: one for label, one in labelled_answers(step).items() if label in prompt.claims}
    refused: list[Refused] = []

    def sentences(given: Sequence[SentenceAnswer], name: str) -> tuple[EditedSentence, ...]:
        most = MAX_SENTENCES[name]
        made = (_sentences(step, one, {**claims, **answers}, refused) for one in given[:most])
        kept = {sentence.text: sentence for sentences in made for sentence in sentences}
        if name == "mechanism":  # a claim that stands in its place need not be about it
            kept = {text: one for text, one in kept.items() if text in {line(g.text, 500) for g in given}}
        return tuple(kept.values())[:most]

    several = len(step.claims) > 1
    contradictions = _pairs(answer.contradictions, claims)
    summary = sentences(
        answer.executive_summary, "executive_summary"
    )  # what it refuses is listed in any case
    edited = Edited(
        title=_title(step, answer.title, refused),
        answer=sentences(answer.answer, "answer") if several else (),
        executive_summary=() if _answers_itself(step) else summary,
        mechanism=sentences(answer.mechanism, "mechanism") if step.asks_mechanism else (),
        transitions=_transitions(step, answer.transitions, refused),
        repeated=_repeated(answer.repeated, claims, {name for pair in contradictions for name in pair}),
        contradictions=contradictions,
    )
    return Accepted(edited.model_copy(update={"refused": tuple(refused)}))


def _answers_itself(step: EditInput) -> bool:
    """Whether the report is one section with an answer: a summary would say the same once more."""
    return len(step.claims) == 1 and any(step.answers.values())


def _sentences(
    step: EditInput, given: SentenceAnswer, claims: dict[str, tuple[str, Claim]], refused: list[Refused]
) -> tuple[EditedSentence, ...]:
    """A sentence that says what the claims it names say. Another one is listed as refused, and the claims it
    names stand in its place as they are."""
    text = line(given.text, MAX_TEXT_CHARS + 20)
    if not text:
        return ()
    unknown = [label for label in given.rests_on if label not in claims]
    named = [claims[label][1] for label in given.rests_on if label in claims]
    works = [support.evidence_id for claim in named for support in claim.support]
    if unknown or not named:
        label = ", ".join(unknown)
        refused.append(refusal("summary", text, "label_unknown" if unknown else "cites_nothing", label=label))
        return ()
    if problem := summary_problem(text, named, step.question):
        refused.append(refusal("summary", text, problem, works))
        return tuple(EditedSentence(text=claim.text, claims=(claim.id,)) for claim in named)
    return (EditedSentence(text=text, claims=tuple(dict.fromkeys(claim.id for claim in named))),)


def summary_problem(text: str, named: Sequence[Claim], question: str) -> Statement | None:
    """Why a sentence says something else than the claims it names; None when it does not."""
    passages = [claim.text for claim in named]
    passages += [support.quote for claim in named for support in claim.support]
    plain = [normalise(passage) for passage in passages]
    works = {support.evidence_id for claim in named for support in claim.support}
    if number := missing_number(normalise(text), plain, (), len(works)):
        return Statement(code="number_missing", values={"number": number})
    if name := unknown_name(text, ["\n".join((*passages, question))]):
        return Statement(code="name_missing", values={"name": name})
    turned = [reversal(normalise(text), passage) for passage in plain]
    if turned and all(turned):
        return Statement(code="meaning_turned", values={"how": turned[0]})
    if not joins(text, passages):
        return Statement(code="adds_to_claims")
    return None


def _title(step: EditInput, title: str, refused: list[Refused]) -> str:
    """The title, if it is one: short, and in words of the question and the outline."""
    said = " ".join(title.split())
    if not said:
        return step.title
    problem = _leading_problem(step, said, TITLE_WORDS)
    if problem is None and len(said) <= MAX_TITLE_CHARS:
        return said
    refused.append(refusal("summary", said, problem or "adds_to_claims"))
    return step.title


def _transitions(
    step: EditInput, given: Sequence[TransitionAnswer], refused: list[Refused]
) -> dict[str, str]:
    """Sentences that lead into sections and state nothing: in words of the question and the outline."""
    kept: dict[str, str] = {}
    for one in given:
        text, section = line(one.text, MAX_TRANSITION_CHARS), one.section.strip()
        if not text or section not in step.claims or section in kept:
            continue
        problem = _leading_problem(step, text, LEADING_WORDS)
        if problem is None and not set(terms(text)) & set(terms(LEADING_WORDS)):
            problem = Statement(code="adds_to_claims")
        if problem is None:
            kept[section] = text
        else:
            refused.append(refusal("summary", text, problem))
    return kept


LEADING_WORDS = (
    "section next turn now follows following considers describes asks question first second third last "
    "beyond beside remains looks comes concerns"
)
"""Words of a sentence that leads into a section; it has one of them at least."""
TITLE_WORDS = "evidence review report comparison compared overview outcomes effects answer studies summary"


def _leading_problem(step: EditInput, text: str, more: str) -> Statement | None:
    """Why a title or a transition may state a finding: a word, a number or a name that the question and the
    outline do not have."""
    known = [step.question, step.title, *step.outline.values()]
    stated = {number.value for passage in known for number in numbers(passage)}
    if number := next((n.shown for n in numbers(text) if n.value not in stated), ""):
        return Statement(code="number_missing", values={"number": number})
    held = {term for passage in (*known, more) for term in terms(passage)}
    if name := unknown_name(text, [*known, more]):
        return Statement(code="name_missing", values={"name": name})
    return None if set(terms(text)) <= held else Statement(code="adds_to_claims")


def _pairs(given: Sequence[PairAnswer], claims: dict[str, tuple[str, Claim]]) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[str, str], None] = {}
    for pair in given:
        if pair.one in claims and pair.other in claims and pair.one != pair.other:
            one, other = claims[pair.one][1].id, claims[pair.other][1].id
            if (other, one) not in found:
                found[one, other] = None
    return tuple(found)


def _repeated(
    given: Sequence[RepeatedAnswer], claims: dict[str, tuple[str, Claim]], protected: set[str]
) -> tuple[str, ...]:
    """Claims that another one which stays says already: with the same numbers, in nearly the same words or
    from the same quote. A claim that contradicts another stays."""
    removed: list[str] = []
    most = int(MAX_REPEATED_SHARE * len(claims))
    for one in given:
        if one.claim not in claims or one.repeats not in claims or len(removed) >= most:
            continue
        claim, other = claims[one.claim][1], claims[one.repeats][1]
        if claim.id in removed or other.id in removed or claim.id == other.id or claim.id in protected:
            continue
        stated = {number.value for text in _texts(other) for number in numbers(text)}
        same_quote = {s.quote for s in claim.support} <= {s.quote for s in other.support}
        alike = fuzz.token_sort_ratio(claim.text, other.text) >= MIN_SAME
        turned = reversal(normalise(claim.text), normalise(other.text))
        if {n.value for n in numbers(claim.text)} <= stated and (same_quote or alike) and not turned:
            removed.append(claim.id)
    return tuple(removed)


def _texts(claim: Claim) -> list[str]:
    return [claim.text, *(support.quote for support in claim.support)]


def by_code(step: EditInput, _documents: Sequence[Evidence]) -> Edited | None:
    return None if any(step.claims.values()) else Edited(title=step.title)


def without_model(step: EditInput) -> Edited:
    return Edited(title=step.title)


SPEC = RoleSpec[EditInput, EditAnswer, Edited](
    "editor", EditAnswer, render, accept, by_code=by_code, without_model=without_model
)
