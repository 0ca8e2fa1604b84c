"""A command that the command server executes cannot be told from one in a process of its own, and no command
depends on the server."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from activities.settings import Settings
from client import launch
from client.cli.main import VERBS
from client.command_process import execute_for
from client.embedded import command_protocol as protocol
from client.embedded.command_server import command_server_pid, end_command_server, start_command_server
from client.embedded.home import Places
from client.embedded.processes import spawn
from tests.client.embedded.serving import LAUNCH, PROBE, ROOT, accepts, heed_signals, run, serve_probe, state
from tests.client.harness import determinator, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is none on other systems")


def both_ways(*arguments: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    """The result of a command, after it was found to be that of the same command in a process of its own."""
    there, here = run(LAUNCH, *arguments, stdin=stdin), run(PROBE, *arguments, stdin=stdin)
    assert (there.returncode, there.stdout) == (here.returncode, here.stdout), there.stderr
    return there


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4, 130])
def test_the_exit_code_is_that_of_the_command(served: int, code: int) -> None:
    assert both_ways("exit", str(code)).returncode == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL, signal.SIGHUP])
def test_a_command_that_a_signal_ends_ends_by_that_signal(served: int, number: signal.Signals) -> None:
    assert both_ways("signal", str(int(number))).returncode == -number


def test_a_command_has_what_its_caller_has(served: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a key of this caller")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("NOT_UTF8", "\udcff")
    monkeypatch.setenv("PROBE_LARGE", "x" * 100_000)
    mask = os.umask(0o027)
    try:
        seen = json.loads(both_ways("given", "ä", "\udcff", "").stdout)
    finally:
        os.umask(mask)
    assert seen["environment"]["OPENAI_API_KEY"] == "a key of this caller"
    assert seen["environment"]["NOT_UTF8"] == "\udcff"
    assert "DETERMINATOR_LOCK_FD" not in seen["environment"]
    assert (seen["umask"], seen["zone"], seen["threads"]) == (0o027, "JST", 1)
    assert seen["arguments"] == ["ä", "\udcff", ""]
    monkeypatch.delenv("OPENAI_API_KEY")
    assert "OPENAI_API_KEY" not in json.loads(both_ways("given").stdout)["environment"]


def test_a_current_folder_that_was_deleted_is_no_hindrance(served: int, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    assert json.loads(both_ways("given").stdout)["folder"] == ""


def test_standard_input_reaches_the_command(served: int) -> None:
    assert both_ways("echo", stdin=b"a\r\nb\x00c\n").stdout == b"a\r\nb\x00c\n"


def test_both_outputs_are_the_callers(served: int) -> None:
    done = both_ways("both")
    assert (done.stdout, done.stderr) == (b"to stdout\n", b"to stderr\n")


def test_an_error_that_nobody_expects_is_shown(served: int) -> None:
    done = run(LAUNCH, "raise")
    assert done.returncode == 1
    assert b"RuntimeError: unexpected" in done.stderr


def test_signals_that_the_caller_ignores_are_ignored(served: int) -> None:
    def seen(command: list[str]) -> object:
        done = subprocess.run(
            [*command, "list", "given"],
            capture_output=True,
            timeout=60,
            preexec_fn=lambda: (signal.signal(signal.SIGHUP, signal.SIG_IGN), None)[1],
        )
        return json.loads(done.stdout)["signals"]

    assert seen(LAUNCH) == seen(PROBE)


def test_a_reader_that_stops_reading_ends_the_command(served: int) -> None:
    with subprocess.Popen(
        [*LAUNCH, "list", "flood"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as command:
        assert command.stdout is not None
        assert command.stdout.readline() == b"a line\n"
        command.stdout.close()
        assert command.wait(30) == 1  # the probe does not expect it; `client.cli.main.run` does


def started(tmp_path: Path, *, command: list[str] = LAUNCH) -> "tuple[subprocess.Popen[bytes], int]":
    """A command that waits, in a process group of its own, as a shell starts it (the system stops none whose
    group has no parent in the session); and the pid of the process that executes it."""
    pid_file = tmp_path / "pid"
    launcher = subprocess.Popen(
        [*command, "list", "wait", str(pid_file)],
        stdin=subprocess.DEVNULL,
        preexec_fn=heed_signals,
        process_group=0,
    )
    wait_until(lambda: pid_file.exists() and pid_file.read_text(), what="the command")
    return launcher, int(pid_file.read_text())


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        (signal.SIGTERM, -signal.SIGTERM),
        (signal.SIGHUP, -signal.SIGHUP),
        (signal.SIGQUIT, -signal.SIGQUIT),
    ],
)
def test_a_signal_ends_a_command_as_ever(
    served: int, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    launcher, pid = started(tmp_path)
    assert launcher.pid != pid
    launcher.send_signal(number)
    assert launcher.wait(30) == code
    wait_until(lambda: not state(pid), what="the end of the command")


def test_a_command_stops_and_goes_on_with_its_launcher(served: int, tmp_path: Path) -> None:
    launcher, pid = started(tmp_path)
    launcher.send_signal(signal.SIGTSTP)
    wait_until(lambda: (state(launcher.pid), state(pid)) == ("T", "T"), what="the stop")
    launcher.send_signal(signal.SIGCONT)
    wait_until(lambda: "T" not in (state(launcher.pid), state(pid)), what="the continuation")
    launcher.send_signal(signal.SIGTERM)
    assert launcher.wait(30) == -signal.SIGTERM


@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.parametrize("with_server", [False, True])
def test_a_command_ends_with_a_killed_launcher(
    served: int, tmp_path: Path, stopped: bool, with_server: bool
) -> None:
    launcher, pid = started(tmp_path)
    if not with_server:
        os.kill(served, signal.SIGKILL)
    if stopped:
        os.kill(pid, signal.SIGSTOP)
    launcher.kill()
    launcher.wait(30)
    wait_until(lambda: state(pid) in ("", "Z"), what="the end of the command")


def test_a_command_goes_on_when_its_server_ends(served: int, anywhere: Path, tmp_path: Path) -> None:
    launcher, pid = started(tmp_path)
    assert end_command_server(anywhere)
    assert command_server_pid(anywhere) is None
    assert state(pid) == "S"
    assert launcher.poll() is None
    launcher.send_signal(signal.SIGINT)
    assert launcher.wait(30) == 130


def test_many_commands_at_once_get_their_own_results(served: int) -> None:
    commands = [
        subprocess.Popen([*LAUNCH, "list", "given", str(n)], stdout=subprocess.PIPE) for n in range(24)
    ]
    seen = [json.loads(command.communicate(timeout=60)[0])["arguments"] for command in commands]
    assert seen == [[str(n)] for n in range(24)]


def test_a_server_that_is_stuck_or_gone_delays_nobody(
    served: int, anywhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH")
    os.kill(served, signal.SIGSTOP)
    try:
        assert "deep" in determinator("modes").out
    finally:
        os.kill(served, signal.SIGCONT)
    os.kill(served, signal.SIGKILL)
    wait_until(lambda: command_server_pid(anywhere) is None, what="the end of the server")
    assert Places(anywhere).command_socket.exists()
    assert "deep" in determinator("modes").out


def is_served(**env: str) -> bool:
    """Whether the command server executes a command of a caller with these variables."""
    done = run(LAUNCH, "exit", "77", env=env)
    assert done.returncode in (77, 2), done.stderr
    return done.returncode == 77


@pytest.mark.parametrize(
    "env",
    [
        {"DETERMINATOR_COMMAND_SERVER": "false"},
        {"DETERMINATOR_COMMAND_SERVER": "0"},
        {"PYTHONHASHSEED": "1"},
        {"PYTHONOPTIMIZE": "1"},
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C"},
        {"NO_COLOR": "1"},
    ],
    ids=lambda env: "".join(env),
)
def test_a_caller_for_whom_python_would_start_otherwise_is_not_served(
    served: int, env: dict[str, str]
) -> None:
    assert is_served()
    assert not is_served(**env)


def test_a_caller_with_other_limits_is_not_served(served: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
    try:
        assert not is_served()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert is_served()


def test_a_configuration_file_can_turn_it_off_and_name_the_home(
    served: int, anywhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DETERMINATOR_HOME")
    monkeypatch.delenv("DETERMINATOR_COMMAND_SERVER")
    file = tmp_path / "determinator.toml"
    file.write_text(f"home = '{anywhere}'\n")
    assert is_served()
    file.write_text(f"home = '{anywhere}'\ncommand_server = false\n")
    assert not is_served()


def test_what_another_user_sends_is_not_read(
    served: int, anywhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Places(anywhere).command_socket
    with socket.socket(socket.AF_UNIX) as connection, protocol.ShortAddress(path) as address:
        connection.connect(address)
        assert protocol.peer_of(connection) == (served, os.geteuid())
    ours, theirs = socket.socketpair()
    with ours, theirs:
        child = os.fork()
        if child == 0:
            monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
            execute_for(theirs, b"identity", lambda _: 0)
        theirs.close()
        assert ours.recv(1) == b""
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def test_the_socket_is_closed_to_others(served: int, anywhere: Path) -> None:
    path = Places(anywhere).command_socket
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0
    assert anywhere.stat().st_mode & 0o077 == 0


def test_what_is_no_command_harms_nobody(served: int, anywhere: Path) -> None:
    path = Places(anywhere).command_socket
    for sent in (b"", b"\0\0", b"\xff" * 64, protocol.LENGTH.pack(4) + b"null"):
        with socket.socket(socket.AF_UNIX) as connection, protocol.ShortAddress(path) as address:
            connection.connect(address)
            protocol.receive_hello(connection)
            connection.sendall(sent)
    assert is_served()


def test_other_code_is_not_served_and_ends_the_server(alone: Path, tmp_path: Path) -> None:
    copy = tmp_path / "code"
    for package in ("activities", "client", "workflows", "tests"):
        subprocess.run(["cp", "-r", str(ROOT / package), f"{copy}-{package}"], check=True)
    copy.mkdir()
    for package in ("activities", "client", "workflows", "tests"):
        Path(f"{copy}-{package}").rename(copy / package)
    os.environ["PYTHONPATH"] = str(copy)
    pid = serve_probe_of(copy, alone)
    assert is_served()
    with (copy / "client" / "exit.py").open("a") as file:
        file.write("\n")
    assert not is_served()
    wait_until(lambda: state(pid) in ("", "Z"), what="the end of the server")


def serve_probe_of(code: Path, home: Path) -> int:
    """`serve_probe` with the code of another folder, which it looks at often."""
    places = Places(home)
    places.make()
    environment = {**protocol.compared_variables(os.environ), "DETERMINATOR_HOME": str(home)}
    pid = spawn([*PROBE, "serve", "0.2", "600"], places.command_lock, places.command_log, code, environment)
    wait_until(lambda: accepts(places.command_socket), what="the server")
    return pid


def test_an_idle_server_ends_and_leaves_nothing(alone: Path) -> None:
    serve_probe(alone, look=0.1, idle=1.0)
    wait_until(lambda: command_server_pid(alone) is None, what="the end of the server")
    assert not Places(alone).command_socket.exists()


def test_a_server_ends_when_its_home_is_removed(alone: Path) -> None:
    pid = serve_probe(alone, look=0.1)
    Places(alone).command_socket.unlink()
    wait_until(lambda: state(pid) in ("", "Z"), what="the end of the server")


def test_a_home_that_can_hold_no_socket_has_no_server(alone: Path) -> None:
    places = Places(alone)
    places.make()
    places.command_socket.mkdir()
    start_command_server(alone)
    wait_until(lambda: command_server_pid(alone) is None, what="the end of the server")
    assert places.command_log.read_text().startswith("Error: ")
    assert "deep" in determinator("modes").out


def test_one_server_is_enough(alone: Path) -> None:
    Places(alone).make()
    for _ in range(3):
        start_command_server(alone)
    pid = command_server_pid(alone)
    assert pid is not None
    wait_until(lambda: accepts(Places(alone).command_socket), what="the server")
    assert command_server_pid(alone) == pid
    assert Places(alone).command_log.read_text() == ""


def test_the_server_holds_no_setting_of_who_started_it(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret-key")
    monkeypatch.setenv("DETERMINATOR_MODEL", "a-model")
    Places(alone).make()
    start_command_server(alone)
    wait_until(lambda: accepts(Places(alone).command_socket), what="the server")
    environment = Path(f"/proc/{command_server_pid(alone)}/environ").read_bytes()
    assert b"DETERMINATOR_HOME" in environment
    assert b"a-secret-key" not in environment
    assert b"a-model" not in environment


def test_verbs_print_the_same_with_and_without_it(alone: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.md"
    text.write_text("A claim [1] and another [3].\n\n## References\n\n1. A work\n2. Another\n")
    commands = [("modes",), ("sources", "--json"), ("verify", str(text), "--json"), ("modes", "--nonsense")]
    expected = [determinator(*c, env={"DETERMINATOR_COMMAND_SERVER": "false"}) for c in commands]
    Places(alone).make()
    start_command_server(alone)
    wait_until(lambda: accepts(Places(alone).command_socket), what="the server")
    assert [determinator(*command) for command in commands] == expected


def test_every_verb_it_executes_exists() -> None:
    assert VERBS.keys() >= launch.SERVED
    assert not {"worker", "up", "down", "plan", "doctor"} & launch.SERVED


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"DETERMINATOR_HOME": "~/elsewhere"},
        {"DETERMINATOR_HOME": "relative"},
        {"DETERMINATOR_HOME": ""},
        {"XDG_DATA_HOME": "/data"},
        {"XDG_DATA_HOME": " "},
    ],
    ids=str,
)
def test_the_launcher_finds_the_home_that_the_settings_have(
    home: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DETERMINATOR_HOME")
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert launch.home() == Places(Settings().home).home


def test_a_closed_standard_stream_is_no_hindrance(served: int) -> None:
    command = f"exec {' '.join(LAUNCH)} modes <&-"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60, env=env)
    assert done.returncode == 0
    assert b"deep" in done.stdout
