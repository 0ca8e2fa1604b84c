"""A document whose library is an extra is set aside by name, with the command that installs it."""

import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from activities.contracts.errors import install
from activities.sources.library.reading import SetAside, read_file


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("talk.pptx", "pptx", "office"),
        ("table.xlsx", "python_calamine", "office"),
        ("paper.tex", "pylatexenc.latex2text", "office"),
        ("works.bib", "bibtexparser.splitter", "bibliography"),
    ],
)
def test_a_file_whose_extra_is_missing_names_it(
    name: str, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if extra == "office" and not name.endswith(".tex"):
        with ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("anything", "")
    else:
        (tmp_path / name).write_bytes(b"anything")
    monkeypatch.setitem(sys.modules, module, None)
    (aside,) = read_file(b"", str(tmp_path / name), name)
    assert isinstance(aside, SetAside)
    assert aside.lacking
    assert f"pip install 'determinator[{extra}]'" in aside.reason


@pytest.mark.parametrize(
    ("mark", "command"),
    [
        ("uv-receipt.toml", "uv pip install --python {prefix} 'determinator[pdf]'"),
        ("pipx_metadata.json", "pipx runpip tools install 'determinator[pdf]'"),
        ("pyvenv.cfg", "pip install 'determinator[pdf]'"),
    ],
)
def test_an_extra_is_added_by_what_installed_the_product(mark: str, command: str, tmp_path: Path) -> None:
    prefix = tmp_path / "tools"
    prefix.mkdir()
    (prefix / mark).touch()
    assert install("pdf", prefix) == command.format(prefix=prefix)
