"""Filters reach every source that has them, in the source's own words."""

import pytest

from activities.configuration.question import SourceFilters, SourceSettings
from activities.contracts.evidence import Evidence, Filters, Query
from activities.search_activity import in_years, narrowed
from activities.sources import clinicaltrials, crossref, europepmc, ncbi, openalex, semanticscholar
from activities.sources.filters import MESH, TYPES, canonical, in_words_of

REVIEWS_AND_TRIALS = Filters(publication_types=("review", "rct"), year_from=2015, free_full_text=True)
QUERY = Query(text="metformin", filters=REVIEWS_AND_TRIALS)


def test_filters_are_sent_in_the_words_of_each_source() -> None:
    assert '"Review"[Publication Type] OR "Randomized Controlled Trial"' in ncbi.with_types(QUERY)
    assert "free full text[sb]" in ncbi.with_types(QUERY)
    assert 'PUB_TYPE:"Randomized Controlled Trial"' in europepmc.narrowed(QUERY)
    assert "OPEN_ACCESS:Y" in europepmc.narrowed(QUERY)
    assert semanticscholar.parameters(QUERY)["publicationTypes"] == "Review,ClinicalTrial"
    assert "type:review" in openalex.parameters(QUERY)["filter"]
    assert "is_oa:true" in openalex.parameters(QUERY)["filter"]
    assert "from-pub-date:2015" in crossref.parameters(QUERY)["filter"]
    assert in_words_of(MESH, ("Letter",)) == ("Letter",)


@pytest.mark.parametrize("name", TYPES)
def test_every_type_is_known_however_it_is_typed(name: str) -> None:
    assert canonical(name.replace("_", "-").upper()) == name


@pytest.mark.parametrize(
    "filters", [Filters(phases=("PHASE2", "phase 3")), Filters(options={"phase": "Phase 2, phase3"})]
)
def test_phases_of_a_trial_reach_the_register_and_the_indexes_of_papers(filters: Filters) -> None:
    query = Query(text="metformin", filters=filters)
    assert clinicaltrials.parameters(query)["filter.advanced"] == "AREA[Phase](PHASE2 OR PHASE3)"
    second, third = "Clinical Trial, Phase II", "Clinical Trial, Phase III"
    assert ncbi.with_types(query) == (
        f'(metformin) AND ("{second}"[Publication Type] OR "{third}"[Publication Type])'
    )
    assert europepmc.narrowed(query) == f'(metformin) AND (PUB_TYPE:"{second}" OR PUB_TYPE:"{third}")'


def test_what_is_asked_for_goes_over_the_configured_filters_and_years_hold_for_every_source() -> None:
    configured = SourceSettings(max_results=3, filters=SourceFilters(year_from=2000, year_to=2010))
    found = narrowed(Query(text="x", filters=Filters(year_from=2005)), configured)
    assert (found.limit, found.filters.year_from, found.filters.year_to) == (3, 2005, 2010)
    old, new, undated = (
        Evidence(evidence_id="x", source="s", title="t", text="x", year=year) for year in (1990, 2020, None)
    )
    asked = Filters(year_from=2015)
    assert [in_years(record, asked) for record in (old, new, undated)] == [False, True, True]
