"""Extractor: fills the reader's columns for each work, or lists dated events and amounts.

Every field and entry has the sentence it is from.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import get_args

from activities.contracts.entries import Counts, Entry
from activities.contracts.evidence import Evidence, Support
from activities.contracts.judge import Cell, Refused, Table, TableRow
from activities.contracts.write import Extracted, ExtractInput
from activities.documents.dates import dates_in
from activities.entries.ledger import value_of
from activities.roles.fields import Loose, OneSentence, OneWork, Text, limits
from activities.roles.prompt import listed
from activities.roles.role import Accepted, Prompt, RoleSpec, prompt_text
from activities.roles.validation import cited, line, one_of, refusal, supports
from activities.roles.works import MAX_SENTENCE_CHARS, compose_works
from activities.text.sentences import language_in
from activities.verification import gate
from activities.verification.gate import words

MAX_CELL_CHARS = 160
MAX_COLUMNS = 24
"""The reader's, and those of the statistics."""
ABSENT = frozenset({"", "-", "n/a", "na", "none", "not stated", "not reported", "unknown", "not given"})
"""What models write where a work does not say it."""
TASK = "Fill every column for every work shown, as far as it says so. Answer with JSON."
MAX_ENTRIES = 60
MAX_WHAT_CHARS = 120
COUNTS: tuple[Counts, ...] = get_args(Counts)
EVENTS = "event that bears on the question, with its date"
AMOUNTS = "amount that bears on the question"
ENTRIES_TASK = "List every {what}. Answer with JSON."


class CellAnswer(Loose):
    column: Text = limits(length=60, default="")
    text: Text = limits(length=MAX_CELL_CHARS, default="")
    sentence: OneSentence = ""


class RowAnswer(Loose):
    work: OneWork = ""
    cells: list[CellAnswer] = limits(items=MAX_COLUMNS, default_factory=list)


class ExtractAnswer(Loose):
    rows: list[RowAnswer]


class EntryAnswer(Loose):
    sentence: OneSentence = ""
    what: Text = limits(length=MAX_WHAT_CHARS, default="")
    date: Text = limits(length=40, default="")
    amount: Text = limits(length=60, default="")
    counts: Text = limits(length=10, default="no")
    total: Text = limits(length=30, default="")


class EntriesAnswer(Loose):
    entries: list[EntryAnswer] = limits(items=MAX_ENTRIES)


AnyExtract = ExtractAnswer | EntriesAnswer


def render(step: ExtractInput, documents: Sequence[Evidence], room: int) -> Prompt:
    if step.asks:
        step = step.replace(background="", prompt=step.prompt or prompt_text("entries"))
        prompt = compose_works("extractor", step, documents, room=room, task=task_of(step))
        choices = {**prompt.choices, "entries.counts": COUNTS}
        return replace(prompt, choices=choices, answer=EntriesAnswer)
    prompt = compose_works(
        "extractor",
        step.replace(background=""),
        documents,
        room=room,
        inputs=[listed("Columns", step.columns, MAX_COLUMNS, 60)],
        task=TASK,
    )
    prompt.choices["rows.cells.column"] = step.columns
    return prompt


def accept(step: ExtractInput, prompt: Prompt, answer: AnyExtract) -> Accepted[Extracted]:
    """Accept a row for every work that was shown.

    A field stands where a sentence of that very work has its words and numbers; it is blank where the work
    does not say it.
    """
    if isinstance(answer, EntriesAnswer):
        return accept_entries(step, prompt, answer)
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
        for cell in row.cells:
            column = one_of(cell.column, step.columns)
            text = line(cell.text, MAX_CELL_CHARS)
            if column is None or column in cells or text.casefold().rstrip(".") in ABSENT:
                continue
            sentences, unknown = cited([cell.sentence], prompt)
            support = next(iter(supports(sentences)), None)
            decision = gate.cell(column, text, support, document)
            if unknown:
                decision = gate.refused("label_unknown", label=unknown[0])
            if decision.refusal is not None:
                refused.append(refusal("cell", f"{column}: {text}", decision.refusal, [document.evidence_id]))
            else:
                cells[column] = Cell(text=text, support=support)
    table = Table(
        columns=step.columns,
        rows=tuple(TableRow(evidence_id=name, cells=cells) for name, cells in rows.items()),
    )
    return Accepted(Extracted(table=table, refused=tuple(refused)))


def task_of(step: ExtractInput) -> str:
    """Word the task of listing entries."""
    asked = [words for kind, words in (("when", EVENTS), ("how_much", AMOUNTS)) if kind in step.asks]
    return ENTRIES_TASK.format(what=" and every ".join(asked))


def accept_entries(step: ExtractInput, prompt: Prompt, answer: EntriesAnswer) -> Accepted[Extracted]:
    """Accept the entries whose words, date and amount are copied from their work, each once."""
    entries: dict[tuple[str, str, str], Entry] = {}
    refused: list[Refused] = []
    works = {work.evidence_id: work for work in prompt.shown.values()}
    asked = set(words(step.question))
    for row in answer.entries:
        sentences, unknown = cited([row.sentence], prompt)
        support = next(iter(supports(sentences)), None)
        if support is None:
            text = f"{row.what} {row.amount}".strip()
            if text:
                label = ", ".join(unknown)
                refused.append(
                    refusal("cell", text, "label_unknown" if unknown else "cites_nothing", label=label)
                )
            continue
        work = works[support.evidence_id]
        amount = line(row.amount, 60)
        if amount and (problem := gate.cell("amount", amount, support, work).refusal) is not None:
            refused.append(refusal("cell", amount, problem, [work.evidence_id]))
            continue
        day = day_of(row.date, work, support)
        by_work = "" if day or row.date.strip() else _iso(work.facts.get("date", ""))
        if not (amount or day):
            continue
        entry = Entry(
            evidence_id=work.evidence_id,
            support=support,
            what=_what(row.what, support),
            day=day or by_work,
            day_from="sentence" if day else "work" if by_work else "",
            amount=amount,
            value=value_of(amount, language_in(work)),
            counts=(one_of(row.counts, COUNTS) or "no") if amount and "how_much" in step.asks else "no",
            total=line(row.total, 30) if set(words(row.total)) <= asked else "",
        )
        entries.setdefault((support.quote, amount, entry.what), entry)
    return Accepted(Extracted(entries=tuple(entries.values()), refused=tuple(refused)))


def _what(text: str, support: Support) -> str:
    """Return a few words of a sentence, else the sentence."""
    words = line(text, MAX_WHAT_CHARS)
    return (
        words if words and gate.are_spans(words, support.quote) else line(support.quote, MAX_SENTENCE_CHARS)
    )


def day_of(text: str, work: Evidence, support: Support) -> str:
    """Return the day that a copied date names, as an ISO date; empty where its work has no such date.

    A day without a year is the one nearest to the date of its work.
    """
    language, written = language_in(work), _iso(work.facts.get("date", ""))
    sources = (support.quote, work.text)
    stated = {one.day for source in sources for one in dates_in(source, language)}
    for one in dates_in(text, language):
        return one.day.isoformat() if one.day in stated else ""
    if not written or not gate.is_span(text, support.quote):
        return ""
    day = date.fromisoformat(written)
    days = [one.day for n in (0, -1, 1) for one in dates_in(f"{text} {day.year + n}", language)[:1]]
    return min(days, key=lambda one: abs(one - day)).isoformat() if days else ""


def _iso(text: str) -> str:
    try:
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        return ""


EXTRACTOR = RoleSpec(
    "extractor",
    "Filling the table",
    ExtractAnswer,
    render,
    accept,
    lambda step, _: Extracted(table=Table(columns=step.columns)),
    reads=True,
    idle=lambda step, documents: not ((step.columns or step.asks) and documents),
)
