"""A page whose run reports fifty events a second, and whose report has 200 works, can still be used."""

from statistics import median
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.staged import WORKS, Stage

pytestmark = pytest.mark.browser

EVENTS_A_SECOND = 50
CLICKS = 7
MAX_TIMES_AS_LONG = 4.0
"""A click under fifty events a second takes at most so many times one under none: the run is looked at once a
second whatever happens in it, and what has changed is put in its place."""
ANSWERED = """
async (text) => {
  const message = document.querySelector('#said');
  const began = performance.now();
  document.querySelector('#do-pause button').click();
  while (!message.textContent.includes(text)) {
    if (performance.now() - began > 30000) throw new Error(`not answered: ${message.textContent}`);
    await new Promise(requestAnimationFrame);
  }
  const took = performance.now() - began;
  message.textContent = '';
  return took;
}
"""
"""Milliseconds from a click to its answer on the screen."""
SHIFTED = """
() => { window.shifts = []; new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.shifts.push(one.value);
}).observe({type: 'layout-shift', buffered: false}); }
"""
LOADED = """
() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .reduce((sum, one) => sum + one.transferSize, 0)
"""
HOME_BYTES = 150_000
REPORT_BYTES = 400_000
FIRST_LINE = 200
"""Pixels from the top of the window above which a report begins."""
SIZES = [(390, 844), (900, 900), (1400, 900)]


def opened(
    browser: Browser, address: str, selector: str = ".now", width: int = 1400, height: int = 900
) -> Page:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(60_000)
    page.goto(address)
    page.wait_for_selector(selector)
    return page


def clicks(page: Page) -> float:
    """The median time of an answer, in milliseconds."""
    took = []
    for _ in range(CLICKS):
        took.append(float(page.evaluate(ANSWERED, "pauses at its next step")))
        page.wait_for_timeout(300)
    return median(took)


def test_a_click_is_answered_while_fifty_events_a_second_arrive(browser: Browser, stage: Stage) -> None:
    page = opened(browser, stage.address)
    quiet = clicks(page)
    stage.run.events_a_second = EVENTS_A_SECOND
    page.wait_for_selector(".writing")
    busy = clicks(page)
    assert busy <= MAX_TIMES_AS_LONG * quiet


def test_what_a_person_does_outlasts_the_refresh_of_a_busy_run(browser: Browser, stage: Stage) -> None:
    stage.run.events_a_second = EVENTS_A_SECOND
    page = opened(browser, stage.address, ".steps")
    page.locator(".steps summary").first.click()
    page.get_by_text("Tell the run something").click()
    page.fill("#steer", "only adults")
    page.focus("#live .quiet a")
    before = page.locator(".numbers").text_content()
    for _ in range(3):
        page.wait_for_function(
            "(text) => document.querySelector('.numbers').textContent !== text", arg=before
        )
        before = page.locator(".numbers").text_content()
    assert page.evaluate("document.activeElement.matches('#live .quiet a')")
    assert page.locator("#steer").input_value() == "only adults"
    assert page.locator(".steps details").first.get_attribute("open") is not None


def test_a_plan_that_is_being_edited_outlasts_the_refresh(browser: Browser, stage: Stage) -> None:
    stage.run.events_a_second = EVENTS_A_SECOND
    stage.run.gate = True
    page = opened(browser, stage.address, "#approve")
    page.locator("[name=title]").fill("A title of my own")
    page.get_by_role("button", name="Add a section").click()
    page.keyboard.type("Another section")
    page.wait_for_timeout(3_000)
    titles = page.locator("[name=title]")
    assert [titles.nth(n).input_value() for n in range(2)] == ["A title of my own", "Another section"]
    assert page.evaluate("document.activeElement.name") == "title"


def test_each_of_200_references_opens_its_quote_and_nothing_moves(browser: Browser, stage: Stage) -> None:
    stage.run.over = True
    page = opened(browser, stage.address, ".paper")
    references = page.locator("ol.references > li")
    assert references.count() == WORKS
    assert page.evaluate(LOADED) < REPORT_BYTES
    assert page.locator(".paper h1").bounding_box()["y"] < FIRST_LINE  # type: ignore[index] # it is shown
    page.evaluate(SHIFTED)
    title = page.locator("#source h2")
    for cite in (page.locator(".paper a.cite").first, page.locator(".paper a.cite").last):
        quote = parse_qs(urlsplit(cite.get_attribute("href") or "").query)["quote"][0]
        cite.click()
        page.locator("#source mark#quote", has_text=quote).wait_for()
    last = title.inner_text()
    page.keyboard.press("k")
    page.wait_for_function("(text) => document.querySelector('#source h2').textContent !== text", arg=last)
    page.keyboard.press("j")
    page.wait_for_function("(text) => document.querySelector('#source h2').textContent === text", arg=last)
    page.keyboard.press("Escape")
    assert page.locator("#source").is_hidden()
    assert page.evaluate("document.activeElement.matches('a.cite')"), "where one was"
    assert page.evaluate("window.shifts") == []


def test_the_first_page_is_small_and_loads_from_nowhere_else(browser: Browser, stage: Stage) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(stage.form)
    page.wait_for_selector("#history li")
    assert page.evaluate(LOADED) < HOME_BYTES
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(stage.form).netloc}


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_no_page_is_wider_than_its_window(browser: Browser, stage: Stage, width: int, height: int) -> None:
    stage.run.gate = True
    page = opened(browser, stage.address, "#approve", width, height)
    fits = "document.documentElement.scrollWidth <= window.innerWidth"
    assert page.evaluate(fits)
    page.goto(stage.form)
    page.get_by_text("More", exact=True).click()
    assert page.evaluate(fits)
    page.goto("about:blank")
    stage.run.over = True
    page.goto(stage.address)
    page.locator(".paper a.cite").first.click()
    page.locator("#source mark#quote").wait_for()
    assert page.evaluate(fits)
    if width < SIZES[1][0]:
        box = page.locator("#source").bounding_box()
        assert box is not None
        assert (box["x"], box["width"]) == (0, width), "a sheet from below"


def test_a_run_and_its_report_are_read_without_scripts(browser: Browser, stage: Stage) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(stage.address)
    page.wait_for_selector(".now")
    stage.run.over = True
    page.reload()
    page.wait_for_selector(".paper")
    page.locator(".paper a.cite").first.click()
    page.wait_for_selector("mark#quote")
    page.go_back()
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as download:
        page.locator(".menu a", has_text="md").first.click()
    assert download.value.path().read_text().startswith("# Metformin and mortality")
    page.goto(stage.form.partition("/?")[0] + "/history")
    page.wait_for_selector(".runs-list li")
