"""Records the commit that a wheel is built from, for `determinator --version`."""

import os
import subprocess
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):  # type: ignore[type-arg]  # its configuration is not typed
    """Adds `client/commit.txt` to a wheel; an installation in place asks git instead."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """`SOURCE_COMMIT` serves where the sources have no `.git`, as in the image; without either the wheel
        names no commit."""
        commit = os.environ.get("SOURCE_COMMIT", "") or self._of_git()
        if commit and version != "editable":
            written = Path(mkdtemp()) / "commit.txt"
            written.write_text(f"{commit}\n")
            build_data["force_include"][str(written)] = "client/commit.txt"

    def _of_git(self) -> str:
        if not (Path(self.root) / ".git").exists():
            return ""
        asked = ["git", "-C", self.root, "rev-parse", "HEAD"]
        try:
            found = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=10)  # noqa: S603 - git
        except OSError:
            return ""
        return found.stdout.strip()
