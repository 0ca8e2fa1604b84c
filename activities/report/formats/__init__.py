"""The report in the formats people ask for: `render(report, "md")`."""

from activities.report.formats.extras import MissingExtra
from activities.report.formats.render import FORMATS, UnknownFormat, render

__all__ = ["FORMATS", "MissingExtra", "UnknownFormat", "render"]
