"""Editor: title, answer and mechanism of a report whose sections were written apart and are checked.

It adds no fact. The gate lets a sentence stand whose clauses follow the claims it names; a second reader is
asked about others, and in place of one that falls its claims are printed. A claim is removed as a repetition
only where another one that stays says the same by its words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rapidfuzz import fuzz

from activities.contracts.evidence import Claim, Evidence, Statement
from activities.contracts.judge import Refused
from activities.contracts.write import Edited, EditedSentence, EditInput
from activities.messages import plural
from activities.models.base import BYTES_PER_TOKEN, estimate
from activities.roles.fields import ClaimLabels, Loose, OneClaim, Text, limits
from activities.roles.prompt import compose, fence
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, refusal, sentence_text
from activities.text.numbers import missing_numbers
from activities.verification import gate

MIN_SAME = 60.0
"""Likeness (0 to 100, words in any order) from which one claim may be removed as a repetition of another."""
MAX_SENTENCES = {"answer": 9, "mechanism": 5}
MAX_CLAIM_CHARS = 400
MAX_TEXT_CHARS = 400
MAX_TITLE_CHARS = 120
MAX_REPEATED_SHARE = 0.5
"""The share of the claims of a report that may be removed as repetition."""
TASK = "Edit the report. Answer with JSON."


class SentenceAnswer(Loose):
    text: Text = limits(length=MAX_TEXT_CHARS, default="")
    rests_on: ClaimLabels = limits(items=12, default_factory=list)


class RepeatedAnswer(Loose):
    claim: OneClaim = ""
    repeats: OneClaim = ""


class EditAnswer(Loose):
    title: Text = limits(length=140, default="")
    answer: list[SentenceAnswer] = limits(items=MAX_SENTENCES["answer"], default_factory=list)
    mechanism: list[SentenceAnswer] = limits(items=5, default_factory=list)
    repeated: list[RepeatedAnswer] = limits(items=20, default_factory=list)


def labelled(mark: str, parts: Mapping[str, Sequence[Claim]]) -> dict[str, tuple[str, Claim]]:
    """Map labels (`C1` of a claim, `A1` of an answer) to (section id, claim), in reading order."""
    every = [(section, claim) for section, claims in parts.items() for claim in claims]
    return {f"{mark}{n}": item for n, item in enumerate(every, 1)}


def render(step: EditInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    wanted = "the disease mechanism is asked for" if step.asks_mechanism else "no mechanism is asked for"
    several = step.wants_answer
    answered = "write the answer too" if several else "leave the answer empty"
    task = f"The report has {plural(len(step.claims), 'section')}: {answered}; {wanted}. {TASK}"
    frame = compose("editor", step, room=room, task=task)
    left = int((room - estimate(frame.system, frame.user)) * BYTES_PER_TOKEN) - 160
    rows: list[str] = []
    shown: dict[str, str] = {}
    before = ""
    claims = labelled("C", step.claims)
    answers = labelled("A", step.answers) if several else {}
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
    inputs = ["Claims:\n" + fence("claims", "\n".join(rows))]
    prompt = compose("editor", step, room=room, inputs=inputs, task=task)
    unread = len(claims) + len(answers) - len(shown)
    notes = (Statement.of("not_edited", sentences=unread),)
    choices = {"ClaimLabel": tuple(shown)}
    return replace(prompt, claims=shown, choices=choices, notes=notes if unread else ())


def accept(step: EditInput, prompt: Prompt, answer: EditAnswer) -> Accepted[Edited]:
    """Accept what adds no fact, and list all else as refused."""
    claims = {label: claim for label, claim in labelled("C", step.claims).items() if label in prompt.claims}
    answers = {
        label: sentence for label, sentence in labelled("A", step.answers).items() if label in prompt.claims
    }
    refused: list[Refused] = []

    def sentences(written: Sequence[SentenceAnswer], name: str, mark: str) -> tuple[EditedSentence, ...]:
        first, every = written[: MAX_SENTENCES[name]], {**claims, **answers}
        made = (_sentence(step, sentence_answer, every, refused) for sentence_answer in first)
        unique = {sentence.text: sentence for sentence in made if sentence is not None}
        return tuple(
            sentence.replace(id=f"{mark}{place}") for place, sentence in enumerate(unique.values(), 1)
        )

    several = step.wants_answer
    edited = Edited(
        title=_title(step, answer.title, refused),
        answer=sentences(answer.answer, "answer", "a") if several else (),
        mechanism=sentences(answer.mechanism, "mechanism", "m") if step.asks_mechanism else (),
        repeated=_repeated(answer.repeated, claims),
    )
    return Accepted(edited.replace(refused=tuple(refused)))


def _sentence(
    step: EditInput, written: SentenceAnswer, claims: dict[str, tuple[str, Claim]], refused: list[Refused]
) -> EditedSentence | None:
    """Have the gate decide of a sentence; list one that names nothing that was shown as refused."""
    text = sentence_text(written.text)
    if not text:
        return None
    unknown = [label for label in written.rests_on if label not in claims]
    named = [claims[label][1] for label in written.rests_on if label in claims]
    if unknown or not named:
        label = ", ".join(unknown)
        refused.append(refusal("summary", text, "label_unknown" if unknown else "cites_nothing", label=label))
        return None
    sentence = EditedSentence(
        text=text,
        support=tuple(dict.fromkeys(support for claim in named for support in claim.support)),
        claims=tuple(dict.fromkeys(claim.id for claim in named)),
    )
    return gate.with_decision(sentence, gate.editor_sentence(text, named, step.question))


def _title(step: EditInput, title: str, refused: list[Refused]) -> str:
    """Return the title, if it is short and in words of the question and the outline."""
    text = " ".join(title.split())
    if not text:
        return step.title
    decision = gate.title(text, [step.question, step.title, *step.outline.values()])
    if decision.stands and len(text) <= MAX_TITLE_CHARS:
        return text
    refused.append(refusal("summary", text, decision.refusal or "adds_to_claims"))
    return step.title


def _repeated(
    rows: Sequence[RepeatedAnswer], claims: dict[str, tuple[str, Claim]]
) -> tuple[tuple[str, str], ...]:
    """Return claims that another one which stays says already.

    It has the same numbers, in nearly the same words or from the same quote.
    """
    removed: dict[str, str] = {}
    most = int(MAX_REPEATED_SHARE * len(claims))
    for row in rows:
        if row.claim not in claims or row.repeats not in claims or len(removed) >= most:
            continue
        claim, other = claims[row.claim][1], claims[row.repeats][1]
        if claim.id in removed or other.id in removed or claim.id == other.id:
            continue
        if claim.is_row:  # a table stays whole
            continue
        texts = [other.text, *(support.quote for support in other.support)]
        quotes = {s.quote for s in claim.support}
        same_quote = bool(quotes) and quotes <= {s.quote for s in other.support}
        alike = fuzz.token_sort_ratio(claim.text, other.text) >= MIN_SAME
        same_numbers = not any(missing_numbers(claim.text, texts))
        if same_numbers and (same_quote or alike):
            removed[claim.id] = other.id
    return tuple(removed.items())


EDITOR = RoleSpec(
    "editor",
    "Editing",
    EditAnswer,
    render,
    accept,
    lambda step, _: Edited(title=step.title),
    idle=lambda step, _: step.asks_nothing,
)
