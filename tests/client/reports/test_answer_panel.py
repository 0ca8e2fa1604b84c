"""The last screen of a run: the answer, the two strongest limits of it, what to do next, nothing twice."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from activities.contracts.evidence import Emphasis, Identifiers, Statement
from activities.report.assemble import build_report
from activities.report.formats.prose import summary_text
from activities.report.parts import leaves_open
from activities.report.schema import Report
from activities.settings import Settings
from client.cli.ask import show_ended
from client.failures import Exit
from client.reports import load
from client.reports.answer_panel import answer_parts, work_line
from client.runs.follow import RunEnd
from tests.activities.report.written import FEWER, INFECTION, PASSAGES, STEP, WORKS
from tests.client.seen import a_report


def screen(report: Report) -> list[str]:
    parts = answer_parts(report, Path("/home/me/reports/ask.md"), bullets=False)
    return [part.plain for part in parts if isinstance(part, Text)]


def test_a_model_ends_with_its_answer_two_limits_and_what_to_do_next() -> None:
    lines = screen(build_report(STEP, WORKS))
    assert lines[0].startswith(f"Answer: {FEWER.rstrip('.')} [1, 2].")
    place = lines.index("What is not shown:")
    assert lines[place + 1].startswith("- ")
    assert lines[place + 2].startswith("- ")
    assert not lines[place + 3].startswith("- ")
    assert lines[-2:] == ["Report /home/me/reports/ask.md", lines[-1]]
    assert lines[-1].startswith("Next: ")
    assert [line[:4] for line in lines if line.startswith("[")] == ["[1] ", "[2] ", "[3] "], "the works cited"
    assert len(lines) == len(set(lines)) <= 12


def test_a_terminal_shows_an_answer_in_the_paragraphs_lists_and_styles_of_its_writer() -> None:
    """A pipe shows it as plain lines."""
    report = build_report(STEP, WORKS)
    first = report.answer[0].replace(support=(), kind="inference", text="Choose neither of them.")
    stressed = first.replace(emphasis=(Emphasis(words="neither", at=7, style="strong"),))
    items = (first.replace(text=f"Point {n}.", item=True, begins=True, number=n) for n in (1, 2))
    report = report.replace(answer=(stressed, *items))
    report = report.replace(executive_summary=summary_text(report))
    assert screen(report)[0].splitlines() == ["Answer: Choose neither of them.", "1. Point 1.", "2. Point 2."]
    console = Console(width=60, force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(*answer_parts(report, None))
    assert "Choose \x1b[1mneither\x1b[0m of them." in capture.get()
    assert [line.split("m")[-1].strip() for line in capture.get().splitlines() if "Point" in line] == [
        "Point 1.",
        "Point 2.",
    ]


def test_the_frame_of_an_answer_is_in_the_language_of_its_report() -> None:
    early = Statement.of("stopped_early", stop_reason="timeout")
    report = build_report(STEP, WORKS)
    english, german = (
        screen(report.replace(language=language, statements=(*report.statements, early)))
        for language in ("en", "de")
    )
    assert len(german) == len(english)
    frame = [line for line in english if not line.startswith(("Answer: ", "["))]
    assert not set(frame) & set(german)
    assert german[0].startswith("Antwort: ")
    assert german[-1].startswith("Weiter: determinator report ")


def test_a_page_of_the_web_is_named_by_its_address_and_no_register_is_expected_to_know_it() -> None:
    address = "https://club.example/fair"
    fields = {"evidence_id": "url:0123456789abcdef", "url": address, "evidence_type": "web_page"}
    work = build_report(STEP, WORKS).references[0]
    page = work.replace(**fields, identifiers=Identifiers(), standing="unknown")
    assert work_line(page).endswith(f"{address})")
    assert work_line(work).endswith(f"{work.evidence_id})")
    assert not page.in_registers
    assert page.replace(identifiers=Identifiers(doi="10.1000/a")).in_registers


def test_sources_that_no_connection_reaches_are_told_where_the_answer_is_read() -> None:
    reason = "cannot be reached from here (example.org does not accept a connection)"
    silent = tuple(
        Statement.of("source_unreachable", source=source, reason=reason) for source in ("PubMed", "openFDA")
    )
    lines = screen(build_report(PASSAGES.replace(limitations=(*PASSAGES.limitations, *silent)), WORKS))
    assert "- Not searched, because they cannot be reached from here: PubMed and openFDA." in lines


def test_limits_of_cited_items_are_not_listed_where_nothing_is_cited() -> None:
    report = build_report(STEP, WORKS)
    (missing,) = (report.answer[0].replace(text="No work says who is harmed.", support=(), kind="inference"),)
    silent = tuple(section.replace(answer=(), claims=(), paragraphs=()) for section in report.sections)
    abstracts = "- Only the abstract or a summary"
    assert any(line.startswith(abstracts) for line in screen(report))
    nothing = report.replace(answer=(missing,), sections=silent)
    assert not any(line.startswith(abstracts) for line in screen(nothing))
    assert leaves_open(nothing)
    assert not leaves_open(report)


def test_a_row_of_a_table_stands_under_its_columns() -> None:
    report = build_report(PASSAGES, WORKS)
    (section, *rest) = report.sections
    (first, *others) = section.passages
    under = section.replace(passages=(first.replace(before="Wound | Infected"), *others))
    assert f"- Wound | Infected: {INFECTION} [1]" in screen(report.replace(sections=(under, *rest)))
    after = section.replace(passages=(first.replace(before="We looked at wounds."), *others))
    assert f"- {INFECTION} [1]" in screen(report.replace(sections=(after, *rest)))


def test_without_a_model_the_nearest_passages_stand_in_its_place() -> None:
    lines = screen(build_report(PASSAGES, WORKS))
    absent, first, *_ = lines
    assert absent.startswith("\u201ckeyhole\u201d and \u201cappendix\u201d do not occur")
    assert first.startswith("No language model has read this."), "what occurs nowhere is said once"
    assert f"- {INFECTION} [1]" in lines
    assert not any("Confidence" in line for line in lines)


async def test_a_cancelled_run_whose_report_cannot_be_written_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def stored(*_: object) -> Report:
        return a_report()

    monkeypatch.setattr(load, "load_report", stored)
    run: Any = SimpleNamespace(id="x", settings=Settings(home=tmp_path), connection=None, link="")
    (tmp_path / "file").touch()
    code = await show_ended(run, RunEnd(), output=tmp_path / "file" / "report.md", write=None)
    assert code == Exit.FAILED
    assert "the report could not be saved" in capsys.readouterr().err
