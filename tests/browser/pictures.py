"""Pictures for the documents:

python -m tests.browser.pictures REPORT.html docs/images
python -m tests.browser.pictures http://WEB_UI_OF_A_SERVER_WITH_RUNS docs/images
python -m tests.browser.pictures 'ADDRESS_OF_THE_PAGE_WITH_ITS_TOKEN&run=FINISHED_RUN' docs/images
"""

import json
import sys
import time
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import sync_playwright

from tests.browser.chromium import binary, open_page

WIDTH, HEIGHT = 1024, 1080
RUNS = 'DeterminatorQuestion IS NOT NULL AND ExecutionStatus != "ContinuedAsNew"'
COLUMNS = (
    *("Status", "DeterminatorQuestion", "DeterminatorMode", "DeterminatorProfile", "DeterminatorPhase"),
    *("DeterminatorStopReason", "Workflow ID"),
)
"""Of the list of workflows, as docs/operation.md says."""
DRAWN_SECONDS = 6.0
"""The Web UI draws its list after the page is complete."""


def main(source: str, folder: Path) -> None:
    if "token=" in source:
        page_of_a_run(source, folder)
    elif source.startswith("http"):
        list_of_runs(source, folder / "web-ui-columns.png")
    else:
        report(Path(source), folder)


def report(path: Path, folder: Path) -> None:
    """Save the top of the page in both colour schemes."""
    with open_page() as page:
        page.open(path.resolve().as_uri(), width=WIDTH, height=HEIGHT)
        for scheme in ("light", "dark"):
            page.media(scheme)
            page.picture(folder / f"report-{scheme}.png")


def page_of_a_run(address: str, folder: Path) -> None:
    """Save the form, and a finished run with the quote of its first citation."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=binary())
        page = browser.new_page(viewport={"width": 1200, "height": 1300})
        page.goto(address.partition("&run=")[0])
        page.wait_for_selector("#question textarea")
        page.wait_for_timeout(1000 * DRAWN_SECONDS)
        page.screenshot(path=folder / "page-ask.png", clip={"x": 0, "y": 0, "width": 1200, "height": 800})
        page.goto(address)
        page.frame_locator("iframe[title=Report]").locator("a.cite").first.click()
        page.frame_locator("iframe[name=evidence]").locator("mark#quote").wait_for()
        page.wait_for_timeout(1000 * DRAWN_SECONDS)
        page.evaluate("document.querySelector('#report').scrollIntoView()")
        page.screenshot(path=folder / "page-run.png")
        browser.close()


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
