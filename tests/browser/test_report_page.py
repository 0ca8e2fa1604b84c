"""The HTML report in a real browser: it fits, citations open, tables sort, dark and print work.

Opt in: `make test-browser`. The structural half that needs no browser is in
`tests/activities/report/test_html.py`.
"""

import io
from collections.abc import Iterator
from pathlib import Path

import pypdf
import pytest

from activities.report.formats import render
from tests.activities.report.wide import RICH
from tests.browser.chromium import Page, open_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with open_page() as page:
        yield page


@pytest.fixture
def page(browser: Page, tmp_path: Path) -> Page:
    file = tmp_path / "report.html"
    file.write_bytes(render(RICH, "html"))
    browser.scripts(enabled=True)
    browser.media()
    browser.open(file.as_uri())
    return browser


@pytest.mark.parametrize("width", [380, 768, 1400])
def test_nothing_overflows(page: Page, width: int) -> None:
    page.size(width)
    assert page.value("document.documentElement.scrollWidth") == width
    beyond = page.value(
        "[...document.querySelectorAll('main *, nav *, header *')].filter(e => !e.closest('.scroll'))"
        ".filter(e => e.getClientRects().length && e.getBoundingClientRect().right > innerWidth + 0.5)"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert beyond == []


TABLE = "#works ~ .scroll table"
CITE = "#s2-1 + .cites details"
"""The citation of a sentence whose quote differs from it."""


def shown(page: Page) -> bool:
    return bool(page.value(f"document.querySelector('{CITE} .quote').checkVisibility()"))


@pytest.mark.parametrize("scripts", [True, False])
def test_a_number_opens_its_quote_at_the_sentence_with_and_without_scripts(
    page: Page, *, scripts: bool
) -> None:
    page.scripts(enabled=scripts)
    assert not shown(page)
    page.click(f"{CITE} summary")
    assert shown(page)
    below = f"document.querySelector('{CITE} .quote').getBoundingClientRect().top"
    line = f"document.querySelector('{CITE} summary').getBoundingClientRect().bottom"
    assert 0 <= page.value(f"{below} - {line}") < 40
    page.click(f"{CITE} summary")
    assert not shown(page)


def test_a_number_is_reached_by_key_and_one_quote_is_open_at_a_time(page: Page) -> None:
    page.value(f"document.querySelector('{CITE} summary').focus()")
    assert page.value(f"document.activeElement.matches('{CITE} summary')")
    page.click(f"{CITE} summary")
    page.click("#s3-1 + .cites details summary")
    assert page.value("document.querySelectorAll('details[open]').length") == 1


def test_tables_sort_both_ways_with_empty_cells_last(page: Page) -> None:
    heads = page.value(f"[...document.querySelectorAll('{TABLE} th')].map(e => e.textContent)")
    place = heads.index("Standing") + 1
    column = f"[...document.querySelectorAll('{TABLE} td:nth-child({place})')].map(e => e.textContent)"
    button = f"{TABLE} th:nth-child({place}) button"
    page.click(button)
    assert page.value(column) == ["EXPRESSION OF CONCERN", "retraction status not checked", "", ""]
    page.click(button)
    assert page.value(column) == ["retraction status not checked", "EXPRESSION OF CONCERN", "", ""]
    assert page.value(f"document.querySelector('{button}').parentElement.ariaSort") == "descending"


def test_every_text_has_enough_contrast_in_both_schemes(page: Page) -> None:
    """WCAG 2.2, 1.4.3: 4.5 to 1 for text of this size."""
    for scheme in ("light", "dark"):
        page.media(scheme)
        poor = page.value(CONTRAST)
        assert poor == [], scheme


def test_print_has_every_quote_that_differs_from_its_claim_as_a_note_and_no_navigation(page: Page) -> None:
    text = " ".join(p.extract_text() for p in pypdf.PdfReader(io.BytesIO(page.pdf())).pages)
    assert (
        " ".join(text.split()).count("reduced all-cause mortality by 30%") == 2
    )  # a note, a candidate's page
    page.media(medium="print")
    assert page.value("getComputedStyle(document.querySelector('.quotes')).display") == "block"
    assert not shown(page)
    assert page.value("getComputedStyle(document.querySelector('nav')).display") == "none"


CONTRAST = """(() => {
  const parts = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m };
  const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map(v => (v /= 255) <= .03928 ? v / 12.92 :
    ((v + .055) / 1.055) ** 2.4); return .2126 * x + .7152 * y + .0722 * z };
  const behind = (e) => { for (; e; e = e.parentElement) {
    const c = parts(getComputedStyle(e).backgroundColor); if (c[3]) return c } return [255, 255, 255, 1] };
  const poor = [];
  for (const e of document.querySelectorAll("main *, nav *, header *")) {
    if (e.closest("svg") || !e.getClientRects().length) continue;
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
    const [a, b] = [light(parts(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) poor.push(ratio.toFixed(2) + " " + e.outerHTML.slice(0, 60));
  }
  return poor;
})()"""
