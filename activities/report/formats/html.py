"""The report as one HTML file: nothing is loaded from elsewhere, and it works without a script.

The page is `report.html.jinja` with `report.css`; both can be edited without touching code, and every text of
a report is escaped there. Figures are inline SVG. The only script sorts tables; the content security policy
allows it and the style by their digests, and nothing else.
"""

import base64
import hashlib
from collections.abc import Callable

from markupsafe import Markup

from activities.report.formats import blocks as page
from activities.report.formats.figures import FOLDER, STYLE, templates
from activities.report.formats.page import document
from activities.report.schema import Report

Link = Callable[[page.Quote], str]
"""The address at which a page shows a quote in the stored text of its work."""


def html(report: Report) -> bytes:
    """A whole page that can be mailed, archived and printed."""
    return page_of(report).encode()


def page_of(report: Report, link: Link | None = None) -> str:
    """The page; with `link`, beside a frame named `evidence` in which each citation opens its quote."""
    # Both are files of this package, never text of a report.
    css = Markup(templates().get_template("report.css").render())  # noqa: S704
    script = Markup((FOLDER / "report.js").read_text(encoding="utf-8"))  # noqa: S704
    policy = (
        f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    context = {"document": document(report), "css": css, "script": script, "policy": policy, "link": link}
    helpers = {
        "kind": lambda value: type(value).__name__,
        "column": lambda name: "number" if name in page.NUMERIC else "long" if name in page.LONG else "",
        # a figure without the style that the page has; code drew it, which escapes what it is given
        "drawn": lambda svg: Markup(svg.replace(STYLE, "")),  # noqa: S704
    }
    return templates().get_template("report.html.jinja").render(context, **helpers)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
