"""The sentences of a draft that a check refused, which its writer writes once more; and translated quotes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from activities.contracts.evidence import Evidence
from activities.contracts.write import DraftClaim, DraftParagraph, SectionDraft, WriteInput
from activities.messages import english_name
from activities.report.formats.statements import sentence as in_words
from activities.roles.allowances import MAX_CHARS_TOGETHER
from activities.roles.claims import Checks, ids_by_label, in_shape_of
from activities.roles.fields import Fields, Loose, OneClaim, Text, Texts, limits
from activities.roles.prompt import compose, fence, listing, one_line
from activities.roles.prose import GENERAL, row, sentence
from activities.roles.role import Prompt, prompt_text
from activities.roles.validation import sentence_text
from activities.roles.works import compose_works
from activities.text.numbers import missing_numbers
from activities.verification import gate
from activities.verification.computed import MAX_EXPRESSION_CHARS
from activities.verification.verdicts import is_rewordable, leaning_ids

MAX_COLUMNS = 8
MAX_FIELD_CHARS = 300
MAX_EXPRESSIONS = 80
MAX_COMPUTED_SHOWN = 80
MAX_TRANSLATION_CHARS = 900
TASK_AGAIN = "Write the refused sentences once more. "
ANSWER = "Answer with JSON."
TRANSLATIONS = (
    "`translations`: each quote listed above (`quote`, its label) in {language} (`text`), as a translator "
    "would write it; it is printed beside the quote as a translation. "
)


class WrittenAgain(Loose):
    claim: OneClaim = ""
    text: Text = limits(length=gate.MAX_CLAIM_CHARS, default="")
    cells: Fields = limits(items=MAX_COLUMNS, length=MAX_FIELD_CHARS, default_factory=list)


class Translated(Loose):
    quote: Text = limits(length=8, default="")
    text: Text = limits(length=MAX_TRANSLATION_CHARS, default="")


class AgainAnswer(Loose):
    sentences: list[WrittenAgain] = limits(default_factory=list)
    computed: Texts = limits(items=MAX_EXPRESSIONS, length=MAX_EXPRESSION_CHARS, default_factory=list)
    proposed: Texts = limits(items=MAX_EXPRESSIONS, length=MAX_EXPRESSION_CHARS, default_factory=list)
    translations: list[Translated] = limits(default_factory=list)


def render_again(step: WriteInput, documents: Sequence[Evidence], room: int) -> Prompt:
    """Show the paragraphs with refused sentences, the reason of each, and the works they cite.

    Translations alone need neither works nor the rules for sentences.
    """
    labels: dict[str, str] = {}
    blocks: list[list[str]] = []
    ids = {document.evidence_id: f"E{n}" for n, document in enumerate(documents, 1)}
    for paragraph in step.failed:
        leaning = leaning_ids(paragraph.claims)
        blocks.append([])
        for claim in paragraph.claims:
            labels[label := f"C{len(labels) + 1}"] = claim.id
            why = in_words(claim.problem) if claim.problem else "not verified"
            refused = f" (refused: {why})" if claim.state != "stands" else ""
            refused = f" (fields left out: {why})" if claim.problem and not refused else refused
            shape = " (a row: `cells`)" if claim.is_row else ""
            leans = " (leans on it)" if claim.id in leaning else ""
            fields = "; ".join(f"{head}: {field or '-'}" for head, field in claim.cells)
            words = f"**{claim.lead}:** {claim.body}" if claim.lead else claim.text
            cites = ", ".join(ids[name] for name in gate.works_of(claim) if name in ids)
            cites = GENERAL if claim.kind == "background" else cites
            text = f"{one_line(fields if claim.is_row else words)} [{cites}]"
            blocks[-1].append(f"{label}{shape}: {text.removesuffix(' []')}{refused}{leans}")
    rows = "\n\n".join("\n".join(block) for block in blocks)
    quotes = [f"T{n}: {one_line(support.quote)}" for n, support in enumerate(step.untranslated, 1)]
    translating = TRANSLATIONS.format(language=english_name(step.language)) if quotes else ""
    quotes_shown = "Quotes:\n" + fence("quotes", "\n".join(quotes)) if quotes else ""
    if rows:
        prompt = compose_works(
            "writer",
            step.replace(prompt=prompt_text("rewording")),
            documents,
            room=room,
            inputs=[
                listing("Computed in the same text", step.computed, MAX_COMPUTED_SHOWN, 160),
                "Paragraphs:\n" + fence("claims", rows),
                quotes_shown,
            ],
            together=MAX_CHARS_TOGETHER,
            task="".join((TASK_AGAIN, translating, ANSWER)),
        )
    else:
        brief = step.replace(prompt=prompt_text("translation"))
        prompt = compose("writer", brief, room=room, inputs=[quotes_shown], task=translating + ANSWER)
    unasked = {
        "translations": quotes,
        "sentences": rows,
        "computed": rows,
        "proposed": rows,
    }
    choices = {name: () for name, wanted in unasked.items() if not wanted}
    return replace(
        prompt,
        choices={**prompt.choices, **choices, "ClaimLabel": tuple(labels)},
        claims=labels,
        notes=(),
        answer=AgainAnswer,
    )


def accept_again(step: WriteInput, prompt: Prompt, answer: AgainAnswer) -> SectionDraft:
    """Accept second wordings under the ids of the first ones: of what was refused, and what leans on that.

    A refused sentence that the model did not write again is left out.
    """
    rows = [claim for paragraph in step.failed for claim in paragraph.claims]
    leaning = {name for paragraph in step.failed for name in leaning_ids(paragraph.claims)}
    first = {c.id: c for c in rows if is_rewordable(c) or c.id in leaning}
    texts = [text for again in answer.sentences for text in (again.text, *again.cells)]
    text = "\n".join((*(claim.text for claim in rows), *texts, *step.computed))
    checks = Checks(prompt, [*answer.computed, *step.computed], answer.proposed, text)
    works = ids_by_label(prompt)
    again: dict[str, DraftClaim] = {}
    for one in answer.sentences:
        before = first.get(prompt.claims.get(one.claim, ""))
        if before is None or before.id in again:
            continue
        heads = [head for head, _ in before.cells]
        if before.is_row and len(one.cells) not in (len(heads), len(heads) + 1):  # one for the citations
            continue
        cells = [checks.filled(cell, step.language) for cell in one.cells]
        words = checks.filled(one.text, step.language)
        written = row(cells, heads, works) if before.is_row else sentence(words, works)
        if written is None or not written.claim.text:
            continue
        if not written.claim.cites and written.claim.kind != "background":  # as its first wording
            written = replace(written, claim=written.claim.replace(cites=before.cites, kind=before.kind))
        again[before.id] = checks.claim(in_shape_of(before, written)).replace(reworded=True)

    def second(claim: DraftClaim) -> Iterator[DraftClaim]:
        new = again.get(claim.id)
        if new is not None and new.state != "refused":
            # else the first one stands
            if claim.state == "refused" or (new.problem is None and new.text != claim.text):
                yield new
        elif new is not None and claim.state == "refused":
            yield claim.replace(problem=new.problem, reworded=True)
        elif new is None and claim.state == "refused":
            yield claim.replace(state="out")

    claims = tuple(new for claim in first.values() for new in second(claim))
    return SectionDraft(
        paragraphs=(DraftParagraph(claims=claims),) if claims else (),
        translations=tuple(_translations(step, answer)),
    )


def _translations(step: WriteInput, answer: AgainAnswer) -> Iterator[DraftClaim]:
    """Yield the translations of quotes, each once, with their numbers, for the second reader."""
    quotes = {f"T{n}": support for n, support in enumerate(step.untranslated, 1)}
    for translation in answer.translations:
        text = sentence_text(translation.text)
        support = quotes.pop(translation.quote.strip().upper(), None)
        if text and support and not any(missing_numbers(text, [support.quote])):
            yield DraftClaim(text=text, kind="translation", support=(support,), state="ask")
