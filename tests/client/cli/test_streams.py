"""A command works without a terminal, a stream, or letters beyond ASCII."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.harness import determinator

pytestmark = pytest.mark.xdist_group("plain")


def shell(words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    command = f'"{sys.executable}" -m client.cli.main {words}'
    return subprocess.run(
        ["sh", "-c", command], env={**os.environ, **env}, capture_output=True, text=True, timeout=120
    )


def test_a_command_works_without_its_streams_and_replaces_letters_that_cannot_be_shown(
    file_home: Path, library: str
) -> None:
    ascii_only = {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"}
    question = "W\u00fcrde Metformin \u00c4lteren helfen?"
    assert determinator("ask", question, "--mode", "simple", "--library", library, "--json").code in (0, 4)
    for words, closed in (("report last", ">&-"), ("list", "<&- 2>&-")):
        ran = shell(f"{words} {closed}", **ascii_only)
        assert (ran.returncode, "Error" in ran.stderr) == (0, False), (words, closed, ran)
        assert words != "list" or "W?rde" in ran.stdout, ran
    rows = shell("list --json", **ascii_only).stdout
    assert rows.isascii()
    assert question in [row["question"] for row in json.loads(rows)]
