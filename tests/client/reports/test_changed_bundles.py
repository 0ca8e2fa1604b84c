"""Bundles that were changed: `check.py` finds what was tampered with (`test_export` runs it alone)."""

import hashlib
import json
import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from activities.contracts.evidence import Statement
from activities.contracts.judge import WorkJudgement
from activities.evidence_store import make_ref
from activities.report.assemble import build_report
from activities.report.audit import examine
from activities.report.evidence_lines import evidence_line
from client.reports.bundle import make_bundle, write_folder
from client.reports.finished import Finished
from tests.activities.cases import DOCUMENTS, FULL
from tests.client.shelf import RUN

Change = Callable[[Path], None]
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


HARMLESS = ("nothing", "texts with empty lines")
"""Changes after which everything holds."""
WITH_OLD_SUMS: dict[str, Change] = {
    "nothing": nothing,
    "a word of the report": text("report.md", QUOTE, "Metformin doubled"),
    "a file is gone": gone("report.html"),
    "the sums are gone": gone("SHA256SUMS"),
    "the texts are gone": gone("evidence.jsonl"),
    "a file is added": added("report.txt", "Metformin cures.\n"),
    "a file is no longer listed": unlisted("report.md"),
    "a line of the sums is no sum": added("SHA256SUMS", "sums follow\n"),
    "a sum is listed twice": added("SHA256SUMS", f"{'0' * 64}  report.md\n"),
    "a file outside is listed": added("SHA256SUMS", f"{'0' * 64}  ../../x\n"),
}
WITH_NEW_SUMS: dict[str, Change] = {
    "a quote": text("report.json", "educed all-cause", "oubled all-cause"),
    "a text": text("evidence.jsonl", "educed all-cause", "oubled all-cause"),
    "half a word": text("evidence.jsonl", "etformin reduced", "etforminx reduced"),
    "a retracted text": text("evidence.jsonl", '"standing": "none"', '"standing": "retracted"'),
    "a retracted reference": data(lambda report: report["references"][0].update(standing="retracted")),
    "a text that comes twice, once retracted": twice,
    "texts with empty lines": added("evidence.jsonl", " \n\n"),
    "a text that is no JSON": added("evidence.jsonl", "{\n"),
    "a text without an id": added("evidence.jsonl", '{"text": "x"}\n'),
    "a claim without support": data(lambda report: report["sections"][0]["claims"][0].update(support=[])),
    "a claim that rests on none": data(
        lambda report: report["sections"][0]["claims"][0].update(rests_on=["s9.9"])
    ),
    "a candidate without support": data(lambda report: report["candidates"][0].update(support=[])),
    "the safety of a candidate": data(
        lambda report: report["candidates"][0].update(
            safety=[{"evidence_id": "pmid:1", "quote": "Nobody who took it had any adverse event."}]
        )
    ),
    "a number of a reference": data(lambda report: report["references"][1].update(number=7)),
    "a reference is gone": data(lambda report: report["references"].pop()),
    "a reference comes twice": data(lambda report: report["references"].append(report["references"][0])),
    "nothing quotes": data(silent),
    "a report that is no JSON": added("report.json", "}"),
}


@pytest.mark.parametrize("changed", [*WITH_OLD_SUMS, *WITH_NEW_SUMS])
def test_the_check_of_a_bundle_finds_what_was_changed(
    exported: Path, tmp_path: Path, changed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(exported, folder)
    (WITH_OLD_SUMS.get(changed) or WITH_NEW_SUMS[changed])(folder)
    if changed in WITH_NEW_SUMS:
        renew(folder)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(folder / "check.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "Not checked here" in printed
    assert (not ended.value.code) == (changed in HARMLESS), printed


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
    forged: dict[str, Any], said: str
) -> None:
    reasons = (Statement.of("confidence_of_judgements", works=2, direct=2),)
    step = FULL.replace(judgements=ANSWERING, confidence=0.5, confidence_reasons=reasons)
    honest = build_report(step, DOCUMENTS)
    lines = [dict(evidence_line(make_ref(item, "blob"), item)) for item in DOCUMENTS.values()]
    assert examine(honest, lines).holds
    faults = examine(honest.model_copy(update=forged), lines).faults()
    assert any(said in fault for fault in faults), faults


def test_fixed_sentences_of_another_version_are_noted_and_no_fault() -> None:
    honest = build_report(FULL, DOCUMENTS)
    lines = [dict(evidence_line(make_ref(item, "blob"), item)) for item in DOCUMENTS.values()]
    older = honest.replace(made_with="0.1.0", limitations=("Said in other words.",))
    examination = examine(older, lines)
    assert examination.holds
    assert any("another version of Determinator (0.1.0)" in note for note in examination.notes)
    assert not examine(older.replace(made_with=honest.made_with), lines).holds
    assert examine(honest, lines).notes == ()
    forged = older.changed(lambda claim: claim.replace(support=()))
    assert not examine(forged, lines).holds, "what is exact is compared whatever the version"
