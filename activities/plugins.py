"""What installed packages may add, one entry point a part. This file lists every group with its signature.

    [project.entry-points."determinator.sources"]
    notes = "notes:search_notes"

determinator.sources    for `--source`: an async function `(query: str, ...) -> list[Evidence]` declared with
                        `@source`, a `Source`, or a function `(Settings, Http) -> Source`
determinator.modes      for `--mode`: a function declared with `@mode`, which imports the workflow class
determinator.roles      for a node of a graph: a function `(OwnStepInput, answer) -> OwnStepOutput` declared
                        with `@role`: a prompt, and the model's answer as a pydantic model
determinator.steps      for a node of a graph: an async function
                        `(OwnStepInput, Sequence[Evidence]) -> OwnStepOutput` declared with `@step`
determinator.formats    for `--format`: a `Format`, that is a function
                        `(Report, Mapping[str, Evidence]) -> bytes` with its file name and media type

All of these names are imported from `determinator`. Hooks around searches and model calls (`Call`,
`CallOutcome`) are named in the settings, since they see what is sent: `hooks = ["module:attribute"]`.

A part that cannot be loaded is left out with a warning and never stops the others; a source that cannot be
loaded is listed with the reason. No part replaces a built-in name.
"""

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from typing import Literal, TypeVar

# Parts are loaded while modules are imported, before a command has set up its log: this goes to stderr.
log = logging.getLogger(__name__)
T = TypeVar("T")

Group = Literal[
    "determinator.sources",
    "determinator.modes",
    "determinator.roles",
    "determinator.steps",
    "determinator.formats",
]


@contextmanager
def no_exit() -> Iterator[None]:
    """Raise RuntimeError for what would end the process that runs foreign code, with every run of its worker.

    An event loop ends by KeyboardInterrupt and SystemExit, whichever task raises them.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit) as error:
        raise RuntimeError(f"{type(error).__name__} {error}".strip()) from error


def points(group: Group) -> list[EntryPoint]:
    """Return the entry points of a group, by name; nothing is loaded."""
    return sorted(entry_points(group=group), key=lambda point: point.name)


def load(group: Group, kind: type[T], taken_names: Collection[str] = ()) -> dict[str, T]:
    """Return the objects of a group by their names, each of the type `kind`.

    Those that cannot be loaded, have another type, or whose name is taken are left out with a warning.
    """
    objects: dict[str, T] = {}
    for point in points(group):
        if point.name in taken_names or point.name in objects:
            log.warning("%s: the name %s of %s is taken", group, point.name, point.value)
            continue
        try:
            with no_exit():
                plugin = point.load()
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything; it must not stop a worker
            log.warning("%s: %s cannot be loaded: %s", group, point.value, error)
            continue
        name = getattr(plugin, "name", point.name)
        if not isinstance(plugin, kind) or name != point.name:
            log.warning("%s: %s is no %s named %s", group, point.value, kind.__name__, point.name)
            continue
        objects[point.name] = plugin
    return objects
