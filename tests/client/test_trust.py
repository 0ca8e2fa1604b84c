"""The configuration file of a folder chooses among what its user allowed, until the user trusts that file."""

import hashlib
import os
from pathlib import Path

import pytest

from activities.configuration.folder import trust, user_home
from activities.private_files import write_whole
from activities.settings import Settings, config_path, user_config_path
from client.configuration import ignored_keys, load_settings
from client.embedded.home import worker_environment
from client.failures import BadInput, BadSettings
from client.runs.options import AskOptions
from client.runs.request import sources_to_search, with_options
from tests.client.harness import inside

DOORS = {
    "[mcp.x] command": '[mcp.x]\ncommand = ["/bin/sh", "-c", "touch ran"]\n'
    'variables = ["OPENAI_API_KEY"]\ntool = "x"\n',
    "[mcp.x] url": '[mcp.x]\nurl = "https://elsewhere.example"\n'
    'token_variable = "OPENAI_API_KEY"\ntool = "x"\n',
    "home": 'home = "."\n',
    "[temporal] address": '[temporal]\naddress = "elsewhere.example:7233"\n',
    "[model] base_url": '[model]\nbase_url = "http://localhost:11434/v1"\n',
    "[llm] base_url": '[llm]\nbase_url = "http://localhost:11434/v1"\n',
    "[model] name": '[model]\nname = "the-dearest"\n',
    "[sources.pubmed] url": '[sources.pubmed]\nurl = "https://elsewhere.example/eutils"\n',
    "pubmed_url": 'pubmed_url = "https://elsewhere.example/eutils"\n',
    "searxng_url": 'searxng_url = "http://elsewhere.example"\n',
    "store_url": 'store_url = "s3://theirs/evidence"\n',
    "reports_dir": 'reports_dir = "/tmp"\n',
    "hooks": 'hooks = ["module:Hook"]\n',
    "private_pages": 'private_pages = ["127.0.0.0/8"]\n',
    "library": 'library = "../private"\n',
    "[profiles] folder": '[profiles]\nfolder = "/tmp"\n',
    "[research] profile": '[research]\nprofile = "../own.toml"\n',
    "[worker] libraries": '[worker]\nlibraries = ["/"]\n',
    "[worker] model_urls": '[worker]\nmodel_urls = ["http://localhost:1/v1"]\n',
    "offline": "offline = false\n",
}
ALLOWED = """
library = "./papers"
disabled_sources = ["brave"]
offline = true
[research]
mode = "deep"
profile = "biomedical"
sources = ["pubmed"]
approve = ["plan"]
max_iterations = 2
[budget]
max_cost = 3
max_time = "30m"
[sources.pubmed]
max_results = 7
filters = { year_from = 2015 }
[output]
format = "html"
"""


def folder_file(text: str) -> Path:
    path = Path("determinator.toml").absolute()
    path.write_text(text)
    return path


@pytest.mark.invariant
@pytest.mark.parametrize("key", DOORS)
def test_a_file_of_a_folder_opens_no_door_until_that_very_file_is_trusted(
    home: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-value")
    without = load_settings()
    path = folder_file(DOORS[key])
    write_whole(Path("trusted_files.json"), b'{"%s": "x"}' % str(path).encode())
    assert load_settings() == without
    assert key in ignored_keys()
    trust(path, path.read_bytes())
    assert load_settings() != without or key in ("offline", "home")  # the default, and DETERMINATOR_HOME
    assert not ignored_keys()


def test_a_file_of_a_folder_sets_what_a_question_is_asked_with(home: Path) -> None:
    Path("papers").mkdir()
    folder_file(ALLOWED)
    settings = load_settings()
    assert not ignored_keys()
    assert (settings.mode, settings.profile, settings.default_sources) == ("deep", "biomedical", ["pubmed"])
    assert (settings.max_iterations, settings.max_cost, settings.max_time) == (2, 3, 1800)
    assert (settings.library, settings.output_format, settings.offline) == (Path("papers"), "html", True)
    assert settings.of_source("pubmed").max_results == 7


def test_a_library_that_a_link_leads_out_of_the_folder_is_not_read(home: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "private").mkdir()
    os.chdir("theirs")
    Path("papers").symlink_to(tmp_path / "private")
    folder_file('library = "papers"\n')
    assert load_settings().library is None


def test_a_file_of_a_folder_narrows_what_the_users_own_allows_and_does_not_widen_it(home: Path) -> None:
    write_whole(
        user_config_path(),
        b'disabled_sources = ["tavily"]\n[budget]\nmax_cost = 1\nmax_time = "20m"\nmax_tokens = 900\n'
        b"[research]\napprove = ['report']\n[sources.brave]\nenabled = false\nrate = 1\n",
    )
    folder_file(
        'disabled_sources = []\n[budget]\nmax_cost = 100\nmax_time = "10m"\nmax_tokens = 1000\n'
        "[research]\napprove = []\n[sources.brave]\nenabled = true\nmax_results = 3\n"
    )
    settings = load_settings()
    assert (settings.max_cost, settings.max_time, settings.max_tokens) == (1, 600, 900)
    assert (settings.disabled_sources, settings.approve) == (["tavily"], ["report"])
    brave = settings.of_source("brave")
    assert (brave.enabled, brave.rate, brave.max_results) == (False, 1, 3)


@pytest.mark.parametrize("flag", [True, False])
def test_a_file_of_a_folder_sends_nothing_of_a_library_to_sources(home: Path, *, flag: bool) -> None:
    papers = home / "papers"
    papers.mkdir(parents=True)
    own = "" if flag else f"library = '{papers}'\n"
    write_whole(user_config_path(), own.encode())
    folder_file('[research]\nsources = ["pubmed"]\n')
    options = AskOptions(library=str(papers)) if flag else AskOptions()
    assert sources_to_search(with_options(load_settings(), options), options) == ("library",)
    wide = AskOptions({**options, "sources": ["pubmed"]})
    assert "pubmed" in sources_to_search(with_options(load_settings(), wide), wide)
    write_whole(user_config_path(), f"{own}[research]\nsources = ['pubmed']\n".encode())
    both = sources_to_search(with_options(load_settings(), options), options)
    assert ("pubmed" in both) is not flag, "what the user's own file names for its library is searched"


def test_a_changed_file_a_copy_and_a_link_are_not_the_file_that_is_trusted(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder_file(DOORS["[mcp.x] command"])
    trust(path, path.read_bytes())
    assert load_settings().mcp
    path.write_text(DOORS["[mcp.x] command"].replace("ran", "other"))
    assert not load_settings().mcp
    path.write_text(DOORS["[mcp.x] command"])
    assert load_settings().mcp
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / path.name).write_text(path.read_text())
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / path.name).symlink_to(path)
    for name in ("copy", "link"):
        with monkeypatch.context() as there:
            there.chdir(tmp_path / name)
            assert not load_settings().mcp, name


def test_a_home_inside_the_folder_grants_no_trust(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DETERMINATOR_HOME", ".")
    assert user_home().is_relative_to(Path.home())
    assert user_home() != Path.cwd()
    path = folder_file(DOORS["[mcp.x] command"])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    write_whole(Path("trusted_files.json"), f'{{"{path}": "{digest}"}}'.encode())
    assert not load_settings().mcp


def test_the_worker_holds_a_file_for_no_more_trusted_than_its_command(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder_file(DOORS["[mcp.x] command"])
    for trusted in (False, True):
        if trusted:
            trust(path, path.read_bytes())
        environment = worker_environment(load_settings(home=tmp_path / "other"))
        with monkeypatch.context() as worker:
            for name, value in environment.items():
                worker.setenv(name, value)
            worker.chdir("/")
            assert config_path() == path
            assert bool(Settings().mcp) == trusted


def test_a_file_that_was_named_and_the_users_own_set_everything(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-value")
    named = tmp_path / "mine.toml"
    named.write_text(DOORS["[model] base_url"])
    monkeypatch.setenv("DETERMINATOR_CONFIG", str(named))
    write_whole(user_config_path(), DOORS["[mcp.x] url"].encode())
    settings = load_settings()
    assert settings.openai_base_url
    assert settings.openai_api_key
    assert settings.mcp
    write_whole(user_config_path(), b'home = "/elsewhere"\n')
    with pytest.raises(BadSettings, match="DETERMINATOR_HOME"):
        load_settings()


def test_a_file_that_is_a_pipe_or_endless_is_refused_at_once(home: Path) -> None:
    os.mkfifo("determinator.toml")
    with pytest.raises(BadInput, match="not a file"):
        load_settings()
    Path("determinator.toml").unlink()
    Path("determinator.toml").symlink_to("/dev/zero")
    with pytest.raises(BadInput, match="not a file"):
        load_settings()


@pytest.mark.invariant
def test_a_key_goes_to_an_address_of_this_machine_only_where_that_is_configured(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-value")
    address = "http://127.0.0.1:8000/v1"
    settings = load_settings(openai_base_url=address)
    assert settings.openai_api_key is None
    assert "OPENAI_API_KEY" not in worker_environment(settings)
    assert load_settings(openai_base_url="https://models.example/v1").openai_api_key
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    assert load_settings(openai_base_url=address).openai_api_key


def test_a_command_names_the_keys_in_one_line_and_config_trust_lets_them_hold(home: Path) -> None:
    folder_file('[mcp."x\\u001b[2J"]\ntool = "x"\n')
    assert "\x1b" not in inside("config", "show").err
    folder_file(DOORS["[mcp.x] command"] + DOORS["[model] name"])
    ran = inside("config", "show")
    assert ran.code == 0
    (line,) = ran.err.splitlines()
    for part in ("[mcp.x] command", "[model] name", "determinator config trust"):
        assert part in line
    trusted = inside("config", "trust")
    assert trusted.code == 0
    assert "[mcp.x] command" in trusted.out
    ran = inside("config", "show")
    assert "the-dearest" in ran.out
    assert not ran.err
