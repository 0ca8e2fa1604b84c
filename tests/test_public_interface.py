"""`determinator` is the one public import, and says so where another distribution hides its packages."""

import importlib
import subprocess
import sys
import zipfile
from pathlib import Path

import determinator

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs", "examples", "CHANGELOG.md")


def test_every_public_name_is_there() -> None:
    assert len(determinator.public_names()) > 40
    assert dir(determinator) == sorted(determinator.public_names()), "what a prompt completes"
    for name, module in determinator.public_names().items():
        assert getattr(determinator, name) is getattr(importlib.import_module(module), name)


def test_a_wheel_carries_types(tmp_path: Path) -> None:
    """The marker by which type checkers read the types of an installed package."""
    built = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(built, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
    for package in ("determinator", *determinator.PACKAGES):
        assert {f"{package}/__init__.py", f"{package}/py.typed"} <= names


def test_the_documents_and_examples_import_nothing_else_of_ours() -> None:
    pages = [page for name in PAGES for page in (ROOT / name, *(ROOT / name).rglob("*")) if page.is_file()]
    texts = {page: page.read_text() for page in pages if page.suffix in (".md", ".py", ".ipynb")}
    assert len(texts) > 20
    for package in determinator.PACKAGES:
        for start in (f"from {package}.", f"from {package} import", f"import {package}."):
            named = [page.name for page, text in texts.items() if start in text]
            assert named in ([], ["vocabularies.md"]), start  # that page shows an internal index


def test_another_distribution_with_a_package_of_our_name_is_named(tmp_path: Path) -> None:
    """As `llama-index-workflows` does with `workflows`."""
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows/__init__.py").write_text("")
    info = tmp_path / "other_workflows-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-workflows\nVersion: 1.0\n")
    (info / "top_level.txt").write_text("workflows\n")
    for code in ("from determinator import Determinator", "from determinator import main; main()"):
        program = f"import sys; sys.path[:0] = [{str(tmp_path)!r}]; {code}"
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
        assert ran.returncode == 1
        line = ran.stderr.strip().splitlines()[-1]
        assert "`workflows`" in line
        assert "other-workflows" in line
        assert "uv tool install" in line


def test_files_of_another_distribution_among_ours_are_noticed(tmp_path: Path) -> None:
    """Two distributions that install into one folder: the files of both are there."""
    for name in determinator.PACKAGES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    files = [f"{name}/__init__.py" for name in determinator.PACKAGES]
    (tmp_path / "determinator-1.0.dist-info").mkdir()
    (tmp_path / "determinator-1.0.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: determinator\nVersion: 1.0\n"
    )
    (tmp_path / "determinator-1.0.dist-info/RECORD").write_text("".join(f"{file},,\n" for file in files))
    (tmp_path / "determinator").mkdir()
    (tmp_path / "determinator/__init__.py").write_text((ROOT / "determinator/__init__.py").read_text())
    program = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}]; import determinator as d; print(d.collision())"
    )

    def problem() -> str:
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    assert problem() == ""
    (tmp_path / "workflows/context").mkdir()
    assert "`workflows`" in problem()
