"""The report as one HTML file: nothing is loaded from elsewhere, and it works without a script.

The page is `report.html.jinja` with `report.css`; both can be edited without touching code. Figures are
inline SVG. The only script sorts tables; the content security policy allows it and the style by their
digests, and nothing else.
"""

import base64
import hashlib

from markupsafe import Markup

from activities.report.formats import analysis as statistics
from activities.report.formats import model as names
from activities.report.formats.figures import FOLDER, templates
from activities.report.formats.view import view_of
from activities.report.schema import Report

NUMERIC = ("Year", "n")
FIXED = frozenset({"Work", "Kind", "Strength", "Standing", "Answers", "Direction", "About", "Design"})
"""Columns of the tables of works that hold a few words each."""


def html(report: Report) -> bytes:
    """A whole page that can be mailed, archived and printed."""
    view = view_of(report)
    # Both are files of this package, never text of a report.
    css = Markup(templates().get_template("report.css").render())  # noqa: S704
    script = Markup((FOLDER / "report.js").read_text(encoding="utf-8"))  # noqa: S704
    page = (
        templates()
        .get_template("report.html.jinja")
        .render(
            view=view,
            analysis=report.analysis,
            statistics=statistics,
            plots=statistics.plots(report.analysis),
            names=names,
            css=css,
            script=script,
            policy=_policy(css, script),
            numeric=NUMERIC,
            fixed=FIXED,
        )
    )
    return page.encode()


def _policy(css: str, script: str) -> str:
    """Nothing is loaded and nothing runs, except this very style and this very script."""
    return (
        f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
