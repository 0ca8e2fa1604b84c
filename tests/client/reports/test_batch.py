"""A batch of questions: a row for each, and nothing asked twice after a kill."""

import csv
import json
import signal
from pathlib import Path

import pytest

from activities.report.formats.text import spreadsheet_cell
from activities.settings import Settings
from client.failures import BadInput
from client.reports.batch import check, read_questions
from tests.client.harness import begin, determinator, inside, wait_until
from tests.papers import QUESTION

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("plain")]

QUESTIONS = (QUESTION, "Does metformin reduce colorectal adenomas?", "Is metformin safe after polypectomy?")


def runs() -> list[str]:
    return sorted(row["run_id"] for row in inside("list", "--json").json())


def test_a_batch_ends_in_a_table_and_one_export(file_home: Path, library: str, tmp_path: Path) -> None:
    file, folder = tmp_path / "questions.txt", tmp_path / "out"
    file.write_text("# of metformin\n\n" + "\n".join(QUESTIONS) + "\n")
    options = ("--mode", "simple", "--library", library, "--output", str(folder), "--json")
    ran = determinator("ask", "--many", str(file), *options)
    assert ran.code == 0, ran
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [row["question"] for row in rows] == list(QUESTIONS)
    assert [row["line"] for row in rows] == [3, 4, 5]
    assert {row["status"] for row in rows} <= {"quoted", "not_answered"}, "no model has judged them"
    table = list(csv.DictReader((folder / "results.csv").read_text().splitlines()))
    assert [row["run_id"] for row in table] == [row["run_id"] for row in rows]
    reports = [json.loads(line) for line in (folder / "reports.jsonl").read_text().splitlines()]
    assert [report["run_id"] for report in reports] == [row["run_id"] for row in rows]
    assert all((folder / row["file"]).exists() for row in rows)
    before = runs()
    again = determinator("ask", "--many", str(file), *options)
    assert [json.loads(line) for line in again.out.splitlines()] == rows
    assert runs() == before, "what has ended is not asked again"
    # as if the folder had been made with another home
    noted = folder / "batch.json"
    noted.write_text(noted.read_text().replace('"ask-', '"ask-elsewhere-'))
    file.write_text(QUESTIONS[0] + "\n")
    anew = determinator("ask", "--many", str(file), *options)
    assert anew.code == 0, anew
    assert "not in this home" in anew.err
    assert Path("last").write_text("of another")
    verified = inside("verify", "last", "--json")
    assert verified.code == 0, verified
    assert inside("verify", "./last").code != 0


def test_a_killed_batch_goes_on_and_asks_nothing_twice(file_home: Path, library: str, tmp_path: Path) -> None:
    before = runs()
    file, folder = tmp_path / "questions.csv", tmp_path / "out"
    file.write_text("question,mode\n" + "".join(f"{question},simple\n" for question in QUESTIONS))
    command = ("ask", "--many", str(file), "--library", library, "--output", str(folder), "--at-once", "1")
    batch = begin(*command)
    wait_until(lambda: (folder / "batch.json").exists(), what="the first run")
    batch.send_signal(signal.SIGKILL)
    batch.communicate(timeout=60)
    started = len(json.loads((folder / "batch.json").read_text()))
    assert started < len(QUESTIONS)
    ran = determinator(*command)
    assert ran.code == 0, ran
    assert len(runs()) == len(before) + len(QUESTIONS)
    assert len(list(csv.DictReader((folder / "results.csv").read_text().splitlines()))) == len(QUESTIONS)


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.csv", "text,mode\nx,simple\n", ":1: "),
        ("a.csv", "question,mod\nDoes it help?,simple\n", ":1: "),
        ("a.csv", "question,mode\nDoes it help?,simpel\n", ":2: "),
        ("a.tsv", "question\tmax_cost\nDoes it help?\tmuch\n", ":2: "),
        ("a.csv", "question,since\nDoes it help?,last year\n", ":2: "),
        ("a.txt", "# nothing\n", " has no question"),
        ("a.txt", "Does it help?\n??\n", ":2: "),
    ],
)
def test_a_mistake_is_named_with_its_line_before_anything_is_asked(
    tmp_path: Path, name: str, text: str, place: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadInput) as error:
        check(Settings(), read_questions(path, {}), path)
    assert f"{path}{place}" in str(error.value)


def test_a_row_has_options_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "question,sources,max_cost,since\nDoes it help?,pubmed; europepmc,0.5,2015\nDoes it harm?,,,\n"
    )
    first, second = read_questions(path, {"mode": "simple"})
    assert first.options["sources"] == ("pubmed", "europepmc")
    assert first.options["since"] == 2015
    assert second.options == {"mode": "simple"}
    assert first.key != second.key


def test_a_cell_is_no_formula_of_a_spreadsheet() -> None:
    assert spreadsheet_cell("=HYPERLINK(1)") == "'=HYPERLINK(1)"
    assert spreadsheet_cell("3") == "3"
