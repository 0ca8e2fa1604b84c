"""Pictures for the documents:

python -m tests.browser.pictures REPORT.html docs/images
python -m tests.browser.pictures http://WEB_UI_OF_A_SERVER_WITH_RUNS docs/images
python -m tests.browser.pictures page docs/images        (make pictures)
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from playwright.sync_api import Page, sync_playwright

from tests.browser.chromium import binary, open_page

WIDTH, HEIGHT = 1024, 1080
QUESTION = "What is known about survival in lung cancer?"
PICTURES: tuple[tuple[str, int, int, Literal["light", "dark"]], ...] = (
    ("run", 1400, 900, "light"),
    ("dark", 1400, 900, "dark"),
    ("phone", 390, 844, "light"),
)
"""Pictures of a report: name, size and colours of the window."""
RUNS = 'DeterminatorQuestion IS NOT NULL AND ExecutionStatus != "ContinuedAsNew"'
COLUMNS = (
    *("Status", "DeterminatorQuestion", "DeterminatorMode", "DeterminatorProfile", "DeterminatorPhase"),
    *("DeterminatorStopReason", "Workflow ID"),
)
"""Of the list of workflows, as docs/operation.md says."""
DRAWN_SECONDS = 6.0
"""The Web UI draws its list after the page is complete."""


def main(source: str, folder: Path) -> None:
    if source == "page":
        the_page(folder)
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


@contextmanager
def served() -> Iterator[str]:
    """The page over a home of its own, which asks the bundled sample without a model; its address."""
    with tempfile.TemporaryDirectory(prefix="determinator-pictures-") as home:
        fields = {
            "DETERMINATOR_HOME": home,
            "DETERMINATOR_OFFLINE": "true",
            "DETERMINATOR_MODEL": "extractive",
        }
        command = [sys.executable, "-m", "client.cli.main"]
        env = {**os.environ, **fields}
        page = subprocess.Popen([*command, "web", "--port", "0"], stderr=subprocess.PIPE, text=True, env=env)
        assert page.stderr is not None
        try:
            yield page.stderr.readline().partition("the page: ")[2].strip()
        finally:
            page.terminate()
            page.communicate()
            subprocess.run([*command, "down"], env=env, check=True, stdout=subprocess.DEVNULL)


def the_page(folder: Path) -> None:
    """Save the page as a person goes through it: the box, a plan, a report with a source, in the dark, and
    on a phone."""
    with served() as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=binary())

        def window(width: int, height: int, scheme: Literal["light", "dark"] = "light") -> Page:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(address)
            page.wait_for_selector("#history :is(li, p)", state="attached")
            return page

        def save(page: Page, name: str) -> None:
            page.wait_for_timeout(1_000)
            page.screenshot(path=folder / f"page-{name}.png")

        page = window(1200, 760)
        page.fill("#question", QUESTION)
        save(page, "ask")
        page.get_by_text("More", exact=True).click()
        page.locator("[name=mode][value=deep]").evaluate("(one) => { one.checked = true; }")
        page.locator("[name=approve][value=plan]").check()
        page.focus("#question")
        page.keyboard.press("Enter")
        page.wait_for_selector("#approve", timeout=120_000)
        save(page, "plan")
        page.click("#approve")
        page.wait_for_selector(".paper", timeout=300_000)
        run = page.url
        for name, width, height, scheme in PICTURES:
            page = window(width, height, scheme)
            page.goto(run)
            page.locator(".paper a.cite").first.click()
            page.locator("#source mark#quote").wait_for()
            page.wait_for_selector("#history li", state="attached")
            save(page, name)
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
