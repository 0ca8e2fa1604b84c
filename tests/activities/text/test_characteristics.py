import pytest

from activities.text.characteristics import describes_participants

QUESTION = "What is known about acute appendicitis?"


@pytest.mark.parametrize(
    "sentence",
    [
        "The average age was 21 years (range, 16-38 years).",
        "Of those enrolled, 26.5% were females and 73.5% males.",
        "There were 19 men and 43 women.",
        "Median follow-up was 56 months.",
        "A total of 288 patients with invasive cancer were identified.",
        "One hundred seventy patients on two agents were identified from the database.",
        "Among these patients, 93 had complete information on prior operations.",
        "The remaining eight patients were diagnosed with other hernias.",
        "A total of 182 patients reported 970 attacks, 620 of which were treated.",
        "In all, 413 polyps were removed in these 288 patients.",
        "The procedures were bypass (n = 22), stenting (n = 13; 9%) and ligation (n = 4).",
    ],
)
def test_who_took_part_answers_nothing(sentence: str) -> None:
    assert describes_participants(sentence, QUESTION)


def test_a_tested_difference_is_a_finding_and_what_is_asked_for_an_answer() -> None:
    assert not describes_participants("The mean age was higher in perforation (P = 0.01).", QUESTION)
    assert not describes_participants("The mean age was 21 years.", "At what age does appendicitis occur?")
    complications = "The complications were a tear (n = 8), bleeding (n = 4) and perforation (n = 1)."
    assert not describes_participants(complications, QUESTION)
    assert not describes_participants("Appendectomy reduced sepsis in 40% of patients.", QUESTION)
