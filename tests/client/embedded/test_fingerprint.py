"""A worker whose settings differ is restarted: what counts as a difference."""

from pathlib import Path

import pytest

from activities.codec import new_key
from activities.settings import Settings
from client.embedded.fingerprint import fingerprint, needs_of
from client.embedded.home import Places

VARIABLE = "DETERMINATOR_CODEC_KEYS"


def test_other_keys_of_the_codec_are_another_worker(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = Places(home)
    found = [fingerprint(Settings(), places)]
    for name in ("a", "b"):
        monkeypatch.setenv(VARIABLE, f"{name}:{new_key()}")
        assert VARIABLE in needs_of(Settings())
        found.append(fingerprint(Settings(), places))
    assert len(set(found)) == 3


def test_keys_of_the_codec_that_change_in_their_file_are_another_worker(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "keys"
    monkeypatch.setenv(f"{VARIABLE}_FILE", str(file))
    found = []
    for name in ("a", "b"):
        file.write_text(f"{name}:{new_key()}")
        found.append(fingerprint(Settings(), Places(home)))
    assert found[0] != found[1]
