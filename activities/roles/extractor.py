"""Extractor: fills the reader's columns for each work, every field with the sentence it is from."""

from collections.abc import Sequence

from activities.analysis.cells import MEASURED, cell_reason
from activities.drafts import Extracted, ExtractInput
from activities.judgements import Cell, Refused, Table, TableRow
from activities.roles.prompt import listed
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import (
    Loose,
    OneSentence,
    OneWork,
    Text,
    cited,
    limits,
    line,
    refusal,
    supports,
)
from activities.roles.works import compose_works
from activities.text.sentences import Sentence
from activities.text.tokens import terms
from activities.types import Evidence, Statement
from activities.verification.claim_check import is_directed, missing_number, reversal
from activities.verification.normal_form import normalise
from activities.verification.wording import joins, unknown_name

MAX_CELL_CHARS = 160
MAX_COLUMNS = 24
"""The reader's, and those of the statistics."""
MIN_OF_SENTENCE = 0.5
"""Share of the words of a field that its sentence has; the others are of the work or its title."""
ABSENT = frozenset({"", "-", "n/a", "na", "none", "not stated", "not reported", "unknown", "not given"})
"""What models write where a work does not say it."""
TASK = "Fill every column for every work shown, as far as it says so. Answer with JSON."


class CellAnswer(Loose):
    column: Text = limits(length=60, default="")
    text: Text = limits(length=MAX_CELL_CHARS, default="")
    sentence: OneSentence = ""


class RowAnswer(Loose):
    work: OneWork = ""
    cells: list[CellAnswer] = limits(items=MAX_COLUMNS, default_factory=list)


class ExtractAnswer(Loose):
    rows: list[RowAnswer]


def render(step: ExtractInput, documents: Sequence[Evidence], room: int) -> Prompt:
    prompt = compose_works(
        "extractor",
        step.model_copy(update={"background": ""}),
        documents,
        room=room,
        given=[listed("Columns", step.columns, MAX_COLUMNS, 60)],
        task=TASK,
    )
    prompt.choices["rows.cells.column"] = step.columns
    return prompt


def accept(step: ExtractInput, prompt: Prompt, answer: ExtractAnswer) -> Accepted[Extracted]:
    """A row for every work that was shown. A field stands where a sentence of that very work has its words
    and numbers; it is blank where the work does not say it."""
    columns = {column.casefold(): column for column in step.columns}
    rows: dict[str, dict[str, Cell]] = {item.evidence_id: {} for item in prompt.shown.values()}
    refused: list[Refused] = []
    for row in answer.rows:
        document = prompt.shown.get(row.work)
        if document is None:
            words = "; ".join(cell.text for cell in row.cells if cell.text)
            if words:
                refused.append(refusal("cell", words, "label_unknown", label=line(row.work, 40)))
            continue
        cells = rows[document.evidence_id]
        for given in row.cells:
            column = columns.get(given.column.strip().casefold())
            text = line(given.text, MAX_CELL_CHARS)
            if column is None or column in cells or text.casefold().rstrip(".") in ABSENT:
                continue
            sentences, _ = cited([given.sentence], prompt)
            if problem := cell_problem(column, text, sentences, document, given.sentence):
                refused.append(refusal("cell", f"{column}: {text}", problem, [document.evidence_id]))
            else:
                (support,) = supports(sentences)
                cells[column] = Cell(text=text, support=support)
    table = Table(
        columns=step.columns,
        rows=tuple(TableRow(evidence_id=name, cells=cells) for name, cells in rows.items()),
    )
    return Accepted(Extracted(table=table, refused=tuple(refused)))


def cell_problem(
    column: str, text: str, sentences: Sequence[Sentence], document: Evidence, label: str
) -> Statement | None:
    """Why a field does not stand; None when the sentence of the work says it. A field of an effect is a
    number or a measure: it has no direction, and its sentence may deny ("not associated, HR 1.02")."""
    if not sentences:
        return Statement(code="label_unknown", values={"label": line(label, 40)})
    (sentence,) = sentences
    if sentence.evidence_id != document.evidence_id:
        return Statement(code="other_work")
    if column in MEASURED:
        return Statement(code="not_in_work") if cell_reason(column, text, sentence.quote) else None
    plain, quote = normalise(text), normalise(sentence.quote)
    if number := missing_number(plain, [quote], (), 0):
        return Statement(code="number_missing", values={"number": number})
    if name := unknown_name(plain, [f"{document.title}\n{document.text}"]):
        return Statement(code="name_missing", values={"name": name})
    words = terms(plain)
    own = set(terms(quote))
    known = own | set(terms(f"{document.title}\n{document.text}"))
    if any(word not in known for word in words):
        return Statement(code="not_in_work")
    if sum(word in own for word in words) < MIN_OF_SENTENCE * len(words):
        return Statement(code="not_in_work")
    if not is_directed(plain):
        return None
    if not joins(plain, [quote]):
        return Statement(code="not_in_work")
    if turned := reversal(plain, quote):
        return Statement(code="meaning_turned", values={"how": turned})
    return None


def by_code(step: ExtractInput, documents: Sequence[Evidence]) -> Extracted | None:
    if step.columns and documents:
        return None
    return Extracted(table=Table(columns=step.columns))


def without_model(step: ExtractInput) -> Extracted:
    return Extracted(table=Table(columns=step.columns))


SPEC = RoleSpec[ExtractInput, ExtractAnswer, Extracted](
    "extractor",
    ExtractAnswer,
    render,
    accept,
    lambda step: step.evidence,
    by_code,
    without_model=without_model,
)
