"""The HTML report in a real browser: it fits, citations open, tables sort, dark and print work.

Opt in: `make test-browser`. The structural half that needs no browser is in
`tests/activities/report/test_html.py`.
"""

import io
from pathlib import Path

import pypdf
import pytest
from playwright.sync_api import Browser, Page

from activities.report.formats import render
from tests.activities.report.test_forms import POINTS, PROPOSED, SAID, grouped, report_of
from tests.activities.report.wide import RICH

pytestmark = pytest.mark.browser


@pytest.fixture
def address(tmp_path: Path) -> str:
    """The report as a file."""
    (tmp_path / "report.html").write_bytes(render(RICH, "html"))
    return (tmp_path / "report.html").as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Page:
    page = browser.new_page()
    page.goto(address)
    return page


@pytest.mark.parametrize("width", [380, 768, 1400])
def test_nothing_overflows(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    beyond = page.evaluate(
        "[...document.querySelectorAll('main *, nav *, header *')].filter(e => !e.closest('.scroll, nav ol'))"
        ".filter(e => e.getClientRects().length && e.getBoundingClientRect().right > innerWidth + 0.5)"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert beyond == []


@pytest.mark.parametrize(("text", "edge"), [("When?", "left"), ("\u0645\u062a\u0649\u061f", "right")])
def test_a_line_begins_at_the_edge_where_its_script_does(page: Page, text: str, edge: str) -> None:
    apart = page.evaluate(
        "([text, edge]) => { const h = document.querySelector('h1'), r = document.createRange();"
        " h.textContent = text; r.selectNodeContents(h);"
        " return h.getBoundingClientRect()[edge] - r.getBoundingClientRect()[edge]; }",
        [text, edge],
    )
    assert abs(apart) < 2


TABLE = "#works ~ .scroll table"
SENTENCE = "details:has(> #s2-1)"
"""A sentence whose quote differs from it."""


def shown(page: Page) -> bool:
    return bool(page.evaluate(f"document.querySelector('{SENTENCE} .quote').checkVisibility()"))


@pytest.mark.parametrize("scripts", [True, False])
def test_a_sentence_opens_its_quotes_below_it_with_and_without_scripts(
    browser: Browser, address: str, *, scripts: bool
) -> None:
    page = browser.new_page(java_script_enabled=scripts)
    page.goto(address)
    assert not shown(page)
    page.click(f"{SENTENCE} summary")
    assert shown(page)
    below = f"document.querySelector('{SENTENCE} .quote').getBoundingClientRect().top"
    line = f"document.querySelector('{SENTENCE} summary').getBoundingClientRect().bottom"
    assert 0 <= page.evaluate(f"{below} - {line}") < 40
    page.click(f"{SENTENCE} summary")
    assert not shown(page)


def test_a_sentence_is_reached_by_key_and_the_quotes_of_one_are_open_at_a_time(page: Page) -> None:
    page.evaluate(f"document.querySelector('{SENTENCE} summary').focus()")
    assert page.evaluate(f"document.activeElement.matches('{SENTENCE} summary')")
    page.click(f"{SENTENCE} summary")
    page.locator("#s3-1").press("Enter")
    assert page.evaluate("document.querySelectorAll('details[open]').length") == 1
    page.keyboard.press("Escape")
    assert page.evaluate("document.querySelectorAll('details[open]').length") == 0


def test_tables_sort_both_ways_with_empty_cells_last(page: Page) -> None:
    heads = page.evaluate(f"[...document.querySelectorAll('{TABLE} th')].map(e => e.textContent)")
    place = heads.index("Standing") + 1
    column = f"[...document.querySelectorAll('{TABLE} td:nth-child({place})')].map(e => e.textContent)"
    button = f"{TABLE} th:nth-child({place}) button"
    page.click(button)
    assert page.evaluate(column) == ["EXPRESSION OF CONCERN", "retraction status not checked", "", ""]
    page.click(button)
    assert page.evaluate(column) == ["retraction status not checked", "EXPRESSION OF CONCERN", "", ""]
    assert page.evaluate(f"document.querySelector('{button}').parentElement.ariaSort") == "descending"


def test_print_has_every_quote_that_differs_from_its_claim_as_a_note_and_no_navigation(page: Page) -> None:
    printed = pypdf.PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True)))
    text = " ".join(" ".join(sheet.extract_text() for sheet in printed.pages).split())
    assert text.count("reduced all-cause mortality by 30%") == 2, "a note, and the page of a candidate"
    assert not page.locator("#quotes ~ div dd").first.is_visible(), "folded on screen"
    page.locator("#quotes label").click()
    assert page.locator("#quotes ~ div dd").first.is_visible()
    page.emulate_media(media="print")
    assert not shown(page)
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"


def test_a_letter_is_copied_with_its_lines_and_without_the_button(browser: Browser, tmp_path: Path) -> None:
    name = PROPOSED.replace(text="Ann Reed", letter=True, begins=True)
    lines = (name, name.replace(text="Mill Lane 3", line=True), *POINTS[:1])
    (tmp_path / "report.html").write_bytes(render(report_of(grouped((SAID,), lines)), "html"))
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    page.evaluate("addEventListener('copy', e => { window.copied = e.clipboardData.getData('text/plain') })")
    page.click(".copy")
    assert page.evaluate("window.copied") == "Ann Reed\nMill Lane 3\n\n1. Point alpha is settled."
    assert page.inner_text(".copy") == "Copied"
