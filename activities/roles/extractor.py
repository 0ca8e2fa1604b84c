"""Extractor: fills the reader's columns for each work, every field with the sentence it is from."""

from collections.abc import Sequence

from activities.contracts.evidence import Evidence
from activities.contracts.judge import Cell, Refused, Table, TableRow
from activities.contracts.write import Extracted, ExtractInput
from activities.roles.fields import Loose, OneSentence, OneWork, Text, limits
from activities.roles.prompt import listing
from activities.roles.role import Accepted, Prompt, RoleSpec
from activities.roles.validation import line, one_of, refusal, resolve, supports
from activities.roles.works import compose_works
from activities.verification import fields, gate

MAX_CELL_CHARS = 160
MAX_COLUMNS = 24
"""The reader's, and those of the statistics."""
ABSENT = frozenset({"", "-", "n/a", "na", "none", "not stated", "not reported", "unknown", "not given"})
"""What models write where a work does not say it."""
TASK = "Fill every column for every work shown, as far as it says so. Answer with JSON."


class CellAnswer(Loose):
    column: Text = limits(length=60, default="")
    text: Text = limits(length=MAX_CELL_CHARS, default="")
    sentence: OneSentence = None


class RowAnswer(Loose):
    work: OneWork = ""
    cells: list[CellAnswer] = limits(items=MAX_COLUMNS, default_factory=list)


class ExtractAnswer(Loose):
    rows: list[RowAnswer]


def render(step: ExtractInput, documents: Sequence[Evidence], room: int) -> Prompt:
    prompt = compose_works(
        "extractor",
        step.replace(background=""),
        documents,
        room=room,
        inputs=[listing("Columns", step.columns, MAX_COLUMNS, 60)],
        task=TASK,
    )
    prompt.choices["rows.cells.column"] = step.columns
    return prompt


def accept(step: ExtractInput, prompt: Prompt, answer: ExtractAnswer) -> Accepted[Extracted]:
    """Accept a row for every work that was shown.

    A field stands where a sentence of that very work has its words and numbers; it is blank where the work
    does not say it.
    """
    rows: dict[str, dict[str, Cell]] = {item.evidence_id: {} for item in prompt.works.values()}
    refusals: list[Refused] = []
    for row in answer.rows:
        document = prompt.works.get(row.work)
        if document is None:
            words = "; ".join(cell.text for cell in row.cells if cell.text)
            if words:
                refusals.append(refusal("cell", words, "label_unknown", label=line(row.work, 40)))
            continue
        cells = rows[document.evidence_id]
        for cell in row.cells:
            column = one_of(cell.column, step.columns)
            text = line(cell.text, MAX_CELL_CHARS)
            if column is None or column in cells or text.casefold().rstrip(".") in ABSENT:
                continue
            sentences, unknown_labels = resolve([cell.sentence], prompt)
            support = next(iter(supports(sentences)), None)
            decision = fields.cell(column, text, support, document)
            if unknown_labels:
                decision = gate.refuse("label_unknown", label=unknown_labels[0])
            if (reason := decision.refusal) is not None:
                refusals.append(refusal("cell", f"{column}: {text}", reason, [document.evidence_id]))
            else:
                cells[column] = Cell(text=text, support=support)
    table = Table(
        columns=step.columns,
        rows=tuple(TableRow(evidence_id=name, cells=cells) for name, cells in rows.items()),
    )
    return Accepted(Extracted(table=table, refused=tuple(refusals)))


EXTRACTOR = RoleSpec(
    "extractor",
    ExtractAnswer,
    render,
    accept,
    lambda step, _: Extracted(table=Table(columns=step.columns)),
    reads=True,
    idle=lambda step, documents: not (step.columns and documents),
)
