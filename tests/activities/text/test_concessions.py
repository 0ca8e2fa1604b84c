"""What a sentence grants is no finding; what it states beside that is."""

import pytest

from activities.text.concessions import main_clauses
from activities.text.verdict import verdict


@pytest.mark.parametrize(
    ("sentence", "stated"),
    [
        ("Although costs rose, survival improved.", "survival improved."),
        ("Survival improved, although costs rose.", "Survival improved"),
        ("Despite higher costs, survival improved.", "survival improved."),
        ("Survival improved; larger trials are needed.", "Survival improved;"),
        ("Larger trials are needed.", ""),
        ("It is rare and although costs rose, survival improved.", "It is rare and survival improved."),
        ("Survival improved while costs fell.", "Survival improved while costs fell."),
    ],
)
def test_concessions_and_calls_for_studies_are_left_out(sentence: str, stated: str) -> None:
    assert main_clauses(sentence) == stated


def test_a_direction_rests_on_the_main_clause_and_shows_the_whole_sentence() -> None:
    said = "Although it was dearer, zinc significantly reduced relapses of asthma."
    found = verdict("Does zinc reduce relapses of asthma?", [said, "However, larger trials are needed."])
    assert found is not None
    assert (found.way, found.sentence) == ("yes", said)


def test_a_finding_in_a_concession_decides_nothing() -> None:
    said = "Although zinc reduced relapses of asthma, children grew more slowly."
    assert verdict("Does zinc reduce relapses of asthma?", [said]) is None


def test_a_but_between_findings_has_no_direction() -> None:
    said = "Zinc reduced relapses of asthma in winter but not in summer."
    assert verdict("Does zinc reduce relapses of asthma?", [said]) is None
