"""The files that set the product up elsewhere: they can be read and are consistent."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from activities.settings import Settings
from client.cli.main import VERBS

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


def test_the_worker_reads_every_variable_it_is_given(compose: dict[str, Any]) -> None:
    names = {str(field.validation_alias) for field in Settings.model_fields.values()}
    names |= {f"DETERMINATOR_{name.upper()}" for name in Settings.model_fields}
    given = set(compose["services"]["worker"]["environment"])
    assert given - {"TEMPORAL_ADDRESS"} <= names


def test_the_health_check_waits_for_the_namespace(
    compose: dict[str, Any], dev_server: str, temporal_client: object, temporal_binary: Path
) -> None:
    shell, command = compose["services"]["temporal"]["healthcheck"]["test"]
    assert shell == "CMD-SHELL"
    words = command.replace("$$(hostname -i):7233", dev_server).split()
    healthy = subprocess.run([temporal_binary, *words[1:]], capture_output=True, timeout=60)
    assert healthy.returncode == 0, healthy.stderr
    words[words.index("default")] = "not-made-yet"
    assert subprocess.run([temporal_binary, *words[1:]], capture_output=True, timeout=60).returncode != 0


def test_the_image_runs_a_worker_as_an_unprivileged_user_in_a_writable_home(compose: dict[str, Any]) -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    text = "\n".join(lines)
    home = re.search(r"DETERMINATOR_HOME=(\S+)", text)
    assert home
    user, made, volume = (
        next(n for n, line in enumerate(lines) if line.startswith(start))
        for start in ("USER determinator", f"RUN mkdir -p {home[1]}", f"VOLUME {home[1]}")
    )
    assert user < made < volume, "the volume inherits the owner of the folder it replaces"
    assert compose["services"]["worker"]["volumes"] == [f"evidence:{home[1]}"]
    command = re.search(r'^CMD \["(\w+)"\]$', text, re.MULTILINE)
    assert command
    assert command[1] in VERBS


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
