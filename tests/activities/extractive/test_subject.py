"""Works that speak beside the question's subject answer nothing."""

import pytest

from activities.models.extractive.ranking import Needle
from tests.activities.extractive.abstracts import cited, document, judged, written

STAGING = document(
    1,
    "CONCLUSIONS: Laparoscopic sonography is an accurate procedure in staging colorectal cancer.",
    "Is laparoscopic sonography reliable for staging colorectal cancer?",
)
MISSED = document(
    2,
    "RESULTS: Colorectal cancer was diagnosed in 835 patients.\n"
    "CONCLUSIONS: Many colorectal cancers could be due to missed adenomas.",
    "Are many colorectal cancers due to missed adenomas?",
)
ASPIRIN = document(
    3,
    "CONCLUSIONS: Daily aspirin prevented colorectal cancer in people with adenomas.",
    "Aspirin for the prevention of colorectal cancer",
)
ATORVASTATIN = document(
    4,
    "CONCLUSIONS: Atorvastatin reduced the risk of heart failure after infarction.",
    "Atorvastatin and heart failure",
)


def test_works_on_the_disease_alone_answer_no_question_about_a_drug_against_it() -> None:
    question = "Does aspirin prevent colorectal cancer?"
    assert judged(question, [STAGING, MISSED]).relevant == ()
    assert judged(question, [STAGING, MISSED]).confidence == 0
    assert written(question, [STAGING, MISSED]).paragraphs == ()
    assert cited(written(question, [STAGING, MISSED, ASPIRIN])) == {"pmid:3"}


@pytest.mark.parametrize(
    "question",
    [
        "Does music therapy shorten the stay after colorectal cancer?",
        "Does semaglutide prevent heart failure?",
    ],
)
def test_half_of_the_names_is_not_the_question(question: str) -> None:
    assert judged(question, [STAGING, MISSED, ATORVASTATIN]).relevant == ()


def test_a_class_of_drugs_is_named_by_its_members() -> None:
    needle = Needle("Do statins prevent heart failure?")
    assert needle.off_topic({"atorvastatin", "heart", "failur"}) == 1
    assert needle.off_topic({"digoxin", "heart", "failur"}) < 1


def test_a_name_may_stand_in_another_form_or_by_its_initials() -> None:
    austrian = document(
        5,
        "CONCLUSIONS: Austrian seniors had too few antibodies after vaccination against tetanus.",
        "Are Austrian seniors protected against tetanus by vaccination?",
    )
    assert judged("Are seniors in Austria vaccinated against tetanus?", [austrian]).relevant == ("pmid:5",)
    needle = Needle("Is double-balloon enteroscopy safe in a community hospital?")
    assert needle.off_topic({"dbe", "communiti", "hospit"}) == 1
    assert needle.off_topic({"tetanus", "communiti", "hospit"}) < 1


def test_a_text_without_a_title_is_not_blamed_for_a_name_it_never_says() -> None:
    needle = Needle("Are awareness campaigns effective in Leeds?")
    assert needle.off_topic({"awar", "campaign"}, titled=False) == 1
    assert needle.off_topic({"awar", "campaign"}, titled=True) < 1
