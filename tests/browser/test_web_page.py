"""The page in Chromium: ask, watch, approve, reload, lose the page's process, open a citation, download."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typst
from playwright.sync_api import Browser, Page, expect

from client.embedded.binary import free_port
from tests.fake_openai import PATH, FakeOpenAI, role_of, says, sensible
from tests.papers import QUESTION, papers
from tests.replay import Asked, Reply

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

PASSWORD = "correct horse battery"
expect.set_options(timeout=60_000)


class Served:
    """The page as the command serves it, with two users."""

    def __init__(self, users: Path) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}/"
        self._users = users
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "client.cli.main", "web", "--port", str(self.port)]
        self._process = subprocess.Popen(
            [*command, "--users", str(self._users)], stderr=subprocess.PIPE, text=True, env=dict(os.environ)
        )
        assert self._process.stderr is not None
        assert "the page:" in self._process.stderr.readline()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def served(home: Path, tmp_path: Path) -> Iterator[Served]:
    from client.web.users import add_user

    users = tmp_path / "users.json"
    for name in ("ada", "eve"):
        add_user(users, name, PASSWORD)
    page = Served(users)
    yield page
    page.kill()


def signed_in(browser: Browser, served: Served, name: str) -> Page:
    page = browser.new_context(accept_downloads=True).new_page()
    page.set_default_timeout(60_000)
    sign_in(page, served, name)
    return page


def sign_in(page: Page, served: Served, name: str) -> None:
    page.goto(served.address)
    page.fill("#name", name)
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_selector("#question textarea")


def test_a_run_is_asked_approved_and_read_whatever_happens_to_tab_and_page(
    browser: Browser, served: Served
) -> None:
    page = signed_in(browser, served, "ada")
    page.fill("#question textarea", "What is known about survival in lung cancer?")
    page.get_by_label("Mode", exact=True).fill("deep")
    page.get_by_label("Mode", exact=True).press("Enter")
    sources = page.get_by_label("Sources (none: what the profile prefers)")
    sources.fill("library")
    sources.press("Enter")
    page.get_by_text("Limits, columns and gates").click()
    page.get_by_label("plan", exact=True).check()
    page.click("#ask")
    page.wait_for_url("**/?run=ask-*")
    page.wait_for_selector("#approve")
    address = page.url
    page.reload()
    page.wait_for_selector("#approve")
    served.kill()
    served.start()
    page.goto(address)
    assert page.url.endswith("/sign-in"), "sessions end with the process of the page; runs do not"
    sign_in(page, served, "ada")
    page.goto(address)
    page.wait_for_selector("#approve")
    page.click("#approve")
    page.wait_for_selector("iframe[title=Report]")
    report = page.frame_locator("iframe[title=Report]")
    report.locator("a.cite").first.click()
    page.frame_locator("iframe[name=evidence]").locator("mark#quote").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="pdf", exact=True).click()
    assert download.value.path().read_bytes().startswith(b"%PDF")

    other = signed_in(browser, served, "eve")
    other.goto(address)
    other.wait_for_selector("text=there is no run")
    assert other.locator("iframe[title=Report]").count() == 0


def test_examples_fill_the_box_and_do_not_run(browser: Browser, served: Served) -> None:
    page = signed_in(browser, served, "ada")
    page.get_by_text("Can metformin lower the risk of colorectal cancer?").first.click()
    page.wait_for_function("document.querySelector('#question textarea').value.includes('metformin')")
    assert "run=" not in page.url
    page.get_by_role("tab", name="Earlier runs").click()
    page.wait_for_selector("text=There are no runs yet")


def test_a_question_in_a_file_is_read_into_the_box_and_a_further_one_stands_below_it(
    browser: Browser, served: Served, tmp_path: Path
) -> None:
    scan = tmp_path / "question.pdf"
    scan.write_bytes(typst.compile(QUESTION.encode()))
    page = signed_in(browser, served, "ada")
    page.set_input_files("#question-file", scan)
    page.click("#read-file")
    page.wait_for_function("document.querySelector('#question textarea').value.includes('metformin')")
    assert "run=" not in page.url, "it is asked by a person only"
    page.get_by_label("Mode", exact=True).fill("simple")
    page.get_by_label("Mode", exact=True).press("Enter")
    page.click("#ask")
    page.wait_for_selector("#further textarea")
    first = page.url
    page.fill("#further textarea", "Does metformin inhibit the growth of cells?")
    page.click("#ask-further")
    page.wait_for_function("(before) => location.href !== before", arg=first)
    page.wait_for_selector("#turns h2")
    assert page.locator("#turns h2").inner_text() == QUESTION
    page.wait_for_selector("iframe[title=Report]")


READINGS = [
    {"question": "In whom?", "assumed": "adults with type 2 diabetes"},
    {"question": "Help with what?", "assumed": "blood glucose"},
]
VAGUE = "Does metformin help?"


def model(asked: Asked) -> Reply:
    """Asks back, removes what is to be shorter, and is a good model otherwise."""
    role = role_of(asked)
    if role == "clarifier":
        return says({"questions": READINGS})(asked)
    if role == "reviser":
        rows = re.findall(r"(C\d+) \[E\d+\]: ([^\\]+)", asked.body.decode())
        return says({"remove": [label for label, text in rows if "47,351" in text]})(asked)
    return sensible(asked)


@pytest.fixture
def modelled(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        server.on(PATH, model).serve(monkeypatch, DETERMINATOR_LIBRARY=str(papers(tmp_path)))
        yield server


def test_a_person_talks_with_a_run_and_its_report_on_the_page(
    browser: Browser, modelled: FakeOpenAI, served: Served
) -> None:
    page = signed_in(browser, served, "ada")
    page.fill("#question textarea", VAGUE)
    page.get_by_label("Mode", exact=True).fill("deep")
    page.get_by_label("Mode", exact=True).press("Enter")
    page.get_by_text("Limits, columns and gates").click()
    page.get_by_label("plan", exact=True).check()
    page.get_by_label("report", exact=True).check()
    page.click("#ask")
    said = page.locator("#run-message")
    expect(said).to_contain_text("first start: a folder")
    expect(said).to_contain_text("Nothing leaves this machine")
    # each line answers a question, and the first one keeps what is assumed
    page.get_by_label("Your answers, one a line").press("Enter")
    page.keyboard.type("preventing colorectal cancer")
    page.click("#approve")
    page.get_by_text("The plan waits for your").wait_for()
    expect(page.get_by_label("Note", exact=True)).to_have_value("")
    page.get_by_text("Tell the run something").click()
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(said).to_contain_text("pauses")
    page.click("#approve")
    expect(page.locator("#progress")).to_contain_text("paused: paused by a reviewer")
    page.get_by_label("Instruction").fill("only randomised trials")
    page.get_by_role("button", name="Steer", exact=True).click()
    expect(said).to_contain_text("follows it")
    page.get_by_role("button", name="Resume", exact=True).click()
    page.wait_for_selector("iframe[title=Report]")  # who is to approve it reads it first
    expect(page.locator("#further").first).to_be_hidden()
    page.click("#approve")
    page.get_by_label("Ask the report, or say").wait_for()
    report = page.frame_locator("iframe[title=Report]").locator("body")
    for meant in ("adults with type 2 diabetes", "preventing colorectal cancer"):
        expect(report).to_contain_text(meant)
    expect(page.locator("#events")).to_contain_text("steered: only randomised trials")
    # its report is asked, changed and disputed, and the dispute is decided
    box, told = page.get_by_label("Ask the report, or say"), page.locator("#told")
    box.fill("What of adenomas?")
    page.click("#tell")
    expect(told).to_contain_text("A randomised trial of metformin after polypectomy")
    box.fill("Make it shorter")
    page.click("#change")
    expect(told).to_contain_text("Version 2 is shown above")
    expect(report).to_contain_text("This is version 2 of the report")
    page.get_by_text("A sentence is wrong").click()
    sentence = page.get_by_label("Sentence", exact=True)
    sentence.click()
    page.get_by_role("option", name=re.compile(r"^\W*s1\.1 ")).click()
    page.get_by_label("What is wrong").fill("the group was 43, not 34")
    page.get_by_role("button", name="Dispute it").click()
    expect(told).to_contain_text("ada disputes it: the group was 43, not 34")
    expect(report).to_contain_text("This is version 3 of the report")
    page.get_by_role("button", name="Decide: it stays").click()  # the sentence is still chosen
    expect(told).to_contain_text("Rejected by ada")


def test_the_page_fits_a_narrow_screen_and_answers_the_keyboard(browser: Browser, served: Served) -> None:
    page = signed_in(browser, served, "ada")
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")
    page.focus("#question textarea")
    page.keyboard.type(QUESTION)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id === 'ask' || !!document.activeElement.closest('#ask')"):
            break
    else:
        raise AssertionError("the keyboard does not reach the button")
