"""Writer: the direct answer and the paragraphs of a section.

Each sentence has the labels of all sentences it rests on. Code fills in the quotes, and the gate decides of
every sentence (`activities.verification.gate`). Those that were refused come back once (`WriteInput.failed`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from activities.contracts.evidence import Evidence, Statement
from activities.contracts.judge import Refused
from activities.contracts.write import DraftClaim, DraftParagraph, SectionDraft, WriteInput
from activities.extractive import passages
from activities.messages import N_, english_name, plural
from activities.models.base import Review
from activities.models.structured import read_so_far
from activities.roles.claims import (
    MAX_CLAIMS,
    MAX_HEADING_CHARS,
    MAX_PASSES,
    Rested,
    Written,
    WrittenBlock,
    checked,
    claims_of,
    results_of,
)
from activities.roles.fields import Loose, OneSentence, Text, Texts, limits
from activities.roles.prompt import concluded, listed
from activities.roles.rewording import AgainAnswer, accept_again, render_again
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import cited, line, sentence_text, supports
from activities.roles.works import compose_works
from activities.text.numbers import missing_numbers
from activities.text.sentences import language_in
from activities.verification import gate
from activities.verification.verdicts import printed

MAX_ANSWER_SENTENCES = 9
MAX_BLOCKS = 12
MAX_TITLE_CHARS = 120
MAX_RESERVATIONS = 4
MAX_TRANSLATIONS = 24
MAX_TRANSLATION_CHARS = 600
MAX_NEAR_MISSES = 2
MAX_LEFT_OPEN = 8
MIN_ROOM_FOR_NEAR_MISSES = 16_000
"""Tokens of a prompt from which a writer is large enough to be asked for near misses."""
MAX_UNKNOWN_SHARE = 0.34
"""The share of sentences that name a label which was not shown from which an answer is asked for again."""
NOTHING_FOUND = N_("No evidence was found that could be cited here.")
TASK = "Write the answer, the blocks and the reservations. Answer with JSON."
NEAR_MISSES = (
    "`near_misses`: two sentences that are not printed and by which the next reader is tested: take two of "
    "your own sentences, with their labels, and make each false by one small change: leave out its `may`, "
    "name a group, a cause or a time that its works do not have. "
)
SECTIONS = (
    "You write all sections of the report in this one text. `section` of a block: the label of its section; "
    "each section has a block, the blocks of a section follow each other, and its title stands above them. "
    "Where the works have nothing to a section its block is one `missing` sentence."
)
TRANSLATIONS = (
    "Write in {language}. `translations`: each `sentence` (its label) that yours rest on and that is not in "
    "{language} once in {language} (`text`), word for word as a translator would; it is printed beside the "
    "quote as a translation. "
)
SETTLED = (
    "`settled`: the labels (G1) of what was left open that your text gives or your reservations name: it is "
    "not printed as open. "
)
BESIDE_OTHERS = (
    "Do not repeat what is written there, and leave those questions to them: of a work that answers several "
    "questions say here what it says to this one."
)


class Translated(Loose):
    sentence: OneSentence = None
    text: Text = limits(length=MAX_TRANSLATION_CHARS, default="")


class DraftAnswer(Loose):
    title: Text = limits(length=MAX_TITLE_CHARS, default="")
    answer: list[Written] = limits(items=MAX_ANSWER_SENTENCES, default_factory=list)
    blocks: list[WrittenBlock] = limits(items=MAX_BLOCKS)
    reservations: Texts = limits(items=MAX_RESERVATIONS, length=240, default_factory=list)
    near_misses: list[Rested] = limits(items=MAX_NEAR_MISSES, default_factory=list)
    settled: Texts = limits(items=MAX_LEFT_OPEN, length=8, default_factory=list)
    translations: list[Translated] = limits(items=MAX_TRANSLATIONS, default_factory=list)
    """Where works are in another language than the report."""


AnyDraft = DraftAnswer | AgainAnswer


def render(step: WriteInput, documents: Sequence[Evidence], room: int) -> Prompt:
    if step.failed:
        return render_again(step, documents, room)
    foreign = any(language_in(document) != step.language for document in documents)
    tested, left_open = room >= MIN_ROOM_FOR_NEAR_MISSES, _left_open(step)
    sections = {section.id: f"{section.title}: {section.key_question}" for section in step.outline}
    task = "".join(
        (
            TRANSLATIONS.format(language=english_name(step.language)) if foreign else "",
            NEAR_MISSES if tested else "",
            SETTLED if left_open else "",
            TASK,
        )
    )
    prompt = compose_works(
        "writer",
        step,
        documents,
        room=room,
        inputs=[
            f"Section: {line(step.title, 160)}" if step.title and not sections else "",
            listed("Sections", [f"{name}: {about}" for name, about in sections.items()], 20, 300),
            SECTIONS if sections else "",
            concluded(step.concluded),
            listed("Hypotheses so far", [hypothesis.line for hypothesis in step.hypotheses], limit=6),
            listed("Written in other sections", [c.text for c in step.written], len(step.written), 160),
            listed("Questions that other sections answer", step.other_sections, 20, 160),
            BESIDE_OTHERS if step.written or step.other_sections else "",
            listed("Left open", [f"{label}: {gap}" for label, gap in left_open.items()]),
        ],
        judged=step.judgements,
        task=task,
    )
    asked = {"translations": foreign, "near_misses": tested, "settled": bool(left_open)}
    asked["title"] = not step.other_sections
    choices: dict[str, tuple[str, ...]] = {name: () for name, wanted in asked.items() if not wanted}
    choices["blocks.section"] = tuple(sections)
    return replace(prompt, choices={**prompt.choices, **choices}, stated=step.concluded)


def _left_open(step: WriteInput) -> dict[str, str]:
    """Label what was left open."""
    return {f"G{number}": gap for number, gap in enumerate(step.left_open[:MAX_LEFT_OPEN], 1)}


def _translations(step: WriteInput, answer: DraftAnswer, prompt: Prompt) -> tuple[DraftClaim, ...]:
    """Accept translations of sentences in another language than the answer, each once, with their numbers."""
    documents = {document.evidence_id: document for document in prompt.shown.values()}
    made: dict[str, DraftClaim] = {}
    for translation in answer.translations:
        text, support = sentence_text(translation.text), supports(cited([translation.sentence], prompt)[0])
        if not text or not support or language_in(documents[support[0].evidence_id]) == step.language:
            continue
        if any(missing_numbers(text, [support[0].quote])):
            continue
        claim = DraftClaim(text=text, kind="translation", support=support)
        claim = checked(claim, support, prompt)
        if claim.state == "ask":
            made.setdefault(support[0].quote, claim)
    return tuple(made.values())


def accept(step: WriteInput, prompt: Prompt, answer: AnyDraft) -> Accepted[SectionDraft]:
    """Accept the draft: every sentence with its quotes and with what the gate decides of it."""
    if isinstance(answer, AgainAnswer):
        return Accepted(accept_again(step, prompt, answer))
    refused: list[Refused] = []
    for _ in range(MAX_PASSES):  # a total is computed of rows, and a sentence of the total
        draft = _draft(step, prompt, answer, refused := [])
        if (results := results_of(draft.claims)) == prompt.results:
            break
        prompt = replace(prompt, results=results)
    lost = sum(entry.kind == "claim" for entry in refused)
    notes = (Statement.of("uncited", sentences=lost),) if lost else ()
    return Accepted(draft.replace(refused=tuple(refused)), notes)


def _draft(step: WriteInput, prompt: Prompt, answer: DraftAnswer, refused: list[Refused]) -> SectionDraft:
    direct = claims_of(answer.answer[:MAX_ANSWER_SENTENCES], prompt, refused)
    paragraphs: list[DraftParagraph] = []
    names = [section.id for section in step.outline]
    section = next(iter(names), "")
    for block in answer.blocks[:MAX_BLOCKS]:
        section = block.section if block.section in names else section
        if claims := claims_of(block.claims[:MAX_CLAIMS], prompt, refused, block):
            heading = _heading(block.heading, step, prompt)
            paragraphs.append(DraftParagraph(claims=claims, heading=heading, section=section))
    reservations = _reservations(answer.reservations, prompt)
    return SectionDraft(
        title=_title(answer.title, step, prompt),
        answer=direct,
        paragraphs=tuple(paragraphs),
        reservations=reservations,
        limitations=() if direct or paragraphs or reservations else (NOTHING_FOUND,),
        settled=tuple(gap for label, gap in _left_open(step).items() if label in answer.settled),
        works_room=prompt.works_room,
        translations=_translations(step, answer, prompt),
        near_misses=_near_misses(answer.near_misses, prompt),
    )


def _title(text: str, step: WriteInput, prompt: Prompt) -> str:
    """Return the title, in words of the question; that of the section without one."""
    words = line(text, MAX_TITLE_CHARS).rstrip(". ")
    return words if words and gate.title(words, [prompt.question, step.title]).stands else step.title


def _heading(text: str, step: WriteInput, prompt: Prompt) -> DraftClaim | None:
    """Accept words above a block, which a second reader reads where they are not those of the question."""
    words = line(text, MAX_HEADING_CHARS).rstrip(".: ")
    if not words:
        return None
    claim = DraftClaim(text=words, kind="transition")
    return gate.decided(claim, gate.heading(words, [prompt.question, step.title]))


def _near_misses(written: Iterable[Rested], prompt: Prompt) -> tuple[DraftClaim, ...]:
    """Return the errors that the model planted on request and that rest on sentences shown."""
    rows = ((sentence_text(rested.text), supports(cited(rested.rests_on, prompt)[0])) for rested in written)
    made = [DraftClaim(text=text, support=support, state="ask") for text, support in rows if text and support]
    return tuple(made[:MAX_NEAR_MISSES])


def _reservations(texts: Sequence[str], prompt: Prompt) -> tuple[DraftClaim, ...]:
    """Accept what the model says that the evidence cannot show, each once."""
    lines = dict.fromkeys(filter(None, map(sentence_text, texts)))
    claims = (DraftClaim(text=text, kind="reservation") for text in list(lines)[:MAX_RESERVATIONS])
    return tuple(checked(claim, (), prompt) for claim in claims)


def review(_step: WriteInput, prompt: Prompt, answer: AnyDraft) -> Review:
    """Ask once more for an answer many of whose sentences name labels that were not shown."""
    if not isinstance(answer, DraftAnswer):
        return Review()
    written = [*answer.answer, *(claim for block in answer.blocks for claim in block.claims)]
    wrong = [
        claim
        for claim in written
        if (not claim.rests_on and claim.kind != "missing") or cited(claim.rests_on, prompt)[1]
    ]
    if not wrong or len(wrong) <= MAX_UNKNOWN_SHARE * len(written):
        return Review()
    named = ", ".join(dict.fromkeys(line(label, 12) for claim in wrong for label in claim.rests_on[:2]))
    return Review(
        problem=f"{plural(len(wrong), 'sentence')} rest on labels that were not shown ({line(named, 120)}). "
        "Name sentences by their labels (S1, S2); leave out what none says",
        usable=True,
        failures=len(wrong),
    )


def paragraphs_so_far(step: WriteInput, prompt: Prompt, text: str, least: int) -> tuple[str, ...]:
    """Return the paragraphs of an answer that is still coming, but the last, from `least` on.

    Quotes stand in the place of what is not verified.
    """
    if prompt.answer is AgainAnswer:
        return ()
    answer = read_so_far(text, DraftAnswer)
    if answer is None or len(answer.blocks) <= least:
        return ()
    unprinted: dict[str, object] = {"reservations": [], "answer": [], "near_misses": []}
    whole = answer.model_copy(update={"blocks": answer.blocks[:-1], **unprinted})
    draft = printed(accept(step, prompt, whole).output)
    return draft.texts if len(draft.paragraphs) >= least else ()


WRITER = RoleSpec(
    "writer",
    "Writing",
    DraftAnswer,
    render,
    accept,
    passages.write,
    reads=True,
    review=review,
    paragraphs=paragraphs_so_far,
)
