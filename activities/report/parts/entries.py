"""The timeline and the amounts of a report: the entries whose quotes stand, and their totals."""

from collections.abc import Collection, Iterable, Iterator, Mapping

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

TIMELINE, AMOUNTS, BOTH = N_("Timeline"), N_("Amounts"), N_("Timeline and amounts")
HEAD = (N_("Date"), N_("Event"), N_("Amount"), N_("In the total"), N_("Document"))
DATED_BY_WORK = N_("date of the document")
COUNTS = {"add": N_("added"), "subtract": N_("subtracted")}


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
        said = " ".join(claim.text for claim in report.answer)
        return (
            _("Sum of the amounts: {computation}").format(computation=total.line)
            for total in ENTRIES.shown(report).totals
            if total.result not in said
        )

    def lead(self, report: Report, quotes: Quotes) -> Iterable[Block]:
        for line in self.lines(report):
            yield Text((Run(f"{line}.", anchor="amounts"),))

    def chapters(self, report: Report, quotes: Quotes, *, drawn: bool) -> Iterable[Chapter]:
        own = ENTRIES.shown(report)
        sums = "how_much" in own.asks
        rows = [*_rows(own, quotes, dated="when" in own.asks, sums=sums)]
        title = BOTH if len(own.asks) > 1 else AMOUNTS if sums else TIMELINE
        if rows:
            table = Table(*filled(tuple(map(_, HEAD)), rows))
            yield Chapter("amounts" if sums else "timeline", _(title), (table,))

    def problems(
        self, report: Report, items: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, Iterable[tuple[str, ...]]]:
        own = ENTRIES.shown(report)
        wrong = own.totals != tuple(totals(own.entries))
        return {"total": (("a total does not follow from its amounts",) if wrong else (),)}


def _rows(own: Ledger, quotes: Quotes, *, dated: bool, sums: bool) -> Iterator[tuple[Cell, ...]]:
    """Yield events in order of time and amounts, each once, and then the totals."""
    for one in own.entries:
        if (sums and one.amount) or (dated and one.day):
            counted = (one.total or _(COUNTS[one.counts])) if sums and one.counts != "no" else ""
            amount = clean(one.amount) if sums or one.amount not in one.what else ""
            event = cell(one.what, quote=quotes.quote(one.what, one.support))
            yield _day(one), event, cell(amount), cell(counted), _document(one, quotes)
    for total in own.totals if sums else ():
        result = cell(f"{total.result} {total.unit}".strip(), "bold")
        name = f"{_('Total')}, {total.name}" if total.name else _("Total")
        yield Cell(), cell(name, "bold"), result, cell(total.expression), Cell()


def _day(one: Entry) -> Cell:
    if not one.day:
        return Cell()
    shown = day(one.day)
    return cell(f"{shown} ({_(DATED_BY_WORK)})" if one.day_from == "work" else shown, rank=one.day)


def _document(one: Entry, quotes: Quotes) -> Cell:
    number = quotes.number(one.evidence_id)
    reference = quotes.references.get(one.evidence_id)
    title = clean(reference.title) if reference else one.evidence_id
    return Cell((quotes.mark(number), Run(title, anchor=f"ref-{number}")), rank=str(number))


PART = EntriesReport("entries")
