"""Imports of the client run one way, at module level and inside functions alike."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPOSITION_ROOT = "client.cli.worker"
OF_WORKER = {"client.connection", "client.exit"}
"""What a worker may import of the client."""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(package: str) -> dict[str, set[str]]:
    """Module -> what it imports, of this project."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / package).rglob("*.py"):
        names: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
                names.update(f"{node.module}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
        found[module_name(path)] = names
    return found


def test_no_two_modules_of_the_client_import_each_other() -> None:
    graph = imports("client")
    # the table of verbs is made of strings: a verb is imported when it is called
    assert "client.cli.ask" not in graph["client.cli.main"]
    try:
        TopologicalSorter({name: names & graph.keys() for name, names in graph.items()}).prepare()
    except CycleError as error:
        pytest.fail(f"these import each other: {error.args[1]}")


def test_only_the_composition_root_imports_worker() -> None:
    upwards = {
        name for name, names in imports("client").items() if any(n.split(".")[0] == "worker" for n in names)
    }
    assert upwards == {COMPOSITION_ROOT}


def test_a_worker_imports_only_the_connection_of_the_client() -> None:
    of_client = imports("client")
    used = {
        name
        for names in imports("worker").values()
        for name in names
        if name in of_client and name.startswith("client.")
    }
    assert used <= OF_WORKER
