"""axe-core, from npm, finds nothing on the page, nor in the HTML report."""

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from activities.report.formats import render
from tests.browser.staged import Stage, report
from tests.browser.test_web_page import Served, served, sign_in
from tests.client.harness import determinator
from tests.client.web.test_screening import PROTOCOL

__all__ = ["served"]  # the fixture
pytestmark = pytest.mark.browser

AXE = "axe-core@4"
FINDINGS = """
async () => (await axe.run(document)).violations
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
    """What it finds in a page, of any level."""
    page.evaluate(axe)
    found: list[str] = page.evaluate(FINDINGS)
    return found


def opened(browser: Browser, address: str, scheme: str) -> Page:
    # the policy of the report allows no script, so none of ours either
    page = browser.new_page(bypass_csp=True, color_scheme="dark" if scheme == "dark" else "light")
    page.set_default_timeout(60_000)
    page.goto(address)
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 900, 1400])
def test_axe_finds_nothing_on_any_page(
    browser: Browser, stage: Stage, axe: str, scheme: str, width: int
) -> None:
    page = opened(browser, stage.form, scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_selector("#history li", state="attached")
    assert findings(page, axe) == []
    page.get_by_text("More", exact=True).click()
    assert findings(page, axe) == []
    stage.run.events_a_second = 5
    stage.run.gate = True
    page.goto(stage.address)
    page.wait_for_selector("#approve")
    page.wait_for_selector(".writing")
    page.get_by_text("Tell the run something").click()
    assert findings(page, axe) == []
    page.goto("about:blank")
    stage.run.over = True
    page.goto(stage.address)
    page.locator(".paper a.cite").first.click()
    page.wait_for_selector("mark#quote")
    assert findings(page, axe) == []
    page.get_by_text("this sentence: dispute").click()
    page.wait_for_selector("#source blockquote")
    assert findings(page, axe) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_html_report_has_no_serious_finding(
    browser: Browser, axe: str, tmp_path: Path, scheme: str
) -> None:
    file = tmp_path / "report.html"
    file.write_bytes(render(report(), "html"))
    assert findings(opened(browser, file.as_uri(), scheme), axe) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_pages_of_a_review(
    browser: Browser, served: Served, axe: str, tmp_path: Path, scheme: str
) -> None:
    rows = [f"Trial {n} of metformin,Metformin was tried in {n + 20} adults over a year." for n in range(3)]
    (tmp_path / "a.csv").write_text("\n".join(("title,abstract", *rows)))
    (tmp_path / "protocol.toml").write_text(PROTOCOL)
    started = determinator("review", "start", str(tmp_path / "protocol.toml"))
    assert started.code == 0, started
    page = browser.new_page(bypass_csp=True, color_scheme="dark" if scheme == "dark" else "light")
    page.set_default_timeout(60_000)
    sign_in(page, served, "ada")
    page.goto(f"{served.address}review")
    assert findings(page, axe) == []
    page.locator("main a[href^='/review/']").first.click()
    page.wait_for_selector("form[action$='/approve']")
    assert findings(page, axe) == []
    page.locator("form[action$='/approve'] button").click()
    decide = page.locator("form[action$='/decide']")
    for _ in range(60):
        if decide.count():
            break
        page.wait_for_timeout(500)
        page.reload()
    assert decide.count()
    assert findings(page, axe) == []
