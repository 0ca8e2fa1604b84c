"""The sentences of a draft that a check refused, which its writer writes once more; and translated quotes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from activities.contracts.evidence import Evidence
from activities.contracts.write import DraftClaim, DraftParagraph, SectionDraft, WriteInput
from activities.messages import english_name
from activities.report.formats.statements import sentence as in_words
from activities.report.formats.text import with_colon
from activities.roles.allowances import MAX_CHARS_TOGETHER
from activities.roles.claims import Checks, ids_by_label, in_shape_of
from activities.roles.fields import Fields, Loose, OneClaim, Text, Texts, limits
from activities.roles.prompt import compose, fence, listing, one_line
from activities.roles.prose import GENERAL, read_row, read_sentence
from activities.roles.role import Prompt, prompt_text
from activities.roles.validation import sentence_text
from activities.roles.works import compose_works
from activities.text.number_index import missing_numbers
from activities.verification import gate
from activities.verification.expressions import MAX_EXPRESSION_CHARS
from activities.verification.verdicts import is_rewordable, leaning_ids

MAX_COLUMNS = 8
MAX_FIELD_CHARS = 300
MAX_EXPRESSIONS = 80
MAX_COMPUTATIONS = 80
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
        leaning_claims = leaning_ids(paragraph.claims)
        blocks.append([])
        for claim in paragraph.claims:
            labels[label := f"C{len(labels) + 1}"] = claim.id
            reason = in_words(claim.problem) if claim.problem else "not verified"
            note = f" (refused: {reason})" if claim.state != "stands" else ""
            note = f" (fields left out: {reason})" if claim.problem and not note else note
            shape = " (a row: `cells`)" if claim.is_row else ""
            leans = " (leans on it)" if claim.id in leaning_claims else ""
            row_fields = "; ".join(f"{head}: {field or '-'}" for head, field in claim.cells)
            words = f"**{with_colon(claim.lead)}** {claim.body}" if claim.lead else claim.text
            cites = ", ".join(ids[name] for name in gate.works_of(claim) if name in ids)
            cites = GENERAL if claim.kind == "background" else cites
            text = f"{one_line(row_fields if claim.is_row else words)} [{cites}]"
            blocks[-1].append(f"{label}{shape}: {text.removesuffix(' []')}{note}{leans}")
    rows = "\n\n".join("\n".join(block) for block in blocks)
    quotes = [f"T{n}: {one_line(support.quote)}" for n, support in enumerate(step.untranslated, 1)]
    translation_task = TRANSLATIONS.format(language=english_name(step.language)) if quotes else ""
    quotes_shown = "Quotes:\n" + fence("quotes", "\n".join(quotes)) if quotes else ""
    if rows:
        prompt = compose_works(
            "writer",
            step.replace(prompt=prompt_text("rewording")),
            documents,
            room=room,
            inputs=[
                listing("Computed in the same text", step.computed, MAX_COMPUTATIONS, 160),
                "Paragraphs:\n" + fence("claims", rows),
                quotes_shown,
            ],
            together=MAX_CHARS_TOGETHER,
            task="".join((TASK_AGAIN, translation_task, ANSWER)),
        )
    else:
        brief = step.replace(prompt=prompt_text("translation"))
        prompt = compose("writer", brief, room=room, inputs=[quotes_shown], task=translation_task + ANSWER)
    fields = {
        "translations": quotes,
        "sentences": rows,
        "computed": rows,
        "proposed": rows,
    }
    choices = {name: () for name, is_asked in fields.items() if not is_asked}
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
    leaning_names = {name for paragraph in step.failed for name in leaning_ids(paragraph.claims)}
    by_id = {c.id: c for c in rows if is_rewordable(c) or c.id in leaning_names}
    texts = [text for item in answer.sentences for text in (item.text, *item.cells)]
    text = "\n".join((*(claim.text for claim in rows), *texts, *step.computed))
    checks = Checks(prompt, [*answer.computed, *step.computed], answer.proposed, text)
    works = ids_by_label(prompt)
    rewordings: dict[str, DraftClaim] = {}
    for item in answer.sentences:
        before = by_id.get(prompt.claims.get(item.claim, ""))
        if before is None or before.id in rewordings:
            continue
        heads = [head for head, _ in before.cells]
        if before.is_row and len(item.cells) not in (len(heads), len(heads) + 1):  # one for the citations
            continue
        cells = [checks.fill(cell, step.language) for cell in item.cells]
        words = checks.fill(item.text, step.language)
        row = read_row(cells, heads, works) if before.is_row else read_sentence(words, works)
        if row is None or not row.claim.text:
            continue
        if not row.claim.cites and row.claim.kind != "background":  # as its first wording
            row = replace(row, claim=row.claim.replace(cites=before.cites, kind=before.kind))
        rewordings[before.id] = checks.claim(in_shape_of(before, row)).replace(reworded=True)

    def second_wordings(claim: DraftClaim) -> Iterator[DraftClaim]:
        rewording = rewordings.get(claim.id)
        if rewording is not None and rewording.state != "refused":
            # else the first one stands
            if claim.state == "refused" or (rewording.problem is None and rewording.text != claim.text):
                yield rewording
        elif rewording is not None and claim.state == "refused":
            yield claim.replace(problem=rewording.problem, reworded=True)
        elif rewording is None and claim.state == "refused":
            yield claim.replace(state="out")

    claims = tuple(rewording for claim in by_id.values() for rewording in second_wordings(claim))
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
