"""The Python client: what programs, the command line, the MCP server and the web page use."""

from pathlib import Path

import pytest
import structlog

from determinator import BadInput, Determinator
from tests.client.harness import processes_of
from tests.papers import QUESTION

pytestmark = pytest.mark.xdist_group("plain")


async def test_a_question_is_asked_followed_and_verified(file_home: Path, library: str) -> None:
    async with Determinator() as client:
        run = await client.ask(QUESTION, mode="iterative", library=library, max_cost=1.0)
        events = [event async for event in run.events()]
        report = await run.report()
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert events[-1].type == "complete"
        assert report.run_id == run.id
        assert run.id in [row.run_id for row in await client.runs()]
        assert (await client.verify(run.id)).holds
        rows = await run.evidence()
        assert {row["evidence_id"] for row in rows} >= {
            reference.evidence_id for reference in report.references
        }
        assert [row["number"] for row in report.work_rows()] == [
            reference.number for reference in report.references
        ]
        page = report._repr_html_()
        assert page.startswith("<iframe srcdoc=")
        assert "<script" not in page
        assert (await run.status()).row.status == "completed"
        with pytest.raises(BadInput, match="is over"):
            await run.steer(text="only adults")


def test_the_same_works_without_an_event_loop(
    file_home: Path, library: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages: list[str] = []
    with Determinator(say=messages.append) as client:
        run = client.ask(QUESTION, mode="simple", library=library)
        types = [event.type for event in run.events()]
        assert types[-1] == "complete"
        assert run.report().references
        assert client.search("library", QUESTION, library=library).status == "ok"
        assert client.run("last").id == run.id
        made = client.export(run.id, tmp_path / "bundle.zip")
        assert (made.path.is_file(), "report.json" in made.files) == (True, True)
        with pytest.raises(BadInput, match="exists"):
            client.export(run.id, made.path)
        structlog.get_logger().info("logged by a part of it")
    assert not capsys.readouterr().out, "it prints nothing among what the program prints"
    assert any("leaves this machine" in message for message in messages)


def test_a_blocking_client_ends_its_thread(home: Path) -> None:
    with Determinator(offline=True).blocking() as client:
        assert client.target.settings.offline
        assert len(client.sources()) > 10
    assert not client.loop.running


def test_a_run_is_extended_paused_and_approved_without_an_event_loop(file_home: Path, library: str) -> None:
    with Determinator() as client:
        run = client.ask(QUESTION, mode="deep", library=library, approve=("plan",))
        for event in run.events():
            if event.type == "awaiting_approval":
                break
        seen, plan = run.progress(), run.plan().plan
        assert seen is not None
        assert seen.waiting_for == "plan"
        assert plan is not None
        first, *others = plan.report_outline
        mine = first.model_copy(update={"title": "A title of my own"})
        edited = run.edit_plan(plan=plan.model_copy(update={"report_outline": (mine, *others)}), by="ada")
        assert edited.plan is not None
        assert edited.plan.report_outline[0].title == "A title of my own"
        run.steer(add_source="library")
        limit = seen.budget.limits.max_tokens
        assert limit is not None
        assert run.extend(tokens=1_000).limits.max_tokens == limit + 1_000
        with pytest.raises(BadInput, match="waits for the plan"):
            run.approve(gate="report")
        run.pause()
        run.resume()
        assert run.approve(by="Ada") == "plan"
        assert [event.type for event in run.events()][-1] == "complete"
        assert run.iterations()
        assert run.evidence_refs()


async def test_what_cannot_be_asked_starts_nothing(home: Path) -> None:
    async with Determinator() as client:
        with pytest.raises(BadInput):
            await client.ask("?")
        with pytest.raises(BadInput):
            await client.ask("Does it work?", sources=("pubmde",))
        with pytest.raises(BadInput, match="max_cost"):
            await client.ask("Does it work?", max_costs=1.0)  # type: ignore[call-arg]
    assert processes_of(home) == {"server": [], "worker": []}
