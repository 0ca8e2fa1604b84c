"""The timeline and the amounts of a report: the entries whose quotes stand, and their totals."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from activities.contracts.entries import PART as ENTRIES
from activities.contracts.entries import Entries, Entry, Ledger
from activities.contracts.evidence import Support
from activities.contracts.publish import PublishInput
from activities.entries.ledger import ledger, totals
from activities.messages import N_, _, day
from activities.report.claims import Checks
from activities.report.formats.blocks import Block, Cell, Chapter, Run, Table, Text, cell, filled
from activities.report.formats.references import Quotes
from activities.report.formats.text import clean
from activities.report.parts import ReportPart
from activities.report.schema import JudgedWork, Report

TIMELINE, AMOUNTS = N_("Timeline"), N_("Amounts")
TIMELINE_HEAD = (N_("Date"), N_("Event"), N_("Document"))
AMOUNTS_HEAD = (N_("Date"), N_("Item"), N_("Amount"), N_("In the total"), N_("Document"))
DATED_BY_WORK = N_("date of the document")
COUNTS = {"add": N_("added"), "subtract": N_("subtracted"), "no": N_("no")}


class EntriesReport(ReportPart):
    """Shows events in order of time, and amounts with their total."""

    def cited(self, step: PublishInput) -> Iterable[str]:
        return (one.evidence_id for one in ENTRIES.given(step).entries)

    def without(self, step: PublishInput, works: Collection[str]) -> Entries:
        given = ENTRIES.given(step)
        return given.replace(entries=tuple(e for e in given.entries if e.evidence_id not in works))

    def check(
        self, step: PublishInput, checks: Checks, judgements: Iterable[JudgedWork], stored: object
    ) -> Ledger:
        given = ENTRIES.given(step)
        kept = (one for one in given.entries if checks.supports([one.support]).support)
        return ledger(given.replace(entries=tuple(kept)))

    def quotes(self, report: Report) -> Iterable[Support]:
        return (one.support for one in ENTRIES.shown(report).entries)

    def lines(self, report: Report) -> Iterable[str]:
        return (
            _("Sum of the amounts: {computation}").format(computation=total.line)
            for total in ENTRIES.shown(report).totals
        )

    def lead(self, report: Report, quotes: Quotes) -> Iterable[Block]:
        for line in self.lines(report):
            yield Text((Run(f"{line}.", anchor="amounts"),))

    def chapters(self, report: Report, quotes: Quotes, *, drawn: bool) -> Iterable[Chapter]:
        own = ENTRIES.shown(report)
        if "when" in own.asks:
            dated = (one for one in own.entries if one.day)
            rows = [(_day(one), _event(one, quotes), _document(one, quotes)) for one in dated]
            yield Chapter("timeline", _(TIMELINE), (*_table(TIMELINE_HEAD, rows),))
        if "how_much" in own.asks:
            yield Chapter("amounts", _(AMOUNTS), (*_table(AMOUNTS_HEAD, [*_amounts(own, quotes)]),))

    def problems(
        self, report: Report, items: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, Iterable[tuple[str, ...]]]:
        own = ENTRIES.shown(report)
        wrong = own.totals != tuple(totals(own.entries))
        return {"total": (("a total does not follow from its amounts",) if wrong else (),)}


def _amounts(own: Ledger, quotes: Quotes) -> Iterator[tuple[Cell, ...]]:
    for one in own.entries:
        if one.amount:
            counted = cell(_(COUNTS[one.counts]))
            yield _day(one), _what(one, quotes), cell(clean(one.amount)), counted, _document(one, quotes)
    for total in own.totals:
        result = cell(f"{total.result} {total.unit}".strip(), "bold")
        yield Cell(), cell(_("Total"), "bold"), result, cell(total.expression), Cell()


def _table(head: tuple[str, ...], rows: Sequence[tuple[Cell, ...]]) -> Iterator[Table]:
    if rows:
        yield Table(*filled(tuple(map(_, head)), rows))


def _day(one: Entry) -> Cell:
    if not one.day:
        return Cell()
    shown = day(one.day)
    return cell(f"{shown} ({_(DATED_BY_WORK)})" if one.day_from == "work" else shown, rank=one.day)


def _event(one: Entry, quotes: Quotes) -> Cell:
    """Show what happened, with its amount where its words do not have it."""
    text = one.what if one.amount in one.what else f"{one.what}: {one.amount}"
    return cell(text, quote=quotes.quote(one.what, one.support))


def _what(one: Entry, quotes: Quotes) -> Cell:
    return cell(one.what, quote=quotes.quote(one.what, one.support))


def _document(one: Entry, quotes: Quotes) -> Cell:
    number = quotes.number(one.evidence_id)
    reference = quotes.references.get(one.evidence_id)
    title = clean(reference.title) if reference else one.evidence_id
    return Cell((quotes.mark(number), Run(title, anchor=f"ref-{number}")), rank=str(number))


PART = EntriesReport("entries")
