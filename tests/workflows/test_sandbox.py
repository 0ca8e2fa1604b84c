"""What the sandbox does not watch can do nothing that the sandbox would refuse."""

import ast
from pathlib import Path

import pytest

from tests.workflows.sandbox import DATA_AND_RULES, PASSED_THROUGH

ROOT = Path(__file__).parents[2]
PURE = {
    "annotated_types",
    "ast",
    "base64",
    "collections",
    "dataclasses",
    "datetime",
    "enum",
    "functools",
    "hashlib",
    "itertools",
    "json",
    "math",
    "operator",
    "pydantic",
    "re",
    "typing",
    "unicodedata",
    "zlib",
}
"""Packages with neither a clock nor randomness nor input and output, but for `CLOCK`."""
CLOCK = {"now", "today", "utcnow"}


def files(module: str) -> list[Path]:
    path = ROOT.joinpath(*module.split("."))
    return sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.invariant
@pytest.mark.parametrize("path", [path for module in DATA_AND_RULES for path in files(module)], ids=shown)
def test_modules_that_pass_through_import_nothing_that_is_not_pure(path: Path) -> None:
    imported: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.append(node.module or "")
        elif isinstance(node, ast.Attribute):
            assert node.attr not in CLOCK
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"open", "input", "__import__", "exec", "eval"}
    unknown = [
        name
        for name in imported
        if name.split(".")[0] not in PURE
        and not any(name == passed or name.startswith(f"{passed}.") for passed in PASSED_THROUGH)
    ]
    assert unknown == []
