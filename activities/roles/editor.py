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
from activities.roles.fields import ClaimLabels, Loose, OneClaim, Text, Truth, limits
from activities.roles.prompt import compose, fence
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, refusal, sentence_text
from activities.text.number_index import missing_numbers
from activities.verification import gate

MIN_SAME = 60.0
"""Likeness (0 to 100, words in any order) from which one claim may be removed as a repetition of another."""
MAX_SENTENCES = {"answer": 12, "mechanism": 5}
MAX_CLAIM_CHARS = 400
MAX_BASES_CHARS = 800
"""The sentences without works that a sentence rests on, as a second reader is shown them, in characters."""
MAX_TEXT_CHARS = 400
MAX_TITLE_CHARS = 120
MAX_REPEATED_SHARE = 0.5
"""The share of the claims of a report that may be removed as repetition."""
TASK = "Edit the report. Answer with JSON."


class SentenceAnswer(Loose):
    text: Text = limits(length=MAX_TEXT_CHARS, default="")
    rests_on: ClaimLabels = limits(items=12, default_factory=list)
    begins: Truth = None


class RepeatedAnswer(Loose):
    claim: OneClaim = ""
    repeats: OneClaim = ""


class EditAnswer(Loose):
    title: Text = limits(length=140, default="")
    answer: list[SentenceAnswer] = limits(items=MAX_SENTENCES["answer"], default_factory=list)
    mechanism: list[SentenceAnswer] = limits(items=5, default_factory=list)
    repeated: list[RepeatedAnswer] = limits(items=20, default_factory=list)


def by_label(mark: str, parts: Mapping[str, Sequence[Claim]]) -> dict[str, tuple[str, Claim]]:
    """Map labels (`C1` of a claim, `A1` of an answer) to (section id, claim), in reading order."""
    pairs = [(section, claim) for section, claims in parts.items() for claim in claims]
    return {f"{mark}{n}": item for n, item in enumerate(pairs, 1)}


def render(step: EditInput, _documents: Sequence[Evidence], room: int) -> Prompt:
    mechanism = "the disease mechanism is asked for" if step.asks_mechanism else "no mechanism is asked for"
    wants_answer = step.wants_answer
    answer = "write the answer too" if wants_answer else "leave the answer empty"
    task = f"The report has {plural(len(step.claims), 'section')}: {answer}; {mechanism}. {TASK}"
    frame = compose("editor", step, room=room, task=task)
    remaining = int((room - estimate(frame.system, frame.user)) * BYTES_PER_TOKEN) - 160
    rows: list[str] = []
    ids: dict[str, str] = {}
    before = ""
    claims = by_label("C", step.claims)
    answers = by_label("A", step.answers) if wants_answer else {}
    for label, (section, claim) in {**answers, **claims}.items():
        row = f"{label}: {line(claim.text, MAX_CLAIM_CHARS)}"
        if section != before or label == "C1":
            part = "Answer of section" if label in answers else "Section"
            row = f"{part} {section}: {line(step.outline.get(section, section), 120)}\n{row}"
        if (remaining := remaining - len(row.encode()) - 1) < 0:
            break
        before = section
        rows.append(row)
        ids[label] = claim.id
    inputs = ["Claims:\n" + fence("claims", "\n".join(rows))]
    prompt = compose("editor", step, room=room, inputs=inputs, task=task)
    unread_count = len(claims) + len(answers) - len(ids)
    notes = (Statement.of("not_edited", sentences=unread_count),)
    choices = {"ClaimLabel": tuple(ids)}
    return replace(prompt, claims=ids, choices=choices, notes=notes if unread_count else ())


def accept(step: EditInput, prompt: Prompt, answer: EditAnswer) -> Accepted[Edited]:
    """Accept what adds no fact, and list all else as refused."""
    claims = {label: claim for label, claim in by_label("C", step.claims).items() if label in prompt.claims}
    answers = {
        label: sentence for label, sentence in by_label("A", step.answers).items() if label in prompt.claims
    }
    refusals: list[Refused] = []

    def sentences(rows: Sequence[SentenceAnswer], name: str, mark: str) -> tuple[EditedSentence, ...]:
        first_rows, pairs = rows[: MAX_SENTENCES[name]], {**claims, **answers}
        candidates = (_sentence(step, sentence_answer, pairs, refusals) for sentence_answer in first_rows)
        unique = {sentence.text: sentence for sentence in candidates if sentence is not None}
        return tuple(
            sentence.replace(id=f"{mark}{place}") for place, sentence in enumerate(unique.values(), 1)
        )

    wants_answer = step.wants_answer
    edited = Edited(
        title=_title(step, answer.title, refusals),
        answer=sentences(answer.answer, "answer", "a") if wants_answer else (),
        mechanism=sentences(answer.mechanism, "mechanism", "m") if step.asks_mechanism else (),
        repeated=_repeated(answer.repeated, claims),
    )
    return Accepted(edited.replace(refused=tuple(refusals)))


def _sentence(
    step: EditInput, row: SentenceAnswer, claims: dict[str, tuple[str, Claim]], refusals: list[Refused]
) -> EditedSentence | None:
    """Have the gate decide of a sentence; list one that names nothing that was shown as refused."""
    text = sentence_text(row.text)
    if not text:
        return None
    unknown = [label for label in row.rests_on if label not in claims]
    bases = [claims[label][1] for label in row.rests_on if label in claims]
    if unknown or not bases:
        code, label = "label_unknown" if unknown else "cites_nothing", ", ".join(unknown)
        refusals.append(refusal("summary", text, code, label=label))
        return None
    sentence = EditedSentence(
        text=text,
        begins=row.begins is True,
        support=tuple(dict.fromkeys(support for claim in bases for support in claim.support)),
        claims=tuple(dict.fromkeys(claim.id for claim in bases)),
        after=line(" ".join(claim.text for claim in bases if not claim.support), MAX_BASES_CHARS),
    )
    return gate.with_decision(sentence, gate.editor_sentence(text, bases, step.question))


def _title(step: EditInput, title: str, refusals: list[Refused]) -> str:
    """Return the title, if it is short and in words of the question and the outline."""
    text = " ".join(title.split())
    if not text:
        return step.title
    decision = gate.title(text, [step.question, step.title, *step.outline.values()])
    if decision.stands and len(text) <= MAX_TITLE_CHARS:
        return text
    refusals.append(refusal("summary", text, decision.refusal or "adds_to_claims"))
    return step.title


def _repeated(
    rows: Sequence[RepeatedAnswer], claims: dict[str, tuple[str, Claim]]
) -> tuple[tuple[str, str], ...]:
    """Return claims that another one which stays says already.

    It has the same numbers, in nearly the same words or from the same quote.
    """
    repeats: dict[str, str] = {}
    max_repeats = int(MAX_REPEATED_SHARE * len(claims))
    for row in rows:
        if row.claim not in claims or row.repeats not in claims or len(repeats) >= max_repeats:
            continue
        claim, kept = claims[row.claim][1], claims[row.repeats][1]
        if claim.id in repeats or kept.id in repeats or claim.id == kept.id:
            continue
        if claim.is_row:  # a table stays whole
            continue
        texts = [kept.text, *(support.quote for support in kept.support)]
        quotes = {s.quote for s in claim.support}
        has_same_quote = bool(quotes) and quotes <= {s.quote for s in kept.support}
        is_alike = fuzz.token_sort_ratio(claim.text, kept.text) >= MIN_SAME
        has_same_numbers = not any(missing_numbers(claim.text, texts))
        if has_same_numbers and (has_same_quote or is_alike):
            repeats[claim.id] = kept.id
    return tuple(repeats.items())


EDITOR = RoleSpec(
    "editor",
    EditAnswer,
    render,
    accept,
    lambda step, _: Edited(title=step.title),
    idle=lambda step, _: step.asks_nothing,
)
