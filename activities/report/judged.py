"""The judgements of works and the reader's table, checked: what is shown of a work stands in that very work.

Invariants:

- A quote of a judgement or a cell is word for word in the work it is attributed to.
- Numbers of a finding and of a cell are in their quotes; the number of participants is in the work's text.
- The names and most words of a comparator, of a design and of a cell are in the work.
- Of a work whose text is not at hand only the labels of its judgement are shown.
"""

from collections.abc import Iterable, Mapping, Sequence

from activities.analysis.cells import MEASURED, cell_reason
from activities.drafts import DraftClaim, RefusedKind
from activities.judgements import Cell, Table, TableRow, WorkJudgement
from activities.report.claims import CheckedDrafts
from activities.report.content_words import stems
from activities.report.formats.text import clean
from activities.report.schema import JudgedWork
from activities.text.evidence_strength import STUDY_KIND_WORDS, TYPE_NAMES
from activities.types import Evidence, EvidenceRef, Statement, Support
from activities.verification.claim_check import is_directed, missing_number, numbers, reversal
from activities.verification.quote_check import QuoteChecker, normalise
from activities.verification.wording import unknown_name

MIN_SHARED = 0.5
"""Share of the words of a comparator, a design or a cell that the work has; inflected and common words are
free."""
MAX_REASON_WORDS = 20
"""Words of a judgement's reason that are shown."""


class _Checks:
    def __init__(self, checker: QuoteChecker, documents: Mapping[str, Evidence], done: CheckedDrafts) -> None:
        self.checker = checker
        self.documents = documents
        self.done = done

    def refuse(self, text: str, reasons: Sequence[Statement], kind: RefusedKind, evidence_id: str) -> None:
        self.done.drop(clean(text), reasons, kind, "", [evidence_id])

    def in_words(self, text: str, item: Evidence, free: str = "") -> bool:
        """Whether a work has the names of a text, and most of its words of content: in its title, text, facts
        or type. `free`: words that it may have besides."""
        facts = " ".join(f"{name} {value}" for name, value in item.facts.items())
        known = f"{item.title} {item.text} {facts} {TYPE_NAMES[item.evidence_type]} {free}"
        if unknown_name(normalise(text), [known]):
            return False
        own = stems(text) - stems(free)
        return len(own & stems(known)) >= MIN_SHARED * len(own) or text.isupper()


def judged_works(
    judgements: Iterable[WorkJudgement],
    refs: Iterable[EvidenceRef],
    found: Iterable[str],
    documents: Mapping[str, Evidence],
    checker: QuoteChecker,
    done: CheckedDrafts,
) -> tuple[JudgedWork, ...]:
    """The judgements of works of this run, each work once; what is refused is recorded in `done`."""
    checks = _Checks(checker, documents, done)
    known = {ref.evidence_id: ref for ref in refs}
    of_run = {*known, *found, *documents}
    kept: dict[str, JudgedWork] = {}
    for judgement in judgements:
        name = judgement.evidence_id
        if name not in of_run:
            checks.refuse(judgement.finding, [Statement(code="cites_unknown_item")], "judgement", name)
        elif name not in kept:
            kept[name] = _judged(judgement, documents.get(name), known.get(name), checks)
    return tuple(kept.values())


def _judged(
    judgement: WorkJudgement, item: Evidence | None, ref: EvidenceRef | None, checks: _Checks
) -> JudgedWork:
    work = JudgedWork.model_validate(judgement.model_dump())
    if item is None:
        empty = {"finding": "", "support": (), "comparator": "", "participants": None, "design": ""}
        named = (
            {"title": clean(ref.title), "year": ref.year, "evidence_type": ref.evidence_type} if ref else {}
        )
        return work.model_copy(update={**empty, **named, "reason": ""})
    name = item.evidence_id
    own = tuple(support for support in judgement.support if support.evidence_id == name)
    quoted = checks.checker.supports(own)
    checks.done.retracted |= dict.fromkeys(quoted.retracted)
    for support in judgement.support:
        if support.evidence_id != name:
            checks.refuse(support.quote, [Statement(code="quote_of_another_work")], "judgement", name)
    if quoted.refused:
        checks.refuse(judgement.finding, quoted.refused, "judgement", name)
    update: dict[str, object] = {
        "title": clean(item.title),
        "year": item.year,
        "evidence_type": item.evidence_type,
        "support": quoted.support,
    }
    finding = clean(judgement.finding)
    if finding:
        checked = checks.checker.check(DraftClaim(text=finding, support=quoted.support))
        if not checked.kept:
            if not quoted.refused:
                checks.refuse(finding, checked.reasons, "judgement", name)
            finding = ""
    update["finding"] = finding
    for field, free in (("comparator", ""), ("design", STUDY_KIND_WORDS)):
        text = clean(getattr(judgement, field))
        if text and not checks.in_words(text, item, free):
            checks.refuse(text, [Statement(code="words_not_in_work")], "judgement", name)
            text = ""
        update[field] = text
    people = judgement.participants
    if people is not None and all(number.value != people for number in numbers(normalise(item.text))):
        missing = Statement(code="number_missing", values={"number": str(people)})
        checks.refuse(str(people), [missing], "judgement", name)
        update["participants"] = None
    reason = " ".join(clean(judgement.reason).split()[:MAX_REASON_WORDS])
    if missing_number(normalise(reason), [normalise(f"{item.title} {item.text}")], (), 0):
        reason = ""
    update["reason"] = reason
    return work.model_copy(update=update)


def checked_table(
    table: Table, documents: Mapping[str, Evidence], checker: QuoteChecker, done: CheckedDrafts
) -> Table:
    """The table with the cells that stand; what is refused is recorded in `done`, and its cell is empty."""
    checks = _Checks(checker, documents, done)
    columns = tuple(dict.fromkeys(filter(None, map(clean, table.columns))))
    rows: dict[str, TableRow] = {}
    for row in table.rows:
        item = documents.get(row.evidence_id)
        if item is None or row.evidence_id in rows:
            for cell in row.cells.values():
                if clean(cell.text):
                    unknown = Statement(code="cites_unknown_item")
                    checks.refuse(cell.text, [unknown], "cell", row.evidence_id)
            continue
        cells = {
            clean(name): kept
            for name, cell in row.cells.items()
            if clean(name) in columns and (kept := _cell(clean(name), cell, item, checks)) is not None
        }
        rows[row.evidence_id] = TableRow(evidence_id=row.evidence_id, cells=cells)
    return Table(columns=columns, rows=tuple(rows.values()))


def _cell(column: str, cell: Cell, item: Evidence, checks: _Checks) -> Cell | None:
    text = clean(cell.text)
    if not text:
        return None
    reasons: tuple[Statement, ...] = ()
    support = cell.support
    if support is None:
        reasons = (Statement(code="cites_nothing"),)
    elif support.evidence_id != item.evidence_id:
        reasons = (Statement(code="quote_of_another_work"),)
    else:
        reasons = checks.checker.supports([support]).refused
    if support is not None and not reasons and column in MEASURED:
        if cell_reason(column, text, support.quote):
            reasons = (Statement(code="words_not_in_work"),)
    elif support is not None and not reasons:
        quote = normalise(support.quote)
        if number := missing_number(normalise(text), [quote], (), 0):
            reasons = (Statement(code="number_missing", values={"number": number}),)
        elif is_directed(normalise(text)) and (turned := reversal(normalise(text), quote)):
            reasons = (Statement(code="meaning_turned", values={"how": turned}),)
        elif not checks.in_words(text, item):
            reasons = (Statement(code="words_not_in_work"),)
    if support is None or reasons:
        checks.refuse(text, reasons, "cell", item.evidence_id)
        return None
    return Cell(text=text, support=Support(evidence_id=item.evidence_id, quote=support.quote))
