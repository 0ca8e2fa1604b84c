"""The documents speak of what is there."""

import fnmatch
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_test_that_a_guarantee_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs/guarantees.md").read_text()))
    there = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", path.read_text())
    }
    assert len(named) > 40
    assert named <= there, f"gone: {sorted(named - there)}"


def test_links_between_documents_lead_somewhere() -> None:
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_every_file_that_the_architecture_names_exists() -> None:
    tree = [
        path.relative_to(ROOT).as_posix() + "/" * path.is_dir()
        for package in ("activities", "workflows", "worker", "client", "tests", "examples", "benchmarks")
        for path in (ROOT / package, *(ROOT / package).rglob("*"))
    ]
    named = re.findall(
        r"`([\w./*-]+(?:\.(?:py|toml|css|jinja)|/))`", (ROOT / "docs/architecture.md").read_text()
    )
    assert len(named) > 80
    assert [
        name for name in named if not fnmatch.filter(tree, name) + fnmatch.filter(tree, f"*/{name}")
    ] == []
