"""A question in a file: what it is, its bytes say; it is asked once a person has seen it."""

from pathlib import Path

import pytest
import typst

from activities.settings import Settings
from client.cli import ask
from client.runs.checks import MAX_BYTES, question_of, question_of_file
from determinator import BadInput
from tests.client.shelf import command

HEARD = "Does aspirin prevent stroke?"


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    path = tmp_path / "question.png"  # a PDF by another name
    path.write_bytes(typst.compile(HEARD.encode()))
    return path


def test_the_bytes_of_a_file_say_what_it_is(scan: Path) -> None:
    assert question_of_file(Settings(), scan) == HEARD


@pytest.mark.parametrize(
    "data",
    [b"", b"MZ\x90\x00", b"<svg onload='x'/>", b"PK\x03\x04", HEARD.encode(), b"%PDF-" + b" " * MAX_BYTES],
    ids=("empty", "program", "svg", "archive", "text", "large"),
)
def test_another_kind_or_size_is_refused(data: bytes) -> None:
    with pytest.raises(BadInput, match="it is not a picture"):
        question_of(Settings(), data)


@pytest.mark.parametrize("mark", [b"%PDF-1.7", b"RIFF\x00\x00\x00\x00WAVE"])
def test_a_file_that_only_begins_like_its_kind_says_why_it_is_not_read(mark: bytes) -> None:
    with pytest.raises(BadInput, match=r"\w"):
        question_of(Settings(), mark + b"\x00" * 100)


def test_what_was_read_is_not_asked_unseen(home: Path, scan: Path) -> None:
    ran = command("ask", "--image", str(scan))
    assert (ran.code, ran.out) == (2, ""), ran
    assert f"read: {HEARD}" in ran.err
    assert "--yes" in ran.err


def test_a_person_sees_and_may_change_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("client.cli.ask.interactive", lambda: True)
    monkeypatch.setattr("client.cli.ask.question_of_file", lambda *_: HEARD)
    for typed, question in (("", HEARD), ("Does aspirin help?", "Does aspirin help?")):
        monkeypatch.setattr("click.termui.visible_prompt_func", lambda _text, typed=typed: typed)
        assert ask.with_files(Settings(), "", None, Path("scan.png"), is_confirmed=False) == question
    assert ask.with_files(Settings(), "And", None, Path("scan.png"), is_confirmed=True) == f"And {HEARD}"
