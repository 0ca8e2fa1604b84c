"""A command that the command server executes has the terminal of its caller."""

import json
import os
import sys
from pathlib import Path

import pexpect
import pytest

from tests.client.embedded.serving import LAUNCH, heed_signals, state
from tests.client.harness import wait_until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="there is none on other systems"),
    pytest.mark.flaky(reruns=2, reason="the system may stop a reader just as the shell continues it"),
]


def at_a_terminal(*arguments: str, **env: str) -> "pexpect.spawn[str]":
    return pexpect.spawn(
        LAUNCH[0],
        [*LAUNCH[1:], "list", *arguments],
        env={**os.environ, **env},
        dimensions=(30, 91),
        encoding="utf-8",
        timeout=60,
        preexec_fn=heed_signals,
    )


def test_a_terminal_is_seen_as_one(served: int) -> None:
    terminal = at_a_terminal("given")
    terminal.expect(pexpect.EOF)
    seen = json.loads(terminal.before or "")
    assert seen["terminals"] == [True, True, True]
    assert seen["size"] == [91, 30]


def test_an_answer_at_the_terminal_reaches_the_command(served: int, tmp_path: Path) -> None:
    terminal = at_a_terminal("prompt", str(tmp_path / "pid"))
    terminal.expect_exact("name? ")
    terminal.sendline("Ada")
    terminal.expect_exact("hello Ada")


def test_ctrl_c_at_the_terminal_interrupts_the_command(served: int, tmp_path: Path) -> None:
    terminal = at_a_terminal("prompt", str(tmp_path / "pid"))
    terminal.expect_exact("name? ")
    terminal.sendintr()
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 130


def test_a_terminal_that_is_closed_ends_the_command(served: int, tmp_path: Path) -> None:
    terminal = at_a_terminal("prompt", str(tmp_path / "pid"))
    terminal.expect_exact("name? ")
    pid = int((tmp_path / "pid").read_text())
    terminal.close()
    wait_until(lambda: state(pid) in ("", "Z"), what="the end of the command")


def test_a_command_in_the_background_does_not_read_the_terminal(served: int, tmp_path: Path) -> None:
    shell = pexpect.spawn(
        "bash", ["--norc", "-i"], env={**os.environ, "PS1": "$ "}, encoding="utf-8", timeout=60, echo=False
    )
    shell.expect_exact("$ ")
    shell.sendline(f"{' '.join(LAUNCH)} list prompt {tmp_path}/pid")
    shell.expect_exact("name? ")
    shell.sendcontrol("z")
    shell.expect_exact("Stopped")
    shell.expect_exact("$ ")
    shell.sendline("bg")
    shell.expect_exact("$ ")
    shell.sendline("echo read by the $((3 + 4))th shell")
    shell.expect_exact("read by the 7th shell")
    shell.sendline("fg")
    shell.expect_exact(LAUNCH[-1])
    shell.sendline("Ada")
    shell.expect_exact("hello Ada")
    shell.close()


def test_a_command_that_the_shell_cannot_stop_may_not_read_in_the_background() -> None:
    terminal = pexpect.spawn(sys.executable, ["-c", MAY_READ], encoding="utf-8", timeout=60)
    terminal.expect_exact("foreground True, background False")


def test_the_editor_has_the_terminal_of_the_caller(served: int, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\ntest -t 0 && exec {sys.executable} -c '{EDITOR}' \"$1\"\n")
    editor.chmod(0o700)
    terminal = at_a_terminal("edit", EDITOR=str(editor))
    terminal.expect_exact("from the session of the terminal")
    terminal.expect(pexpect.EOF)
    missing = at_a_terminal("edit", EDITOR="/no/such/editor")
    missing.expect("(?i)editing failed")


MAY_READ = """
import os, signal
from client.launch import may_read
child = os.fork()
if not child:
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTIN, signal.SIG_IGN)  # as the system does for a group that no shell can continue
    os._exit(may_read())
status = os.waitpid(child, 0)[1]
print(f"foreground {may_read()}, background {os.waitstatus_to_exitcode(status) == 1}")
"""

EDITOR = (
    "import os,sys,time; os.tcgetpgrp(0); t = time.time() + 5; p = sys.argv[1]; "
    'open(p, "w").write("from the session of the terminal"); os.utime(p, (t, t))'
)
"""Fails where its standard input is not the terminal of its session."""
