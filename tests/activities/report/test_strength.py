"""How strong the evidence of a work is: by its checked design, its size and how directly it answers."""

import pytest

from activities.contracts.evidence import Evidence, EvidenceType, Grade
from activities.report.schema import JudgedWork
from activities.report.works import strength
from activities.verification import gate


def work(kind: EvidenceType = "article", text: str = "", **more: object) -> Evidence:
    fields = {"evidence_id": "pmid:1", "source": "pubmed", "title": "Metformin and mortality", "text": text}
    return Evidence.model_validate({**fields, "evidence_type": kind, **more})


def judged(answers: int = 3, **more: object) -> JudgedWork:
    return JudgedWork.model_validate({"evidence_id": "pmid:1", "answers": answers, **more})


@pytest.mark.parametrize(
    ("item", "judgement", "grade"),
    [
        (work("randomized_trial"), judged(), "strong"),
        (work("randomized_trial"), judged(participants=49), "moderate"),
        (work("randomized_trial"), judged(participants=50), "strong"),
        (work("randomized_trial"), judged(1), "moderate"),
        (work("randomized_trial"), judged(1, participants=20), "weak"),
        (work("observational"), judged(participants=20), "moderate"),
        (work("article"), judged(design="randomized controlled trial"), "strong"),
        (work("article"), judged(design="narrative"), "weak"),
        (work("article", "We conducted a prospective cohort study of nurses."), None, "moderate"),
        (work("meta_analysis", standing="concern"), judged(), "weak"),
        (work("meta_analysis"), None, "strong"),
    ],
)
def test_strength_follows_design_size_and_directness(
    item: Evidence, judgement: JudgedWork | None, grade: Grade
) -> None:
    assert strength(item, judgement) == grade


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("randomised controlled trial", False),
        ("mouse study", False),
        ("meta-analysis", False),
        ("cohort study", True),
        ("prospective cohort study of nurses", True),
        ("", False),
    ],
)
def test_a_judges_design_is_held_to_the_text_of_that_work(text: str, stands: bool) -> None:
    item = work("article", "We conducted a prospective cohort study of nurses over ten years.")
    assert gate.design(text, item).stands is stands
