"""Imports run one way between packages; no modules and no folders import each other in a circle.

Imports inside functions count, because they are dependencies too; imports for type checkers do not.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "activities": ("activities",),
    "workflows": ("workflows", "activities"),
    "client": ("client", "workflows", "activities"),
    "worker": (
        "worker",
        "workflows",
        "activities",
        "client.connection",
        "client.runs.stuck",
    ),
}
"""Package -> what its modules may import of ours."""
COMPOSITION_ROOTS = ("client.cli.local",)
"""Modules that put a process together, and may import every package."""
LIBRARIES = ("text", "verification", "retractions", "documents")
"""Folders of `activities` that are used by the back ends and therefore depend on none."""
BACK_ENDS = ("activities.roles", "activities.extractive")
NAMES_BACK_END = "activities.roles"
"""The folder that may import `activities.extractive`: each role names what code does in its place."""


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def imports(tree: ast.AST, modules: Mapping[str, object]) -> Iterator[str]:
    """What a module imports: a module of ours by its full name, anything else as it is written."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr) or is_type_checking(node):  # no expression holds an import
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in modules else node.module
        yield from imports(node, modules)


def graph_of(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Module -> what it imports."""
    return {name: set(imports(ast.parse(text), sources)) for name, text in sources.items()}


def graph() -> dict[str, set[str]]:
    """The imports of all modules of the four packages."""
    sources = {}
    for package in MAY_IMPORT:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            sources[name.removesuffix(".__init__")] = path.read_text()
    return graph_of(sources)


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, directly or not."""
    import networkx  # takes a part of a second of each process that collects tests

    ours = networkx.DiGraph((name, target) for name in edges for target in edges[name] if target in edges)
    groups = networkx.strongly_connected_components(ours)
    return sorted(sorted(group) for group in groups if len(group) > 1)


def wrong_direction(edges: Mapping[str, set[str]]) -> set[tuple[str, str]]:
    """Imports against the direction between packages."""
    return {
        (name, target)
        for name, targets in edges.items()
        for target in targets
        if name not in COMPOSITION_ROOTS
        and target in edges
        and not within(target, *MAY_IMPORT[name.split(".", 1)[0]])
    }


def temporal_in_libraries(edges: Mapping[str, set[str]], packages: set[str]) -> set[tuple[str, str]]:
    """Modules in folders of `activities` that import Temporal. Flat files may, which define activities, and
    the errors, which say how Temporal retries each."""
    return {
        (name, "temporalio")
        for name, targets in edges.items()
        if within(name, *packages)
        and name != "activities.contracts.errors"
        and any(within(target, "temporalio") for target in targets)
    }


def back_ends_in_libraries(edges: Mapping[str, set[str]]) -> set[tuple[str, str]]:
    """Libraries that import a back end, and modules that import the extractive one and are no role."""
    libraries = [f"activities.{folder}" for folder in LIBRARIES]
    found = set()
    for name, targets in edges.items():
        for back_end in BACK_ENDS:
            if not any(within(target, back_end) for target in targets) or within(name, back_end):
                continue
            if within(name, *libraries):
                found.add((name, back_end))
            if back_end == "activities.extractive" and not within(name, NAMES_BACK_END):
                found.add((name, back_end))
    return found


def folders_of_activities() -> set[str]:
    folders = {path.parent.name for path in (ROOT / "activities").glob("*/*.py")}
    return {f"activities.{folder}" for folder in folders}


def folders(edges: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Folder of a package -> other folders that its files import; a folder within one counts as part of it,
    and flat files as none."""

    def folder(name: str) -> str:
        parts = name.split(".")[:2]
        return ".".join(parts) if ROOT.joinpath(*parts).is_dir() else ""

    found: dict[str, set[str]] = {}
    for name, targets in edges.items():
        ours = {folder(target) for target in targets if target in edges}
        found.setdefault(folder(name), set()).update(ours - {folder(name), ""})
    return found


def test_imports_run_one_way_and_in_no_circle_of_modules_or_folders() -> None:
    edges = graph()
    assert circles(edges) == []
    assert circles(folders(edges)) == []
    assert wrong_direction(edges) == set()
    assert temporal_in_libraries(edges, folders_of_activities()) == set()
    assert back_ends_in_libraries(edges) == set()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("activities.contracts.evidence", "import workflows.auto"),
        ("workflows.auto", "def f():\n    from client import connection"),
        ("worker.build", "from client.cli import main"),
    ],
)
def test_an_import_against_the_direction_is_noticed(name: str, text: str) -> None:
    ours = dict.fromkeys(("workflows.auto", "client.connection", "client.cli.main", name), "")
    assert wrong_direction(graph_of({**ours, name: text}))


def test_what_the_rules_forbid_is_noticed() -> None:
    edges = graph_of(
        {
            "activities.text.tokens": "from activities.extractive import cues",
            "activities.report.assemble": "from activities.extractive import cues",
            "activities.sources.pubmed": "from temporalio import activity",
            "activities.extractive": "",
            "activities.search_activity": "from temporalio import activity",
        }
    )
    assert back_ends_in_libraries(edges) == {
        ("activities.text.tokens", "activities.extractive"),
        ("activities.report.assemble", "activities.extractive"),
    }
    packages = {"activities.sources", "activities.text"}
    assert temporal_in_libraries(edges, packages) == {("activities.sources.pubmed", "temporalio")}


def test_a_circle_is_noticed_and_an_import_for_types_is_none() -> None:
    for_types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import client.a"
    assert circles(graph_of({"client.a": "import client.b", "client.b": "import client.a"}))
    assert not circles(graph_of({"client.a": "import client.b", "client.b": for_types}))
    of_folders = {"client.cli.a": {"client.runs.b"}, "client.runs.b": {"client.cli.c"}, "client.cli.c": set()}
    assert circles(folders(of_folders)) == [["client.cli", "client.runs"]]
