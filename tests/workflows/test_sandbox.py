"""What the sandbox does not watch, or no recorded history reaches, can do nothing that it would refuse."""

import ast
from pathlib import Path

import pytest

from tests.workflows.sandbox import DATA_AND_RULES, PASSED_THROUGH

ROOT = Path(__file__).parents[2]
PURE = {
    *("annotated_types", "ast", "base64", "collections", "dataclasses", "datetime", "enum", "functools"),
    *("hashlib", "itertools", "json", "math", "operator", "pydantic", "statistics", "re", "typing"),
    *("unicodedata", "zlib"),
}
"""Packages with neither a clock nor randomness nor input and output, but for `CLOCK`."""
CLOCK = {"now", "today", "utcnow"}
CALLS = {"open", "input", "__import__", "exec", "eval"}
ORDERS = PURE | {"activities", "asyncio", "contextlib", "networkx", "temporalio", "workflows"}
"""What the code that orders steps may import: its event loop is that of Temporal, whose clock stands in the
history."""
BEFORE_A_RUN = {
    "workflows/graph/library.py": {"importlib", "pathlib", "pydantic_core", "tomllib"},
    "workflows/modes.py": {"importlib"},
    "workflows/parts/rows.py": {"importlib"},
}
"""What is imported only to read graphs and classes when a worker starts, to load a part of the package, and
to name the service that others call."""


def files(module: str) -> list[Path]:
    path = ROOT.joinpath(*module.split("."))
    return sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(tree: ast.AST) -> list[str]:
    """The modules that a file imports."""
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.append(node.module or "")
    return found


def called(tree: ast.AST) -> set[str]:
    """The functions that a file calls by their plain name."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {function.id for function in calls if isinstance(function, ast.Name)}


@pytest.mark.invariant
@pytest.mark.parametrize("path", [path for module in DATA_AND_RULES for path in files(module)], ids=shown)
def test_modules_that_pass_through_import_nothing_that_is_not_pure(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert not any(isinstance(node, ast.Attribute) and node.attr in CLOCK for node in ast.walk(tree))
    assert called(tree) & CALLS == set()
    unknown = [
        name
        for name in imported(tree)
        if name.split(".")[0] not in PURE
        and not any(name == passed or name.startswith(f"{passed}.") for passed in PASSED_THROUGH)
    ]
    assert unknown == []


@pytest.mark.invariant
def test_code_that_orders_steps_has_no_clock_of_its_own_and_no_randomness() -> None:
    for path in files("workflows"):
        tree = ast.parse(path.read_text())
        packages = {name.split(".")[0] for name in imported(tree)}
        assert packages <= ORDERS | BEFORE_A_RUN.get(shown(path), set()), path
        assert called(tree) & CALLS == set(), path
        clocks = {
            ast.unparse(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr in CLOCK
        }
        assert {clock.rpartition(".")[2] for clock in clocks} <= {"workflow", "context", "self"}, path
