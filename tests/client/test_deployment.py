"""The files that set the product up elsewhere: they can be read and hang together."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]


@pytest.fixture
def compose() -> dict[str, Any]:
    found = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    assert isinstance(found, dict)
    return found


def test_the_compose_file_has_a_cluster_with_scaled_workers(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"postgres", "temporal", "ui", "worker"}
    assert services["worker"]["deploy"]["replicas"] >= 2
    assert services["worker"]["environment"]["TEMPORAL_ADDRESS"] == "temporal:7233"
    for name, service in services.items():
        for needed in service.get("depends_on", {}):
            assert needed in services, name
        for volume in service.get("volumes", []):
            assert volume.partition(":")[0] in compose["volumes"]


def test_ports_are_open_to_this_machine_only(compose: dict[str, Any]) -> None:
    ports = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_images_are_pinned_and_no_secret_is_written_down(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        if "image" in service:
            assert re.search(r":\d", service["image"]), service["image"]
    for name, value in compose["services"]["worker"]["environment"].items():
        if name.endswith("_KEY"):
            assert value == f"${{{name}:-}}"


def test_the_image_copies_what_the_package_is_made_of() -> None:
    text = (ROOT / "Dockerfile").read_text()
    for line in re.findall(r"^COPY (.+)$", text, re.MULTILINE):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists(), name
    for package in ("activities", "workflows", "worker", "client"):
        assert f"COPY {package} {package}" in text


@pytest.mark.parametrize(
    "target", ["setup", "test", "demo", "lint", "test-chaos", "test-model", "bench", "clean"]
)
def test_the_makefile_has_the_target(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_the_ci_entry_can_be_executed_and_runs_the_tests() -> None:
    entry = ROOT / ".ci" / "run"
    assert os.access(entry, os.X_OK)
    assert "make test" in entry.read_text()
