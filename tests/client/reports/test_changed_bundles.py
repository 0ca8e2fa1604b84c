"""Bundles that were changed: `check.py` as a process of its own, and `determinator verify`, hold to one set
of rules, and what only the latter sees the former names."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from activities.contracts.evidence import Statement
from activities.contracts.judge import WorkJudgement
from activities.evidence_store import make_ref
from activities.report.assemble import build_report
from client.reports.bundle import make_bundle, write_folder
from client.reports.finished import Finished
from tests.activities.cases import DOCUMENTS, FULL
from tests.client.shelf import RUN, command

Change = Callable[[Path], None]
Seen = Literal["by both", "by verify", "by none"]
QUOTE = "Metformin reduced"


ANSWERING = tuple(
    WorkJudgement(evidence_id=name, answers=3, direction="yes", role="clinical")
    for name in ("pmid:1", "pmid:2")
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle as it was made."""
    report = build_report(FULL.replace(judgements=ANSWERING), DOCUMENTS).model_copy(
        update={
            "question": "Does metformin reduce mortality?",
            "confidence": 0.6,
            "confidence_reasons": (Statement.of("confidence_of_judgements", works=2, direct=1),),
        }
    )
    items = tuple((make_ref(item, "blob"), item) for item in DOCUMENTS.values())
    run = Finished(RUN, report, report, versions=(), items=items, total=len(items))
    folder = tmp_path_factory.mktemp("exported") / "bundle"
    write_folder(folder, make_bundle(run))
    return folder


def text(name: str, old: str, new: str) -> Change:
    def change(folder: Path) -> None:
        before = (folder / name).read_text("utf-8")
        assert old in before
        (folder / name).write_text(before.replace(old, new), "utf-8")

    return change


def pattern(name: str, old: str, new: str) -> Change:
    def change(folder: Path) -> None:
        changed, count = re.subn(old, new, (folder / name).read_text("utf-8"), count=1)
        assert count
        (folder / name).write_text(changed, "utf-8")

    return change


def data(change: Callable[[dict[str, Any]], object]) -> Change:
    def changed(folder: Path) -> None:
        path = folder / "report.json"
        report = json.loads(path.read_text("utf-8"))
        before = json.dumps(report)
        change(report)
        assert json.dumps(report) != before
        path.write_text(json.dumps(report), "utf-8")

    return changed


def gone(name: str) -> Change:
    return lambda folder: (folder / name).unlink()


def added(name: str, content: str) -> Change:
    def change(folder: Path) -> None:
        with (folder / name).open("a", encoding="utf-8") as stream:
            stream.write(content)

    return change


def unlisted(name: str) -> Change:
    def change(folder: Path) -> None:
        lines = (folder / "SHA256SUMS").read_text("utf-8").splitlines()
        kept = [line for line in lines if not line.endswith(f"  {name}")]
        assert len(kept) == len(lines) - 1
        (folder / "SHA256SUMS").write_text("".join(f"{line}\n" for line in kept), "utf-8")

    return change


def twice(folder: Path) -> None:
    """Each text stands as retracted first, then as it was."""
    path = folder / "evidence.jsonl"
    lines = path.read_text("utf-8").splitlines()
    marked = [line.replace('"standing": "none"', '"standing": "retracted"') for line in lines]
    path.write_text("\n".join([*marked, *lines]), "utf-8")


def renew(folder: Path) -> None:
    """Sums over what is there, as a forger renews them."""
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    sums = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in names
        if name != "SHA256SUMS"
    ]
    (folder / "SHA256SUMS").write_text("".join(sums), "utf-8")


def silent(report: dict[str, Any]) -> None:
    """Everything that quotes is removed."""
    for name in ("answer", "summary", "mechanism", "candidates", "references", "judgements", "works"):
        report[name] = []
    for section in report["sections"]:
        section.update(claims=[], answer=[], passages=[], paragraphs=[], markdown="")


def nothing(_: Path) -> None:
    """The bundle as it was made."""


WITH_OLD_SUMS: dict[str, tuple[Change, Seen]] = {
    "nothing": (nothing, "by none"),
    "a word of the report": (text("report.md", QUOTE, "Metformin doubled"), "by both"),
    "a file is gone": (gone("report.html"), "by both"),
    "the sums are gone": (gone("SHA256SUMS"), "by both"),
    "the texts are gone": (gone("evidence.jsonl"), "by both"),
    "a file is added": (added("report.txt", "Metformin cures.\n"), "by both"),
    "a file is no longer listed": (unlisted("report.md"), "by both"),
    "a line of the sums is no sum": (added("SHA256SUMS", "sums follow\n"), "by both"),
    "a sum is listed twice": (added("SHA256SUMS", f"{'0' * 64}  report.md\n"), "by both"),
    "a file outside is listed": (added("SHA256SUMS", f"{'0' * 64}  ../../x\n"), "by both"),
}
WITH_NEW_SUMS: dict[str, tuple[Change, Seen]] = {
    "a quote": (text("report.json", "educed all-cause", "oubled all-cause"), "by both"),
    "a text": (text("evidence.jsonl", "educed all-cause", "oubled all-cause"), "by both"),
    "half a word": (text("evidence.jsonl", "etformin reduced", "etforminx reduced"), "by both"),
    "a retracted text": (text("evidence.jsonl", '"standing": "none"', '"standing": "retracted"'), "by both"),
    "a retracted reference": (
        data(lambda report: report["references"][0].update(standing="retracted")),
        "by both",
    ),
    "a text that comes twice, once retracted": (twice, "by both"),
    "texts with empty lines": (added("evidence.jsonl", " \n\n"), "by none"),
    "a text that is no JSON": (added("evidence.jsonl", "{\n"), "by both"),
    "a text without an id": (added("evidence.jsonl", '{"text": "x"}\n'), "by both"),
    "a claim without support": (
        data(lambda report: report["sections"][0]["claims"][0].update(support=[])),
        "by both",
    ),
    "a claim that rests on none": (
        data(lambda report: report["sections"][0]["claims"][0].update(rests_on=["s9.9"])),
        "by both",
    ),
    "a candidate without support": (
        data(lambda report: report["candidates"][0].update(support=[])),
        "by both",
    ),
    "the safety of a candidate": (
        data(
            lambda report: report["candidates"][0].update(
                safety=[{"evidence_id": "pmid:1", "quote": "Nobody who took it had any adverse event."}]
            )
        ),
        "by both",
    ),
    "a number of a reference": (data(lambda report: report["references"][1].update(number=7)), "by both"),
    "a reference is gone": (data(lambda report: report["references"].pop()), "by both"),
    "a reference comes twice": (
        data(lambda report: report["references"].append(report["references"][0])),
        "by both",
    ),
    "nothing quotes": (data(silent), "by both"),
    "a report that is no JSON": (added("report.json", "}"), "by both"),
    "words of the report's text": (text("report.md", QUOTE, "Metformin doubled"), "by verify"),
    "words of its page": (pattern("report.html", r"reduced mortality", "doubled mortality"), "by verify"),
    "a script in its page": (text("report.html", "</body>", "<script>1</script></body>"), "by verify"),
    "the title in data": (data(lambda report: report.update(title="Metformin cures")), "by verify"),
    "the title in the text": (pattern("report.md", r"\A# .*", "# Metformin cures"), "by verify"),
    "the title in the README": (pattern("README.md", r"\A# .*", "# Metformin cures"), "by verify"),
    "the confidence": (
        data(lambda report: report["confidence_reasons"][0]["values"].update(works=9)),
        "by verify",
    ),
    "a limitation": (data(lambda report: report.update(limitations=[], statements=[])), "by verify"),
    "the words of a claim": (
        data(lambda report: report["sections"][0]["claims"][0].update(text="Metformin cures.")),
        "by verify",
    ),
    "a reference's title in a bibliography": (
        text("references.csl.json", '"title": "', '"title": "Not '),
        "by verify",
    ),
    "a search": (added("searches.csv", "pubmed,metformin,ok,9,9,0,1,1,,,,\n"), "by verify"),
}


@pytest.mark.parametrize("changed", [*WITH_OLD_SUMS, *WITH_NEW_SUMS])
def test_both_checks_of_a_changed_bundle_come_to_one_verdict(
    exported: Path, tmp_path: Path, changed: str
) -> None:
    change, seen = WITH_OLD_SUMS.get(changed) or WITH_NEW_SUMS[changed]
    folder = tmp_path / "bundle"
    shutil.copytree(exported, folder)
    change(folder)
    if changed in WITH_NEW_SUMS:
        renew(folder)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(folder / "check.py")], capture_output=True, text=True, timeout=60
    )
    assert not done.stderr
    assert "Not checked here" in done.stdout
    ran = command("verify", str(folder), DETERMINATOR_HOME=str(tmp_path / "home"))
    verdicts = (done.returncode == 0, ran.code == 0)
    assert (
        verdicts == {"by both": (False, False), "by verify": (True, False), "by none": (True, True)}[seen]
    ), (done.stdout, ran)


def test_what_could_not_be_compared_is_said(exported: Path) -> None:
    ran = command("verify", str(exported), "--json")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.json()["not_compared"]] == ["report.docx", "report.pdf"]
    assert "report.pdf was not compared with report.json" in ran.err


@pytest.mark.parametrize(
    ("forged", "said"),
    [
        ({"confidence": 0.95}, "its confidence of 0.95 is more than its works carry"),
        ({"confidence": 0.2, "judgements": ()}, "its confidence of 0.20 is more than its works carry"),
        ({"statements": (), "limitations": ()}, "it does not state a limitation that it has"),
        ({"limitations": ("None.",)}, "its limitations do not say what their data says"),
        (
            {"confidence_reasons": (Statement.of("confidence_of_judgements", works=9, direct=9),)},
            "its confidence is said to rest on more works than were judged to answer",
        ),
        ({"written_by": "extractive"}, "a report that no model wrote has no confidence"),
    ],
)
def test_a_report_made_anew_with_a_confidence_or_limitations_of_its_own_does_not_hold(
    tmp_path: Path, forged: dict[str, Any], said: str
) -> None:
    reasons = (Statement.of("confidence_of_judgements", works=2, direct=2),)
    step = FULL.replace(judgements=ANSWERING, confidence=0.5, confidence_reasons=reasons)
    honest = build_report(step, DOCUMENTS)
    items = tuple((make_ref(item, "blob"), item) for item in DOCUMENTS.values())
    for report, code in ((honest, 0), (honest.model_copy(update=forged), 1)):
        run = Finished(RUN, report, report, versions=(), items=items, total=len(items))
        folder = tmp_path / f"bundle-{code}"
        write_folder(folder, make_bundle(run))
        ran = command("verify", str(folder), DETERMINATOR_HOME=str(tmp_path / "home"))
        assert (ran.code, said in ran.out) == (code, code == 1), ran
