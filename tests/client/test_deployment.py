"""The files that set the product up elsewhere: they can be read and are consistent."""

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import promql_parser
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from activities.settings import Settings
from client.cli.main import VERBS
from client.connection import ATTRIBUTES
from tests.client.harness import inside
from tests.replay import RECORDED
from worker.metrics import OURS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def compose() -> dict[str, Any]:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    assert isinstance(services, dict)
    return services


def test_the_compose_file_has_a_whole_cluster(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert {"postgres", "temporal", "ui", "store", "worker", "codec", "web", "prometheus"} <= set(services)
    assert services["worker"]["deploy"]["replicas"] >= 2
    for name, service in services.items():
        for needed, how in service.get("depends_on", {}).items():
            assert needed in services, name
            ends = "completed" in how["condition"]
            assert ends or "healthcheck" in services[needed], f"{name} waits for the health of {needed}"
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in compose["volumes"] or (ROOT / source).exists(), volume


def test_ports_are_open_to_this_machine_only(compose: dict[str, Any]) -> None:
    ports = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_images_are_pinned_current_and_no_secret_is_written_down(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        assert re.search(r":v?\d+\.\d+", service["image"]), service["image"]
        assert "auto-setup" not in service["image"], "the image is deprecated"
        for name, value in service.get("environment", {}).items():
            if re.search("KEY|PASSWORD|PWD", name):
                assert re.fullmatch(r"\$\{\w+:[-?][^}]*\}", value), name
    lines = (ROOT / "deploy" / "example.env").read_text().splitlines()
    given = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    assert {name for name, value in given.items() if value} == {"S3_ACCESS_KEY"}
    text = (ROOT / "docker-compose.yml").read_text()
    assert set(re.findall(r"\$\{(\w+):\?", text)) <= given.keys(), "what is needed is in the example"


def test_services_run_without_privileges_and_are_watched(compose: dict[str, Any]) -> None:
    writable = {"schema", "temporal", "namespace", "ui", "bucket", "grafana"}
    """Images that write beside their volumes when they start."""
    for name, service in compose["services"].items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service.get("read_only", False) is (name not in writable), name
        once = service["restart"].startswith("on-failure")
        assert once or "healthcheck" in service, name
        if not service["image"].startswith("temporalio/"):  # these run as the user `temporal`
            assert int(service["user"].partition(":")[0]) > 0, name


def variables() -> set[str]:
    """Every variable that a worker reads."""
    names = {str(field.validation_alias) for field in Settings.model_fields.values()}
    names |= {f"DETERMINATOR_{name.upper()}" for name in Settings.model_fields}
    temporal = {"TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE"}
    s3 = {
        f"AWS_{name}"
        for name in ("ENDPOINT_URL", "ALLOW_HTTP", "REGION", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY")
    }
    return names | temporal | s3 | {"OTEL_EXPORTER_OTLP_ENDPOINT", "DETERMINATOR_CODEC_TOKEN"}


def test_the_workers_read_every_variable_they_are_given(compose: dict[str, Any]) -> None:
    for name in ("worker", "codec", "web"):
        assert set(compose["services"][name]["environment"]) <= variables()
    for document in manifests():
        if document["kind"] == "ConfigMap":
            assert set(document["data"]) <= variables()


def test_commands_of_the_containers_are_commands_of_this_program(compose: dict[str, Any]) -> None:
    commands = [compose["services"][name]["command"] for name in ("worker", "web")]
    pods = [
        document["spec"]["template"]["spec"] for document in manifests() if document["kind"] == "Deployment"
    ]
    started = [pod["containers"][0] for pod in pods]
    commands += [container["args"] for container in started if "command" not in container]
    assert len(commands) == 3
    for command in commands:
        ran = inside(*command, "--help")
        assert ran.code == 0, ran.err
        for word in command:
            assert not word.startswith("--") or word in ran.out


def pinned(name: str) -> dict[str, str]:
    """The packages of a file of pinned versions, each with what is pinned of it."""
    blocks = re.split(
        r"^(?=[\w.-]+==)", (ROOT / "requirements" / f"{name}.txt").read_text(), flags=re.MULTILINE
    )
    return {block.partition("==")[0]: block for block in blocks if block.strip()}


@pytest.mark.parametrize("name", ["test", "image", "runtime"])
def test_every_pinned_package_has_a_digest_and_no_address(name: str) -> None:
    packages = pinned(name)
    assert all("--hash=sha256:" in block for block in packages.values())
    assert not [block for block in packages.values() if "://" in block or " @ " in block or "-url" in block]


def test_the_image_is_built_on_a_base_named_by_its_digest() -> None:
    (base,) = re.findall(r"^ARG BASE=(.*)$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    assert re.fullmatch(r"python:[\d.]+-slim-bookworm@sha256:[0-9a-f]{64}", base)


def test_what_users_install_is_pinned_to_what_is_tested() -> None:
    tested = pinned("test")
    for name in ("image", "runtime"):
        versions = {package: re.split(r"[\s;]", block)[0] for package, block in pinned(name).items()}
        others = {package for package, at in versions.items() if not tested.get(package, "").startswith(at)}
        assert not others, f"run `make lock`: {others}"


def test_the_pinned_versions_are_those_that_the_project_asks_for() -> None:
    packages = pinned("test")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = map(Requirement, [*project["dependencies"], *project["optional-dependencies"]["test"]])
    for each in wanted:
        if each.name != "determinator":
            version = re.search(r"==([^\s;]+)", packages[canonicalize_name(each.name)])
            assert version
            assert version[1] in each.specifier, f"run `make lock`: {each}"


def test_the_scripts_register_what_runs_are_found_by() -> None:
    text = (ROOT / "deploy" / "temporal" / "namespace.sh").read_text()
    assert dict(re.findall(r"(Determinator\w+):(\w+)", text)) == ATTRIBUTES
    for path in (ROOT / "deploy" / "temporal").glob("*.sh"):
        assert subprocess.run(["sh", "-n", str(path)]).returncode == 0


def test_the_namespace_script_can_be_run_again_and_again(
    dev_server: str, temporal_client: object, temporal_binary: Path
) -> None:
    path = f"{temporal_binary.parent}:{os.environ['PATH']}"
    env = {"PATH": path, "TEMPORAL_ADDRESS": dev_server, "TEMPORAL_NAMESPACE": "made-by-a-script"}
    script = ROOT / "deploy" / "temporal" / "namespace.sh"
    for _ in range(2):
        ran = subprocess.run(["sh", str(script)], capture_output=True, text=True, timeout=120, env=env)
        assert ran.returncode == 0, ran.stderr


def manifests() -> list[dict[str, Any]]:
    """The Kubernetes objects of `deploy/kubernetes`."""
    paths = sorted((ROOT / "deploy" / "kubernetes").glob("*.yaml"))
    return [document for path in paths for document in yaml.safe_load_all(path.read_text()) if document]


def test_the_kubernetes_manifests_fit_the_schemas_of_kubernetes() -> None:
    held = json.loads((RECORDED / "kubernetes" / "definitions.json").read_text())
    names = {
        (kind["group"], kind["version"], kind["kind"]): name
        for name, definition in held["$defs"].items()
        for kind in definition.get("x-kubernetes-group-version-kind", ())
    }
    documents = manifests()
    assert len(documents) >= 6
    of_schema = jsonschema.validators.validator_for(held)
    of_schema.check_schema(held)
    for document in documents:
        group, _, version = document["apiVersion"].rpartition("/")
        schema = {**held, "$ref": f"#/$defs/{names[group, version, document['kind']]}"}
        validator = of_schema(schema)
        validator.validate(document)
        assert not validator.is_valid({**document, "metadata": {"nmae": "x"}})


def test_pods_run_without_privileges_and_are_watched() -> None:
    pods = [d["spec"]["template"] for d in manifests() if d["kind"] == "Deployment"]
    for pod in pods:
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
        (container,) = pod["spec"]["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert {"readinessProbe", "livenessProbe"} <= container.keys()
    assert {"app": "determinator"} in [pod["metadata"]["labels"] for pod in pods]


def metrics_in(expression: str) -> set[str]:
    """The metrics a PromQL expression names. Raises ValueError for one that is not PromQL."""
    promql_parser.parse(expression)
    return set(re.findall(r"\b((?:determinator|temporal)_\w+)", expression))


def test_alerts_and_dashboard_ask_for_metrics_that_there_are() -> None:
    alerts = yaml.safe_load((ROOT / "examples" / "alerts.yml").read_text())
    rules = [rule for group in alerts["groups"] for rule in group["rules"]]
    expressions = [rule["expr"] for rule in rules]
    dashboard = json.loads((ROOT / "deploy" / "grafana" / "determinator.json").read_text())
    expressions += [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    named = set().union(*map(metrics_in, expressions))
    ours = {name for name in named if name.startswith("determinator_")}
    assert {re.sub("_(total|seconds_bucket)$", "", name) for name in ours} == set(OURS)
    for rule in rules:
        assert {"summary", "description"} <= rule["annotations"].keys(), rule["alert"]


def test_prometheus_reads_rules_and_targets_that_there_are(compose: dict[str, Any]) -> None:
    config = yaml.safe_load((ROOT / "deploy" / "prometheus.yml").read_text())
    mounted = " ".join(compose["services"]["prometheus"]["volumes"])
    for name in config["rule_files"]:
        assert f"/etc/prometheus/{name}" in mounted
    (worker,) = [job for job in config["scrape_configs"] if job["job_name"] == "determinator"]
    (target,) = worker["dns_sd_configs"]
    assert compose["services"][target["names"][0]]["environment"]["DETERMINATOR_METRICS"].endswith(
        str(target["port"])
    )


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
    assert compose["services"]["worker"]["volumes"] == [f"home:{home[1]}"]
    command = re.search(r'^CMD \["(\w+)"\]$', text, re.MULTILINE)
    assert command
    assert command[1] in VERBS
