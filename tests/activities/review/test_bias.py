"""RoB 2: the charts judge every answer once, and a person decides."""

from itertools import product

import pytest

from activities.contracts.errors import DecisionError
from activities.contracts.evidence import Support
from activities.review.bias import (
    ANSWERS,
    DOMAINS,
    FIELDS,
    Answer,
    Domain,
    Judgement,
    decide,
    judgement,
    open_questions,
    overall,
)
from activities.review.extraction import Extraction, Value
from activities.review.steps import ExtractDataInput
from activities.roles.data_extractor import BIAS_ASSESSOR, DataAnswer
from tests.activities.review.studies import STEP, TRIAL

NAMES = ("randomisation", "deviations", "missing_data", "measurement", "reporting")
BY_ID = dict(zip(NAMES, DOMAINS, strict=True))
LIKELY: dict[Answer, Answer] = {"Y": "PY", "N": "PN", "NI": "NI"}
BEST: dict[str, Answer] = {
    **dict.fromkeys(("1.1", "1.2", "2.6", "5.1"), "Y"),
    **dict.fromkeys(("1.3", "2.1", "4.1", "4.2", "4.3", "5.2"), "N"),
    "2.2": "PN",
    "3.1": "PY",
    "5.3": "PN",
}


@pytest.mark.parametrize("domain", DOMAINS, ids=NAMES)
def test_every_set_of_answers_is_judged_and_every_question_decides_something(domain: Domain) -> None:
    numbers = list(domain.questions)
    levels: dict[tuple[Answer, ...], Judgement | None] = {}
    # answers in one class are alike in every chart, so that one of each class is enough
    for values in product(LIKELY, repeat=len(numbers)):
        answers = dict(zip(numbers, values, strict=True))
        level = judgement(domain, answers)
        assert level is not None
        levels[values] = level
        assert judgement(domain, {number: LIKELY[answer] for number, answer in answers.items()}) == level
    for place in range(len(numbers)):
        ends = {(*values[:place], *values[place + 1 :]): set[Judgement | None]() for values in levels}
        for values, level in levels.items():
            ends[(*values[:place], *values[place + 1 :])].add(level)
        assert any(len(judgements) > 1 for judgements in ends.values()), numbers[place]


@pytest.mark.parametrize(
    ("domain", "answers", "expected"),
    [
        # paths of the flow charts of the short version of 22 August 2019
        ("randomisation", {"1.1": "NI", "1.2": "PY", "1.3": "NI"}, "low"),
        ("randomisation", {"1.1": "Y", "1.2": "Y", "1.3": "Y"}, "some_concerns"),
        ("randomisation", {"1.1": "N", "1.2": "Y", "1.3": "N"}, "some_concerns"),
        ("randomisation", {"1.1": "N", "1.2": "NI", "1.3": "NI"}, "some_concerns"),
        ("randomisation", {"1.1": "Y", "1.2": "NI", "1.3": "PY"}, "high"),
        ("randomisation", {"1.2": "N"}, "high"),
        ("deviations", {"2.1": "NI", "2.3": "NI", "2.6": "Y"}, "some_concerns"),
        ("missing_data", {"3.1": "Y"}, "low"),
        ("measurement", {"4.1": "N", "4.2": "PY"}, "high"),
        ("measurement", {"4.1": "N", "4.2": "NI", "4.3": "NI", "4.4": "PN"}, "some_concerns"),
        ("measurement", {"4.1": "N", "4.2": "N", "4.3": "N"}, "low"),
        ("reporting", {"5.1": "Y", "5.2": "PY"}, "high"),
        ("reporting", {"5.1": "Y", "5.2": "N", "5.3": "NI"}, "some_concerns"),
        ("deviations", {"2.1": "N", "2.2": "N", "2.6": "Y"}, "low"),
        ("deviations", {"2.1": "Y", "2.2": "Y", "2.3": "PN", "2.6": "PY"}, "low"),
        ("deviations", {"2.1": "N", "2.2": "NI", "2.3": "NI", "2.6": "Y"}, "some_concerns"),
        ("deviations", {"2.1": "Y", "2.3": "Y", "2.4": "N", "2.6": "Y"}, "some_concerns"),
        ("deviations", {"2.1": "Y", "2.3": "Y", "2.4": "NI", "2.5": "Y", "2.6": "Y"}, "some_concerns"),
        ("deviations", {"2.1": "Y", "2.3": "Y", "2.4": "Y", "2.5": "NI", "2.6": "Y"}, "high"),
        ("deviations", {"2.1": "N", "2.2": "N", "2.6": "NI", "2.7": "N"}, "some_concerns"),
        ("deviations", {"2.1": "N", "2.2": "N", "2.6": "N", "2.7": "NI"}, "high"),
        ("missing_data", {"3.1": "NI", "3.2": "Y"}, "low"),
        ("missing_data", {"3.1": "N", "3.2": "N", "3.3": "PN"}, "low"),
        ("missing_data", {"3.1": "N", "3.2": "N", "3.3": "NI", "3.4": "N"}, "some_concerns"),
        ("missing_data", {"3.1": "N", "3.2": "N", "3.3": "Y", "3.4": "NI"}, "high"),
        ("measurement", {"4.1": "Y"}, "high"),
        ("measurement", {"4.1": "NI", "4.2": "N", "4.3": "Y", "4.4": "N"}, "low"),
        ("measurement", {"4.1": "N", "4.2": "NI", "4.3": "N"}, "some_concerns"),
        ("measurement", {"4.1": "N", "4.2": "N", "4.3": "NI", "4.4": "NI", "4.5": "PN"}, "some_concerns"),
        ("measurement", {"4.1": "N", "4.2": "NI", "4.3": "Y", "4.4": "Y", "4.5": "NI"}, "high"),
        ("reporting", {"5.1": "Y", "5.2": "N", "5.3": "N"}, "low"),
        ("reporting", {"5.1": "NI", "5.2": "N", "5.3": "N"}, "some_concerns"),
        ("reporting", {"5.1": "Y", "5.2": "NI", "5.3": "N"}, "some_concerns"),
        ("reporting", {"5.1": "Y", "5.2": "NI", "5.3": "Y"}, "high"),
    ],
)
def test_the_judgement_of_a_domain_is_that_of_the_published_chart(
    domain: str, answers: dict[str, Answer], expected: str
) -> None:
    assert judgement(BY_ID[domain], answers) == expected


def test_a_domain_whose_deciding_question_is_open_is_not_judged() -> None:
    assert judgement(BY_ID["deviations"], {"2.1": "Y", "2.6": "Y"}) is None
    assert judgement(BY_ID["deviations"], {"2.1": "N", "2.2": "N"}) is None
    known = {number: answer for number, answer in BEST.items() if number[0] != "2"}
    assert open_questions({**known, "2.1": "Y", "2.6": "Y"}) == ("2.3",)


def test_a_question_that_decides_nothing_need_not_be_answered() -> None:
    assert open_questions(BEST) == ()
    assert open_questions({**BEST, "2.2": "NI"}) == ("2.3",)
    assert open_questions({**BEST, "2.6": "NI"}) == ("2.7",)


def test_the_whole_is_as_high_as_its_highest_domain() -> None:
    assert overall(["low"] * 5) == "low"
    assert overall(["low", "some_concerns", "low", "low", "low"]) == "some_concerns"
    assert overall(["low", "some_concerns", "high", "low", "low"]) == "high"
    assert overall(["some_concerns", "some_concerns", "low", "low", "low"], several=True) == "high"
    assert overall(["some_concerns", "low", "low", "low", "low"], several=True) == "some_concerns"


PROPOSAL = Extraction(
    evidence_id="pmid:1",
    values=tuple(
        Value(field=number, text=answer, support=(Support(evidence_id="pmid:1", quote=number * 12),))
        for number, answer in BEST.items()
        if number != "5.3"
    ),
)


def test_a_person_decides_and_what_was_changed_is_recorded() -> None:
    assessment = decide(PROPOSAL, "mortality", {"5.3": "N", "1.2": "NI", "1.1": "Y"}, "Ada")
    assert assessment.by_number["1.2"] == "NI"
    assert dict(assessment.judgements())["Randomisation process"] == assessment.overall == "some_concerns"
    confirmed_answer = next(answer for answer in assessment.answers if answer.field == "1.1")
    assert confirmed_answer.support  # an answer that is confirmed stands by its quote
    assert not next(answer for answer in assessment.answers if answer.field == "1.2").support


@pytest.mark.parametrize(
    ("answers", "more", "message"),
    [
        ({}, {}, "answer 5.3 first"),
        ({"9.9": "Y"}, {}, "9.9 is not asked"),
        ({"3.2": "NI"}, {}, "3.2 is one of Y, PY, PN, N, not NI"),
        ({"5.3": "N"}, {"several": True}, "say why"),
    ],
)
def test_a_decision_that_leaves_something_open_is_refused(
    answers: dict[str, Answer], more: dict[str, bool], message: str
) -> None:
    with pytest.raises(DecisionError, match=message):
        decide(PROPOSAL, "mortality", answers, "Ada", **more)  # type: ignore[arg-type]


def test_there_are_twenty_two_questions() -> None:
    assert sum(len(domain.questions) for domain in DOMAINS) == 22
    assert ANSWERS[-1] == "NI"


def proposed(*values: dict[str, object]) -> Extraction:
    step = ExtractDataInput.model_validate({**STEP, "fields": FIELDS, "outcome": "death from any cause"})
    prompt = BIAS_ASSESSOR.render(step, [TRIAL], 14_000)
    assert "death from any cause" in prompt.user
    return BIAS_ASSESSOR.accept(step, prompt, DataAnswer.model_validate({"values": values})).output


def test_a_firm_answer_rests_on_words_of_the_trial_and_a_probable_one_on_a_reason() -> None:
    made = proposed(
        {"field": "1.1", "value": "Y", "sentences": ["S1"]},
        {"field": "1.2", "value": "Y", "reason": "a central computer"},
        {"field": "1.3", "value": "PN", "reason": "no difference is named"},
        {"field": "2.1", "value": "PN"},
        {"field": "3.1", "value": "NI", "reason": "it is not said"},
        {"field": "3.2", "value": "NI", "reason": "it is not said"},
        {"field": "3.4", "value": "N", "reason": "it is not said"},
        {"field": "7.7", "value": "Y", "sentences": ["S1"]},
        {"field": "4.1", "value": "maybe", "sentences": ["S1"]},
    )
    assert {value.field: value.text for value in made.values} == {"1.1": "Y", "1.3": "PN", "3.1": "NI"}
    assert made.values[0].support[0].quote in TRIAL.text
