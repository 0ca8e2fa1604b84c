"""The examples run as they are, with the code of today."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.harness import determinator, inside
from tests.e2e.stage import report_of

EXAMPLES = Path(__file__).parent.parent / "examples"
MODE_FILES = ("one_round.py", "one_round_workflow.py")
QUESTION = "Does compound 17 lower blood pressure?"
FORBIDDEN = "Does compound 99 lower blood pressure?"
NOTE = """# Compound 17 and blood pressure

In a randomized trial of 240 adults with hypertension, compound 17 lowered systolic blood pressure by 12 mmHg.
Compound 17 lowered blood pressure in men and in women.
"""


@pytest.fixture
def lab(file_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples installed as a package, notes, and a log of searches: the same for each test
    of this file, because they share a worker."""
    folder = file_home.parent
    site = folder / "site"
    (site / "lab-1.0.dist-info").mkdir(parents=True, exist_ok=True)
    for name in ("notes.py", "plain_text.py", "search_log.py", *MODE_FILES, "critic.py"):
        shutil.copy(EXAMPLES / name, site)
    (site / "lab-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 1.0\n")
    (site / "lab-1.0.dist-info/entry_points.txt").write_text(
        "[determinator.sources]\nnotes = notes:search_notes\n"
        "[determinator.formats]\nplain = plain_text:PLAIN\n"
        "[determinator.modes]\nmissing = no_such_module:MODE\none_round = one_round:one_round\n"
        "[determinator.roles]\ncritic = critic:critic\n"
        "[determinator.steps]\ncount_trials = critic:count_trials\n"
    )
    (folder / "notes").mkdir(exist_ok=True)
    (folder / "notes/compound-17.md").write_text(NOTE)
    (folder / "notes/other.md").write_text("# Order of pipettes\n\nNothing about any compound.\n")
    path = (str(site), str(EXAMPLES.parent), os.environ.get("PYTHONPATH", ""))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))
    monkeypatch.setenv("LAB_NOTES", str(folder / "notes"))
    monkeypatch.setenv("SEARCH_LOG", str(folder / "searches.jsonl"))
    monkeypatch.setenv("SEARCH_LOG_FORBIDDEN", "compound 99")
    monkeypatch.setenv("DETERMINATOR_HOOKS", json.dumps(["search_log:SearchLog"]))
    monkeypatch.setenv("DETERMINATOR_OFFLINE", "true")
    return folder


def test_the_source_is_found_by_its_entry_point_and_searched(lab: Path) -> None:
    ran = determinator("search", "notes", "compound 17", "--json")
    assert ran.code == 0, ran
    assert "Compound 17 and blood pressure" in ran.out
    assert "pipettes" not in ran.out


def test_a_run_uses_source_profile_and_hook(lab: Path) -> None:
    """And its report a format; a mode that cannot be loaded stops nothing."""
    profile = ("--profile", str(EXAMPLES / "toxicology.toml"))
    ran = determinator("ask", QUESTION, "--mode", "iterative", "--source", "notes", *profile)
    assert ran.code == 0, ran
    report = report_of(ran.run_id)
    assert report["profile"] == "toxicology"
    assert [reference["source"] for reference in report["references"]] == ["notes"]
    lines = [json.loads(line) for line in (lab / "searches.jsonl").read_text().splitlines()]
    mine = [line for line in lines if line["run"] == ran.run_id]
    assert {line["source"] for line in mine} == {"notes"}
    assert "ok" in {line["status"] for line in mine}
    assert len(mine) == sum(search["attempts"] for search in report["methodology"]["searches"])
    assert "no_such_module" not in ran.out
    assert "no_such_module" in ran.err
    printed = determinator("report", ran.run_id, "--format", "plain")
    assert printed.code == 0, printed
    claims = [claim for section in report["sections"] for claim in section["claims"]]
    assert claims
    assert all(support["quote"] in printed.out for claim in claims for support in claim["support"])


def test_the_mode_is_found_by_its_entry_point_and_runs(lab: Path) -> None:
    ran = determinator("ask", QUESTION, "--mode", "one_round", "--source", "notes")
    assert ran.code == 0, ran
    report = report_of(ran.run_id)
    assert report["mode"] == "one_round"
    assert [reference["source"] for reference in report["references"]] == ["notes"]
    assert report["methodology"]["iterations"] == 1


def test_the_graph_with_a_role_and_a_step_of_ones_own_runs_and_is_refused_where_they_are_not_installed(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = str(EXAMPLES / "critic.toml")
    ran = determinator("ask", QUESTION, "--graph", graph, "--source", "notes")
    assert ran.code == 0, ran
    results = inside("status", ran.run_id, "--json").json()["graph"]["results"]
    assert results["count"] == "1 of 1 works report a randomized trial"
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent))
    refused = determinator("graph", "check", graph)
    assert refused.code == 2, refused
    assert "no installed package has a role critic" in refused.err
    assert "no installed package has a step count_trials" in refused.err


def test_the_hook_stops_a_search_for_a_forbidden_word(lab: Path) -> None:
    ran = determinator("ask", FORBIDDEN, "--mode", "iterative", "--source", "notes")
    searches = report_of(ran.run_id)["methodology"]["searches"]
    statuses = {
        (search["status"], search["attempts"])
        for search in searches
        if "compound 99" in search["query"].casefold()
    }
    assert statuses == {("refused", 1)}


def test_the_script_starts_a_run_through_the_client_and_prints_claims_with_quotes(lab: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "ask_from_python.py"), QUESTION, str(lab / "notes")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "compound 17 lowered systolic blood pressure by 12 mmHg" in done.stdout
    run_id = done.stderr.splitlines()[-1].split(":")[0]
    assert inside("status", run_id, "--json").json()["run_id"] == run_id


@pytest.mark.npm
@pytest.mark.timeout(600)
def test_gradio_takes_the_messages_of_its_example(tmp_path: Path) -> None:
    """Gradio in an environment of its own: the product has none."""
    environment = tmp_path / "gradio"
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(environment)], check=True)
    python = str(environment / "bin/python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "gradio>=6,<7"], check=True, timeout=500)
    served = (
        "import gradio as gr, gradio_app as app\n"
        "chat = gr.ChatInterface(app.answer, additional_inputs=[gr.Dropdown([*app.MODES])])\n"
        "steps = app.folding({'searching': ['a', 'b']}, done=True)\n"
        "print(chat.chatbot.postprocess([{'role': 'user', 'content': 'q'}, *steps]).model_dump_json())\n"
    )
    path = os.pathsep.join((str(EXAMPLES), str(EXAMPLES.parent), *sys.path))
    done = subprocess.run(
        [python, "-c", served], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stderr
    assert '"title":"searching"' in done.stdout
