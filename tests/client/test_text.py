"""Text on a terminal: whole words, whole addresses, whole paths."""

import fcntl
import os
import pty
import struct
import termios
from pathlib import Path

import pytest

from client.terminal import folded, short_path

WORDS = "  a line of many words that is longer than a narrow terminal, with http://127.0.0.1:1234/an/address"


def test_a_line_is_broken_between_words_and_only_on_a_terminal() -> None:
    main, other = pty.openpty()
    with os.fdopen(main), os.fdopen(other, "w") as terminal:
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 30, 0, 0))
        lines = folded(WORDS, terminal).split("\n")
    assert " ".join(line.strip() for line in lines) == WORDS.strip()
    assert all(len(line) <= 30 or line.strip().startswith("http") for line in lines)
    assert lines[0].startswith("  a")
    assert all(line.startswith("    ") for line in lines[1:])
    with Path(os.devnull).open("w") as pipe:
        assert folded(WORDS, pipe) == WORDS


def test_a_shortened_path_is_one_that_a_shell_finds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "reports" / "ask-what-is-known-about-survival-c46c82aa.md"
    path.parent.mkdir()
    for name in (path.name, "ask-what-is-known-about-survival-00000000.md"):
        (path.parent / name).touch()
    assert short_path(path, 1000) == str(path)
    assert short_path(path, 60) == f"~/reports/{path.name}"
    assert short_path(path, 30) == "~/reports/*c46c82aa.md"
    assert list((tmp_path / "reports").glob("*c46c82aa.md")) == [path]
    assert short_path(path, 10) == str(path)
    odd = tmp_path / "my reports" / path.name
    assert short_path(odd, 30) == str(odd)
