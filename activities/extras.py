"""Parts of the system whose libraries are extras of the package."""

import sys
from pathlib import Path

from activities.contracts.errors import DeterminatorError


def install(extra: str, prefix: Path | None = None) -> str:
    """Return the command that adds an extra of the package to this installation.

    Its `prefix` tells pip from the tools that keep an environment of their own, where pip cannot be called.
    """
    prefix = prefix or Path(sys.prefix)
    if (prefix / "uv-receipt.toml").exists():
        how = f"uv pip install --python {prefix}"
    else:
        is_pipx = (prefix / "pipx_metadata.json").exists()
        how = f"pipx runpip {prefix.name} install" if is_pipx else "pip install"
    return f"{how} 'determinator[{extra}]'"


class NotInstalled(DeterminatorError):
    """A library or program that a part of the system needs is not there.

    The message says how to install it.
    """

    def __init__(self, what: str, how: str) -> None:
        super().__init__(f"{what} not installed; {how}")

    @classmethod
    def of_extra(cls, what: str, extra: str) -> "NotInstalled":
        """Return the error for a library behind an extra of the package."""
        return cls(f"{what} are", install(extra))
