"""What a report without an answer names instead."""

from activities.extractive.nearest import nearest
from activities.types import Evidence
from tests.activities.cases import planned, publish_input
from tests.activities.report.building import built

QUESTION = "Does telmisartan prevent liver scarring?"


def work(number: int, title: str, text: str) -> Evidence:
    return Evidence(evidence_id=f"x:{number}", source="library", title=title, text=text)


NEIGHBOUR = work(
    1,
    "Does telmisartan prevent hepatic fibrosis in rats?",
    "Telmisartan prevented fibrosis of the liver in rats with alloxan-induced diabetes in this experiment.",
)
STRANGER = work(2, "Lectures on video", "Attendance of lectures did not change after they were put on video.")


def test_a_work_that_comes_near_is_named_with_what_it_does_not_mention() -> None:
    (near,) = nearest(QUESTION, [STRANGER, NEIGHBOUR])
    assert (near.evidence_id, near.missing) == (NEIGHBOUR.evidence_id, ("scarring",))


def test_a_report_without_an_answer_leads_to_the_nearest_works() -> None:
    section = planned("s1")
    draft = section.draft.model_copy(update={"nearest": nearest(QUESTION, [NEIGHBOUR])})
    report = built(
        publish_input(
            section.model_copy(update={"draft": draft}),
            question=QUESTION,
            evidence=({"evidence_id": "x:1", "blob": "b", "source": "library", "title": NEIGHBOUR.title},),
        )
    )
    assert report.unanswered is not None
    assert "hepatic fibrosis in rats?\u201d (" in report.executive_summary
    assert "\u201d), which does not mention scarring" in report.executive_summary


def test_the_nearest_works_are_shown_with_their_nearest_sentence() -> None:
    """The reader may find the answer there that the words of the question do not prove."""
    diary = work(
        3,
        "Diary of a keeper",
        "The lamp was lit at six. Fog hid the rocks, and two schooners ran aground. Supplies came by boat.",
    )
    (near,) = nearest("What wrecked the sailing vessels beneath the rocks?", [diary, STRANGER])
    assert near.said == "Fog hid the rocks, and two schooners ran aground."
    section = planned("s1")
    report = built(
        publish_input(
            section.model_copy(update={"draft": section.draft.model_copy(update={"nearest": (near,)})}),
            question="What wrecked the sailing vessels beneath the rocks?",
            evidence=({"evidence_id": "x:3", "blob": "b", "source": "library", "title": diary.title},),
        )
    )
    assert f"\u201c{diary.title}\u201d (\u201c{near.said}\u201d)" in report.executive_summary


def test_a_sentence_too_long_to_be_read_at_a_glance_is_not_shown() -> None:
    question = "Which schooner ran onto the rocks below the pier?"
    short = work(4, "Diary of a keeper", "Fog hid the rocks and the pier at noon. Supplies came by boat.")
    long = work(5, "Diary of a keeper", f"Fog hid the rocks {'and the pier ' * 40}at noon.")
    assert [near.said for near in nearest(question, [short, STRANGER])] == [short.text.split(" S")[0]]
    assert [near.said for near in nearest(question, [long, STRANGER])] == [""]
