"""The sandbox of generated programs: what it returns, and that nothing comes through."""

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from activities.analysis import sandbox
from activities.analysis.meta_analysis import generated_verdict
from activities.analysis.sandbox import NOT_COMPUTED, run_generated, run_program
from activities.contracts.effects import Effect, Program
from activities.contracts.errors import NotInstalled

REPORT = """
def tried(name, attempt):
    try:
        print(name, "THROUGH", repr(attempt())[:200])
    except BaseException as error:
        print(name, "held", type(error).__name__)
"""
"""Inside the sandbox: an attempt that succeeds prints THROUGH."""


pytestmark = pytest.mark.usefixtures("sandbox")


ROOT = Path(__file__).parents[3]
SYSTEM_CALLS: dict[str, tuple[object, ...]] = {
    "unshare": (272, 0x00020000),
    "mount": (165, 0, 0, 0, 0, 0),
    "bpf": (321, 0, 0, 0),
}
"""By their numbers on x86-64."""
CALL = "(lambda n, *a: (lambda r: r if r >= 0 else [][0])(__import__('ctypes').CDLL(None).syscall(n, *a)))"
ATTEMPTS = (
    # the network
    "__import__('socket').create_connection(('127.0.0.1', PORT), 2)",
    "__import__('urllib.request').request.urlopen('http://192.0.2.1', timeout=2)",
    "__import__('socket').getaddrinfo('localhost', 80)[9]",
    # the files of the machine, also behind links
    *(f"__import__('os').listdir({name!r})" for name in ("FOLDER", "/home", "/run", "/sys", "/var")),
    *(
        f"open({name!r}).read()"
        for name in ("SECRET", f"{ROOT}/pyproject.toml", "/etc/passwd", "/etc/shadow")
    ),
    *(f"open({name!r}).read()" for name in ("a", "b/etc/passwd", "c")),
    # nothing but the scratch folder can be written
    *("open('/harness.py', 'w')", "open('/new', 'w')", f"open({sandbox.__file__!r}, 'w')"),
    *(f"open({str(Path(os.__file__).parent / 'new.py')!r}, 'w')", "open('/dev/new', 'w')"),
    *("__import__('os').mkdir('/dev/shm')", "__import__('os').remove('/sandbox.py')"),
    *("__import__('os').mknod('/sandbox/disk', 0o60666, 0x801)", "__import__('os').chroot('/sandbox')"),
    # other processes are not seen and cannot be signalled, and no program of the machine can be started
    *("__import__('os').listdir('/proc')", "open('/proc/self/environ').read()", "__import__('os').setuid(0)"),
    *("open('/proc/1/cmdline').read()", "__import__('os').kill(PID, 0)", "__import__('os').kill(PARENT, 15)"),
    "__import__('os').posix_spawn('/bin/true', ['true'], {})",
    *("__import__('subprocess').run(['true'])", "__import__('subprocess').run(['/bin/sh', '-c', ':'])"),
    "__import__('os').system('true') == 0 and 1/0 or [][0]",
    # calls for namespaces and the kernel
    *(f"{CALL}({', '.join(map(repr, call))})" for call in SYSTEM_CALLS.values()),
)
"""Expressions, none of which may come through."""


def test_a_program_reaches_nothing_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-worker")
    secret = tmp_path / "secret.txt"
    secret.write_text("what only this user reads")
    server = socket.create_server(("127.0.0.1", 0))
    reached: list[object] = []
    threading.Thread(target=lambda: reached.append(server.accept()), daemon=True).start()
    here = {"PORT": server.getsockname()[1], "SECRET": secret, "FOLDER": tmp_path}
    here |= {"PID": os.getpid(), "PARENT": os.getppid()}
    attempts = [attempt for attempt in ATTEMPTS if os.uname().machine == "x86_64" or CALL not in attempt]
    for name, value in here.items():
        attempts = [attempt.replace(name, str(value)) for attempt in attempts]
    lines = [f"tried({text!r}, lambda: {text})" for text in attempts]
    links = f"import os\nos.symlink({str(secret)!r}, 'a')\nos.symlink('/proc/1/root', 'b')\n"
    links += "os.symlink('../../../../../../etc/passwd', 'c')\nprint(sorted(os.environ))\n"
    result = run_program("\n".join([links, REPORT, *lines, "open('x', 'w').write('y')"]), [], 60)
    assert result.failed in ("", run_program("", []).failed), result
    assert "THROUGH" not in result.output, result.output
    assert result.output.count(" held ") == len(attempts), result
    assert "what only this user reads" not in result.output
    assert "OPENAI_API_KEY" not in result.output
    assert "PATH'" not in result.output.splitlines()[0].replace("PYTHONPATH'", "")
    server.close()
    assert reached == []


ENDLESS = "while True:\n    "
FILES = "for i in range(1000):\n    open(f'f{i}', 'wb').write(b'x' * (1 << 20))\nprint('THROUGH')"
TOO_MUCH = "it returns or prints more than it may"


@pytest.mark.parametrize(
    ("code", "seconds", "why"),
    [
        (f"import os\n{ENDLESS}os.fork() or __import__('time').sleep(60)", 20, "BlockingIOError"),
        (f"import threading, time\n{ENDLESS}threading.Thread(target=time.sleep, args=(60,)).start()", 20, ""),
        ("x = bytearray(3 << 30)", 60, "it needs more memory than it may use"),
        (f"x = []\n{ENDLESS}x.append(bytearray(1 << 24))", 60, ""),
        (FILES, 60, ""),
        (f"{ENDLESS}print('x' * 10000)", 60, TOO_MUCH),
        ("result = {'estimate': 1, 'low': 0.5, 'high': 2, 'x': 'y' * 10_000_000}", 60, TOO_MUCH),
        (f"{ENDLESS}pass", 1, ""),
        ("import time; time.sleep(1000)", 1, ""),
    ],
)
def test_a_program_that_takes_too_much_is_ended_without_a_result(code: str, seconds: int, why: str) -> None:
    result = run_program(code, [], seconds)
    assert result.failed
    assert why in result.failed
    assert result.estimate is None
    assert "THROUGH" not in result.output
    assert len(result.output) <= sandbox.MAX_OUTPUT_BYTES


def test_a_program_cannot_leave_children_or_itself_behind() -> None:
    run_program("import time; time.sleep(1000)", [], 2)
    # a program of another test may run at the same time; it ends soon, this one would not
    left, until = _programs(), time.monotonic() + 60
    while left and time.monotonic() < until:
        time.sleep(0.1)
        left &= _programs()
    assert not left


def _programs() -> set[str]:
    """Ids of the processes that run a program in the sandbox, also those of other tests."""
    processes = (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return {entry.name for entry in processes if b"/sandbox.py" in _command_line(entry)}


def _command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize(
    "code",
    [
        "print('SUPPORTED')\nresult = 'SUPPORTED'",
        "result = {'estimate': 'NOT SUPPORTED', 'low': 'SUPPORTED', 'high': True}",
        "result = {'estimate': 2, 'low': 1, 'high': float('nan')}",
        "result = {'estimate': 2, 'low': 3, 'high': 4}",
        "import os; os.write(int(__import__('sys').argv[1]), b'SUPPORTED'); os._exit(0)",
    ],
)
def test_words_of_a_program_are_no_verdict(code: str) -> None:
    assert generated_verdict(run_program(code, []), "higher") == "INCONCLUSIVE"


def test_without_bubblewrap_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotInstalled, match="bubblewrap"):
        run_program("result = {}", [])


EFFECTS = tuple(
    Effect(study=f"s{n}", outcome=f"o{n}", measure="MD", estimate=n, low=n - 1, high=n + 1, quote="a secret")
    for n in (1, 2, 3)
)


def test_only_numbers_of_the_effects_are_a_result() -> None:
    code = (
        "x = [e['estimate'] for e in effects]\n"
        "result = {'estimate': np.mean(x), 'low': min(x), 'high': max(x), 'null': 0}"
    )
    done = run_generated(Program(code=code, method="a mean"), EFFECTS)
    assert (done.estimate, done.low, done.high, done.failed, done.method) == (2, 1, 3, "", "a mean")
    code = "result = {'estimate': 0.5, 'low': 0.4, 'high': 0.6, 'null': 1}"
    assert run_generated(Program(code=code), EFFECTS).failed == NOT_COMPUTED


def test_a_program_sees_no_sentence_of_a_work() -> None:
    done = run_generated(Program(code="print([e['quote'] for e in effects])\nresult = {}"), EFFECTS)
    assert done.output.strip() == "['', '', '']"
