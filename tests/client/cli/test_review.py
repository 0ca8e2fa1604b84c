"""`determinator review` at a terminal: a protocol, keys, refusals in a line, exports without names."""

import asyncio
import csv
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from activities.contracts.evidence import Evidence
from activities.review.decisions import ScreenedStage
from activities.review.protocol import parse_protocol
from activities.review.state import ReviewState, TaskKind
from activities.settings import Settings
from client.cli.screen import next_record, screen_records
from client.failures import BadInput
from client.reviews.drafting import draft_protocol
from client.reviews.review import Review
from client.reviews.tasks import Task
from determinator import Determinator
from tests.client.harness import Ran, inside, wait_until
from tests.client.web.test_screening import PROTOCOL
from tests.fake_openai import FakeOpenAI, says
from workflows.review.types import ReviewGate, ReviewProgress

pytestmark = pytest.mark.xdist_group("plain")


def test_a_template_is_a_protocol_and_is_not_overwritten(home: Path) -> None:
    assert inside("review", "draft", "Does metformin help?").code == 0
    text = Path("protocol.toml").read_text()
    assert 'title = "Does metformin help?"' in text
    started = inside("review", "start", "protocol.toml")
    assert started.code == 2
    for key in ("question.population", "question.intervention", "criteria.I1", "criteria.E1", "pubmed"):
        assert key in started.err, key
    again = inside("review", "draft", "Does metformin help?")
    assert (again.code, Path("protocol.toml").read_text()) == (2, text)


async def test_a_draft_of_a_model_is_a_protocol_that_can_be_read(tmp_path: Path) -> None:
    answer = {
        "title": 'Vitamin "C" for colds',
        "population": "adults",
        "intervention": "vitamin C",
        "outcomes": ["days with a cold"],
        "criteria": [{"kind": "include", "text": "adults"}, {"kind": "exclude", "text": "animals"}],
        "queries": [
            {"source": "pubmed", "query": '"ascorbic acid"[mh] AND cold'},
            {"source": "elsewhere", "query": "cold"},
        ],
    }
    with FakeOpenAI() as server:
        server.script(says(answer))
        settings = Settings(home=tmp_path, openai_base_url=server.base_url, model="m")
        text, by = await draft_protocol(settings, "Does vitamin C shorten colds?")
    protocol = parse_protocol(text)
    assert by == "drafted by m"
    assert protocol.title == 'Vitamin "C" for colds'
    assert [(rule.id, rule.kind) for rule in protocol.criteria] == [("I1", "include"), ("E1", "exclude")]
    assert [source.query for source in protocol.sources] == ['"ascorbic acid"[mh] AND cold']
    assert [screener.kind for screener in protocol.screeners] == ["model", "person"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (PROTOCOL.replace("population", "poplation"), "did you mean population?"),
        (PROTOCOL.replace("a.csv", "b.csv"), "cannot read"),
        (PROTOCOL.replace("a.csv", "."), "is no file of records"),
        (PROTOCOL.replace("a.csv", "empty.csv"), "empty.csv has no record that can be read"),
        (PROTOCOL.replace("a.csv", "german.csv"), "its fields are Titel, Jahr"),
        (PROTOCOL.replace('name = "bob"', 'name = "bob", kind = "model"'), "no model is connected"),
        (
            f'{PROTOCOL}[[sources]]\nsource = "pubmed"\nquery = "metformin"',
            "the source pubmed is not enabled",
        ),
    ],
)
def test_a_wrong_protocol_is_refused_in_a_line(home: Path, text: str, named: str) -> None:
    Path("a.csv").write_text("title,abstract\nOne,It was tried.\n")
    Path("empty.csv").touch()
    Path("german.csv").write_text("Titel;Jahr\nEine Studie;2020\n")
    Path("protocol.toml").write_text(text)
    done = inside("review", "start", "protocol.toml", DETERMINATOR_OFFLINE="true")
    assert (done.code, named in done.err) == (2, True), done
    assert len(done.err.strip().splitlines()) == 1


def test_a_home_without_reviews_says_how_one_is_started(home: Path) -> None:
    done = inside("review", "status")
    assert (done.code, "determinator review start" in done.err) == (2, True), done


def screened(review: str, by: str, keys: str) -> Ran:
    with mock.patch("sys.stdin", io.StringIO(keys)):
        return inside("review", "screen", review, "--by", by)


def test_records_are_screened_by_keys_and_exported_without_names(file_home: Path) -> None:
    rows = [f"Trial {n} of metformin,Metformin was tried in {n + 20} adults over a year." for n in range(6)]
    Path("a.csv").write_text("\n".join(("title,abstract", *rows)))
    Path("protocol.toml").write_text(PROTOCOL)
    review = inside("review", "start", "protocol.toml").out.split()[0]
    early = screened(review, "ada", "i\n")
    assert (early.code, f"`determinator review approve {review}`" in early.err) == (0, True), early
    gate = inside("review", "waiting", review).err
    assert "nothing waits" not in gate
    assert f"; next: `determinator review approve {review}`" in gate
    assert inside("review", "approve", review).code == 0
    waits(review, "decisions")
    # include, then the one before again: exclude by the second criterion, and the rest included
    keys = "i\n\x7f\ne\n2\n" + "i\n" * 5
    assert screened(review, "ada", keys).code == 0
    shown = screened(review, "bob", "q\n")
    assert "exclude" not in shown.out
    assert screened(review, "bob", "i\n" * 6).code == 0
    assert "another person decides on conflicts of titles: 1" in inside("review", "status", review).out
    (conflict,) = inside("review", "waiting", review, "--json").json()
    made = {
        decision["by"]: (decision["verdict"], decision.get("criterion")) for decision in conflict["decisions"]
    }
    assert made["ada"] == ("exclude", "E1")
    number = str(conflict["record"])
    refused = inside("review", "decide", review, number, "exclude", "--by", "cyd", "--criterion", "X")
    assert (refused.code, "no criterion" in refused.err) == (2, True)
    for more in (("--by", "c" * 81), ("--by", "cyd", "--reason", "word " * 300)):
        refused = inside("review", "decide", review, number, "exclude", *more)
        assert (refused.code, "the most is" in refused.err, refused.err.count("\n")) == (2, True, 1), refused
    decided = inside("review", "decide", review, number, "exclude", "--by", "cyd", "--criterion", "E1")
    assert "excluded" in decided.out
    if waits(review, "full_texts", "report") == "full_texts":
        Path("empty.txt").touch()
        for name, code, said in (("none.txt", 2, "there is no none.txt"), ("empty.txt", 0, "it is empty")):
            provided = inside("review", "provide", review, name, "--by", "ada")
            assert (provided.code, said in provided.err + provided.out) == (code, True), provided
        assert inside("review", "approve", review, "--by", "ada").code == 0
        waits(review, "report")
    assert inside("review", "export", review, "--output", "out").code == 0
    log = list(csv.DictReader(Path("out/decisions-log.csv").read_text().splitlines()))
    assert {row["by"] for row in log} == {"person 1", "person 2", "person 3"}
    assert sum(row["record"] == number for row in log) == 4, "what was changed stays in the log"
    assert "\na.csv," in Path("out/searches.csv").read_text()
    report = inside("review", "report", review).out
    assert "ada" not in report.replace("metadata", "")
    assert "ada" in inside("review", "report", review, "--names").out
    assert inside("review", "cancel", review).code == 0
    wait_until(lambda: inside("review", "status", review, "--json").json()["phase"] == "cancelled")
    late = screened(review, "ada", "i\n")
    assert (late.code, "is over" in late.err) == (2, True), late
    late = inside("review", "cancel", review)
    assert (late.code, "is over" in late.err) == (2, True), late


def test_a_review_that_was_ended_from_outside_says_why(file_home: Path) -> None:
    Path("a.csv").write_text("title,abstract\nOne,It was tried.\n")
    Path("protocol.toml").write_text(PROTOCOL.replace("Two people", "Ended"))
    review = inside("review", "start", "protocol.toml").out.split()[0]

    async def end() -> None:
        async with Determinator() as client:
            server = (await client.review(review)).connection.client
            await server.get_workflow_handle(review).terminate()

    asyncio.run(end())
    status = inside("review", "status", review).out
    assert f"{review} (terminated)\nit ended because " in status


class Stepping(Review):
    """A review that takes two steps of its own, and then waits for a person."""

    def __init__(self, gate: ReviewGate = "full_texts", kind: TaskKind | None = None) -> None:
        self.gate, self.kind = gate, kind
        self.id = "review-by-keys"
        self.phases = ["screening", "full texts", "waiting for full texts"]

    async def progress(self) -> ReviewProgress:
        phase, *later = self.phases
        self.phases = later or [phase]
        return ReviewProgress(title="By keys", phase=phase, gate="" if later else self.gate)

    async def tasks(self, by: str = "", most: int = 20) -> list[Task]:
        return [a_task(1, self.kind)] if self.kind and len(self.phases) == 1 else []


def a_task(number: int, kind: TaskKind) -> Task:
    facts = {"no_abstract": "1"} if number else {}
    work = Evidence(evidence_id=f"pmid:{number}", source="library", title="T", text="It was.", facts=facts)
    return Task(record=number, kind=kind, title=work.title, work=work)


class Deciding(Stepping):
    """A review of two records, the second without an abstract, on which nobody has decided."""

    def __init__(self) -> None:
        super().__init__("decisions")
        self.phases = ["waiting for decisions"]
        self.decided = list[tuple[int, str]]()

    async def row(self) -> Any:
        return SimpleNamespace(status="running")

    async def view(self) -> Any:
        return ReviewState(protocol=parse_protocol(PROTOCOL), protocol_key="")

    async def tasks(self, by: str = "", most: int = 20) -> list[Task]:
        return [a_task(number, "screen") for number in range(len(self.decided), 2)][:most]

    async def task(self, number: int, kind: TaskKind, stage: ScreenedStage, by: str = "") -> Task:
        if number > 1:
            raise BadInput(f"there is no record {number}")
        return a_task(number, kind)

    async def decide(self, record: int, verdict: str, **_: object) -> str:
        self.decided.append((record, verdict))
        return "open"


async def test_a_slip_of_the_keys_ends_no_screening_and_who_jumps_returns_to_what_waits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    review, keys = Deciding(), iter("j\n99\nj\n1\nj\n\nj\nx\n?\ni\nu\n".splitlines(keepends=True))
    monkeypatch.setattr("sys.stdin.readline", lambda: next(keys, ""))
    await screen_records(review, "ada")
    assert review.decided == [(0, "include"), (1, "unsure")]
    said = capsys.readouterr().err
    assert "Error: there is no record 99" in said
    assert said.count("q: leave") == 2, "a key that means nothing is answered with those that do"
    assert "[0] title and abstract" in said
    assert "No abstract." in said
    assert [line[1] for line in said.splitlines() if line.startswith("[")] == [*"0010001"]


async def test_a_review_is_looked_at_until_no_step_of_its_own_is_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("client.reviews.review.POLL_SECONDS", 0.01)
    assert (await Stepping().at_rest()).gate == "full_texts"
    assert (await Stepping().at_rest(0)).phase == "screening"


@pytest.mark.parametrize(
    ("review", "is_screened", "said"),
    [
        (Stepping(), False, "nothing to screen for ada"),
        (Stepping("decisions", "screen"), True, ""),
        (Stepping("decisions", "extract"), False, "; next: `determinator review extract review-by-keys "),
    ],
    ids=["full texts", "records", "data"],
)
async def test_screening_waits_for_the_step_that_a_review_is_at_and_says_what_else_waits(
    review: Review,
    is_screened: bool,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("client.reviews.review.POLL_SECONDS", 0.01)
    assert (await next_record(review, "ada") is not None) == is_screened
    err = capsys.readouterr().err
    assert (said in err) if said else not err


def waits(review: str, *gates: str) -> str:
    seen: dict[str, str] = {}

    def at_gate() -> bool:
        seen.update(inside("review", "status", review, "--json").json())
        return seen["gate"] in gates

    wait_until(at_gate, 60, every=0.3, what=f"{gates}")
    return seen["gate"]
