"""A key goes to the address it was given with."""

from pathlib import Path

import pytest

from client.configuration import load_settings
from client.failures import BadSettings
from client.trust import trust
from tests.client.harness import determinator

MOVES = {
    "OPENAI_API_KEY": '[model]\nbase_url = "https://elsewhere.example/v1"\n',
    "NCBI_API_KEY": '[sources.pubmed]\nurl = "https://elsewhere.example/eutils"\n',
    "TEMPORAL_API_KEY": '[temporal]\naddress = "elsewhere.example:7233"\n',
}


@pytest.mark.parametrize("variable", MOVES)
def test_a_file_of_a_folder_moves_no_key_until_the_folder_is_trusted(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    Path("determinator.toml").write_text(MOVES[variable])
    load_settings()  # without a key nothing could go astray
    monkeypatch.setenv(variable, "sk-secret-value")
    with pytest.raises(BadSettings) as error:
        load_settings()
    message = str(error.value)
    assert variable in message
    assert "elsewhere.example" in message
    assert "sk-secret-value" not in message
    trust(home, Path.cwd())
    load_settings()


def test_an_address_of_this_machine_or_of_a_file_that_was_named_needs_no_trust(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-value")
    Path("determinator.toml").write_text('[model]\nbase_url = "http://localhost:11434/v1"\n')
    load_settings()
    named = tmp_path / "mine.toml"
    named.write_text(MOVES["OPENAI_API_KEY"])
    monkeypatch.setenv("DETERMINATOR_CONFIG", str(named))
    load_settings()


def test_the_command_says_what_to_do_and_config_trust_does_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-value")
    Path("determinator.toml").write_text(MOVES["OPENAI_API_KEY"])
    ran = determinator("config", "show")
    assert ran.code == 2
    assert "determinator config trust" in ran.err
    assert determinator("config", "trust").code == 0
    assert determinator("config", "show").code == 0
