"""The version with the commit that it was built from."""

import re
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

from activities.processes import run

ROOT = Path(__file__).parents[1]
COMMIT = re.compile(r"[0-9a-f]{7,64}")
SHOWN_DIGITS = 12


def release_line() -> str:
    """`0.2`: a run that began on a version of one line ends on a version of it."""
    return ".".join(version("determinator").split(".")[:2])


def described(root: Path = ROOT) -> str:
    """`0.1.0 (0123456789ab)`; the version alone where the commit is not known."""
    number, commit = version("determinator"), commit_of(root)
    return f"{number} ({commit[:SHOWN_DIGITS]})" if commit else number


def commit_of(root: Path) -> str:
    """Return the commit of the sources in `root`; empty where it is not known.

    It is that of their git repository, else the one that the build recorded.
    """
    commit = _of_git(root) if (root / ".git").exists() else ""
    recorded = root / "client" / "commit.txt"
    if not commit and recorded.is_file():
        commit = recorded.read_text("utf-8").strip()
    return commit if COMMIT.fullmatch(commit) else ""


def _of_git(root: Path) -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    try:
        command = [git, "-C", str(root), "rev-parse", "HEAD"]
        return run(command, capture_output=True, timeout=5).stdout.decode(errors="replace").strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
