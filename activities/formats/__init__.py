"""The report in the formats people ask for: `render(report, "md")`."""

from activities.formats.render import FORMATS, UnknownFormat, render

__all__ = ["FORMATS", "UnknownFormat", "render"]
