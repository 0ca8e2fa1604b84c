"""Untrusted bundles, reports and run data: checked within limits, shown without control characters, never
run."""

import io
import json
import time
import zipfile
from pathlib import Path
from typing import IO

import click
import pytest

from activities.report.schema import Report
from client.cli import common, results
from client.reports import verify
from client.reports.bundle import check_script
from client.reports.verify import BadParcel, open_parcel
from client.terminal import harmless
from tests.client.harness import determinator
from tests.client.seen import BARE_REPORT


def bundle(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        made = {"report.json": json.dumps(BARE_REPORT).encode(), "evidence.jsonl": b"", **files}
        for name, data in made.items():
            archive.writestr(f"ask-x/{name}", data)
    return path


def test_a_bomb_that_the_sums_name_many_times_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = 0
    opened = zipfile.ZipFile.open

    def counted(self: zipfile.ZipFile, name: str) -> IO[bytes]:
        nonlocal reads
        reads += name.endswith("bomb.bin")
        return opened(self, name)

    sums = b"".join(b"0" * 64 + b"  bomb.bin\n" for _ in range(40))
    path = bundle(tmp_path / "x.zip", {"SHA256SUMS": sums, "bomb.bin": b"\0" * 50_000_000})
    monkeypatch.setattr(zipfile.ZipFile, "open", counted)
    began = time.monotonic()
    assert open_parcel(path).damaged
    assert reads == 1
    assert time.monotonic() - began < 20


def test_a_parcel_is_read_within_one_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "MAX_BYTES", 1_000_000)
    sums = b"".join(b"%064d  part%d\n" % (0, n) for n in range(4))
    parts = {f"part{n}": b"\0" * 300_000 for n in range(4)}
    with pytest.raises(BadParcel):
        open_parcel(bundle(tmp_path / "x.zip", {"SHA256SUMS": sums, **parts}))


@pytest.mark.parametrize(("script", "foreign"), [(None, False), (b"ours", False), (b"import os", True)])
def test_a_strangers_script_is_compared_with_ours(
    home: Path, tmp_path: Path, script: bytes | None, foreign: bool
) -> None:
    ours = check_script()
    made = {} if script is None else {"check.py": ours if script == b"ours" else script}
    path = bundle(tmp_path / "x.zip", made)
    assert open_parcel(path).foreign_script is foreign
    ran = determinator("verify", str(path), "--json")
    assert json.loads(ran.out)["foreign_check_script"] is foreign


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
    results.write_data(as_bytes(report, form), binary=False)
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
