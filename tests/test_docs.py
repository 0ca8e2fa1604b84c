"""The documents name what exists, and the code they show runs."""

import fnmatch
import json
import re
import shlex
import subprocess
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
import pytest

from activities.contracts.errors import Malformed
from activities.contracts.evidence import Query, Usage
from activities.contracts.search import SearchTask
from activities.hooks import Call, CallOutcome, Veto
from activities.own_step_activity import OwnStepInput
from activities.plugins import Group
from activities.profiles.loader import load_profile
from activities.report.formats.words import UNUSED
from activities.report.schema import UnusedReason
from activities.settings import Settings
from activities.sources.base import search
from activities.sources.http.client import open_http
from activities.sources.library import records
from client.cli.main import determinator
from determinator import record
from tests.replay import ReplayServer, Reply
from workflows.modes import workflow_classes

ROOT = Path(__file__).parent.parent
EXTENDING = ROOT / "docs/extending.md"
LIBRARY = ROOT / "docs/library.md"


def test_every_test_that_a_guarantee_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs/guarantees.md").read_text()))
    there = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", path.read_text())
    }
    assert len(named) > 40
    assert named <= there, f"gone: {sorted(named - there)}"


@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("nosuch", 2)])
def test_the_installer_says_how_it_is_called(word: str, code: int) -> None:
    ran = subprocess.run([ROOT / "scripts/install", word], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (code, "")
    assert ran.stderr.startswith("scripts/install [runtime|test]: ")


def test_links_between_documents_lead_somewhere() -> None:
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_every_file_that_architecture_and_concept_name_exists() -> None:
    tree = [
        path.relative_to(ROOT).as_posix() + "/" * path.is_dir()
        for package in (
            *("activities", "workflows", "worker", "client", "determinator"),
            *("tests", "examples", "benchmarks", "deploy"),
        )
        for path in (ROOT / package, *(ROOT / package).rglob("*"))
    ]
    text = "".join((ROOT / f"docs/{name}.md").read_text() for name in ("architecture", "concept"))
    named = re.findall(r"`([\w./*-]+(?:\.(?:py|toml|css|jinja)|/))`", text)
    assert len(named) > 80
    assert [
        name for name in named if not fnmatch.filter(tree, name) + fnmatch.filter(tree, f"*/{name}")
    ] == []


@pytest.fixture
def names() -> dict[str, Any]:
    """What the Python blocks of the two pages define, executed in their order as one module."""
    module = types.ModuleType("extending")
    text = EXTENDING.read_text() + LIBRARY.read_text()
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(compile(block, str(EXTENDING), "exec"), module.__dict__)  # what a reader would copy
    return module.__dict__


async def test_the_declared_source_of_the_documents_answers(names: dict[str, Any], tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    async with open_http(settings) as http:
        built = names["search_notes"](settings, http)
        result = await search(built, Query(text="compound", limit=5))
    assert [record.source for record in result.records] == ["notes"]
    assert result.records[0].text in names["NOTES"].values()


async def test_the_role_the_step_and_the_mode_of_the_documents_are_what_a_worker_loads(
    names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = load_profile("auto")
    given = OwnStepInput(run_id="ask-1", question="Does it work?", profile=profile, name="critic")
    critic, step, mode = names["critic"], names["count_trials"], names["one_round"]
    assert (critic.name, critic.answer) == ("critic", names["Doubts"])
    assert critic.accept(given, names["Doubts"](searches=["a trial"])).gaps == ("a trial",)
    works = [record(title="A", text="A randomized trial."), record(title="B", text="A cohort.")]
    assert (await step.run(given, works)).said == "1 trials"
    monkeypatch.syspath_prepend(ROOT / "examples")
    assert [cls.__name__ for cls in workflow_classes([mode])][-1] == mode.workflow


async def test_the_source_class_of_the_documents_reads_all_pages_and_names_a_failure(
    names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def page(first: int, count: int) -> Reply:
        works = [
            {"doi": f"10.1/{n}", "title": f"Work {n}", "abstract": "A."} for n in range(first, first + count)
        ]
        return Reply(200, json.dumps({"works": works, "total": 40}), {"content-type": "application/json"})

    with ReplayServer() as server:
        server.on(
            "/search", page(0, 25), page(25, 15), Reply(200, "[]", {"content-type": "application/json"})
        )
        monkeypatch.setenv("DETERMINATOR_EXAMPLE_URL", server.url)
        settings = Settings(home=tmp_path)
        async with open_http(settings) as http:
            built = names["build"](settings, http)
            result = await search(built, Query(text="compound", limit=30))
            with pytest.raises(Malformed):
                await search(built, Query(text="other", limit=30))
    assert (len(result.records), result.hits) == (30, 40)
    assert [asked.query["offset"] for asked in server.asked][:2] == [["0"], ["25"]]


async def test_the_hook_of_the_documents_stops_a_call_at_its_limit(names: dict[str, Any]) -> None:
    hook = names["Spending"]()
    step = SearchTask(run_id="ask-1", source="notes", query=Query(text="compound"))
    call = Call(kind="model", name="judge", run_id="ask-1", attempt=1, workflow_id="ask-1", step=step)
    await hook.before(call)
    await hook.after(call, CallOutcome(1.0, usage=Usage(calls=1, cost_microusd=6_000_000)))
    with pytest.raises(Veto):
        await hook.before(call)


def test_the_toml_blocks_of_the_documents_are_a_package_and_a_profile(
    names: dict[str, Any], tmp_path: Path
) -> None:
    package, profile = re.findall(r"^```toml\n(.*?)^```", EXTENDING.read_text(), re.DOTALL | re.MULTILINE)
    points = tomllib.loads(package)["project"]["entry-points"]
    groups = [f"determinator.{name}" for name in ("sources", "roles", "steps", "modes")]
    assert list(points) == groups
    assert set(groups) < set(get_args(Group))
    declared = [place.partition(":")[2] for group in groups for place in points[group].values()]
    assert set(declared) <= names.keys()
    (tmp_path / "profile.toml").write_text(profile)
    assert load_profile("auto", path=tmp_path / "profile.toml").name == "toxicology"


def test_the_documents_list_every_field_that_a_record_may_have() -> None:
    """The names of several words that `records.py` reads."""
    written = Path(records.__file__).read_text("utf-8")
    fields = set(re.findall(r'"([a-z]+(?:_[a-z]+)+)"', written)) - {"evidence_type_from"}
    assert len(fields) > 10
    assert fields <= set(re.findall(r"`(\w+)`", LIBRARY.read_text()))


def test_the_documents_say_what_each_reason_for_not_citing_a_work_means() -> None:
    named = set(re.findall(r"^\| `(\w+)` \|", LIBRARY.read_text(), re.MULTILINE))
    assert {*get_args(UnusedReason), "not_found"} <= named
    assert UNUSED.keys() == {*get_args(UnusedReason)}


def commands_of(page: Path) -> Iterator[list[str]]:
    """The `determinator` command lines in the blocks and inline code of a page, as words."""
    text = page.read_text()
    blocks = re.findall(r"^```(?:sh|bash)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    for line in (*lines, *re.findall(r"`(determinator [^`]+)`", text.replace("\n", " "))):
        match = re.match(r"(?:\$ )?determinator (.*)", line)
        if match:
            yield shlex.split(match.group(1).split(" | ")[0], comments=True)


def test_every_command_in_the_documents_has_a_verb_and_flags_that_exist() -> None:
    checked, wrong = 0, []
    pages = {*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "examples/README.md"}
    for page in sorted(pages - {ROOT / "CHANGELOG.md"}):  # which names commands that are gone
        for verb, *words in commands_of(page):
            if verb == "--version":
                continue
            command = determinator.get_command(click.Context(determinator), verb)
            if command is None:
                wrong.append(f"{page.name}: {verb}")
                continue
            if isinstance(command, click.Group) and words:
                command = command.get_command(click.Context(command), words[0]) or command
            known = {flag for option in command.params for flag in option.opts} | {"--help"}
            flags = {word.strip("[]").split("=")[0] for word in words if word.strip("[").startswith("--")}
            wrong += [f"{page.name}: {verb} {flag}" for flag in flags - known]
            checked += 1
    assert checked > 40
    assert not wrong
