"""A work answers a question when it speaks of it in other words, and not when only its neighbour does."""

import pytest

from activities.text import answering
from activities.text.directness import beside, on_another_thing
from activities.text.information import information
from activities.text.needle import Needle
from activities.text.ranking import rank, relevant
from activities.text.tokens import stem
from activities.types import Evidence
from tests.activities.extractive.abstracts import cited, document, judged, written

POST = document(
    1,
    "# The post of the empire\n\nA rider who changed horses at each station covered eighty kilometres a day. "
    "Villages on the road had to supply the animals. Citizens without a warrant could not use it.",
    "# The post of the empire",
    "document",
)
FARE = document(
    2,
    "# Fares\n\nThe city brought in a fare of two euros in May. Sixty per cent more people took the bus.",
    "# Fares",
    "document",
)


def helping(question: str, works: list[Evidence]) -> list[str]:
    return [item.document.evidence_id for item in relevant(rank(question, works))]


def test_a_note_answers_in_other_words() -> None:
    asked = "How many kilometres did a courier of the imperial post cover in a day?"
    assert helping(asked, [POST, FARE]) == ["pmid:1"]


WALL = document(
    5,
    "# The harbour wall\n\nWaves broke over the harbour wall in every gale until it was raised by two metres "
    "in 1911. Since then no dwelling behind it has been flooded. The masons were paid by the ton.",
    "# The harbour wall",
    "document",
)


def test_a_note_answers_a_question_that_is_near_it_in_meaning() -> None:
    """The question shares one word with the note; `houses` and `dwelling`, `storms` and `gale` are near."""
    assert helping("Did storms flood houses near the harbour?", [WALL, FARE]) == ["pmid:5"]
    assert helping("Did storms sink ferries near the harbour?", [WALL, FARE]) == []


def test_a_note_on_the_neighbour_answers_nothing() -> None:
    assert helping("Who had to supply ships to the imperial navy?", [POST, FARE]) == []
    assert helping("Did a congestion charge make the air of the city cleaner?", [POST, FARE]) == []


def untitled(number: int, text: str) -> Evidence:
    """An abstract without its title, of which the source gives the beginning of the text."""
    return document(number, text, text[:60])


BRACE = untitled(
    3,
    "We followed 812 sailors after rotator cuff repair for four years. An arm brace lowered the rate of "
    "tendon rupture. Tendon rupture was rarer with the brace after every kind of repair of the cuff.",
)
HAMMOCK = untitled(
    4,
    "We asked ninety nurses about the hammock. Backache was rarer with the hammock. The hammock was given up "
    "by six.",
)


def test_what_another_work_is_about_is_not_presupposed_by_a_work_without_title() -> None:
    question = "Does a {} prevent tendon rupture after rotator cuff repair?"
    assert helping(question.format("brace"), [BRACE, HAMMOCK]) == ["pmid:3"]
    assert helping(question.format("hammock"), [BRACE, HAMMOCK]) == []


def test_an_answer_is_surer_the_further_behind_the_next_work_is() -> None:
    far, near, even = (beside(0.9, [0.01, other]) for other in (0.02, 0.2, 0.5))
    assert far > near > even
    assert even == beside(0.9, [0.99]) == beside(0.9, [])


def test_confidence_in_a_note_without_a_study_is_low_however_well_it_fits() -> None:
    sure = judged("How many more people took the bus when the city brought in a fare?", [POST, FARE])
    assert sure.relevant == ("pmid:2",)
    assert 0 < sure.confidence <= 0.75
    (limit,) = [reason for reason in sure.confidence_reasons if reason.code == "confidence_limited"]
    assert limit.values["why"] == "weak"


@pytest.mark.parametrize(
    ("form", "word"),
    [("came", "come"), ("children", "child"), ("metastases", "metastasis"), ("cheaper", "cheap")],
)
def test_irregular_forms_are_their_word(form: str, word: str) -> None:
    assert stem(form) == stem(word)


def test_older_people_are_not_old_ones() -> None:
    assert stem("older") != stem("old")


def test_rare_words_say_more_than_common_ones() -> None:
    assert 0.0 <= information("time") < information("harvest") < information("villeinage") <= 1.0
    assert information("horses") == pytest.approx(information("horse"))


def test_a_file_without_a_title_presupposes_less_than_a_record_without_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answering, "embedder", lambda: None)  # which is sure of both
    question = "Did the sling spare the sailors a second rupture of the rotator cuff?"
    text = "An arm brace lowered the rate of tendon rupture after rotator cuff repair in 812 sailors."
    record = untitled(5, text)
    file = record.model_copy(update={"title": "Notes 7", "facts": {"title_from": "file name"}})
    (of_record,), (of_file,) = rank(question, [record]), rank(question, [file])
    assert of_record.relevance > of_file.relevance


def test_a_note_that_is_about_the_question_is_quoted_although_no_sentence_repeats_its_words() -> None:
    title = "# Report on the checkout outage"
    text = (
        f"{title}\n\nA migration locked the table until the pool was exhausted. Two restarts changed nothing."
    )
    incident = document(6, text, title, "document")
    draft = written("What was the cause of the checkout outage?", [incident, FARE])
    assert cited(draft) == {"pmid:6"}


def on_survival(number: int, who: str, found: str) -> Evidence:
    title = f"Survival in lung cancer of {who}"
    return document(number, f"RESULTS: {found} CONCLUSIONS: Survival in lung cancer {who}.", title)


def test_an_overview_that_several_works_answer_is_sure() -> None:
    works = [
        on_survival(1, "of women was longer than that of men", "Women lived for 20 months."),
        on_survival(2, "of smokers was shorter than that of others", "Smokers lived for 9 months."),
    ]
    assert all(item.direct >= 0.9 for item in rank("What is known about survival in lung cancer?", works))


def test_a_work_need_not_have_the_words_that_any_question_has() -> None:
    works = [
        on_survival(1, "of women was longer than that of men", "Women lived for 20 months."),
        on_survival(2, "of smokers was shorter in all trials", "In trials and studies patients died early."),
    ]
    asked = "What do trials and studies in patients show about survival in lung cancer?"
    first, second = rank(asked, works)
    assert first.direct >= 0.75 * second.direct


def test_a_work_on_the_outcome_does_not_answer_for_another_intervention() -> None:
    """The abstract names an exercise's other senses (use, practice, a set of questions), and no exercise."""
    leaflet = document(
        31,
        "Patients with cancer were given a set of leaflets in general practice. The use of leaflets "
        "helped patients with cancer to decide.",
        "Leaflets for patients with cancer",
    )
    walking = document(
        32,
        "Patients with cancer walked three times a week. Exercise helped patients with cancer to recover.",
        "Exercise for patients with cancer",
    )
    asked = "Does exercise help patients with cancer?"
    needle = Needle(asked, [leaflet, walking])
    assert [on_another_thing(needle, reading) for reading in needle.readings()] == [True, False]
    assert helping(asked, [leaflet, walking]) == ["pmid:32"]
    alone = Needle(asked, [leaflet])
    assert on_another_thing(alone, alone.readings()[0])


def test_a_work_on_children_does_not_answer_for_adults() -> None:
    text = "Steroids helped children with asthma in the emergency department."
    children = document(33, text, "Steroids for asthma in paediatric patients")
    both = document(34, f"{text} Adults were helped less.", "Steroids for asthma in paediatric patients")
    assert helping("Do steroids help adults with asthma?", [children]) == []
    assert helping("Do steroids help adults with asthma?", [both]) == ["pmid:34"]
    assert helping("Do steroids help children with asthma?", [children]) == ["pmid:33"]
    assert helping("Do steroids help in asthma?", [children]) == ["pmid:33"]


PASSING = Evidence(
    evidence_id="pmid:70",
    source="library",
    title="Can calprotectin become a marker of acute pouchitis?",
    text=(
        "METHODS: Sixty adults had preoperative endoscopy and their calprotectin was measured.\n\n"
        "RESULTS: Calprotectin was no higher in acute pouchitis.\n\n"
        "CONCLUSIONS: Calprotectin is of no use for the diagnosis of acute pouchitis."
    ),
)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Is endoscopy accurate for the diagnosis of acute pouchitis?", False),
        ("Is calprotectin accurate for the diagnosis of acute pouchitis?", True),
    ],
)
def test_a_work_that_mentions_the_test_asked_about_among_its_methods_only_does_not_answer(
    question: str, answers: bool
) -> None:
    (item,) = rank(question, [PASSING])
    assert bool(item.direct) is answers
    assert bool(relevant([item])) is answers
