"""`determinator` is the one public import, and says so where another distribution hides its packages."""

import importlib
import subprocess
import sys
import zipfile
from pathlib import Path

import determinator

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs", "examples", "CHANGELOG.md")


SCRIPT = """
import asyncio

from determinator import Determinator, Run


async def main() -> str:
    async with Determinator() as client:
        run: Run = await client.ask("Does it help?", mode="deep", max_cost=1.0)
        report = await run.report()
        return run.id.upper() + report.title


def blocking() -> str:
    with Determinator() as client:
        return client.ask("Does it help?").report().title


asyncio.run(main())
"""


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
    assert "determinator/temporal.pyi" in names


MYPY = """[mypy]
strict = true
follow_imports = skip
[mypy-determinator.*,activities.*,client.*,worker.*,workflows.*,pydantic.*,pydantic_core.*,typing_extensions.*]
follow_imports = normal
"""
"""Without a plugin. Packages of others but pydantic, which makes our models, are taken for untyped: to read
them is most of the time."""


def test_a_users_script_is_checked_strictly(tmp_path: Path) -> None:
    """With the types of the package as it is installed here, and none of its sources on the path."""
    (tmp_path / "mypy.ini").write_text(MYPY)
    (tmp_path / "script.py").write_text(SCRIPT)
    wrong = SCRIPT.replace("max_cost=1.0", 'max_cost="much"').replace("run.id.upper()", "run.number")
    (tmp_path / "wrong.py").write_text(wrong)
    command = [sys.executable, "-m", "mypy", "--cache-dir=/dev/null", "script.py", "wrong.py"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    errors = [line for line in checked.stdout.splitlines() if ": error: " in line]
    assert {line.partition(":")[0] for line in errors} == {"wrong.py"}, checked.stdout
    assert "max_cost" in checked.stdout
    assert 'has no attribute "number"' in checked.stdout


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
