"""What a message calls an option: its name in Python, unless the surface on which it is read has another."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

in_python = "`{}`".format
_naming: ContextVar[Callable[[str], str]] = ContextVar("naming", default=in_python)


def named(option: str) -> str:
    """The option `max_cost` as the reader gives it: `--max-cost` on a command line."""
    return _naming.get()(option)


@contextmanager
def naming(name_of: Callable[[str], str]) -> Iterator[None]:
    """Within, what is raised and said is read on a surface that names options so."""
    token = _naming.set(name_of)
    try:
        yield
    finally:
        _naming.reset(token)
