"""`determinator --version` names the commit."""

import subprocess
from importlib.metadata import version
from pathlib import Path

from client.version import SHOWN_DIGITS, commit_of, described
from tests.client.harness import determinator
from tests.programs import needs

NUMBER = version("determinator")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def repository(folder: Path) -> str:
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "First"]):
        named = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(folder), *named, *words], check=True)
    asked = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


@needs("git")
def test_in_a_repository_the_commit_is_gits(tmp_path: Path) -> None:
    commit = repository(tmp_path)
    assert described(tmp_path) == f"{NUMBER} ({commit[:SHOWN_DIGITS]})"


def test_an_installed_wheel_names_the_commit_of_its_build(tmp_path: Path) -> None:
    (tmp_path / "client").mkdir()
    (tmp_path / "client" / "commit.txt").write_text(f"{COMMIT}\n")
    assert commit_of(tmp_path) == COMMIT


def test_without_a_commit_there_is_the_version_alone(tmp_path: Path) -> None:
    assert described(tmp_path) == NUMBER


def test_the_option_prints_one_line() -> None:
    ran = determinator("--version")
    assert ran.code == 0
    assert ran.out.strip() == described()
