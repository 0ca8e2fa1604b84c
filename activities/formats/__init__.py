"""The report in the formats people ask for: `render(report, "md")`."""

from activities.formats.extras import MissingExtra
from activities.formats.render import FORMATS, UnknownFormat, render

__all__ = ["FORMATS", "MissingExtra", "UnknownFormat", "render"]
