"""Text on a terminal: whole words, whole addresses, whole paths."""

import fcntl
import os
import pty
import struct
import termios
from pathlib import Path

from client.terminal import folded

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
