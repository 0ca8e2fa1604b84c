"""Iterations as people look at them."""

from activities.contracts.iterations import IterationRecord, IterationSearch
from client.cli.runs import lines_of
from client.runs.query import all_iterations
from tests.workflows.conftest import Stage, a_request
from tests.workflows.conftest import live as live  # the fixture


async def test_sections_are_inspected_while_they_run(live: Stage) -> None:
    live.script.before["judge"] = lambda step: None
    live.script.hangs = "judge"
    run = await live.start(a_request("deep"), f"{live.queue}-2")
    for section in ("s1", "s2", "s3"):
        await live.child(run, section).until(lambda p: p.phase == "judging")
    records = await all_iterations(live.client, run.handle.id)
    assert [(r.section, r.iteration) for r in records] == [("s1", 1), ("s2", 1), ("s3", 1)]
    assert all(r.searches and not r.judged for r in records)
    live.script.hangs = None
    await run.handle.terminate()


def test_what_others_wrote_cannot_act_on_the_terminal() -> None:
    search = IterationSearch(source="pubmed", query="a\x1b[31m query\nsearch  forged", status="rate_limited")
    record = IterationRecord(iteration=1, thought="seen\x1b[2J", searches=(search,), judged=True)
    lines = lines_of([record])
    assert all(character.isprintable() for line in lines for character in line)
    assert len(lines) == 5
    assert "rate limit reached" in lines[2]
