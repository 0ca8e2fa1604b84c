"""A page whose run reports fifty events a second, and whose report has 200 works, can still be used."""

from statistics import median

import pytest
from playwright.sync_api import Browser, Page

from client.messages import MESSAGES
from tests.browser.staged import WORKS, Stage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

EVENTS_A_SECOND = 50
CLICKS = 7
MAX_TIMES_AS_LONG = 4.0
"""A click under fifty events a second takes at most so many times one under none: the run is looked at once a
second whatever happens in it, and the look replaces what has changed."""
ANSWERED = """
async ([button, text]) => {
  const message = document.querySelector('#run-message');
  const began = performance.now();
  [...document.querySelectorAll('button')].find((one) => one.textContent.trim() === button).click();
  while (!message.textContent.includes(text)) {
    if (performance.now() - began > 30000) throw new Error(`not answered: ${message.textContent}`);
    await new Promise(requestAnimationFrame);
  }
  return performance.now() - began;
}
"""
"""Milliseconds from a click to its answer on the screen."""


def opened(browser: Browser, address: str) -> Page:
    page = browser.new_page()
    page.set_default_timeout(60_000)
    page.goto(address)
    page.wait_for_selector("#progress h2")
    return page


def clicks(page: Page) -> float:
    """The median time of an answer, in milliseconds."""
    took = []
    for number in range(CLICKS):
        button = ("Pause", "Resume")[number % 2]
        sent = MESSAGES["resume" if number % 2 else "pause"].sent
        took.append(float(page.evaluate(ANSWERED, [button, sent])))
        page.wait_for_timeout(300)
    return median(took)


def test_a_click_is_answered_while_fifty_events_a_second_arrive(browser: Browser, stage: Stage) -> None:
    page = opened(browser, stage.address)
    page.get_by_text("Tell the run something").click()
    page.wait_for_selector("text=Pause")
    quiet = clicks(page)
    stage.run.events_a_second = EVENTS_A_SECOND
    page.wait_for_function("document.querySelector('#events').textContent.includes('event 9')")
    busy = clicks(page)
    assert busy <= MAX_TIMES_AS_LONG * quiet


def test_what_a_person_does_outlasts_the_refresh_of_a_busy_run(browser: Browser, stage: Stage) -> None:
    stage.run.events_a_second = EVENTS_A_SECOND
    page = opened(browser, stage.address)
    page.get_by_role("button", name="Searches").click()
    page.locator("#searches table").wait_for(state="hidden")
    page.get_by_text("Tell the run something").click()
    page.get_by_label("Instruction").fill("only adults")
    page.focus("#web-ui a")
    first = page.locator("#events li").first
    before = first.text_content()
    page.wait_for_function("(text) => document.querySelector('#events li').textContent !== text", arg=before)
    assert page.evaluate("document.activeElement.closest('#web-ui') !== null")
    assert page.get_by_label("Instruction").input_value() == "only adults"
    assert page.locator("#searches table").is_hidden()


def test_each_of_200_references_opens_its_quote(browser: Browser, stage: Stage) -> None:
    stage.run.over = True
    page = opened(browser, stage.address)
    page.wait_for_selector("iframe[title=Report]")
    report = page.frame_locator("iframe[title=Report]")
    references = report.locator("ol.references > li")
    references.nth(WORKS - 1).wait_for()  # the browser shows a long page before all of it has arrived
    assert references.count() == WORKS
    for cite in (report.locator("a.cite").first, report.locator("a.cite").last):
        cite.click()
        quote = cite.get_attribute("title") or ""
        page.frame_locator("iframe[name=evidence]").locator("mark#quote", has_text=quote).wait_for()
