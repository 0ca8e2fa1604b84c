"""The run that a report continues, which the head of its page names."""

from activities.report.parts import ReportPart

PART = ReportPart("continues")
