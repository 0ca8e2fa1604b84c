"""Profiles: the built-in ones say what the design says; a user's own is read, and its errors say how to fix
them."""

from pathlib import Path

import pytest

from activities.profiles.loader import SPECIALISTS, ProfileError, load_profile, profile_names
from activities.roles.role import prompt_text
from activities.sources.names import SOURCES

MINE = """
name = "mine"
description = "Plants."
confidence_threshold = 0.7
sources = ["library"]
guidance = "Latin names."

[[criteria]]
name = "botany"
description = "It is about plants."
minimum = 4
"""


def test_every_built_in_profile_prefers_sources_that_exist() -> None:
    known = {name for name, _ in SOURCES}
    assert profile_names() == ["biomedical", "drug_repurposing", "general"]
    for name in profile_names():
        profile = load_profile(name)
        assert profile.name == name
        assert set(profile.sources) <= known
    for specialist in SPECIALISTS:
        assert set(specialist.sources) <= known
        assert prompt_text(f"{specialist.name}.specialist"), "a prompt file of its name"


def test_a_users_profile_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'{MINE}[[specialists]]\nname = "beta_reader"\ndoes = "reads beta"\nsources = ["beta"]\n')
    for profile in (load_profile("mine", folder=tmp_path), load_profile("auto", path=file)):
        assert (profile.name, profile.confidence_threshold) == ("mine", 0.7)
        assert [specialist.sources for specialist in profile.specialists] == [("beta",)]
    assert "mine" in profile_names(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MINE.replace("minimum = 4", "minimum = 40"), "criteria.0.minimum: 40 is too large; the most is 10"),
        (MINE.replace("guidance", "guidence"), "guidence: there is no such key; did you mean guidance"),
        (
            MINE.replace("minimum", "minimun"),
            "minimun: there is no such key; did you mean minimum",
        ),
        (MINE.split("[[")[0], "criteria: it is missing"),
        (MINE.replace('"Plants."', "3"), "description: 3 is not a text"),
        (MINE.replace('["library"]', '"library"'), "sources: 'library' is not a list"),
        (MINE.replace("0.7", '"0,7"'), "confidence_threshold: '0,7' is not a number"),
        (f'candidates = "no idea"\n{MINE}', "candidates: 'no idea' is neither true nor false"),
        (f"words = 1\n{MINE}", "words: 1 is not a table or object of keys"),
        (f'{MINE}[[specialists]]\nname = "X"\ndoes = "{"y" * 300}"\n', "300 characters; the most is 200"),
        (MINE + MINE[MINE.index("[[") :], "twice"),
        ("name = ", "TOML"),
        ("x = 1\n" * 20_000, "KiB"),
        ("\ufffd\x00", "TOML"),
    ],
)
def test_a_wrong_profile_says_where(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(ProfileError, match=said) as raised:
        load_profile("mine", folder=tmp_path)
    assert str(file) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["../secrets", "/etc/passwd", "", "A B", "x" * 90, "nope"])
def test_a_name_is_a_name_and_not_a_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(ProfileError):
        load_profile(name, folder=tmp_path)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="cannot read"):
        load_profile("x", path=tmp_path / "none.toml")
