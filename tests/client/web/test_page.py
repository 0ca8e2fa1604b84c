"""The page over a real home: a run is watched, approved and read beside its evidence, by its user only.

Gradio takes seconds to import: what needs it is imported where it is used, in one process of the tests.
"""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from fastapi import FastAPI
from pydantic import ValidationError
from starlette.middleware.sessions import SessionMiddleware
from starlette.testclient import TestClient

from activities.contracts.evidence import ApprovalGate
from activities.report.format_table import FORMATS
from activities.settings import Settings
from client.access import Access, RateLimit
from client.reports.read_aloud import can_speak
from client.runs.request import build_request
from client.web.documents import add_documents
from client.web.signing_in import SignIn
from determinator import BadInput, Determinator
from tests.papers import QUESTION

if TYPE_CHECKING:
    from client.web.run_view import Look

pytestmark = [pytest.mark.timeout(180), pytest.mark.xdist_group("gradio")]

MESSAGE, GATE, PLAN, REPORT, TIMER = 4, 5, 7, 9, 12
"""Places of the updates of `Look.again`."""


def asked_by(user: str) -> Any:
    return SimpleNamespace(username=user)  # only the name of the user is read


def documents_of(access: Access, user: str) -> TestClient:
    app = FastAPI()
    sign_in = SignIn(token="t" * 64)
    add_documents(app, access, sign_in)
    setattr(sign_in, "user", lambda _request: user)  # noqa: B010 - who is signed in
    app.add_middleware(SessionMiddleware, secret_key="k" * 32)
    return TestClient(app)


async def look_until_over(look: "Look", run_id: str, user: str) -> list[Any]:
    from client.web.run_view import Seen

    seen = Seen()
    while True:
        updates: list[Any] = await look.again(run_id, seen, asked_by(user))
        seen = updates[-1]
        if seen.over:
            return updates
        await asyncio.sleep(0.2)


async def test_a_run_is_approved_on_the_page_and_read_by_its_user_only(file_home: Path, library: str) -> None:
    import gradio as gr

    from client.web.actions import Actions
    from client.web.ask_form import AskForm
    from client.web.page import Asking, runs_of
    from client.web.run_view import OUTPUTS, Look, Seen

    async with Determinator() as client:
        access = Access(client, shared=True)
        look, actions = Look(access), Actions(access)
        gates: tuple[ApprovalGate, ...] = ("plan", "report")
        run = await client.ask(QUESTION, user="ada", mode="deep", library=library, approve=gates)
        seen = Seen()
        while seen.gate is None:
            updates: list[Any] = await look.again(run.id, seen, asked_by("ada"))
            seen = updates[-1]
        assert updates[GATE].visible
        plan = updates[PLAN].value
        rows = plan["data"] if isinstance(plan, dict) else plan.values.tolist()
        rows[0][1] = "A title of my own"
        assert "no run" in await actions.on(actions.steer)(asked_by("eve"), run.id, "only adults")
        assert "approved" in await actions.on(actions.approve)(asked_by("ada"), run.id, "", rows, [])
        while seen.gate != "report":
            drafted: list[Any] = await look.again(run.id, seen, asked_by("ada"))
            seen = drafted[-1]
        assert run.id in str(drafted[REPORT]), "who decides of a report reads it"
        assert "approved" in await actions.on(actions.approve)(asked_by("ada"), run.id, "", [], [])
        updates = await look_until_over(look, run.id, "ada")
        assert run.id in str(updates[REPORT])
        assert not updates[TIMER].active
        report = await run.draft()
        assert report.sections[0].title == "A title of my own"
        assert [one.by for one in report.methodology.approvals if one.action == "approved"] == ["ada"] * 2
        # a page that was restarted shows the same: it keeps nothing
        again = await look_until_over(Look(Access(client, shared=True)), run.id, "ada")
        assert again[REPORT] == updates[REPORT]
        assert "no run" in str((await look.again(run.id, Seen(), asked_by("eve")))[MESSAGE])
        assert run.id in await runs_of(access)(asked_by("ada"))
        assert run.id not in await runs_of(access)(asked_by("eve"))
        await read_documents(access, run.id)
        # a further question begins with this evidence, and the earlier one stays
        asking = Asking(access, AskForm({}, gr.Button(), gr.Markdown()), RateLimit(2, 3600))
        (refused,) = [u async for u in asking.further(run.id, "Does it inhibit growth?", asked_by("eve"))]
        assert "no run" in str(refused[0])
        told: list[Any] = [
            u async for u in asking.further(run.id, "Does it inhibit growth?", asked_by("ada"))
        ]
        assert "leaves this machine" in told[-2][0], "it says what it does while it starts"
        begun = told[-1][2]
        assert "leaves this machine" in told[-1][3], "and the run says it then"
        assert begun != run.id
        updates = await look_until_over(look, begun, "ada")
        assert "turns" in OUTPUTS
        turns = str((await look.again(begun, Seen(), asked_by("ada")))[OUTPUTS.index("turns")])
        assert QUESTION in turns
        assert f"/runs/{run.id}/reading" in turns


async def read_documents(access: Access, run_id: str) -> None:
    """Report, evidence and files, as a browser asks for them."""
    report = await (await access.run(run_id, "ada")).draft()
    support = next(claim for section in report.sections for claim in section.claims).support[0]

    def read() -> None:
        page = documents_of(access, "ada")
        reading = page.get(f"/runs/{run_id}/reading")
        assert "script-src" not in reading.headers["content-security-policy"]
        assert support.quote[:25] in reading.text
        shown = page.get(f"/runs/{run_id}/evidence/{support.evidence_id}", params={"quote": support.quote})
        assert '<mark id="quote"' in shown.text
        for name, entry in FORMATS.items():
            answer = page.get(f"/runs/{run_id}/download/{name}")
            assert answer.status_code == 200, name
            assert answer.headers["content-type"].startswith(entry.media_type)
            assert "attachment" in answer.headers["content-disposition"]
        assert page.get(f"/runs/{run_id}/download/exe").status_code == 404
        drawn = page.get(f"/runs/{run_id}/chart/sections")
        assert drawn.headers["content-type"].startswith("image/svg")
        assert "default-src 'none'" in drawn.headers["content-security-policy"]
        assert page.get(f"/runs/{run_id}/chart/..").status_code == 404
        if can_speak():
            assert page.get(f"/runs/{run_id}/aloud").content.startswith(b"RIFF")
        for part in ("chart/sections", "aloud"):
            assert documents_of(access, "eve").get(f"/runs/{run_id}/{part}").status_code == 404
        assert page.get(f"/runs/{run_id}/evidence/nothing").status_code == 404
        assert documents_of(access, "eve").get(f"/runs/{run_id}/reading").status_code == 404

    # the client's connection belongs to this loop: the routes answer in it while a thread asks
    await asyncio.get_running_loop().run_in_executor(None, read)


def test_a_table_has_as_many_columns_as_a_model_is_asked_for(home: Path) -> None:
    from client.web.ask_form import options_of

    with pytest.raises(ValidationError, match="at most 50"):
        options_of({"columns": ",".join(map(str, range(5_000)))}, shared=True, offered=[])
    with pytest.raises(BadInput, match=r"columns: .* at most 14"):
        build_request(Settings(), QUESTION, {"columns": [*map(str, range(15))]})
    with pytest.raises(BadInput, match="60 characters"):
        build_request(Settings(), QUESTION, {"columns": ["c" * 61]})


def test_each_line_of_a_note_answers_its_own_question() -> None:
    from client.web.actions import answers_of

    assert answers_of("\nin adults\n\n", 2) == ["", "in adults"]  # an empty line keeps what is assumed
    with pytest.raises(BadInput, match="3 lines for 2 questions"):
        answers_of("in adults\nof both sexes\nin trials", 2)


def test_the_form_offers_what_is_configured_and_refuses_the_rest() -> None:
    from client.web.ask_form import IN_FORCE, WITHOUT_MODEL, options_of

    fields = {
        "question": QUESTION,
        "model": WITHOUT_MODEL,
        "columns": " dose, outcome ,",
        "minutes": 2.0,
        "max_tokens": 0,
        "max_cost": None,
        "approve": [],
        "library": " ",
    }
    options = options_of(fields, shared=True, offered=[])
    assert options == {"model": "extractive", "columns": ["dose", "outcome"], "max_time": "2.0m"}
    assert options_of({"model": IN_FORCE}, shared=False, offered=[]) == {}
    for wrong in ({"model": "another"}, {"library": "/etc"}):
        with pytest.raises(BadInput):
            options_of(wrong, shared=True, offered=["known"])
    for field, value in (("max_sections", 21), ("since", "x"), ("mode", ["deep"]), ("user", "eve")):
        with pytest.raises(ValidationError, match=field):
            options_of({field: value}, shared=False, offered=[])
