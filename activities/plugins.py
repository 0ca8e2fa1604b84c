"""Parts that installed packages add by entry points: modes, report formats, roles and steps of graphs.

Sources have a list of their own (`activities.sources.names`), since they are built with settings. A part that
cannot be loaded is left out with a warning and never stops the others; none replaces a built-in name.
"""

import logging
from collections.abc import Collection
from importlib.metadata import EntryPoint, entry_points
from typing import Literal, TypeVar

# Parts are loaded while modules are imported, before a command has set up its log: this goes to stderr.
log = logging.getLogger(__name__)
T = TypeVar("T")

Group = Literal["determinator.modes", "determinator.formats", "determinator.roles", "determinator.steps"]


def points(group: Group) -> list[EntryPoint]:
    """The entry points of a group, by name; nothing is loaded."""
    return sorted(entry_points(group=group), key=lambda point: point.name)


def load(group: Group, kind: type[T], taken: Collection[str] = ()) -> dict[str, T]:
    """The objects of a group by their names, each of the type `kind`. Those that cannot be loaded, have
    another type, or whose name is taken are left out with a warning."""
    found: dict[str, T] = {}
    for point in points(group):
        if point.name in taken or point.name in found:
            log.warning("%s: the name %s of %s is taken", group, point.name, point.value)
            continue
        try:
            made = point.load()
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything; it must not stop a worker
            log.warning("%s: %s cannot be loaded: %s", group, point.value, error)
            continue
        named = getattr(made, "name", point.name)
        if not isinstance(made, kind) or named != point.name:
            log.warning("%s: %s is no %s named %s", group, point.value, kind.__name__, point.name)
            continue
        found[point.name] = made
    return found
