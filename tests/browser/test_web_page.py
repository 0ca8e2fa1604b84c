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
from tests.client.harness import determinator
from tests.e2e.test_candidates import QUESTION as DRUGS
from tests.e2e.test_candidates import TEXT
from tests.fake_openai import PATH, FakeOpenAI, role_of, says, sensible
from tests.papers import QUESTION, papers
from tests.replay import Asked, Reply

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

PASSWORD = "correct horse battery"
expect.set_options(timeout=20_000)


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
    from client.sign_in.signing_in import add_user

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


def choose(page: Page, chip: str, *labels: str) -> None:
    """Open what stands below the box, and choose in it."""
    page.locator("details.chip > summary", has_text=re.compile(rf"^{chip}\b")).click()
    for label in labels:
        page.locator("details.chip[open]").get_by_text(label, exact=True).click()
    page.keyboard.press("Escape")


def test_a_run_is_asked_approved_and_read_whatever_happens_to_tab_and_page(
    browser: Browser, served: Served
) -> None:
    page = signed_in(browser, served, "ada")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type("What is known about survival in lung cancer?")
    choose(page, "Mode", "deep")
    choose(page, "Sources", "Bundled sample library")
    expect(page.locator("#leaves")).to_have_text("Nothing leaves this machine.")
    choose(page, "More", "plan")
    page.focus("#question")
    page.keyboard.press("Enter")
    page.wait_for_url("**/run/ask-*")
    expect(page.get_by_text("The plan waits for your approval")).to_be_visible()
    address = page.url
    page.locator("[name=title]").first.fill("A title of my own")
    page.reload()
    second = page.context.new_page()  # two tabs
    second.goto(address)
    served.kill()
    served.start()
    page.goto(address)
    assert "/sign-in?then=" in page.url, "sessions end with the process of the page; runs do not"
    page.fill("#name", "ada")
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url(address)
    page.locator("[name=title]").first.fill("Survival, in my words")
    count = page.locator(".cards > .card").count()
    page.get_by_role("button", name="Move down").first.click()
    page.get_by_role("button", name="Add a section").click()
    page.locator("[name=title]").last.fill("A section of my own")
    assert page.locator(".cards > .card").count() == count + 1
    page.get_by_role("button", name="Remove").first.click()
    page.click("#approve")
    page.wait_for_selector(".paper", timeout=180_000)
    expect(page.locator(".paper")).to_contain_text("Survival, in my words")
    second.goto(address)
    second.wait_for_selector(".paper")
    page.locator(".paper a.cite").first.click()
    page.locator("#source mark#quote").wait_for()
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as download:
        page.locator(".menu a", has_text="pdf").click()
    assert download.value.path().read_bytes().startswith(b"%PDF")
    other = signed_in(browser, served, "eve")
    other.goto(address)
    expect(other.get_by_role("alert")).to_contain_text("there is no run")
    assert other.locator(".paper").count() == 0


def test_candidates_are_chosen_on_the_page(
    browser: Browser, served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "papers").mkdir()
    for drug in ("Sildenafil", "Bosentan"):
        (tmp_path / "papers" / f"{drug}.txt").write_text(
            TEXT.replace("Sildenafil", drug).replace("sildenafil", drug)
        )
    flags = ["--profile", "drug_repurposing", "--mode", "simple", "--library", str(tmp_path / "papers")]
    asked = determinator(
        *("ask", DRUGS, *flags, "--approve", "candidates", "--detach"), env={"DETERMINATOR_USER": "ada"}
    )
    assert asked.code == 0, asked
    page = signed_in(browser, served, "ada")
    page.goto(f"{served.address}run/{asked.run_id}")
    page.get_by_text("Which candidates are kept?").wait_for()
    offered = page.locator("[name=names]")
    names = [offered.nth(n).input_value() for n in range(offered.count())]
    assert {"bosentan", "sildenafil"} <= {name.casefold() for name in names}
    for name in names:
        if name.casefold() != "sildenafil":
            page.locator(f"[name=names][value='{name}']").uncheck()
    page.get_by_role("button", name="Keep those that are ticked").click()
    page.wait_for_selector(".paper", timeout=180_000)
    expect(page.locator(".paper")).to_contain_text("ildenafil")
    report = determinator("report", asked.run_id, "--format", "json").json()
    assert [candidate["name"].casefold() for candidate in report["candidates"]] == ["sildenafil"]


def test_examples_fill_the_box_and_do_not_run(browser: Browser, served: Served) -> None:
    page = signed_in(browser, served, "ada")
    page.get_by_text("Can metformin lower the risk of colorectal cancer?").click()
    expect(page.locator("#question")).to_have_value(re.compile("metformin"))
    assert "/run/" not in page.url
    expect(page.locator("#history")).to_contain_text("There are no runs yet")


def test_a_record_comes_to_the_page_and_stays_when_a_decision_is_refused(
    browser: Browser, served: Served, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("title,abstract\nTrial of metformin,Metformin was tried.\n")
    (tmp_path / "protocol.toml").write_text(
        'title = "Two"\nrecords = ["a.csv"]\ncriteria = [{ id = "I1", text = "on metformin" }]\n'
        'screeners = [{ name = "ada" }, { name = "bob" }]\n'
        '[question]\npopulation = "adults"\nintervention = "metformin"\n'
    )
    review = determinator("review", "start", str(tmp_path / "protocol.toml")).out.split()[0]
    page = signed_in(browser, served, "ada")
    expect(page.locator("#question")).to_be_visible()
    page.goto(f"{served.address}review/{review}")
    expect(page.locator("article h2")).to_have_count(0)
    determinator("review", "approve", review, "--by", "ada")
    # the page comes to the first record by itself
    expect(page.locator("article h2")).to_have_text("Trial of metformin", timeout=60_000)
    page.locator("#record form [name=record]").first.evaluate("input => input.value = '7'")
    page.keyboard.press("i")
    expect(page.locator("#trouble")).to_contain_text("there is no record 7")
    expect(page.locator("article h2")).to_have_text("Trial of metformin")


def test_a_question_in_a_file_is_read_into_the_box_and_a_further_one_stands_below_it(
    browser: Browser, served: Served, tmp_path: Path
) -> None:
    scan = tmp_path / "question.pdf"
    scan.write_bytes(typst.compile(QUESTION.encode()))
    page = signed_in(browser, served, "ada")
    page.get_by_text("More", exact=True).click()
    page.set_input_files("#file", scan)
    page.click("#read-file")
    expect(page.locator("#question")).to_have_value(re.compile("metformin"))
    assert "/run/" not in page.url, "it is asked by a person only"
    choose(page, "Mode", "simple")
    page.click("button.primary")
    page.wait_for_selector(".paper", timeout=180_000)
    first = page.url
    page.fill(".talk textarea", "Does metformin inhibit the growth of cells?")
    page.get_by_role("button", name="Ask on, with new searches").click()
    page.wait_for_url(lambda url: url != first and "/run/" in url)
    expect(page.locator(".turns a")).to_have_text(QUESTION)
    page.wait_for_selector(".paper", timeout=180_000)
    expect(page.locator(".turns a")).to_have_text(QUESTION)
    expect(page.locator("#history li")).to_have_count(2)


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
    page.fill("#question", VAGUE)
    choose(page, "Mode", "deep")
    choose(page, "More", "plan", "report")
    page.click("button.primary")
    page.wait_for_url("**/run/ask-*")
    expect(page.locator("main")).to_contain_text("Nothing leaves this machine")
    # an empty answer keeps what is assumed
    answers = page.locator("[name=answers]")
    expect(answers.first).to_have_attribute("placeholder", READINGS[0]["assumed"])
    answers.nth(1).fill("preventing colorectal cancer")
    page.get_by_role("button", name="Search this").click()
    page.get_by_text("The plan waits for your approval").wait_for()
    said = page.locator("#said")
    page.get_by_role("button", name="Pause").click()
    expect(said).to_contain_text("pauses")
    page.click("#approve")
    expect(page.locator(".now")).to_contain_text("Paused")
    page.get_by_text("Tell the run something").click()
    page.fill("#steer", "only randomised trials")
    page.press("#steer", "Enter")
    expect(said).to_contain_text("follows it")
    page.get_by_role("button", name="Resume").click()
    report = page.locator(".paper")  # who is to approve it reads it first
    expect(report).to_be_visible(timeout=180_000)
    assert page.locator(".talk").count() == 0
    page.get_by_role("button", name="Publish this report").click()
    box = page.locator(".talk textarea")
    box.wait_for()
    for meant in ("adults with type 2 diabetes", "preventing colorectal cancer"):
        expect(report).to_contain_text(meant)
    page.get_by_text("Steps, searches and works").click()
    page.locator(".steps summary").first.wait_for()
    expect(page.locator(".steps")).to_contain_text("steered: only randomised trials")
    talk = page.locator("#conversation")
    box.fill("What of adenomas?")
    box.press("Enter")
    expect(talk).to_contain_text("to placebo after polypectomy")
    own = {link.inner_text() for link in report.locator("a.cite").all()}
    cited = {link.inner_text() for link in talk.locator("a.cite").all()}
    assert cited, "an answer cites"
    assert {mark.rstrip("abc") for mark in cited if mark[0].isdigit()} <= {mark.rstrip("abc") for mark in own}
    box.fill("Make it shorter")
    page.locator(".talk").get_by_role("button", name="Change it").click()
    expect(talk).to_contain_text("Version 2 is made")
    talk.get_by_role("link", name="Show it").click()
    expect(report).to_contain_text("This is version 2 of the report")
    expect(page.locator("#conversation")).to_contain_text("What of adenomas?")  # answers stay
    report.locator(".claim").first.click()
    panel = page.locator("#source")
    panel.get_by_label("Dispute it").fill("the group was 43, not 34")
    panel.get_by_role("button", name="Have its works read again").click()
    expect(talk).to_contain_text("disputed by ada: the group was 43, not 34")
    talk.get_by_role("button", name="It stays").click()
    expect(talk).to_contain_text("Rejected by ada")
    page.reload()
    expect(report).to_contain_text("Rejected by ada")
    page.get_by_text("Version 4 of 4").click()
    page.locator(".menu a", has_text="Version 1").click()
    expect(report).not_to_contain_text("This is version")


def test_the_page_fits_a_narrow_screen_and_answers_the_keyboard(browser: Browser, served: Served) -> None:
    page = signed_in(browser, served, "ada")
    page.set_viewport_size({"width": 360, "height": 740})
    expect(page.locator("#question")).to_be_visible()  # the page has come
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    expect(page.locator("#runs")).to_be_hidden()
    page.get_by_role("button", name="Runs").click()
    expect(page.locator("#runs")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("/")
    page.keyboard.type(QUESTION)
    expect(page.locator("#question")).to_have_value(QUESTION)
    page.keyboard.press("Shift+Enter")
    assert "/run/" not in page.url, "with Shift, Enter makes a line"
    page.locator("h1").click()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
