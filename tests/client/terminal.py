"""The command in a pseudo-terminal, and the screen as a person sees it."""

import os
import sys

import pexpect
import pyte

LINES = 48
SECONDS = 120


class Terminal:
    """A command under a terminal of so many columns; what it prints is drawn on a screen with history."""

    def __init__(self, *arguments: str, columns: int, **env: str) -> None:
        self.screen = pyte.HistoryScreen(columns, LINES, history=2000, ratio=0.5)
        self._stream = pyte.Stream(self.screen)
        self._child = pexpect.spawn(
            sys.executable,
            ["-m", "client.cli.main", *arguments],
            env={**os.environ, "TERM": "xterm-256color", "PAGER": "cat", **env},
            dimensions=(LINES, columns),
            encoding="utf-8",
            timeout=SECONDS,
        )

    def expect(self, text: str) -> None:
        """Wait until the command prints a text."""
        self._child.expect_exact(text)
        self._stream.feed((self._child.before or "") + text)

    def type(self, line: str) -> None:
        self._child.sendline(line)

    def end(self) -> int:
        """Wait for the end of the command; return its exit code."""
        self._child.expect(pexpect.EOF)
        self._stream.feed(self._child.before or "")
        self._child.close()
        code = self._child.exitstatus
        assert code is not None, self.text()
        return int(code)

    def text(self) -> str:
        """Everything that was shown and not overwritten, line by line."""
        top = [
            "".join(line[column].data for column in range(self.screen.columns)).rstrip()
            for line in self.screen.history.top
        ]
        return "\n".join([*top, *(line.rstrip() for line in self.screen.display)]).strip()
