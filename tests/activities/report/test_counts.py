"""The numbers of a report add up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.contracts.evidence import Length
from activities.contracts.publish import PrismaCounts
from activities.report.assemble import build_report
from activities.report.formats import render
from activities.report.schema import Report
from tests.activities.report.wide import RICH
from tests.activities.report.written import STEP, WORKS

NUMBER = st.integers(min_value=0, max_value=500)


@given(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER)
def test_identified_works_are_duplicates_screened_or_not_screened(
    identified: int, duplicates: int, different: int, screened: int, included: int
) -> None:
    counts = PrismaCounts(identified=identified, duplicates=min(duplicates, identified))
    made = counts.added_up(different, screened, included)
    assert made.identified == made.duplicates + made.screened + made.not_screened
    assert made.screened == made.included + made.not_cited
    assert min(made.model_dump().values()) >= 0
    assert made.included == included


def test_what_a_run_holds_beside_what_was_screened_is_said() -> None:
    made = PrismaCounts(identified=75, duplicates=46).added_up(29, 21, 9)
    assert (made.duplicates, made.screened, made.not_screened, made.not_cited) == (46, 21, 8, 12)


@pytest.mark.parametrize("report", [RICH, build_report(STEP, WORKS)], ids=["rich", "written"])
def test_the_full_report_has_all_that_the_standard_one_has(report: Report) -> None:
    def lines(length: Length) -> set[str]:
        text = render(report.replace(length=length), "md").decode()
        return {line.strip() for line in text.splitlines() if line.strip()}

    assert lines("standard") - lines("full") == set()
