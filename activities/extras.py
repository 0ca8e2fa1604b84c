"""Parts of the system whose libraries are extras of the package."""

from activities.contracts.errors import DeterminatorError


class NotInstalled(DeterminatorError):
    """A library or program that a part of the system needs is not there; the message says how to install
    it."""

    def __init__(self, what: str, how: str) -> None:
        super().__init__(f"{what} not installed; {how}")

    @classmethod
    def of_extra(cls, what: str, extra: str) -> "NotInstalled":
        """For a library behind an extra of the package."""
        return cls(f"{what} are", f"pip install 'determinator[{extra}]'")
