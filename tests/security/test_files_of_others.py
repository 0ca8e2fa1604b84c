"""Untrusted reports and run data: shown without control characters."""

import io

import click
import pytest

from activities.report.schema import Report
from client.cli import common, results
from client.terminal import harmless
from tests.client.seen import BARE_REPORT

NASTY = "a\x1b]0;title\x07b\x1b[31mc\x9b2Jd\u202ee\u2066f\u2028g\rh\x00i\x08j\u061ck"


class Terminal(io.StringIO):
    """A stdout that is a terminal."""

    def isatty(self) -> bool:
        return True


def acts(text: str) -> bool:
    return any(c in text for c in "\x1b\x07\x9b\u202e\u2066\u2028\r\x00\x08\u061c")


@pytest.mark.parametrize("form", ["md", "html", "json", "bibtex", "ris", "csl"])
def test_no_format_acts_on_a_terminal(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from client.reports.load import as_bytes

    cited = {"number": 1, "evidence_id": NASTY, "source": "library", "title": NASTY, "url": NASTY}
    texts = {"title": NASTY, "question": NASTY, "executive_summary": NASTY, "references": [cited]}
    report = Report.model_validate({**BARE_REPORT, **texts})
    screen = Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    results.put_data(as_bytes(report, form), None, binary=False)
    assert screen.getvalue().strip()
    assert not acts(screen.getvalue())


def test_json_errors_and_remarks_do_not_act_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, errors = Terminal(), Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setattr("sys.stderr", errors)
    common.print_json({"title": NASTY})
    common.say(NASTY)
    click.echo("", nl=False)
    assert screen.getvalue().strip()
    assert errors.getvalue().strip()
    assert not acts(screen.getvalue() + errors.getvalue())


def test_text_keeps_its_lines_and_its_letters() -> None:
    text = "Grüße\n\tनमस्ते 👩‍👩‍👧 مرحبا"
    assert harmless(text) == text
