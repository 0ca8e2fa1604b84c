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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from playwright.sync_api import Page

from tests.browser.chromium import open_browser

WIDTH, HEIGHT = 1024, 1080
QUESTION = "What is known about survival in lung cancer?"
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
PICTURES: tuple[tuple[str, int, int, Scheme], ...] = (
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
DRAWN_MS = 6_000
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
    with open_browser() as browser:
        for scheme in SCHEMES:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
            page.goto(path.resolve().as_uri())
            page.screenshot(path=folder / f"report-{scheme}.png")


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
    with served() as address, open_browser() as browser:

        def window(width: int, height: int, scheme: Scheme = "light") -> Page:
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


def list_of_runs(ui: str, path: Path) -> None:
    """Save the Web UI's list of workflows with the columns of a run."""
    address = f"{ui}/namespaces/default/workflows"
    columns = json.dumps({"default": [{"label": name} for name in COLUMNS]})
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 1720, "height": 540})
        page.goto(address)
        page.wait_for_timeout(DRAWN_MS)
        for kept in ("namespace-workflow-table-columns", "namespace-workflows-table-columns"):
            page.evaluate("([name, columns]) => localStorage.setItem(name, columns)", [kept, columns])
        page.goto(f"{address}?query={quote(RUNS)}")
        page.wait_for_timeout(DRAWN_MS)
        page.screenshot(path=path)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
