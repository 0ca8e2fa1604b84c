"""The report as one HTML file: nothing is loaded from elsewhere, and it works without a script.

The page is `report.html.jinja` with `report.css`; both can be edited without touching code. Figures are
inline SVG. The only script sorts tables; the content security policy allows it and the style by their
digests, and nothing else.
"""

import base64
import hashlib
from collections.abc import Mapping

from markupsafe import Markup

from activities.report.formats.model import (
    CERTAINTY_HEAD,
    CERTAINTY_NOTE,
    CHECK_HEAD,
    LEFT_OUT,
    NEAR_HEAD,
    NEAR_NOTE,
    SEARCH_HEAD,
    WORK_HEAD,
    Cell,
    View,
    WorkView,
    lines,
    used_columns,
)
from activities.report.formats.templates import FOLDER, environment
from activities.report.formats.view import view_of
from activities.report.schema import Report
from activities.types import Grade

NUMERIC = ("Year", "n")
RANKS: Mapping[Grade, int] = {"strong": 1, "moderate": 2, "weak": 3}
"""Order of the grades when a table is sorted."""


def html(report: Report) -> bytes:
    """A whole page that can be mailed, archived and printed."""
    view = view_of(report)
    templates = environment()
    # Both are files of this package, never text of a report.
    css = Markup(templates.get_template("report.css").render())  # noqa: S704
    script = Markup((FOLDER / "report.js").read_text(encoding="utf-8"))  # noqa: S704
    page = templates.get_template("report.html.jinja").render(
        lines=lines,
        view=view,
        works=_works(view),
        css=css,
        script=script,
        policy=_policy(css, script),
        numeric=NUMERIC,
        ranks=RANKS,
        candidate_head=view.candidate_head,
        check_head=CHECK_HEAD,
        certainty_head=CERTAINTY_HEAD,
        certainty_note=CERTAINTY_NOTE,
        search_head=SEARCH_HEAD,
        left_out=LEFT_OUT,
        near_head=NEAR_HEAD,
        near_note=NEAR_NOTE,
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


def _works(view: View) -> dict[str, object]:
    """The table of works without columns that are empty in every row, by what was measured."""
    used = used_columns(view.works)
    groups: list[tuple[str, list[tuple[WorkView, list[Cell]]]]] = [
        (group.name, [(work, [work.columns[place] for place in used]) for work in group.works])
        for group in view.work_groups
    ]
    return {"head": [WORK_HEAD[place] for place in used], "groups": groups}
