"""The report's figures: as SVG for HTML and PDF, and as pictures for Word, which shows no SVG by itself."""

import re

from activities.report.formats.libraries import FOLDER, templates
from activities.report.formats.model import View

PIXELS_PER_INCH = 220
_PAGE = b"""#set page(width: 9cm, height: auto, margin: 2pt)
#image(bytes(sys.inputs.figure), format: "svg", width: 100%)"""
_LABEL = re.compile(r'aria-label="([^"]*)"')


def drawings(view: View) -> dict[str, str]:
    """SVG by name; an empty string for a figure that has nothing to show."""
    drawn = templates().get_template("figures.svg.jinja").module
    style = (FOLDER / "figures.css").read_text(encoding="utf-8")
    return {
        "flow": str(drawn.flow(view.flow, style)),  # type: ignore[attr-defined]  # macros are made at run time
        "years": str(drawn.years(view.years, style)) if view.years else "",  # type: ignore[attr-defined]
        "strengths": (
            str(drawn.strengths(view.strengths, style))  # type: ignore[attr-defined]
            if view.strengths
            else ""
        ),
    }


def picture(svg: str) -> bytes | None:
    """A figure as PNG, drawn by the library that sets the PDF (the `pdf` extra); None without it."""
    try:
        import typst
    except ImportError:
        return None
    made = typst.compile(_PAGE, format="png", ppi=PIXELS_PER_INCH, sys_inputs={"figure": svg})
    assert isinstance(made, bytes)
    return made


def described(svg: str) -> str:
    """What a figure shows, in words."""
    found = _LABEL.search(svg)
    return found.group(1) if found else ""
