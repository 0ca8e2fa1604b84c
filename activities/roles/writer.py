"""Writer: the report, or a section of it, as Markdown that cites works.

Code divides it into sentences (`activities.roles.prose`), and the gate decides of each
(`activities.verification.gate`). The second reader names the sentences of the works that carry it. Those that
were refused come back once (`WriteInput.failed`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rapidfuzz import fuzz

from activities.contracts.evidence import Evidence
from activities.contracts.write import (
    DraftClaim,
    DraftParagraph,
    SectionDraft,
    WriteInput,
    with_sentences,
)
from activities.extractive import passages
from activities.messages import N_
from activities.roles.allowances import MAX_CHARS_TOGETHER
from activities.roles.claims import Checks, ids_by_label
from activities.roles.fields import Loose, Text, Texts, Truth, limits
from activities.roles.prompt import fence, listing
from activities.roles.prose import Block, ProseText, read_markdown, read_sentence
from activities.roles.rewording import AgainAnswer, accept_again, render_again
from activities.roles.role import Accepted, Prompt, RoleSpec, prompt_text
from activities.roles.validation import line
from activities.roles.works import compose_works
from activities.verification import gate
from activities.verification.expressions import MAX_EXPRESSION_CHARS

MAX_REPORT_CHARS = 32_000
MAX_CRITIQUE, MAX_CRITIQUE_CHARS = 8, 500
"""Points of a critique, and characters of each."""
MAX_TITLE_CHARS = 120
MAX_HEADING_CHARS = 100
MAX_EXPRESSIONS = 160
MAX_PROPOSED, MAX_PROPOSED_CHARS = 30, 40
MAX_NEAR_MISSES = 2
MAX_LEFT_OPEN = 24
MIN_ROOM_FOR_NEAR_MISSES = 16_000
"""Tokens of a prompt from which a writer is large enough to be asked for near misses."""
MIN_SAME_HEADING = 85
"""Likeness (0 to 100) from which a heading is that of a section."""
NOTHING_FOUND = N_("No evidence was found that could be cited here.")
WHOLE = (
    "Write the whole report: `# ` with a title of at most ten words, in words of the question; the answer, "
    "without a heading; the rest under `## ` headings. It has the length that was asked for (a page is 600 "
    "words), else the one that the question needs; of two that say the same a reader prefers the shorter."
)
ONE_SECTION = (
    "You write one section of a report whose other sections are written apart: first its answer in one or "
    "two sentences, then under `## ` headings or none what is behind it; 150 to 400 words."
)
SECTIONS = (
    "The report has the sections listed, each under its title as `## ` heading, word for word and in their "
    "order; the answer stands before the first."
)
TASK = "Write. Answer with JSON."
LABEL = (
    "Your answer has no labels yet. `critique`, first: read it beside the works as the one who asked "
    "and has to act on it today, as an experienced adviser in its field, and as the other side or a "
    "colleague who disagrees. At most eight points, the gravest first, each with what should stand "
    "there: a figure, date or statement that a work contradicts or that contradicts another; what "
    "misleads; a part of the question without a plain verdict; the strongest that can be said against a"
    " conclusion, and what it would change, as a figure; a risk, a proof to be secured, a step or a "
    "condition that the adviser would name and the answer does not; what gives away more than it has "
    "to, serves nobody or stands twice. `report`: then the whole answer once more in the form above, "
    "each point mended where it belongs and all else word for word; with labels at what a work carries,"
    " `[K]` behind what is known from elsewhere, and in `computed` the arithmetic of each figure that "
    "no work states. Part a sentence of which half is known from elsewhere; leave out what neither a "
    "work, a computation nor established knowledge carries. What is added takes the place of what "
    "matters less. Answer with JSON."
)
NEAR_MISSES = (
    "`near_misses`: two sentences that are not printed and by which the next reader is tested: take two of "
    "your own sentences, with their labels, and make each false by one small change: leave out its `may`, "
    "name a group, a cause or a time that its works do not have. "
)
SETTLED = (
    "`settled`: the labels (G1) of what was left open that your text gives or says to be missing: it is "
    "not printed as open. "
)
BESIDE_OTHERS = (
    "Do not repeat what is written there, and leave those questions to them: of a work that answers several "
    "questions say here what it says to this one."
)


class DraftAnswer(Loose):
    critique: Texts = limits(items=MAX_CRITIQUE, length=MAX_CRITIQUE_CHARS, default_factory=list)
    to_send: Truth = None
    report: Text = limits(length=MAX_REPORT_CHARS, default="")
    computed: Texts = limits(items=MAX_EXPRESSIONS, length=MAX_EXPRESSION_CHARS, default_factory=list)
    proposed: Texts = limits(items=MAX_PROPOSED, length=MAX_PROPOSED_CHARS, default_factory=list)
    near_misses: Texts = limits(items=MAX_NEAR_MISSES, length=400, default_factory=list)
    settled: Texts = limits(items=MAX_LEFT_OPEN, length=8, default_factory=list)


AnyDraft = DraftAnswer | AgainAnswer


def render(step: WriteInput, documents: Sequence[Evidence], room: int) -> Prompt:
    if step.failed or step.untranslated:
        return render_again(step, documents, room)
    gaps = {} if step.is_plain else _gaps_by_label(step)
    has_near_misses = room >= MIN_ROOM_FOR_NEAR_MISSES and not step.is_plain
    sections = [f"{section.title}: {section.key_question}" for section in step.outline]
    prompt = compose_works(
        "writer",
        step.replace(prompt=prompt_text("answer")) if step.is_plain else step,
        documents,
        room=room,
        inputs=[
            ONE_SECTION if step.other_sections else WHOLE,
            f"Section: {line(step.title, 160)}" if step.other_sections else "",
            listing("Sections", sections, 20, 300),
            SECTIONS if sections else "",
            listing("Hypotheses so far", [hypothesis.line for hypothesis in step.hypotheses], max_items=6),
            listing("Written in other sections", [c.text for c in step.written], len(step.written), 160),
            listing("Questions that other sections answer", step.other_sections, 20, 160),
            BESIDE_OTHERS if step.written or step.other_sections else "",
            listing("Left open", [f"{name}: {gap}" for name, gap in gaps.items()], MAX_LEFT_OPEN),
            f"Your answer:\n{fence('answer', step.plain_answer)}" if step.plain_answer else "",
        ],
        judgements=step.judgements,
        together=MAX_CHARS_TOGETHER,
        task="".join(
            (
                NEAR_MISSES if has_near_misses else "",
                SETTLED if gaps else "",
                LABEL if step.plain_answer else TASK,
            )
        ),
    )
    fields = {"critique": step.plain_answer, "near_misses": has_near_misses, "settled": gaps}
    fields |= dict.fromkeys(("to_send", "computed", "proposed"), not step.is_plain)
    choices: dict[str, tuple[str, ...]] = {name: () for name, is_asked in fields.items() if not is_asked}
    return replace(prompt, choices={**prompt.choices, **choices})


def _gaps_by_label(step: WriteInput) -> dict[str, str]:
    return {f"G{number}": gap for number, gap in enumerate(step.left_open[:MAX_LEFT_OPEN], 1)}


def accept(step: WriteInput, prompt: Prompt, answer: AnyDraft) -> Accepted[SectionDraft]:
    """Accept the draft: every sentence with what the gate decides of it."""
    if isinstance(answer, AgainAnswer):
        return Accepted(accept_again(step, prompt, answer))
    if step.is_plain:
        return Accepted(SectionDraft(plain_answer=answer.report))
    checks = Checks(prompt, answer.computed, answer.proposed, answer.report)
    report = checks.fill(answer.report, step.language)
    text = read_markdown(report, ids_by_label(prompt), step.language, to_send=answer.to_send is not False)
    answer_claims = tuple(
        claim.replace(begins=claim.begins or bool(place and not number and not claim.item))
        for place, block in enumerate(text.answer)
        for number, claim in enumerate(checks.claims(block.rows))
    )
    paragraphs = with_sentences(_paragraphs(step, prompt, text, checks))
    return Accepted(
        SectionDraft(
            title=step.title,
            heading=_title(text.title, step, prompt),
            answer=answer_claims,
            paragraphs=paragraphs,
            limitations=() if answer_claims or paragraphs else (NOTHING_FOUND,),
            settled=tuple(gap for label, gap in _gaps_by_label(step).items() if label in answer.settled),
            works_room=prompt.works_room,
            near_misses=_near_misses(
                [checks.fill(text, step.language) for text in answer.near_misses], prompt
            ),
            refused=tuple(checks.refused),
        )
    )


def _paragraphs(
    step: WriteInput, prompt: Prompt, text: ProseText, checks: Checks
) -> Iterable[DraftParagraph]:
    """Yield the blocks below the answer, each with its section where all sections are written at once."""
    titles = {section.id: section.title for section in step.outline}
    section = next(iter(titles), "")
    for block in text.blocks:
        new_section = _section_of(block, titles)
        section = new_section or section
        heading = (
            block.heading.removeprefix(block.section).removeprefix(": ") if new_section else block.heading
        )
        yield DraftParagraph(
            claims=checks.claims(block.rows),
            heading=_heading(heading, step, prompt, checks.results),
            section=section,
        )


def _section_of(block: Block, titles: dict[str, str]) -> str:
    """Return the id of the section that begins with a block; empty for none."""
    ratios = {name: fuzz.ratio(block.section.casefold(), title.casefold()) for name, title in titles.items()}
    best = max(ratios, key=ratios.__getitem__, default="")
    return best if block.section and best and ratios[best] >= MIN_SAME_HEADING else ""


def _title(text: str, step: WriteInput, prompt: Prompt) -> DraftClaim | None:
    """Accept the title, which a second reader reads where it has words that no title has."""
    words = line(text, MAX_TITLE_CHARS).rstrip(". ")
    titles = [prompt.question, step.title, *(work.title for work in prompt.works.values())]
    claim = DraftClaim(text=words, kind="transition")
    return gate.with_decision(claim, gate.heading(words, titles, prompt.works.values())) if words else None


def _heading(text: str, step: WriteInput, prompt: Prompt, results: Sequence[str] = ()) -> DraftClaim | None:
    """Accept words above a block, which a second reader reads where they are not those of the question."""
    words = line(text, MAX_HEADING_CHARS).rstrip(".: ")
    if not words:
        return None
    claim = DraftClaim(text=words, kind="transition")
    decision = gate.heading(words, [prompt.question, step.title], prompt.works.values(), results)
    return gate.with_decision(claim, decision)


def _near_misses(texts: Iterable[str], prompt: Prompt) -> tuple[DraftClaim, ...]:
    """Return the errors that the model planted on request and that cite works shown."""
    rows = (read_sentence(text, ids_by_label(prompt)) for text in texts)
    claims = [row.claim.replace(state="ask") for row in rows if row is not None and row.claim.cites]
    return tuple(claims[:MAX_NEAR_MISSES])


WRITER = RoleSpec("writer", DraftAnswer, render, accept, passages.write, reads=True)
