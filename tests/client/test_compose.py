"""The services of docker-compose.yml as processes: each one's command with exactly its environment, its ports
and its health check, and a run through all of them, in the middle of which a worker is killed. Where an image
is of others a package stands for it: Temporal's server with its own database, and an S3 server. Each service
has a loopback address of its own, as in a network of containers, so that its ports stay what they are."""

import asyncio
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from temporalio.client import Client

from activities.codec import new_key
from client.embedded.binary import free_port
from client.embedded.server import PACE
from tests.client.harness import determinator, wait_until

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
HOME = "/home/determinator/data"
STARTED_EVENTS = 20
"""Events of all histories by which a run is under way, far from its end."""
SERVICES = ("store", "worker", "worker-2", "codec", "web")
SECRETS = {
    "POSTGRES_PASSWORD": "a-password",
    "S3_ACCESS_KEY": "determinator",
    "S3_SECRET_KEY": "a-secret-of-s3",
    "DETERMINATOR_CODEC_KEYS": f"test:{new_key()}",
    "DETERMINATOR_CODEC_TOKEN": "a-token-of-the-codec",
}
"""What a person writes into `.env`."""


class Cluster:
    """The services, each at its address."""

    def __init__(self, folder: Path, temporal: Path) -> None:
        self.services: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
        network = f"127.{random.randrange(1, 255)}.{random.randrange(1, 255)}"
        self.address = {name: f"{network}.{n}" for n, name in enumerate(SERVICES, 1)}
        self.server = f"127.0.0.1:{free_port()}"
        """Temporal's: the services inside of it find each other on this address only."""
        self._folder, self._temporal = folder, temporal
        self._running = ExitStack()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def here(self, name: str, text: str) -> str:
        """A text of a service with the variables and the addresses that it has in its container."""
        text = re.sub(r"\$\{(\w+):([-?])([^}]*)\}", self._value, text)
        text = re.sub(r"\b(0\.0\.0\.0|127\.0\.0\.1)\b", self.address[name], text)
        text = text.replace("temporal:7233", self.server).replace(
            "store:8333", f"{self.address['store']}:8333"
        )
        home = str(self.home(name))
        return text.replace("/tmp/", f"{home}/").replace(HOME, home).replace("/app/", f"{ROOT}/")

    @staticmethod
    def _value(match: re.Match[str]) -> str:
        if match[2] == "?":
            return SECRETS[match[1]]  # a KeyError: a secret without a value
        return SECRETS.get(match[1]) or match[3]

    def home(self, name: str) -> Path:
        """The volume of a service."""
        place = self._folder / name
        place.mkdir(exist_ok=True)
        return place

    def environment(self, name: str, service: str) -> dict[str, str]:
        """That of the service, and what its image sets."""
        own = {key: self.here(name, value) for key, value in self.services[service]["environment"].items()}
        image = {
            "PATH": os.environ["PATH"],
            "DETERMINATOR_HOME": str(self.home(name)),
            "PYTHONUNBUFFERED": "1",
        }
        return {**image, **own}

    def start(self, **services: str) -> None:
        """Start services of ours under these names, all at once, and wait until each health check holds."""
        probes = {name: self._launch(name, service) for name, service in services.items()}
        for name, probe in probes.items():
            wait_until(
                lambda probe=probe: subprocess.run(probe, capture_output=True).returncode == 0,  # type: ignore[misc]
                what=name,
                every=3,
            )

    def _launch(self, name: str, service: str) -> list[str]:
        """Begin a service; the command of its health check."""
        what = self.services[service]
        entry = what.get("entrypoint", ["determinator"])
        program = [self.here(name, word) for word in (*entry, *what["command"])]
        program[0] = str(BIN / program[0])
        self.begin(name, program, self.environment(name, service))
        kind, *check = what["healthcheck"]["test"]
        assert kind == "CMD"
        programs = {"python": str(BIN / "python"), "sh": "sh"}
        words = (self.here(name, word.replace("$$", "$")) for word in check[1:])
        return [programs[check[0]], *words]

    def begin(self, name: str, program: list[str], env: Mapping[str, str]) -> None:
        """Start a process that ends with the cluster."""
        log = self._running.enter_context((self._folder / f"{name}.log").open("wb"))
        process = subprocess.Popen(program, env=dict(env), stdout=log, stderr=log, cwd=self._folder)
        self._running.callback(process.wait, 30)
        self.processes[name] = process

    def start_others(self) -> None:
        """Temporal, its namespace by the script of the compose file, the store and its bucket."""
        host, _, port = self.server.partition(":")
        server = ["server", "start-dev", "--headless", "--ip", host, "--port", port, *PACE, "--db-filename"]
        self.begin("temporal", [str(self._temporal), *server, str(self._folder / "temporal.db")], os.environ)
        path = f"{self._temporal.parent}:{os.environ['PATH']}"
        env = self.environment("worker", "namespace") | {"PATH": path}
        ready = ["temporal", "operator", "cluster", "health", "--address", self.server]
        wait_until(
            lambda: subprocess.run(ready, env=env, capture_output=True).returncode == 0, what="temporal"
        )
        entry = self.services["namespace"]["entrypoint"]
        script = [word.replace("/deploy/", f"{ROOT}/deploy/temporal/") for word in entry]
        subprocess.run(script, env=env, check=True, timeout=60, capture_output=True)
        # by name: it takes seconds to import, and a type checker would read a thousand modules
        store = import_module("moto.server").ThreadedMotoServer(
            ip_address=self.address["store"], port=8333, verbose=False
        )
        store.start()
        self._running.callback(store.stop)
        assert httpx.put(f"http://{self.address['store']}:8333/evidence", timeout=60).status_code == 200

    def close(self) -> None:
        """End everything as an orchestrator does, all at once."""
        for process in self.processes.values():
            process.terminate()
        self._running.close()


@pytest.fixture
def cluster(tmp_path: Path, temporal_binary: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path, temporal_binary)
    try:
        yield made
    finally:
        made.close()


def test_the_compose_file_fits_the_schema_of_compose() -> None:
    checked = [str(BIN / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec"]
    ran = subprocess.run([*checked, str(ROOT / "docker-compose.yml")], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


def test_grafana_does_not_start_without_a_password(cluster: Cluster) -> None:
    """An empty one would leave the image's own."""
    shell, flag, script = cluster.services["grafana"]["entrypoint"]
    words = script.replace("$$", "$").replace("/run.sh", "true")
    for password, code in (("", 1), ("a-password", 0)):
        env = {"GF_SECURITY_ADMIN_PASSWORD": password}
        assert subprocess.run([shell, flag, words], env=env, capture_output=True).returncode == code


@pytest.mark.xdist_group("deep")
def test_the_services_of_the_compose_file_research_a_question_and_outlive_a_worker(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.start_others()
    users = cluster.environment("web", "web") | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    command = [cluster.here("web", word) for word in cluster.services["web"]["command"]]
    adding = [str(BIN / "determinator"), *command, "--add-user", "ada"]
    twice = "a-long-password\n" * 2
    added = subprocess.run(adding, env=users, input=twice, capture_output=True, text=True)
    assert added.returncode == 0, added.stderr
    cluster.start(**{"worker": "worker", "worker-2": "worker", "codec": "codec", "web": "web"})
    person = cluster.environment("worker", "worker") | {"DETERMINATOR_HOME": str(cluster.home("host"))}
    del person["DETERMINATOR_METRICS"], person["DETERMINATOR_READY_FILE"]
    question = "What is known about survival in lung cancer?"
    asked = determinator(
        "ask",
        question,
        "--mode",
        "deep",
        "--max-sections",
        "2",
        "--source",
        "library",
        "--detach",
        env=person,
    )
    assert asked.code == 0, asked.err
    wait_until(lambda: asyncio.run(events(cluster.server)) >= STARTED_EVENTS, every=0.3, what="the run")
    for name in ("worker", "worker-2"):
        assert "temporal_" in httpx.get(f"http://{cluster.address[name]}:9464/metrics").text, name
    cluster.processes["worker"].kill()
    watched = determinator("watch", asked.run_id, env=person)
    assert watched.code == 0, watched.err
    # A worker has metrics of the product once it did a step: the one that is left did the last ones.
    assert "determinator_" in httpx.get(f"http://{cluster.address['worker-2']}:9464/metrics").text
    verified = determinator("verify", asked.run_id, env=person)
    assert verified.code == 0, verified.err
    of_server = b"".join(path.read_bytes() for path in tmp_path.glob("temporal.db*"))
    assert of_server
    assert question.encode() not in of_server
    stored = httpx.get(f"http://{cluster.address['store']}:8333/evidence?list-type=2").text
    assert "blobs/" in stored
    assert "reports/" in stored
    for name in (*SERVICES, "host"):
        assert not (cluster.home(name) / "evidence").exists(), "documents are in the shared store only"
        assert not (cluster.home(name) / "state" / "server.json").exists(), "no server was started"
    codec = f"http://{cluster.address['codec']}:8081"
    assert httpx.post(f"{codec}/decode", json={"payloads": []}).status_code in (401, 403)
    token = {"Authorization": f"Bearer {SECRETS['DETERMINATOR_CODEC_TOKEN']}"}
    assert httpx.post(f"{codec}/decode", json={"payloads": []}, headers=token).status_code == 200
    host = {"Host": "localhost:7870"}
    page = httpx.get(f"http://{cluster.address['web']}:7870/", headers=host, follow_redirects=True)
    assert page.status_code in (200, 401), "the page asks who it is"


async def events(address: str) -> int:
    """Events of all histories."""
    client = await Client.connect(address)
    return sum([workflow.history_length or 0 async for workflow in client.list_workflows()])


@pytest.mark.npm
def test_prometheus_loads_the_rules_with_the_command_of_its_service(cluster: Cluster, tmp_path: Path) -> None:
    service = cluster.services["prometheus"]
    mounted = {}
    for volume in service["volumes"]:
        source, target, *_ = volume.split(":")
        mounted[target] = tmp_path / Path(target).name
        if source.startswith("./"):
            shutil.copy(ROOT / source, mounted[target])
    words = service["command"]
    for target in sorted(mounted, key=len, reverse=True):
        words = [word.replace(f"={target}", f"={mounted[target]}") for word in words]
    address = f"127.0.0.1:{free_port()}"
    program = ["prometheus", *words, f"--web.listen-address={address}"]
    cluster.begin("prometheus", program, os.environ)
    *_, check = service["healthcheck"]["test"]
    healthy = check.replace("127.0.0.1:9090", address)
    wait_until(lambda: answers(healthy), what="prometheus", every=0.2)
    groups = httpx.get(f"http://{address}/api/v1/rules").json()["data"]["groups"]
    loaded = {rule["name"] for group in groups for rule in group["rules"]}
    written = yaml.safe_load((ROOT / "examples" / "alerts.yml").read_text())["groups"]
    assert loaded == {rule["alert"] for group in written for rule in group["rules"]}


def answers(url: str) -> bool:
    """Whether a GET is answered with success."""
    try:
        return httpx.get(url).is_success
    except httpx.TransportError:
        return False


@pytest.mark.npm
@pytest.mark.timeout(900)
def test_the_steps_of_the_image_make_the_command_in_a_clean_folder(tmp_path: Path) -> None:
    """Each line of the Dockerfile in its order, in an environment and a folder of its own."""
    app, env = tmp_path / "app", {"PATH": f"{tmp_path}/venv/bin:{os.environ['PATH']}", "HOME": str(tmp_path)}
    app.mkdir()
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    for line in (ROOT / "Dockerfile").read_text().splitlines():
        step, _, rest = line.partition(" ")
        if step == "COPY":
            *names, target = rest.split()
            for name in names:
                to = app / target / Path(name).name if target.endswith("/") else app / target
                to.parent.mkdir(parents=True, exist_ok=True)
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
                copy(ROOT / name, to)
        elif step == "RUN" and not rest.startswith(("useradd", "mkdir")):
            ran = subprocess.run(["sh", "-c", rest], cwd=app, env=env, capture_output=True, text=True)
            assert ran.returncode == 0, f"{line}\n{ran.stderr[-2000:]}"
    shown = subprocess.run(
        ["determinator", "--version"], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert shown.returncode == 0, shown.stderr
    codec = ["python", str(app / "examples" / "codec_server.py"), "--help"]
    assert subprocess.run(codec, cwd=tmp_path, env=env, capture_output=True).returncode == 0
