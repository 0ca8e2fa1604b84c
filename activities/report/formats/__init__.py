"""The report in the formats people ask for: `render(report, "md")`."""

from activities.report.format_table import FORMATS, Format, format_of
from activities.report.formats.libraries import MissingExtra
from activities.report.formats.render import UnknownFormat, render

__all__ = ["FORMATS", "Format", "MissingExtra", "UnknownFormat", "format_of", "render"]
