"""The code of `docs/integrations.md` runs as it is shown."""

import re
import subprocess
import types
from pathlib import Path
from typing import Any

import pytest

from tests.client.http.served import Served

pytestmark = pytest.mark.xdist_group("http")

TEXT = (Path(__file__).parents[3] / "docs/integrations.md").read_text()


def blocks(title: str, language: str) -> list[str]:
    """The code of a chapter."""
    chapter = TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]
    matches = re.findall(rf"^```{language}\n(.*?)^```", chapter, re.DOTALL | re.MULTILINE)
    assert matches, title
    return matches


def executed(*code: str) -> dict[str, Any]:
    module = types.ModuleType("integrations")
    for block in code:
        exec(compile(block, "integrations.md", "exec"), module.__dict__)  # what a reader would copy
    return module.__dict__


def test_the_code_for_python_and_a_notebook_runs(library: Path, tmp_path: Path) -> None:
    (tmp_path / "papers").symlink_to(library)  # in the current folder, as the documents name it
    names = executed(*blocks("Python", "python"), *blocks("A notebook", "python"))
    assert names["works"]
    assert names["quotes"]


def test_the_code_for_http_runs(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVED", served.url)
    monkeypatch.setenv("TOKEN", served.token)
    names = executed(*blocks("HTTP", "python"))
    assert names["event"].type == "response.completed"
    assert names["event"].response.output_text
    (script,) = blocks("HTTP", "bash")
    ran = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert "event: complete" in ran.stdout
    assert "# " in ran.stdout
