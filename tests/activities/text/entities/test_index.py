"""The index is built once, whole, and without a writable folder it still works."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

from activities.configuration.origins import unknown_variables
from activities.text.entities import index
from activities.text.entities.build import Index
from activities.text.entities.index import open_names
from activities.text.entities.keys import key
from activities.text.entities.vocabularies import PACKAGES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("names")
    open_names(place)
    return place


def refuse() -> Index:
    raise AssertionError("built again")


def test_an_index_that_lies_there_is_not_built_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "build", refuse)
    assert open_names(folder).found(key("metformin"))


def test_a_new_version_of_a_vocabulary_makes_a_new_index(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "versions", lambda: {"drug-named-entity-recognition": "99"})
    monkeypatch.setattr(index, "build", refuse)
    with pytest.raises(AssertionError, match="built again"):
        open_names(folder)


def small() -> Index:
    line = b'["drug","drugbank:DB00331","Metformin",["Metformin","glucophage"]]\n'
    return Index([("metformin", (0, 0)), ("glucophage", (0, 0))], line, ("hydrochloride",), {})


def test_a_damaged_index_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "build", small)
    open_names(tmp_path)
    (place,) = tmp_path.iterdir()
    (place / "entities.jsonl").unlink()
    offset, _ = open_names(tmp_path).found("glucophage")[0]
    assert open_names(tmp_path).entry(offset).name == "Metformin"
    assert [path.name for path in tmp_path.iterdir()] == [place.name]


def test_without_a_writable_folder_the_index_lives_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "build", small)
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    opened = open_names(blocked / "names")
    offset, _ = opened.found("metformin")[0]
    assert opened.entry(offset).id == "drugbank:DB00331"


def test_importing_the_library_loads_no_data() -> None:
    code = (
        "import sys, activities.text.entities; "
        "print([m for m in ('drug_named_entity_recognition', 'symspellpy', 'requests') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_every_vocabulary_is_described_with_its_licence() -> None:
    page = Path("docs/vocabularies.md").read_text(encoding="utf-8")
    for package in PACKAGES:
        assert f"`{package}`" in page
        assert importlib.metadata.version(package)


def test_the_cache_folder_is_a_setting_that_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DETERMINATOR_CACHE", str(tmp_path))
    assert index.default_folder() == tmp_path / "names"
    assert unknown_variables({"DETERMINATOR_CACHE": str(tmp_path)}) == {}
