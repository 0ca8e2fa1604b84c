"""How sure a report is of its answer."""

import pytest

from activities.report.confidence import UNNAMED
from tests.activities.cases import INCREASED, planned, publish_input, quoting
from tests.activities.report.building import built

ADMISSIONS = "There was no difference in hospital admissions between the groups."


@pytest.mark.parametrize(
    ("question", "quote", "named"),
    [
        ("Which drugs reduce hospital admissions?", ("pmid:1", ADMISSIONS), False),
        ("Which drugs reduce mortality?", ("pmid:2", INCREASED), True),
        ("Which treatments reduce hospital admissions?", ("pmid:1", ADMISSIONS), True),
        ("Does metformin reduce hospital admissions?", ("pmid:1", ADMISSIONS), True),
    ],
)
def test_an_answer_that_names_no_drug_where_drugs_are_asked_for_says_so(
    question: str, quote: tuple[str, str], named: bool
) -> None:
    step = publish_input(
        planned("s1", quoting(quote[1], quote)), question=question, models=("extractive",), confidence=0.9
    )
    report = built(step)
    said = [reason.code for reason in report.confidence_reasons]
    assert ("confidence_unnamed" not in said) is named
    assert (report.confidence > UNNAMED) is named
