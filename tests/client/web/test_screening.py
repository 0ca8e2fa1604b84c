"""Screening on the page: by keys, by two people apart, by who may."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from client.access import Access
from client.embedded.server import stop_embedded
from client.reviews.review import Review
from determinator import Determinator
from tests.client.harness import living
from tests.client.web.visitor import PART, app_of, fields_in, page_with, tree_of, visitor

pytestmark = pytest.mark.xdist_group("plain")

PROTOCOL = """title = "Two people"
records = ["a.csv"]
deciders = ["cyd"]
question = { population = "adults", intervention = "metformin" }
criteria = [
  { id = "I1", text = "on metformin" },
  { id = "E1", kind = "exclude", text = "animals <b>alone</b>" },
]
screeners = [{ name = "ada" }, { name = "bob" }]
"""
SOURCES = 'sources = [{ source = "library", query = "metformin" }]'
FORM = "//form[contains(@action, '/decide')]"
TITLE = "//article/h2"


async def a_review(client: Determinator, folder: Path) -> Review:
    rows = [f"Trial {n} of metformin,Metformin was tried in {n + 20} adults over a year." for n in range(6)]
    (folder / "a.csv").write_text("\n".join(("title,abstract", *rows)))
    (folder / "protocol.toml").write_text(PROTOCOL)
    return await client.start_review(folder / "protocol.toml")


async def followed(http: httpx.AsyncClient, tree: Any, wanted: str) -> Any:
    """Follow a page that is open as a browser does, without loading it again, until it has what is wanted."""
    while not tree.xpath(wanted):
        (again,) = tree.xpath("//*[starts-with(@hx-trigger, 'every')]/@hx-get")
        answer = await http.get(str(again), headers=PART)
        assert answer.status_code == 200
        tree = tree_of(answer.text)
        await asyncio.sleep(0.2)
    return tree


async def decided(http: httpx.AsyncClient, at: str, verdict: str, criterion: str = "") -> tuple[str, Any]:
    """Decide on the record that is shown; return its number and the part that follows."""
    (form,) = (await page_with(http, at, FORM)).xpath(FORM)
    fields = {**fields_in(form), "verdict": verdict, "criterion": criterion}
    answer = await http.post(str(form.get("action")), data=fields, headers=PART)
    assert answer.status_code == 200, answer.text
    return fields_in(form)["record"][0], tree_of(answer.text)


async def test_two_people_screen_apart_on_the_page_and_a_third_decides(
    file_home: Path, tmp_path: Path
) -> None:
    async with Determinator() as client:
        review = await a_review(client, tmp_path)
        app, at = app_of(Access(client, is_shared=True)), f"/review/{review.id}"
        async with (
            visitor(app, "ada") as ada,
            visitor(app, "bob") as bob,
            visitor(app, "cyd") as cyd,
            visitor(app, "eve") as eve,
        ):
            assert (await eve.get(at)).status_code == 404
            assert review.id not in (await eve.get("/review")).text
            await client.start_review(PROTOCOL.replace('records = ["a.csv"]', SOURCES))
            several = await eve.get("/review/people")
            assert (several.status_code, review.id in several.text) == (404, False)
            assert review.id in (await ada.get("/review")).text
            approve = f"//form[@action='{at}/approve']"
            assert await page_with(ada, at, approve) is not None
            assert (await ada.post(f"{at}/approve")).status_code == 303
            page = await page_with(ada, at, FORM)
            keys = {str(key) for key in page.xpath("//@data-key")}
            assert keys >= {"i", "e", "u", "j", "1", "2"}
            assert "<b>alone" not in (await ada.get(at)).text
            first, after = await decided(ada, at, "include")
            assert "Backspace" in after.xpath("string()")
            assert after.xpath("//a[@data-key='Backspace']/@href")[0].endswith(
                f"at={first}&kind=screen&stage=titles"
            )
            assert not after.xpath("//a[@data-key='n']")
            again = tree_of((await ada.get(f"{at}?at={first}&kind=screen&stage=titles")).text)
            assert again.xpath("//a[@data-key='n']/@href") == [at + "?by=ada"], (
                "one need not decide on it again"
            )
            # the same record, nothing of what ada said
            page = await page_with(bob, at, FORM)
            assert fields_in(page.xpath(FORM)[0])["record"] == [first]
            assert "include" not in page.xpath("string(//article)")
            assert not (await page_with(cyd, at, "//p[contains(., 'Nothing waits')]")).xpath(FORM)
            await decided(bob, at, "exclude", "E1")
            page = await page_with(cyd, at, FORM)
            text = page.xpath("string(//article)")
            assert "ada: include" in text
            assert "bob: exclude (E1)" in text
            await decided(cyd, at, "include")
            assert (await review.view()).titles.state(int(first)) == "included"
            # eve cannot decide, and nobody decides in the name of another
            (form,) = (await page_with(ada, at, FORM)).xpath(FORM)
            fields = {**fields_in(form), "verdict": "include", "by": "bob"}
            assert (await eve.post(f"{at}/decide", data=fields)).status_code == 404
            assert (await ada.post(f"{at}/decide", data=fields)).status_code == 303
            assert {decision.by for decision in await review.decisions()} == {"ada", "bob", "cyd"}
            await asyncio.gather(*(finish(http, at) for http in (ada, bob)))
            await page_with(ada, at, approve)  # nobody has a full text
            assert (await ada.post(f"{at}/approve")).status_code == 303
            await page_with(ada, at, f"{approve}//button[contains(., 'report')]")
            await overruled(cyd, at, int(first))
            refused = await eve.post(
                f"{at}/overrule", data={"record": "1", "verdict": "exclude", "reason": "x"}
            )
            assert refused.status_code == 404
            await page_with(ada, at, f"{approve}//button[contains(., 'report')]")
            while (flow := (await review.published()).report.flow).excluded == 0:  # noqa: ASYNC110
                await asyncio.sleep(0.2)
            assert (flow.excluded, flow.sought) == (1, 5), "the report is made again"
            await page_with(ada, at, f"{approve}//button[contains(., 'report')]")
            assert (await ada.post(f"{at}/approve")).status_code == 303
            flow = (await review.published()).report.flow
            assert (flow.screened, flow.faults()) == (6, ())


async def overruled(http: httpx.AsyncClient, at: str, record: int) -> None:
    """Find a record by words of its title, see who decided what, and exclude it with a reason."""
    tree = tree_of((await http.get(at, params={"find": "METFORMIN trial"})).text)
    assert len(tree.xpath("//form[@role='search']/following-sibling::ul/li")) == 6
    assert "No record has" in (await http.get(at, params={"find": "aspirin"})).text
    tree = tree_of((await http.get(at, params={"find": str(record)})).text)
    (link,) = (
        str(link) for link in tree.xpath("//a/@href") if f"at={record}&kind=overrule&stage=titles" in link
    )
    tree = tree_of((await http.get(link)).text)
    text = tree.xpath("string(//article)")
    for part in ("ada: include", "bob: exclude (E1)", "cyd (word): include"):
        assert part in text, part
    (form,) = tree.xpath("//form[contains(@action, '/overrule')]")
    fields, action = {**fields_in(form), "verdict": "exclude", "criterion": "E1"}, str(form.get("action"))
    assert (await http.post(action, data=fields, headers=PART)).status_code == 400, "without a reason"
    fields["reason"] = "rats <i>alone"
    answer = await http.post(action, data=fields, headers=PART)
    assert (answer.status_code, f"record {record} is excluded by the word of cyd" in answer.text) == (
        200,
        True,
    )
    again = await http.get(link)
    assert "cyd (word): exclude (E1)" in tree_of(again.text).xpath("string(//article)")
    assert "<i>alone" not in again.text


async def finish(http: httpx.AsyncClient, at: str) -> None:
    """Include whatever is shown until nothing is."""
    while True:
        approve = "//form[contains(@action, '/approve')]"
        tree = await page_with(http, at, f"{FORM} | {approve} | //p[contains(., 'Nothing waits')]")
        if tree.xpath(approve):
            return
        if tree.xpath(FORM):
            _, after = await decided(http, at, "include")
            assert after.xpath("//a[@data-key='Backspace']"), "the last decision as well can be taken back"
        else:
            await asyncio.sleep(0.2)


async def test_an_open_page_follows_the_review_from_gate_to_gate_for_who_gives_a_name(
    file_home: Path, tmp_path: Path
) -> None:
    async with Determinator() as client:
        review = await a_review(client, tmp_path)
        path = f"/review/{review.id}"
        at = f"{path}?by=ada"
        async with visitor(app_of(Access(client, is_shared=False)), "local") as http:
            gate = "//form[contains(@action, '/approve')]//button[contains(., '{}')]".format
            page = tree_of((await http.get(at)).text)
            page = await followed(http, page, gate("protocol"))
            assert (await http.post(f"{path}/approve", data={})).status_code == 400
            assert (await http.post(f"{path}/approve", data={"by": "bob"})).status_code == 303
            await followed(http, page, FORM)
            assert not tree_of((await http.get(path)).text).xpath(FORM), "a decision has an author"
            number, _ = await decided(http, at, "unsure")
            (decision,) = await review.decisions()
            assert (decision.record, decision.by, decision.verdict) == (int(number), "ada", "unsure")
            assert "Trial 5 of metformin" in (await http.get(f"{at}&at=5")).text
            assert (await http.get(f"{at}&at=99")).status_code == 400
            for record in range(6):
                for name in ("ada", "bob"):
                    await review.decide(record, "include", by=name)
            page = await followed(http, page, gate("missing"))
            (tmp_path / "text.txt").write_text("Metformin was tried in twenty adults over a whole year.")
            await review.provide(tmp_path / "text.txt", by="bob", record=0)
            page = tree_of((await http.get(at)).text)
            assert page.xpath(FORM), "she decides on the text that is here"
            assert len(page.xpath("//main//li")) == 5, "and sees which are not"
            for name in ("ada", "bob"):
                await review.decide(0, "include", by=name, full_texts=True)
            page = tree_of((await http.get(at)).text)
            assert (await review.approve(by="bob")) == "full_texts"
            page = await followed(http, page, gate("report"))
            assert (await review.approve(by="bob")) == "report"
            page = await followed(http, page, "//p[contains(., 'is completed')]")
            assert not page.xpath("//*[@hx-trigger]"), "a review that is over changes no more"


async def test_a_page_goes_on_after_all_processes_were_killed(home: Path, tmp_path: Path) -> None:
    """Also where what is asked for first, the list of reviews, needs no worker."""
    async with Determinator() as client:
        review = await a_review(client, tmp_path)
        async with visitor(app_of(Access(client, is_shared=False)), "local") as http:
            await page_with(http, f"/review/{review.id}?by=ada", "//form[contains(@action, '/approve')]")
            for pid in (pid for pids in living(home).values() for pid in pids):
                os.kill(pid, signal.SIGKILL)
            assert review.id in (await http.get("/review")).text
            answer = await http.get(f"/review/{review.id}?by=ada")
            assert answer.status_code == 200, answer.text
    await asyncio.to_thread(stop_embedded, home)
