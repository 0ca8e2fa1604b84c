"""Clients of others, unmodified: `openai` for JavaScript, and LiteLLM. They are installed by the test."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.client.http.served import Served

pytestmark = [pytest.mark.npm, pytest.mark.timeout(500)]
HERE = Path(__file__).parent


def answers_of(command: list[str], served: Served) -> Any:
    ran = subprocess.run(
        [*command, f"{served.url}/v1", served.token], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The program in JavaScript, beside its client: before the environment is emptied."""
    folder = tmp_path_factory.mktemp("npm")
    subprocess.run(["npm", "install", "--prefix", str(folder), "--silent", "openai"], check=True, timeout=170)
    return ["node", str(shutil.copy(HERE / "foreign.mjs", folder))]


@pytest.fixture(scope="session")
def litellm(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The program in Python with LiteLLM, which imports `mcp` where it is asked for a response."""
    folder = tmp_path_factory.mktemp("venv")
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=120)
    subprocess.run([str(python), "-m", "pip", "install", "-q", "litellm", "mcp"], check=True, timeout=300)
    return [str(python), str(HERE / "foreign.py")]


def test_the_client_of_javascript_asks_streams_reconnects_approves_and_cancels(
    node: list[str], served: Served
) -> None:
    seen = answers_of(node, served)
    assert "determinator/auto" in seen["models"]
    assert seen["numbers"] == [*range(len(seen["numbers"]))]
    assert seen["end"] == "response.completed"
    assert seen["text"].startswith("# ")
    assert (seen["request"], seen["approved"]) == ("mcp_approval_request", "completed")
    assert seen["cancelled"] == "cancelled"
    assert "# " in seen["chat"]


def test_litellm_asks_by_both_protocols(
    litellm: list[str], served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    seen = answers_of(litellm, served)
    assert seen["status"] == "completed"
    assert all("# " in seen[name] for name in ("chat", "stream", "response"))
