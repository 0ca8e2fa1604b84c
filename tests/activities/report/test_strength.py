"""How strong the evidence of a work is: by design, size and directness, one grade everywhere."""

import pytest

from activities.contracts.evidence import Evidence, EvidenceType, Grade
from activities.report.schema import JudgedWork
from activities.report.strength import best_grade, is_in_people, participants, strength


def work(kind: EvidenceType = "article", **more: object) -> Evidence:
    fields = {"evidence_id": "pmid:1", "source": "pubmed", "title": "Metformin and mortality", "text": ""}
    return Evidence.model_validate({**fields, "evidence_type": kind, **more})


def judged(answers: int = 3, **more: object) -> JudgedWork:
    return JudgedWork.model_validate({"evidence_id": "pmid:1", "answers": answers, **more})


@pytest.mark.parametrize(
    ("item", "judgement", "grade"),
    [
        (work("randomized_trial"), judged(), "strong"),
        (work("randomized_trial"), judged(participants=49), "weak"),
        (work("randomized_trial"), judged(participants=50), "strong"),
        (work("randomized_trial"), judged(1), "moderate"),
        (work("randomized_trial"), judged(1, participants=20), "weak"),
        (work("observational"), judged(participants=20), "weak"),
        (work("article"), judged(design="randomized_trial"), "strong"),
        (work("article"), judged(design="cohort"), "moderate"),
        (work("article"), judged(design="cohort", participants=521_324), "moderate"),
        (work("article"), judged(design="cross_sectional"), "moderate"),
        (work("article"), judged(), "weak"),
        (work("meta_analysis"), judged(design="review"), "moderate"),
        (work("trial_registration"), judged(design="randomized_trial"), "weak"),
        (work("meta_analysis", standing="concern"), judged(), "weak"),
        (work("meta_analysis"), None, "strong"),
        (work("web_page", title="A meta-analysis in a word"), None, "weak"),
    ],
)
def test_strength_follows_design_size_and_directness(
    item: Evidence, judgement: JudgedWork | None, grade: Grade
) -> None:
    assert strength(item, judgement) == grade
    by_id = {"pmid:1": judgement} if judgement else {}
    assert best_grade([item], by_id) == grade, "the evidence of a candidate is graded alike"


def test_a_study_of_people_is_known_by_its_design_or_its_participants() -> None:
    assert is_in_people(work("article"), judged(participants=17))
    assert is_in_people(work("article"), judged(design="cohort"))
    assert not is_in_people(work("article"), judged(design="preclinical"))


@pytest.mark.parametrize(("recorded", "people"), [("77", 77), ("1" + "0" * 40, None), ("\u00b2", None)])
def test_a_record_says_how_many_took_part_within_bounds(recorded: str, people: int | None) -> None:
    assert participants(work(facts={"enrollment": recorded}), None) == people
