"""The report as one HTML file: nothing is loaded from elsewhere, and it works without a script.

The page is `report.html.jinja` with `report.css`; both can be edited without touching code, and every text of
a report is escaped there. Figures are inline SVG. The only script sorts tables and copies a
text; the content security policy allows it and the style by their digests, and nothing else.
"""

import base64
import hashlib
from collections.abc import Callable

from markupsafe import Markup

from activities.messages import in_its_language, language
from activities.report.formats import blocks as page
from activities.report.formats.figures import FOLDER, STYLE, templates
from activities.report.formats.page import document
from activities.report.formats.text import in_quotes
from activities.report.schema import Report

Link = Callable[[page.Quote], str]
"""The address at which a page shows a quote in the stored text of its work."""


def html(report: Report) -> bytes:
    """Write a whole page that can be mailed, archived and printed."""
    return write(document(report))


@in_its_language
def write(tree: page.Document) -> bytes:
    css, code = style(), script()
    policy = (
        f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(code)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return _render("report", tree, css=css, script=code, policy=policy, link=None).encode()


@in_its_language
def body(report: Report, link: Link) -> Markup:
    """Write the report within a page of others; each citation leads to the address of its quote."""
    return Markup(_render("body", document(report), link=link))  # noqa: S704 - made by a template that escapes


def style() -> Markup:
    """Read the style, a file of this package and never text of a report."""
    return Markup(templates().get_template("report.css").render())  # noqa: S704


def script() -> Markup:
    """Read the script that sorts tables, a file of this package."""
    return Markup((FOLDER / "report.js").read_text(encoding="utf-8"))  # noqa: S704


def _render(name: str, tree: page.Document, **values: object) -> str:
    helpers = {
        "kind": lambda value: type(value).__name__,
        "space": lambda part: Markup("<br>") if (text := page.space_before(part)) == "\n" else text,
        # a figure without the style that the page has; code drew it, which escapes what it is given
        "drawn": lambda svg: Markup(svg.replace(STYLE, "")),  # noqa: S704
    }
    values["language"] = language()
    template = templates().get_template(f"{name}.html.jinja")
    return template.render(document=tree, quoted=in_quotes, **values, **helpers)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
