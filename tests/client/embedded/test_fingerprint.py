"""A worker whose settings differ is restarted: what counts as a difference."""

from pathlib import Path

import pytest

from activities.codec import new_key
from activities.settings import Settings
from client.cli import servers
from client.embedded import home as fingerprints
from client.embedded.home import (
    OF_INTERFACES,
    Places,
    code_of,
    fingerprint,
    lane_of_settings,
    worker_environment,
)

VARIABLE = "DETERMINATOR_CODEC_KEYS"


def test_other_keys_plugins_and_code_are_another_worker(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places(home)
    places.make()
    code, package = tmp_path / "worker" / "build.py", tmp_path / "site" / "lab-1.0.dist-info"
    for folder in (code.parent, package):
        folder.mkdir(parents=True)
    code.write_text("one = 1\n")
    monkeypatch.setattr(fingerprints, "code_of", lambda _packages: code_of(["worker"], tmp_path))
    found = [fingerprint(Settings(), places)]
    assert fingerprint(Settings(), places) == found[0]
    for name in ("a", "b"):
        monkeypatch.setenv(VARIABLE, f"{name}:{new_key()}")
        assert VARIABLE in lane_of_settings(Settings(), places).keys
        found.append(fingerprint(Settings(), places))
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv(f"{VARIABLE}_FILE", str(tmp_path / "keys"))
    for name in ("a", "b"):
        (tmp_path / "keys").write_text(f"{name}:{new_key()}")
        found.append(fingerprint(Settings(), places))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    (package / "entry_points.txt").write_text("[determinator.sources]\nlab = lab:build\n")
    for version in ("1.0", "1.1"):
        (package / "METADATA").write_text(f"Metadata-Version: 2.1\nName: lab\nVersion: {version}\n")
        assert "plugin lab" in lane_of_settings(Settings(), places).settings
        found.append(fingerprint(Settings(), places))
    code.write_text("one = 1 + 1\n")
    found.append(fingerprint(Settings(), places))
    assert len(set(found)) == len(found) == 8


def test_no_worker_is_replaced_for_the_token_of_an_interface_or_gets_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places(home)
    places.make()
    before = fingerprint(Settings(), places)
    assert {servers.MCP_TOKEN, servers.OIDC_SECRET} == set(OF_INTERFACES)
    for name in OF_INTERFACES:
        monkeypatch.setenv(name, "a-secret-of-an-interface")
        assert fingerprint(Settings(), places) == before, name
        assert name not in worker_environment(Settings())
