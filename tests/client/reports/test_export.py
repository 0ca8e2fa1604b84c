"""`export` and `verify`: what an outsider gets, and what the owner finds."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from activities.contracts.iterations import Finding, IterationRecord, IterationSearch
from activities.report.assemble import build_report
from activities.report.check_bundle import check_sums
from activities.text.normal_form import verbatim
from client.configuration import MIN_CHARS, known_secrets, without_secrets
from client.reports.bundle import check_script, make_bundle
from client.reports.finished import Finished
from tests.activities.cases import DOCUMENTS, FULL, TRIAL
from tests.activities.sources.faults import settings
from tests.client.shelf import RUN, command, shelve

KEY = "sk-hush-hush-0123456789"
ALWAYS = {
    *("README.md", "report.md", "report.html", "report.json", "references.bib", "references.ris"),
    *("references.csl.json", "evidence.jsonl", "searches.csv", "check.py", "SHA256SUMS"),
}


def exported(home: Path, folder: str = "bundle") -> Path:
    shelve(home)
    ran = command("export", RUN, "--output", folder)
    assert ran.code == 0, ran
    assert ran.out == f"{folder}\n"
    return Path(folder).absolute()


def stranger(folder: Path) -> tuple[int, str]:
    """What a user finds who has Python and nothing of this package."""
    script = [sys.executable, "-I", "-S", str(folder / "check.py")]
    done = subprocess.run(script, capture_output=True, text=True, cwd="/", timeout=60)
    assert not done.stderr
    return done.returncode, done.stdout


def test_a_bundle_can_be_made_and_checked_without_a_server(home: Path) -> None:
    shelve(home)
    ran = command("export", "ask-met")
    assert ran.code == 0, ran
    assert ran.out == f"{RUN}.zip\n"
    assert "no Temporal server answers" in ran.err
    with zipfile.ZipFile(ran.out.strip()) as archive:
        assert {name.split("/", 1)[1] for name in archive.namelist()} >= ALWAYS
        archive.extractall()
    code, printed = stranger(Path(RUN).absolute())
    assert (code, printed.splitlines()[0]) == (0, "3 quotes, 0 problems")
    said = command("verify", "last")
    assert said.code == 0, said
    assert said.out.splitlines() == [
        "holds s1.1 [1] Metformin reduced mortality by 30%.",
        "holds s2.1 [2] A registry found increased mortality.",
        "holds Metformin [1] AMPK | activation",
        "everything holds: 2 of 2 claims, 1 of 1 candidates, 3 of 3 quotes; 2 references",
    ]
    readme = Path(RUN, "README.md").read_text()
    assert "Not in here" in readme
    assert "no Temporal server answers" in readme


def test_every_file_of_a_bundle_is_listed_and_its_sum_is_right(home: Path) -> None:
    folder = exported(home)
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    readme = (folder / "README.md").read_text()
    assert all(f"`{name}`" in readme for name in names - {"README.md", "SHA256SUMS"})
    listed = {line.split("  ", 1)[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    assert listed == names - {"SHA256SUMS"}
    assert check_sums(names, lambda name: (folder / name).read_bytes()) == []


def test_one_changed_word_is_found_and_reported_by_claim(home: Path) -> None:
    folder = exported(home)
    lines = (folder / "evidence.jsonl").read_text()
    (folder / "evidence.jsonl").write_text(lines.replace("reduced all-cause", "doubled all-cause"))
    code, said = stranger(folder)
    assert code == 1
    assert "evidence.jsonl is not the file that was exported" in said
    assert "s1.1: not in the text of pmid:1" in said


def test_an_export_overwrites_nothing_that_was_not_meant(home: Path) -> None:
    folder = exported(home)
    again = command("export", RUN, "--output", str(folder))
    assert again.code == 2
    assert "`force`" in again.err
    assert command("export", RUN, "--output", str(folder), "--force").code == 0
    Path("papers").mkdir()
    Path("papers/mine.txt").write_text("mine")
    for flags in ([], ["--force"]):
        refused = command("export", RUN, "--output", "papers", *flags)
        assert refused.code == 2
        assert "not empty" in refused.err
    assert [path.name for path in Path("papers").iterdir()] == ["mine.txt"]


def test_no_secret_leaves_the_process(home: Path) -> None:
    leaky = TRIAL.model_copy(update={"url": f"https://example.org/x?api_key={KEY}", "facts": {"seen": KEY}})
    shelve(home, documents=[leaky, *list(DOCUMENTS.values())[1:]])
    ran = command("export", RUN, "--output", "bundle", OPENAI_API_KEY=KEY, NCBI_API_KEY="none")
    assert ran.code == 0, ran
    for path in Path("bundle").rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    assert "[secret removed]" in Path("bundle/evidence.jsonl").read_text()
    assert stranger(Path("bundle").absolute())[0] == 0


def test_a_placeholder_for_a_key_damages_no_words() -> None:
    found = known_secrets(
        settings(
            OPENAI_API_KEY="none",
            NCBI_API_KEY=KEY,
            SEARXNG_URL="http://me:pass%20word1@s.example/?key=0123456789",
        ),
        {"TEMPORAL_API_KEY": "temporal-key-1", "PATH": "/usr/bin:/bin"}.items(),
    )
    assert found >= {KEY, "0123456789", "temporal-key-1"}
    assert all(len(secret) >= MIN_CHARS for secret in found)
    assert without_secrets("none of these", found) == "none of these"
    assert (
        without_secrets(json.dumps({"k": 'a"b-long-secret'}), ['a"b-long-secret'])
        == '{"k": "[secret removed]"}'
    )


@given(st.text(min_size=1), st.text(max_size=40), st.text(max_size=40))
def test_the_strangers_check_and_ours_agree_on_every_quote(quote: str, before: str, after: str) -> None:
    program: dict[str, Any] = {"__name__": "check"}
    exec(compile(check_script(), "check.py", "exec"), program)
    quote, text = quote * 25, f"{before}{quote * 25}{after}"
    theirs = program["occurs"](program["normalise"](quote), program["normalise"](text))
    assert theirs == verbatim(quote, text)


def test_a_formula_in_a_query_is_text_to_a_spreadsheet(home: Path) -> None:
    from activities.contracts.evidence import SearchRecord

    search = SearchRecord(source="pubmed", query='=HYPERLINK("http://x","y")', status="empty")
    shelve(home, FULL.model_copy(update={"searches": (search,)}))
    assert command("export", RUN, "--output", "bundle").code == 0
    assert "\"'=HYPERLINK" in Path("bundle/searches.csv").read_text()
    report = json.loads(Path("bundle/report.json").read_text())
    assert report["methodology"]["searches"][0]["query"] == search.query


def test_of_several_records_of_a_work_the_quoted_one_is_used(home: Path) -> None:
    shelve(home)
    for number in range(8):
        other = TRIAL.model_copy(
            update={"text": f"Another record of the trial, number {number}, says nothing."}
        )
        shelve(home, FULL.model_copy(update={"run_id": f"other-{number}"}), [other])
    ran = command("verify", RUN)
    assert ran.code == 0, ran
    assert "everything holds" in ran.out


def test_a_damaged_text_fails_the_claims_that_quote_it(home: Path) -> None:
    shelve(home)
    for blob in (home / "evidence").rglob("*.json"):
        if b"reduced all-cause" in blob.read_bytes() and b"sections" not in blob.read_bytes():
            blob.write_bytes(blob.read_bytes().replace(b"reduced all-cause", b"doubled all-cause"))
    ran = command("verify", RUN, "--json")
    assert ran.code == 1
    parsed = ran.json()
    assert not parsed["holds"]
    assert [(claim["name"], claim["holds"]) for claim in parsed["claims"]] == [
        ("s1.1", False),
        ("s2.1", True),
    ]
    assert parsed["problems"]


def test_a_draft_is_not_exported_as_a_report(home: Path) -> None:
    shelve(home, FULL.model_copy(update={"draft": True}))
    ran = command("export", RUN)
    assert ran.code == 2
    assert "only a draft" in ran.err
    assert not Path(f"{RUN}.zip").exists()


def test_a_bundle_lists_each_iteration() -> None:
    record = IterationRecord(
        iteration=2,
        section="s1",
        thought="Two trials disagree.",
        gaps=("Whether dose matters",),
        searches=(IterationSearch(source="pubmed", query="metformin AND dose", status="ok", hits=9, kept=3),),
        new_items=3,
        findings=(Finding(evidence_id="pmid:1", title=TRIAL.title),),
        reflection="The searches served the gap.",
        judged=True,
        scores={"mechanism": 7},
        score_reasons={"mechanism": "one pathway only"},
        sources_breakdown={"pubmed": 3},
        confidence=0.7,
        verdict="Enough on dose.",
    )
    report = build_report(FULL, DOCUMENTS)
    run = Finished(
        run_id=RUN, first=report, report=report, versions=(), items=(), total=0, iterations=(record,)
    )
    bundle = make_bundle(run)
    assert [
        IterationRecord.model_validate_json(line) for line in bundle["iterations.jsonl"].decode().splitlines()
    ] == [record]
    assert "iterations.jsonl" in bundle["README.md"].decode()
