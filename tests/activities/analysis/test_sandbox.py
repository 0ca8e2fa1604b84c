"""The sandbox of generated programs: what it returns, and that nothing comes through."""

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from activities.analysis import sandbox
from activities.analysis.sandbox import run_program
from activities.analysis.verdict import of_generated
from activities.contracts.effects import Effect, GeneratedAnalysis
from activities.extras import NotInstalled

REPORT = """
def tried(name, attempt):
    try:
        print(name, "THROUGH", repr(attempt())[:200])
    except BaseException as error:
        print(name, "held", type(error).__name__)
"""
"""Inside the sandbox: an attempt that succeeds prints THROUGH."""


@pytest.fixture(autouse=True)
def _sandbox_is_there() -> None:
    try:
        sandbox.bwrap()
    except NotInstalled as error:
        if "CI" in os.environ:
            raise
        pytest.skip(str(error))


def escape(*attempts: str, seconds: float = 60) -> GeneratedAnalysis:
    """Run attempts, each an expression, and hold that none came through."""
    lines = [f"tried({text!r}, lambda: {text})" for text in attempts]
    found = run_program("\n".join([REPORT, *lines]), [], seconds)
    assert "THROUGH" not in found.output, found.output
    assert found.output.count(" held ") == len(attempts), found
    return found


def test_a_program_computes_with_the_effects_and_returns_numbers() -> None:
    effects = [Effect(study=f"s{i}", outcome="o", measure="MD", estimate=float(i)) for i in (1, 2, 3)]
    code = (
        "x = [e['estimate'] for e in effects]\nprint(len(x))\n"
        "result = {'estimate': np.mean(x), 'low': 1.0, 'high': np.float64(3), 'null': 0}"
    )
    found = run_program(code, effects)
    assert found.failed == ""
    assert (found.estimate, found.low, found.high, found.null) == (2.0, 1.0, 3.0, 0.0)
    assert found.output == "3\n"
    assert of_generated(found, "higher") == "SUPPORTED"


def test_the_network_is_not_there() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    reached: list[object] = []
    threading.Thread(target=lambda: reached.append(server.accept()), daemon=True).start()
    port = server.getsockname()[1]
    escape(
        f"__import__('socket').create_connection(('127.0.0.1', {port}), 2)",
        "__import__('socket').socket(1, 1)",
        "__import__('urllib.request').request.urlopen('http://192.0.2.1', timeout=2)",
        "__import__('socket').getaddrinfo('localhost', 80)[9]",
    )
    server.close()
    assert reached == []


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-worker")
    place = tmp_path / "secret.txt"
    place.write_text("what only this user reads")
    return place


def test_the_files_of_the_machine_are_not_there(secret: Path) -> None:
    root = Path(__file__).parents[3]
    found = escape(
        f"open({str(secret)!r}).read()",
        f"open({str(root / 'pyproject.toml')!r}).read()",
        f"__import__('os').listdir({str(secret.parent)!r})",
        "open('/etc/passwd').read()",
        "open('/etc/shadow').read()",
        "__import__('os').listdir('/home')",
        f"__import__('os').listdir({str(secret.parent.parent)!r})",
        "__import__('os').listdir('/run')",
        "__import__('os').listdir('/sys')",
        "__import__('os').listdir('/var')",
    )
    assert "what only this user reads" not in found.output


def test_nothing_but_the_scratch_folder_can_be_written() -> None:
    libraries = Path(os.__file__).parent
    escape(
        "open('/harness.py', 'w')",
        "open('/new', 'w')",
        f"open({str(libraries / 'new.py')!r}, 'w')",
        f"open({sandbox.__file__!r}, 'w')",
        "open('/dev/new', 'w')",
        "__import__('os').mkdir('/dev/shm')",
        "__import__('os').remove('/sandbox.py')",
        "__import__('os').mknod('/sandbox/disk', 0o60666, 0x801)",
        "__import__('os').chroot('/sandbox')",
    )
    assert "held" not in run_program(REPORT + "tried('w', lambda: open('x', 'w').write('y'))", []).output


def test_links_lead_nowhere(secret: Path) -> None:
    code = (
        f"import os\nos.symlink({str(secret)!r}, 'a')\nos.symlink('/proc/1/root', 'b')\n"
        "os.symlink('../../../../../../etc/passwd', 'c')\n"
    )
    attempts = "\n".join(
        f"tried({name!r}, lambda: open({name!r}).read())" for name in ("a", "b/etc/passwd", "c")
    )
    found = run_program(REPORT + code + attempts, [])
    assert "THROUGH" not in found.output
    assert found.output.count(" held ") == 3


def test_the_environment_is_empty_of_the_workers(secret: Path) -> None:
    found = run_program("import os\nprint(sorted(os.environ))", [])
    assert "OPENAI_API_KEY" not in found.output
    assert "PATH'" not in found.output.replace("PYTHONPATH'", "")


def test_other_processes_are_not_seen_and_cannot_be_signalled() -> None:
    escape(
        "__import__('os').listdir('/proc')",
        "open('/proc/self/environ').read()",
        "open('/proc/1/cmdline').read()",
        f"__import__('os').kill({os.getpid()}, 0)",
        f"__import__('os').kill({os.getppid()}, 15)",
        "__import__('os').setuid(0)",
    )
    os.kill(os.getpid(), 0)


def test_no_process_can_be_started() -> None:
    escape(
        "__import__('os').fork()",
        "__import__('os').posix_spawn('/bin/true', ['true'], {})",
        "__import__('subprocess').run(['true'])",
        "__import__('subprocess').run(['/bin/sh', '-c', ':'])",
        "__import__('multiprocessing').get_context('fork').Process(target=print).start()",
        "__import__('os').system('true') == 0 and 1/0 or [][0]",
    )


def test_system_calls_for_namespaces_and_the_kernel_are_refused() -> None:
    call = (
        "(lambda n, *a: (lambda r: r if r >= 0 else [][0])(__import__('ctypes').CDLL(None).syscall(n, *a)))"
    )
    numbers: dict[str, tuple[object, ...]] = {
        "unshare": (272, 0x10000000),
        "ptrace": (101, 0, 0, 0, 0),
        "mount": (165, 0, 0, 0, 0, 0),
    }
    numbers |= {"bpf": (321, 0, 0, 0), "keyctl": (250, 0, 0), "io_uring_setup": (425, 1, 0)}
    numbers |= {"clone": (56, 17, 0, 0, 0, 0), "clone3": (435, 0, 0), "memfd_create": (319, b"x", 0)}
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers are those of x86-64")
    escape(*(f"{call}({', '.join(map(repr, arguments))})" for arguments in numbers.values()))


ENDLESS = "while True:\n    "
FILES = "for i in range(1000):\n    open(f'f{i}', 'wb').write(b'x' * (1 << 20))\nprint('THROUGH')"
TOO_MUCH = "it returns or prints more than it may"


@pytest.mark.parametrize(
    ("code", "seconds", "why"),
    [
        (f"import os\n{ENDLESS}os.fork()", 20, "PermissionError"),
        (f"import threading, time\n{ENDLESS}threading.Thread(target=time.sleep, args=(60,)).start()", 20, ""),
        ("x = bytearray(3 << 30)", 60, "it needs more memory than it may use"),
        (f"x = []\n{ENDLESS}x.append(bytearray(1 << 24))", 60, ""),
        (FILES, 60, ""),
        (f"{ENDLESS}print('x' * 10000)", 60, TOO_MUCH),
        ("result = {'estimate': 1, 'low': 0.5, 'high': 2, 'x': 'y' * 10_000_000}", 60, TOO_MUCH),
        (f"{ENDLESS}pass", 3, ""),
        ("import time; time.sleep(1000)", 3, ""),
    ],
)
def test_a_program_that_takes_too_much_is_ended_without_a_result(code: str, seconds: int, why: str) -> None:
    found = run_program(code, [], seconds)
    assert found.failed
    assert why in found.failed
    assert found.estimate is None
    assert "THROUGH" not in found.output
    assert len(found.output) <= sandbox.MAX_OUTPUT_BYTES


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
        "result = {'verdict': 'SUPPORTED'}",
        "result = {'estimate': 'NOT SUPPORTED', 'low': 'SUPPORTED', 'high': True}",
        "result = {'estimate': 2, 'low': 1, 'high': float('nan')}",
        "result = {'estimate': 2, 'low': float('-inf'), 'high': float('inf')}",
        "result = {'estimate': 2, 'low': 3, 'high': 4}",
        "print('NOT SUPPORTED')",
        "raise SystemExit('SUPPORTED')",
        "import os; os.write(int(__import__('sys').argv[1]), b'SUPPORTED'); os._exit(0)",
    ],
)
def test_words_of_a_program_are_no_verdict(code: str) -> None:
    assert of_generated(run_program(code, []), "higher") == "INCONCLUSIVE"


def test_without_bubblewrap_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotInstalled, match="bubblewrap"):
        run_program("result = {}", [])
