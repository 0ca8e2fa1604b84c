"""How the question was understood: what was asked back, and what was answered or assumed."""

from collections.abc import Iterable

from activities.contracts.plan import PART as READINGS
from activities.messages import N_, _
from activities.report.formats.blocks import Chapter, bullets
from activities.report.formats.references import Quotes
from activities.report.formats.text import clean
from activities.report.parts import ReportPart
from activities.report.schema import Report

TITLE = N_("How the question was understood")


class ReadingsReport(ReportPart):
    """Lists the readings of the question."""

    def chapters(self, report: Report, quotes: Quotes, *, with_pictures: bool) -> Iterable[Chapter]:
        if readings := READINGS.of_report(report):
            yield Chapter("readings", _(TITLE), tuple(bullets(clean(reading.text) for reading in readings)))


PART = ReadingsReport("readings")
