"""Pictures for the documents:

python -m tests.browser.pictures REPORT.html docs/images
python -m tests.browser.pictures http://WEB_UI_OF_A_SERVER_WITH_RUNS docs/images
"""

import json
import sys
import time
from pathlib import Path
from urllib.parse import quote

from tests.browser.chromium import open_page

WIDTH, HEIGHT = 1024, 760
WIDE = 1400
"""Pixels across in which every column of the table of works has its place."""
RUNS = 'DeterminatorQuestion IS NOT NULL AND ExecutionStatus != "ContinuedAsNew"'
COLUMNS = (
    *("Status", "DeterminatorQuestion", "DeterminatorMode", "DeterminatorProfile", "DeterminatorPhase"),
    *("DeterminatorStopReason", "Workflow ID"),
)
"""Of the list of workflows, as docs/operation.md says."""
DRAWN_SECONDS = 6.0
"""The Web UI draws its list after the page is complete."""


def main(source: str, folder: Path) -> None:
    if source.startswith("http"):
        list_of_runs(source, folder / "web-ui-columns.png")
    else:
        report(Path(source), folder)


def report(path: Path, folder: Path) -> None:
    """Save the top of the page in both colour schemes, an opened quote, and the table of works."""
    with open_page() as page:
        page.open(path.resolve().as_uri(), width=WIDTH, height=HEIGHT)
        for scheme in ("light", "dark"):
            page.media(scheme)
            page.picture(folder / f"report-{scheme}.png")
        page.media()
        page.click("main section:not(.bottom) .cites a")
        page.picture(folder / "report-quote.png")
        page.size(WIDE, HEIGHT)
        page.value("document.getElementById('studies').scrollIntoView()")
        page.picture(folder / "report-works.png")


def list_of_runs(ui: str, path: Path) -> None:
    """Save the Web UI's list of workflows with the columns of a run."""
    address = f"{ui}/namespaces/default/workflows"
    columns = json.dumps({"default": [{"label": name} for name in COLUMNS]})
    with open_page() as page:
        page.size(1720, 540)
        page.call("Page.navigate", url=address)
        time.sleep(DRAWN_SECONDS)
        for kept in ("namespace-workflow-table-columns", "namespace-workflows-table-columns"):
            page.value(f"localStorage.setItem({json.dumps(kept)}, {json.dumps(columns)})")
        page.call("Page.navigate", url=f"{address}?query={quote(RUNS)}")
        time.sleep(DRAWN_SECONDS)
        page.picture(path)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
