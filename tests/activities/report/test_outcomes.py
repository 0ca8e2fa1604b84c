from activities.report.outcomes import OutcomeGroup, by_outcome


def test_works_are_grouped_by_a_word_that_their_outcomes_share() -> None:
    outcomes = ("30-day mortality", "pain", "mortality and morbidity", "")
    assert by_outcome(outcomes, "Is surgery safe?") == (OutcomeGroup("Mortality", (0, 2)),)


def test_people_and_the_population_of_the_question_are_no_outcome() -> None:
    asked = "What are the treatment options for prostate cancer?"
    assert by_outcome(("prostate cancer", "prostate specific antigen"), asked) == ()
    assert by_outcome(("feeding of obese children", "vitamin D status of children"), "Is it safe?") == ()
