"""Tables at 80 columns, filters of the list, grouped help."""

import json
from pathlib import Path

import click
import pytest

from client.cli.ask import GROUPS, ask
from tests.client.harness import determinator, inside
from tests.client.terminal import Terminal
from tests.conftest import move_in
from tests.e2e.stage import own_id

pytestmark = pytest.mark.xdist_group("plain")

QUESTIONS = {
    "iterative": "Does metformin lower the risk of colorectal cancer in adults with type 2 diabetes?",
    "deep": "Which old drugs could prevent colorectal adenomas in people without diabetes?",
}
TEXT = (
    "Metformin use and colorectal cancer risk in a cohort\n\n"
    "Metformin use was associated with a lower risk of colorectal cancer in adults with type 2 diabetes."
)
OTHER = "Pipettes in adults\n\nThe laboratory ordered new pipettes for adults who have colorectal surgery."


@pytest.fixture(scope="module")
def made_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "papers"
    folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def made(shared_home: Path, made_folder: Path) -> dict[str, str]:
    """A completed iterative run and a deep one that waits for its plan: mode -> id."""
    folder = made_folder
    (folder / "cohort.txt").write_text(TEXT)
    (folder / "other.txt").write_text(OTHER)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7")
    (folder / "disk.iso").write_bytes(b"no document")
    found = {}
    with pytest.MonkeyPatch.context() as patched:
        move_in(shared_home, folder.parent, patched)
        for mode, question in QUESTIONS.items():
            flags = ("--mode", mode, "--library", str(folder), *own_id())
            gate = ("--approve", "plan", "--detach") if mode == "deep" else ()
            found[mode] = determinator("ask", question, *flags, *gate).run_id
    return found


@pytest.fixture
def runs(made: dict[str, str], file_home: Path) -> dict[str, str]:
    """These runs, in their home."""
    return made


def listed(*flags: str) -> set[str]:
    return {row["run_id"] for row in inside("list", *flags, "--json").json()}


def test_a_list_and_a_status_in_a_pipe_keep_to_80_columns(runs: dict[str, str]) -> None:
    lines = inside("list").out.splitlines() + inside("status", runs["iterative"]).out.splitlines()
    assert max(len(line) for line in lines if not line.startswith("Temporal's view: ")) <= 80


def test_a_list_is_narrowed_by_state_and_text(runs: dict[str, str]) -> None:
    both = set(runs.values())
    assert both <= listed()
    for flags, expected in (
        (("--state", "completed"), {runs["iterative"]}),
        (("--state", "running"), {runs["deep"]}),
        (("--text", "ADENOMAS"), {runs["deep"]}),
        (("--text", runs["iterative"][-8:]), {runs["iterative"]}),
        (("--text", "ADENOMAS", "--state", "completed"), set()),
    ):
        assert listed(*flags) & both == expected, flags


def test_at_80_columns_the_list_keeps_status_mode_and_start(runs: dict[str, str]) -> None:
    terminal = Terminal("list", columns=80)
    assert terminal.end() == 0
    shown = terminal.text()
    row = next((line for line in shown.splitlines() if runs["iterative"][-8:] in line), "")
    assert row, shown
    assert len(row) <= 80
    hash_, status, mode, day, *_ = row.split()
    assert (hash_, status, mode, len(day)) == (runs["iterative"][-8:], "completed", "iterative", 10)
    assert inside("status", hash_, "--json").json()["run_id"] == runs["iterative"]
    wide = Terminal("list", columns=140)
    assert wide.end() == 0
    assert runs["iterative"] in wide.text()


def test_every_option_of_ask_is_explained_and_stands_in_a_group() -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    options = [p for p in ask.params if isinstance(p, click.Option) and p.name != "address"]
    assert sorted(p.name or "" for p in options) == sorted(grouped)
    assert [p.name for p in ask.params if isinstance(p, click.Option) and not p.help] == []
    shown = determinator("ask", "--help").out
    assert all(f"{heading}:" in shown for heading in GROUPS)
    assert max(map(len, shown.splitlines())) <= 80


def test_what_was_read_found_and_used_of_a_library_can_be_seen(
    runs: dict[str, str], made_folder: Path
) -> None:
    ran = determinator("documents", str(made_folder), "--json")
    files = {file["name"]: file for file in ran.json()}
    assert {name: file["status"] for name, file in files.items()} == {
        "broken.pdf": "unreadable",
        "cohort.txt": "indexed",
        "other.txt": "indexed",
        "disk.iso": "not_a_document",
    }
    assert files["broken.pdf"]["problems"]
    lines = inside("evidence", runs["iterative"], "--format", "jsonl").out.splitlines()
    items = [json.loads(line) for line in lines]
    assert {(item["cited_as"], item["unused_because"]) for item in items} == {(1, None), (None, "not_read")}
    assert {item["relevance_score"] for item in items} == {None}, "nothing was judged"
    shown = Terminal("evidence", runs["iterative"], columns=80)
    assert shown.end() == 0
    assert "cited as [1]" in shown.text()
    assert "ranked too low" in shown.text()
