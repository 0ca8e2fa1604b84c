"""Settings are declared once: flags, the file and the documents follow from that."""

from pathlib import Path
from typing import get_type_hints

import click
import pytest

from activities.configuration.declaration import declared, flag_of
from activities.configuration.folder import trust
from activities.settings import Settings
from client.cli.ask import ask
from client.cli.config import markdown
from client.configuration import load_settings
from client.failures import BadInput, BadSettings
from client.runs.options import AskOptions
from client.runs.request import build_request, limits, with_options
from tests.client.harness import inside

FIELDS = Settings.model_fields
FLAGS = {name: flag_of(name, key) for name, key in declared(FIELDS).items() if key.flag}


def test_every_setting_with_a_flag_is_an_option_of_ask() -> None:
    given = {flag for option in ask.params if isinstance(option, click.Option) for flag in option.opts}
    assert {*FLAGS.values()} <= given


def test_python_may_give_every_setting_that_has_a_flag() -> None:
    assert FLAGS.keys() - get_type_hints(AskOptions).keys() == {"offline", "openai_base_url"}


def test_a_flag_goes_over_the_setting_and_reaches_the_limits() -> None:
    asked = with_options(Settings(max_tokens=10, max_cost=1.0), {"max_cost": 0.5, "max_section_time": "15m"})
    assert limits(asked) == {"max_tokens": 10, "max_cost_microusd": 500_000, "max_section_seconds": 900.0}


def test_a_refused_value_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^`max_iterations`: "):
        build_request(Settings(home=tmp_path), "Does it work?", AskOptions(max_iterations=99))


def test_the_documents_have_the_table_of_settings() -> None:
    page = (Path(__file__).parents[3] / "docs" / "configuration.md").read_text()
    assert markdown() in page


OWN_PROFILE = """
name = "own"
description = "One of my own."
guidance = "Be careful."
confidence_threshold = 0.8
sources = ["pubmde"]
[[criteria]]
name = "exposure"
description = "How well it was measured."
"""


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[research]\nprofile = "own.toml"\n', "did you mean pubmed?"),
        ('[research]\nsources = ["pubmde"]\n', "did you mean pubmed?"),
        ('disabled_sources = ["brav"]\n', "did you mean brave?"),
        ('[research]\nprofile = "biomedcal"\n', "did you mean biomedical?"),
        ("[sources.pubmde]\nrate = 1\n", "did you mean pubmed?"),
        ('hooks = ["no_such_module:Hook"]\n', "no_such_module"),
    ],
)
def test_config_check_refuses_names_that_do_not_exist(home: Path, text: str, named: str) -> None:
    path = Path("determinator.toml")
    path.write_text(text)
    trust(path, path.read_bytes())
    Path("own.toml").write_text(OWN_PROFILE)
    ran = inside("config", "check")
    assert ran.code == 2
    assert named in ran.err


@pytest.mark.parametrize(
    ("variable", "value", "line"),
    [
        ("PRIVATE_PAGES", "10.1.0.0/16", '\'10.1.0.0/16\' is not a list; write ["a", "b"]'),
        ("ROLES", "{x", "'{x' is not a table or object of keys; write {\"a\": 1}"),
    ],
)
def test_a_variable_that_is_no_json_is_named_with_the_form_to_write(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, line: str
) -> None:
    monkeypatch.setenv(f"DETERMINATOR_{variable}", value)
    with pytest.raises(BadSettings) as refusal:
        load_settings()
    assert str(refusal.value) == f"DETERMINATOR_{variable}: {line}"
