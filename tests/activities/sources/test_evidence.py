"""Searching what earlier runs have collected."""

import json
from pathlib import Path

import pytest

from activities.contracts.evidence import Evidence, Filters, Identifiers, Query
from activities.evidence_store import EvidenceStore
from activities.settings import Settings
from activities.sources.base import search
from activities.sources.evidence import EvidenceIndex, EvidenceSource, index_of
from activities.text.ranking import other_words, words

WORKS = (
    (
        *("pmid:1", "pubmed", "Metformin and colorectal adenomas"),
        *("Metformin reduced the recurrence of adenomas.", 2016),
    ),
    (
        *("pmid:2", "europepmc", "Statins in sepsis"),
        *("Statins did not change mortality in septic patients.", 2010),
    ),
    ("doc:3", "library", "Notes on hypertension", "High blood pressure falls with less salt.", None),
)


def work(evidence_id: str, source: str, title: str, text: str, year: int | None) -> Evidence:
    return Evidence(
        evidence_id=evidence_id, source=source, title=title, text=text, year=year, identifiers=Identifiers()
    )


@pytest.fixture
async def settings(tmp_path: Path) -> Settings:
    made = Settings(home=tmp_path / "home")
    store = EvidenceStore.at(made.evidence_url)
    for fields in WORKS:
        await store.put(work(*fields))
    await store.put_bytes(json.dumps({"answer": "metformin"}).encode())
    await store.put_bytes(b"metformin, no JSON", "txt")
    await store.put_named("reports/x.json", b"{}")
    return made


async def test_a_work_of_an_earlier_run_is_found_by_words_and_by_its_meaning(settings: Settings) -> None:
    result = await search(EvidenceSource(settings), Query(text="metformin for adenomas"))
    assert result.records[0].evidence_id == "pmid:1"
    assert result.records[0].source == "pubmed"
    assert result.records[0].provenance[0].source == "evidence"
    result = await search(
        EvidenceSource(settings), Query(text="arterial hypertensive disease, dietary sodium")
    )
    assert "doc:3" in {record.evidence_id for record in result.records}
    result = await search(EvidenceSource(settings), Query(text='metformin" OR NEAR( * -adenomas AND'))
    assert result.records[0].evidence_id == "pmid:1"


@pytest.mark.parametrize("text", ["lower pressure", "???"], ids=["no other names", "no words"])
async def test_words_without_another_name_are_no_damage_of_the_index(settings: Settings, text: str) -> None:
    assert not other_words(text)
    source = EvidenceSource(settings)
    await search(source, Query(text="metformin"))
    (place,) = (settings.home / "cache" / "evidence").glob("*.sqlite")
    made = place.stat().st_ino
    result = await search(source, Query(text=text))
    assert bool(result.records) == bool(words(text))
    assert place.stat().st_ino == made


async def test_filters_hold(settings: Settings) -> None:
    result = await index_of(settings).search("patients adenomas statins", 10, Filters(year_from=2015))
    assert "pmid:2" not in {work.evidence_id for work, _ in result}


async def test_what_was_collected_since_is_found(settings: Settings) -> None:
    source = EvidenceSource(settings)
    assert not (await search(source, Query(text="sildenafil"))).records
    store = EvidenceStore.at(settings.evidence_url)
    await store.put(work("pmid:4", "pubmed", "Sildenafil", "Sildenafil lowers pulmonary pressure.", 2005))
    assert (await search(source, Query(text="sildenafil"))).records[0].evidence_id == "pmid:4"


async def test_of_several_records_of_a_work_the_longest_is_searched_once(settings: Settings) -> None:
    store = EvidenceStore.at(settings.evidence_url)
    longer = WORKS[0][3] + " Its full text also describes zebrafish in detail."
    await store.put(work("pmid:1", "pmc", WORKS[0][2], longer, 2016))
    result = await search(EvidenceSource(settings), Query(text="metformin zebrafish"))
    assert [record.text for record in result.records if record.evidence_id == "pmid:1"] == [longer]


async def test_a_shared_store_does_not_show_what_was_in_somebodys_library(
    settings: Settings, tmp_path: Path
) -> None:
    index = EvidenceIndex(EvidenceStore.at(settings.evidence_url), tmp_path / "i.sqlite", shared=True)
    found = await index.search("high blood pressure and salt", 10)
    assert "doc:3" not in {work.evidence_id for work, _ in found}


async def test_a_damaged_index_is_made_again(settings: Settings) -> None:
    source = EvidenceSource(settings)
    await search(source, Query(text="metformin"))
    (place,) = (settings.home / "cache" / "evidence").glob("*.sqlite")
    place.write_bytes(b"no database" * 1000)
    with pytest.raises(Exception, match="made again"):
        await search(source, Query(text="metformin"))
    assert (await search(source, Query(text="metformin"))).records


async def test_abstracts_under_the_doi_of_their_supplement_are_both_found(settings: Settings) -> None:
    store = EvidenceStore.at(settings.evidence_url)
    for drug in ("Pirfenidone", "Nintedanib"):
        title = f"{drug} in lung fibrosis of farmers"
        await store.put(work("doi:10.1/s", "crossref", title, f"{drug} slowed the decline.", 2021))
    result = await search(EvidenceSource(settings), Query(text="decline of lung fibrosis of farmers"))
    assert len({record.title for record in result.records if record.evidence_id == "doi:10.1/s"}) == 2
