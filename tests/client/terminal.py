"""The command in a pseudo-terminal, and the screen as a person sees it."""

import fcntl
import os
import struct
import termios
import time
from pathlib import Path

import pexpect
import pyte
from pexpect.fdpexpect import fdspawn

from tests.client import forks

LINES = 48
SECONDS = 120
TYPING = 0.05
"""Seconds between a prompt and what a person types: what comes before a program is ready may be lost."""


class Terminal:
    """A command under a terminal of so many columns; what it prints is drawn on a screen with history."""

    def __init__(self, *arguments: str, columns: int, **env: str) -> None:
        self.screen = pyte.HistoryScreen(columns, LINES, history=2000, ratio=0.5)
        self._stream = pyte.Stream(self.screen)
        terminal, its_end = os.openpty()
        fcntl.ioctl(its_end, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "PAGER": "cat", **env}
        self._fork = forks.start(arguments, environment, [its_end] * 3)
        os.close(its_end)
        self._child = fdspawn(terminal, encoding="utf-8", timeout=SECONDS)

    def expect(self, text: str) -> None:
        """Wait until the command prints a text."""
        self._child.expect_exact(text)
        self._stream.feed((self._child.before or "") + text)

    def type(self, line: str) -> None:
        time.sleep(TYPING)
        self._child.sendline(line)

    def end(self) -> int:
        """Wait for the end of the command; return its exit code."""
        self._child.expect(pexpect.EOF)
        self._stream.feed(self._child.before or "")
        self._child.close()
        return self._fork.wait(SECONDS)

    def text(self) -> str:
        """Everything that was shown and not overwritten, line by line."""
        top = [
            "".join(line[column].data for column in range(self.screen.columns)).rstrip()
            for line in self.screen.history.top
        ]
        return "\n".join([*top, *(line.rstrip() for line in self.screen.display)]).strip()


def editor(folder: Path, text: str) -> dict[str, str]:
    """An editor that writes this, whatever it is given."""
    (folder / "written.toml").write_text(text)
    script = folder / "editor.sh"
    script.write_text(f'#!/bin/sh\ncp "{folder}/written.toml" "$1"\n')
    script.chmod(0o755)
    return {"EDITOR": str(script), "VISUAL": ""}
