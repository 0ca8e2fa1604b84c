"""The page over a real home, as a browser without scripts reads it: a run is watched, approved and read
beside its evidence, by its user only."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from pydantic import ValidationError

from activities.contracts.evidence import ApprovalGate
from activities.report.formats import FORMATS
from activities.settings import Settings
from client.access import Access
from client.reports.read_aloud import can_speak
from client.runs.options import SharedOptions
from client.runs.request import build_request
from client.web.home import WITHOUT_MODEL, options_of
from determinator import BadInput, Determinator
from tests.client.web.visitor import PART, app_of, fields_in, page_with, tree_of, visitor
from tests.papers import QUESTION

pytestmark = pytest.mark.xdist_group("plain")

PLAN = "//section[starts-with(@id, 'gate-plan')]//form"
REPORT = "//section[@id='gate-report']//form"
PAPER = "//*[@class='paper'] | //p[@class='alert']"


async def test_a_run_is_approved_on_the_page_and_read_by_its_user_only(file_home: Path, library: str) -> None:
    async with Determinator() as client:
        app = app_of(Access(client, is_shared=True))
        gates: tuple[ApprovalGate, ...] = ("plan", "report")
        run = await client.ask(QUESTION, user="ada", mode="deep", library=library, approve=gates)
        at = f"/run/{run.id}"
        async with visitor(app, "ada") as ada, visitor(app, "eve") as eve:
            (form,) = (await page_with(ada, at, PLAN)).xpath(PLAN)
            fields = fields_in(form)
            fields["title"][0] = "A title of my own"
            for path in ("", "/live", "/steps", "/works", "/download/md"):
                assert (await eve.get(at + path)).status_code == 404, path
            for button in ("approve", "steer", "cancel", "plan"):
                assert (await eve.post(f"{at}/do/{button}", data=fields)).status_code == 404
            assert (await ada.post(f"{at}/do/explode")).status_code == 404
            answer = await ada.post(str(form.get("action")), data=fields)
            assert (answer.status_code, answer.headers["location"]) == (303, at)
            drafted = await page_with(ada, at, REPORT)
            assert drafted.xpath("//*[@class='paper']"), "who decides of a report reads it"
            streaming = asyncio.create_task(ada.get(f"{at}/live"))
            answer = await ada.post(f"{at}/do/approve", headers=PART, data={"note": "well done"})
            assert "has its report approved" in answer.text
            assert "event: run-changed" in (await streaming).text
            page = await page_with(ada, at, "//*[@class='paper' and not(//section[@id='gate-report'])]")
            assert "A title of my own" in page.xpath("string()")
            report = await run.draft()
            assert [
                approval.by for approval in report.methodology.approvals if approval.action == "approved"
            ] == ["ada"] * 2
            assert (await ada.post(f"{at}/do/pause")).status_code == 400, (
                "a run that is over takes no message"
            )
            assert run.id in (await ada.get("/history")).text
            assert run.id not in (await eve.get("/history")).text
            await read_files(ada, eve, at)
            await asked_on(ada, eve, at)


async def read_files(ada: httpx.AsyncClient, eve: httpx.AsyncClient, at: str) -> None:
    """Report, evidence and files, as a browser asks for them."""
    page = tree_of((await ada.get(at)).text)
    cited = page.xpath("//a[@class='cite']/@href")
    assert cited
    assert not page.xpath("//main//script")
    shown = await ada.get(cited[0])
    assert '<mark id="quote">' in shown.text
    part = await ada.get(cited[0], headers=PART)
    assert '<mark id="quote">' in part.text
    assert "<html" not in part.text
    for name, entry in FORMATS.items():
        answer = await ada.get(f"{at}/download/{name}")
        assert answer.status_code == 200, name
        assert answer.headers["content-type"].startswith(entry.media_type)
        assert "attachment" in answer.headers["content-disposition"]
    for address in page.xpath("//a[contains(@href, '/chart/')]/@href"):
        drawn = await ada.get(address)
        assert drawn.headers["content-type"].startswith("image/svg")
        assert "default-src 'none'" in drawn.headers["content-security-policy"]
    if can_speak():
        assert (await ada.get(f"{at}/aloud")).content.startswith(b"RIFF")
    for wrong in ("/download/exe", "/chart/nothing", "/source/nothing", "/sentence/nothing"):
        assert (await ada.get(at + wrong)).status_code == 404, wrong
    for part_of_run in ("/aloud", urlsplit(cited[0]).path.removeprefix(at)):
        assert (await eve.get(at + part_of_run)).status_code == 404
    assert "Researched the sections" in (await ada.get(f"{at}/steps")).text
    assert "/source/" in (await ada.get(f"{at}/works")).text


async def asked_on(ada: httpx.AsyncClient, eve: httpx.AsyncClient, at: str) -> None:
    """A further question begins with this evidence, and the earlier one stays above it."""
    further = {"text": "Does it inhibit growth?", "verb": "on"}
    assert (await eve.post(f"{at}/talk", data=further)).status_code == 404
    begun = await ada.post(f"{at}/talk", data=further)
    assert begun.status_code == 303
    assert begun.headers["location"] != at
    page = await page_with(ada, begun.headers["location"], PAPER)
    assert QUESTION in page.xpath("string(//ol[@class='turns'])")
    assert page.xpath("//ol[@class='turns']//a/@href") == [at]


async def test_a_question_is_asked_with_the_form_and_what_is_wrong_with_it_is_said(
    file_home: Path, library: str
) -> None:
    async with Determinator() as client, visitor(app_of(Access(client, is_shared=False)), "local") as http:
        page = tree_of((await http.get("/")).text)
        (form,) = page.xpath("//form[@id='ask']")
        fields = fields_in(form)
        offered = {*form.xpath(".//@name")} | {"max_time"}  # in minutes
        assert offered >= SharedOptions.__annotations__.keys()
        assert "Leaves this machine: search queries to PubMed, PubMed Central," in page.xpath(
            "string(//*[@id='leaves'])"
        )
        answer = await http.post("/ask", data={**fields, "question": ""})
        assert answer.status_code == 400
        alert = tree_of(answer.text).xpath("string(//p[@role='alert'])")
        assert "the question is empty" in alert
        answer = await http.post("/ask", data={**fields, "question": QUESTION, "max_sections": "99"})
        assert answer.status_code == 400
        assert QUESTION in tree_of(answer.text).xpath("string(//textarea)"), "what was typed stays"
        own = {**fields, "library": library, "question": QUESTION, "mode": "simple"}
        assert (await http.post("/leaves", data=own)).text == "Nothing leaves this machine."
        answer = await http.post("/ask", data=own)
        assert answer.status_code == 303, answer.text
        page = await page_with(http, answer.headers["location"], PAPER)
        assert page.xpath("//*[@class='paper']//a[@class='cite']")


def test_a_table_has_as_many_columns_as_a_model_is_asked_for(home: Path) -> None:
    with pytest.raises(ValidationError, match="at most 50"):
        options_of({"columns": ",".join(map(str, range(5_000)))}, is_shared=True, models=[])
    with pytest.raises(BadInput, match=r"columns: .* the most is 14"):
        build_request(Settings(), QUESTION, {"columns": [*map(str, range(15))]})
    with pytest.raises(BadInput, match="61 characters; the most is 60"):
        build_request(Settings(), QUESTION, {"columns": ["c" * 61]})


def test_the_form_offers_what_is_configured_and_refuses_the_rest() -> None:
    fields = {
        "question": QUESTION,
        "model": WITHOUT_MODEL,
        "columns": " dose, outcome ,",
        "minutes": "2",
        "since": "2020",
        "types": "rct, review",
        "free_full_text": "true",
        "max_tokens": "0",
        "max_cost": "0",
    }
    assert options_of(fields, is_shared=True, models=[]) == {
        "model": "extractive",
        "columns": ["dose", "outcome"],
        "max_time": "2m",
        "since": 2020,
        "types": ["rct", "review"],
        "free_full_text": True,
        "max_tokens": 0,  # zero is zero
        "max_cost": 0,
    }
    for wrong in ({"model": "another"}, {"library": "/etc"}, {"user": "eve"}):
        with pytest.raises(BadInput):
            options_of(wrong, is_shared=True, models=["known"])
    for field, value in (("max_sections", "21"), ("since", "x"), ("mode", ["deep"])):
        with pytest.raises(ValidationError, match=field):
            options_of({field: value}, is_shared=False, models=[])
