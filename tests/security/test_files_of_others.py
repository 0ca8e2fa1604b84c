"""Untrusted bundles, reports and run data: checked within limits, shown without control characters, never
run."""

import io
import json
import os
import resource
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

import click
import pytest

from activities.report.schema import Report
from client.api import Determinator
from client.cli import common, results
from client.failures import BadInput
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


def rss() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def packed(path: Path, report: bytes, evidence: bytes = b"", kind: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr("x/report.json", report)
        archive.writestr("x/evidence.jsonl", evidence)
    return path


def of_many(field: str, entry: object, count: int) -> bytes:
    return json.dumps({**BARE_REPORT, field: [entry] * count}).encode()


WORK = {"number": 1, "evidence_id": "e", "source": "s", "title": "t"}
QUOTED = {"evidence_id": "e", "quote": "What is quoted is not in it"}
CLAIM = {"id": "s1.1", "text": "x", "support": [QUOTED]}
SHAPES: dict[str, Callable[[], tuple[bytes, bytes]]] = {
    "objects": lambda: (b'{"references": [' + b"{}," * 20_000_000 + b"{}]}", b""),
    "texts": lambda: (json.dumps(BARE_REPORT).encode(), b'{"evidence_id": "a", "text": ""}\n' * 3_000_000),
    "brackets": lambda: (b"[" * 30_000_000, b""),
    "quotes of a candidate": lambda: (
        json.dumps(
            {
                **BARE_REPORT,
                "candidates": [
                    {"name": "x", "support": [{**QUOTED, "quote": f"quote {n}"} for n in range(40_000)]}
                ],
            }
        ).encode(),
        b"",
    ),
    "wrong quotes among many texts": lambda: (
        of_many("answer", CLAIM, 4_000),
        b"".join(b'{"evidence_id": "e%d", "text": "%s"}\n' % (n, b"a text " * 40) for n in range(4_000)),
    ),
    "references": lambda: (of_many("references", WORK, 60_000), b""),
}
"""Report and evidence of a bundle; made when they are asked for, since they fill the memory."""


@pytest.mark.timeout(400)
@pytest.mark.parametrize("shape", SHAPES)
async def test_a_bundle_costs_neither_memory_nor_time_whatever_it_unpacks_to(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    monkeypatch.setattr(verify, "CHECK_SECONDS", 5.0)
    path = packed(tmp_path / "x.zip", *SHAPES[shape]())
    before, began = rss(), time.monotonic()
    async with Determinator() as client:
        with suppress(BadInput):
            assert not (await client.verify(str(path))).holds
    assert time.monotonic() - began < 60
    assert rss() - before < 300 * 2**20, "what it costs, it costs another process"


async def test_what_is_no_regular_file_or_no_archive_is_said(home: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    encrypted = bytearray(packed(tmp_path / "locked.zip", b"{}").read_bytes())
    for mark in (b"PK\x01\x02", b"PK\x03\x04"):
        at = encrypted.find(mark)
        while at >= 0:
            encrypted[at + (8 if mark[2] == 1 else 6)] |= 1
            at = encrypted.find(mark, at + 1)
    (tmp_path / "locked.zip").write_bytes(encrypted)
    cut = packed(tmp_path / "cut.zip", b"{}" * 9_000, kind=zipfile.ZIP_LZMA)
    cut.write_bytes(cut.read_bytes().replace(b"x/report.json", b"x/repoRt.json", 1)[:200] + b"\0" * 50)
    for name, why in (
        ("pipe.json", "no regular file"),
        ("locked.zip", "cannot be read as an archive"),
        ("cut.zip", "cannot be read as an archive"),
    ):
        async with Determinator() as client:
            with pytest.raises(BadInput, match=why):
                await client.verify(str(tmp_path / name))
