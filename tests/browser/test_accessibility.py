"""axe-core, from npm, finds nothing serious on the page, nor in the HTML report."""

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from activities.report.formats import render
from tests.browser.staged import Stage, report

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

AXE = "axe-core@4"
SERIOUS = ("serious", "critical")
FINDINGS = """
async (serious) => (await axe.run(document, {iframes: false})).violations
  .filter((rule) => serious.includes(rule.impact))
  .map((rule) => rule.id + ": " + rule.nodes.map((node) => node.html.slice(0, 160)).join(" | "))
"""


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core."""
    folder = tmp_path_factory.mktemp("axe")
    npm = shutil.which("npm")
    assert npm is not None, "npm is not on PATH; Debian: apt-get install npm"
    subprocess.run([npm, "pack", "--silent", AXE], cwd=folder, check=True, capture_output=True, timeout=120)
    with tarfile.open(next(folder.glob("*.tgz"))) as package:
        package.extractall(folder, filter="data")
    return (folder / "package" / "axe.min.js").read_text("utf-8")


def findings(page: Page, axe: str) -> list[str]:
    """What is serious in a page, its frames left out."""
    page.evaluate(axe)
    found: list[str] = page.evaluate(FINDINGS, SERIOUS)
    return found


def opened(browser: Browser, address: str, scheme: str) -> Page:
    # the policy of the report allows no script, so none of ours either
    page = browser.new_page(bypass_csp=True, color_scheme="dark" if scheme == "dark" else "light")
    page.set_default_timeout(60_000)
    page.goto(address)
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_form_and_list_have_no_serious_finding(browser: Browser, stage: Stage, axe: str, scheme: str) -> None:
    page = opened(browser, stage.form, scheme)
    page.wait_for_selector("#question textarea")
    page.get_by_text("Limits, columns and gates").click()
    page.get_by_label("Rounds").wait_for()
    assert findings(page, axe) == []
    page.get_by_role("tab", name="Earlier runs").click()
    page.wait_for_selector("#runs table")
    assert findings(page, axe) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_run_and_its_report_have_no_serious_finding(
    browser: Browser, stage: Stage, axe: str, scheme: str
) -> None:
    stage.run.events_a_second = 5
    stage.run.gate = True
    page = opened(browser, stage.address, scheme)
    page.wait_for_selector("#approve")
    page.get_by_text("Tell the run something").click()
    page.get_by_label("Instruction").wait_for()
    page.wait_for_selector("#progress .draft")
    assert findings(page, axe) == []
    stage.run.over = True
    page.wait_for_selector("iframe[title=Report]")
    assert findings(page, axe) == []
    page.goto(page.locator("iframe[title=Report]").evaluate("(frame) => frame.src"))
    assert findings(page, axe) == []
    page.goto(page.locator("a.cite").first.evaluate("(link) => link.href"))
    page.wait_for_selector("mark#quote")
    assert findings(page, axe) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_html_report_has_no_serious_finding(
    browser: Browser, axe: str, tmp_path: Path, scheme: str
) -> None:
    file = tmp_path / "report.html"
    file.write_bytes(render(report(), "html"))
    assert findings(opened(browser, file.as_uri(), scheme), axe) == []
