"""Filters by one name for all sources; the golden files hold how each source is asked for them."""

import pytest

from activities.configuration.question import SourceFilters, SourceSettings
from activities.contracts.evidence import Evidence, Filters, Query
from activities.search_activity import narrowed
from activities.sources.filters import TYPES, canonical, in_years


@pytest.mark.parametrize("name", TYPES)
def test_every_type_is_known_however_it_is_typed(name: str) -> None:
    assert canonical(name.replace("_", "-").upper()) == name


def test_what_is_asked_for_goes_over_the_configured_filters_and_years_hold_for_every_source() -> None:
    configured = SourceSettings(max_results=3, filters=SourceFilters(year_from=2000, year_to=2010))
    found = narrowed(Query(text="x", filters=Filters(year_from=2005)), configured)
    assert (found.limit, found.filters.year_from, found.filters.year_to) == (3, 2005, 2010)
    old, new, undated = (
        Evidence(evidence_id="x", source="s", title="t", text="x", year=year) for year in (1990, 2020, None)
    )
    asked = Filters(year_from=2015)
    assert [in_years(record, asked) for record in (old, new, undated)] == [False, True, True]
