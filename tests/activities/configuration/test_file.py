"""The configuration file: every key acts or is refused with file, key and the nearest key."""

import re
import time
from pathlib import Path

import pytest
from pydantic import ValidationError

from activities.configuration.declaration import declared
from activities.configuration.file import MAX_PROBLEMS, ConfigError, read_settings
from activities.settings import Settings
from client.configuration import explain, origins, unknown_variables
from workflows.amounts import Limits
from workflows.types import ResearchRequest

FIELDS = Settings.model_fields

OLDER_FORMAT = """
[research]
max_iterations = 7
max_tokens = 90000
max_time_seconds = 600
judge_threshold = 0.7

[tools]
enabled = ["pubmed", "web", "trials", "drugs"]

[tools.pubmed]
max_results = 12
rate_limit = 2.5

[tools.web]
engine = "brave"
max_results = 4

[llm]
provider = "openai"
model = "some-model"
temperature = 0.2

[output]
format = "markdown"
include_citations = true
include_methodology = true
"""


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "determinator.toml"
    monkeypatch.setenv("DETERMINATOR_CONFIG", str(path))
    return path


def test_every_key_of_the_older_format_acts_and_its_limits_too(written: Path) -> None:
    written.write_text(OLDER_FORMAT)
    settings = Settings()
    assert (settings.max_iterations, settings.max_tokens, settings.max_time) == (7, 90_000, 600)
    assert (settings.judge_threshold, settings.model, settings.temperature) == (0.7, "some-model", 0.2)
    assert settings.default_sources == [
        *("pubmed", "brave", "clinicaltrials"),
        *("chembl", "openfda", "opentargets"),
    ]
    assert (settings.of_source("pubmed").max_results, settings.of_source("pubmed").rate) == (12, 2.5)
    assert (settings.of_source("brave").max_results, settings.of_source("tavily").enabled) == (4, False)
    assert settings.output_format == "md"
    written.write_text(
        "[research.limits]\nmax_tokens = 50000\nmax_iterations = 4\nmax_time_seconds = 120\n"
        "judge_threshold = 0.6\n"
    )
    settings = Settings()
    limits = [settings.max_tokens, settings.max_iterations, settings.max_time, settings.judge_threshold]
    assert limits == [50_000, 4, 120, 0.6]
    written.write_text("[research.limits]\nmax_token = 1\n")
    with pytest.raises(ConfigError, match=r" \[research.limits\] max_token"):
        Settings()


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        ("[budgt]\nmax_tokens = 1\n", "budgt", "budget"),
        ("\n[research]\nmax_iteration = 3\n", "[research] max_iteration", "max_iterations"),
        ("max_tokns = 3\n", "max_tokns", "max_tokens"),
        ("[research]\nmax_cost = 2\n", "[research] max_cost", "[budget]"),
        ("[sources.pubmed]\nraet = 1\n", "[sources.pubmed] raet", "rate"),
        ("[tools.web]\nengine = 'brav'\n", "[tools.web] engine", "brave"),
        ("[tools.pubmed]\nmax_result = 1\n", "[tools.pubmed] max_result", "max_results"),
    ],
)
def test_a_misspelt_key_is_refused_with_its_name_and_the_nearest_key(
    written: Path, text: str, key: str, hint: str
) -> None:
    written.write_text(text)
    with pytest.raises(ConfigError) as error:
        Settings()
    assert f"{written} {key}: " in str(error.value)
    assert hint in str(error.value)


def test_every_mistake_of_a_file_is_named_at_once(written: Path) -> None:
    written.write_text("[research]\nmdoe = 'deep'\n[budgte]\nx = 1\n[mcp.files]\ncomand = ['x']\n")
    with pytest.raises(ConfigError) as error:
        Settings()
    assert [line.split(": ")[0] for line in str(error.value).splitlines()] == [
        f"{written} {key}" for key in ("[research] mdoe", "budgte", "[mcp.files] comand")
    ]
    written.write_text("[budget]\nmax_tokens = -5\n[output]\nformat = 'mdx'\n")
    with pytest.raises(ValidationError) as wrong:
        Settings()
    lines = explain(wrong.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        f"{written} {key}" for key in ("[budget] max_tokens", "[output] format")
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("[llm]\nprovider = 'anthropic'\n", "[output]\ninclude_citations = false\n"),
        *("[output]\ninclude_methodology = false\n", "[model]\napi_key = 'sk-1'\n"),
        *("[temporal]\napi_key = 'sk-1'\n", "[mcp.Files]\ncommand = ['x']\n"),
        *("[tools]\nenabled = 'pubmed'\n", "model = 'a'\n[llm]\nmodel = 'b'\n"),
    ],
)
def test_what_cannot_act_is_refused_with_its_reason(written: Path, text: str) -> None:
    written.write_text(text)
    with pytest.raises(ConfigError) as error:
        Settings()
    assert str(written) in str(error.value)
    assert "sk-1" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[budget]\nmax_tokens = -5\n", " [budget] max_tokens"),
        ("[budget]\nmax_time = 'soon'\n", " [budget] max_time"),
        ("[research]\n\napprove = ['plon']\n", " [research] approve"),
        ("[sources.pubmed]\nrate = 0\n", " [sources.pubmed] rate"),
        ("[model]\nroles = { judg = 'm' }\n", " [model] roles: there is no role 'judg'; did you mean judge?"),
        (
            "[sources.pubmed]\nfilters = { year_form = 3 }\n",
            " [sources.pubmed] filters (year_form): there is no such key; did you mean year_from?",
        ),
        ("[research]\nmode = 'dep'\n", " [research] mode: 'dep' is not known; did you mean deep?"),
    ],
)
def test_a_bad_value_is_refused_with_its_key(written: Path, text: str, where: str) -> None:
    written.write_text(text)
    with pytest.raises(ValidationError) as error:
        Settings()
    assert f"{written}{where}" in explain(error.value)


def test_a_variable_goes_over_the_file_and_is_named_when_it_is_wrong(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written.write_text("[budget]\nmax_tokens = 10\n")
    monkeypatch.setenv("DETERMINATOR_MAX_TOKENS", "20")
    assert Settings().max_tokens == 20
    assert origins()["max_tokens"] == "DETERMINATOR_MAX_TOKENS"
    monkeypatch.setenv("DETERMINATOR_MAX_TOKENS", "-1")
    with pytest.raises(ValidationError) as error:
        Settings()
    assert explain(error.value).startswith("DETERMINATOR_MAX_TOKENS: ")


def test_a_secret_is_read_from_its_file(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "key"
    secret.write_text("sk-from-a-file\n")
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(secret))
    found = Settings().openai_api_key
    assert found is not None
    assert found.get_secret_value() == "sk-from-a-file"
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(tmp_path / "missing"))
    with pytest.raises(ConfigError, match="OPENAI_API_KEY_FILE"):
        Settings()


def test_a_variable_that_sets_nothing_is_found() -> None:
    given_ = {"DETERMINATOR_MAX_TOKEN": "1", "DETERMINATOR_PUBMED_URL": "x", "DETERMINATOR_HOME": "y"}
    assert list(unknown_variables(given_, ["pubmed"])) == ["DETERMINATOR_MAX_TOKEN"]


def test_every_setting_that_is_declared_is_read_somewhere() -> None:
    """A key that is accepted and read by no code would look as if it acted. Tables read the limits and what
    a request has."""
    root = Path(__file__).parents[3]
    carried = ResearchRequest.model_fields
    keys = declared(FIELDS).items()
    named = {name for name, key in keys if not key.limit and (key.request or name) not in carried}
    files = [path for folder in ("activities", "client", "worker") for path in (root / folder).rglob("*.py")]
    read = re.findall(r"(?:settings|in_force|asked)\.(\w+)", "\n".join(map(Path.read_text, files)))
    read += re.findall(r"self\.(\w+)", (root / "activities" / "settings.py").read_text())
    assert named - {*read} == set()


def test_every_limit_of_a_run_is_set_by_one_setting() -> None:
    limits = [key.limit for key in declared(FIELDS).values() if key.limit]
    assert sorted(limits) == sorted(Limits.model_fields)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a" + ".a" * 30_000 + " = 1", "dots"),
        ("\n".join(f"k{n} = 1" for n in range(6_000)), "no such key"),
        ("a = " + "[" * 100_000, "depth"),
    ],
)
def test_a_hostile_file_is_refused_at_once(tmp_path: Path, text: str, message: str) -> None:
    began = time.process_time()
    with pytest.raises(ConfigError, match=message) as refused:
        read_settings(tmp_path / "determinator.toml", text.encode(), Settings.model_fields)
    assert len(str(refused.value).splitlines()) <= MAX_PROBLEMS
    assert time.process_time() - began < 1
