"""The folders that programs of others may name over an interface."""

from collections.abc import Sequence
from pathlib import Path

from client.failures import BadInput


class Folders:
    """The folders below which a caller may name files, with their links resolved."""

    def __init__(self, allowed: Sequence[Path]) -> None:
        """Raises BadInput for what is not a folder."""
        for folder in allowed:
            if not folder.is_dir():
                raise BadInput(f"{folder} is not a folder; --allow names one that exists")
        self._allowed = tuple(folder.resolve() for folder in allowed)

    def check(self, name: str) -> str:
        """The path, resolved. Raises BadInput for one outside, however it is written, and says no more of it:
        not even whether it exists."""
        try:
            path = Path(name).expanduser().resolve()
        except (OSError, RuntimeError, ValueError):
            path = None
        if path is None or not any(path.is_relative_to(folder) for folder in self._allowed):
            raise BadInput(
                "this path is not below a folder that this server may read; "
                "its operator allows one with `--allow DIR`"
            )
        return str(path)
