"""What stands in a text in place of a thing that a question names."""

import pytest

from activities.text.needle import Needle
from activities.text.ranking import RELEVANT, rank
from activities.types import Evidence

NERVES = "Sparing of the nerves during radical prostatectomy preserved continence."
ABSTRACT = f"{NERVES} Two surgeons performed prostatectomy. After prostatectomy 60 men were followed."


def record(text: str, title: str = "") -> Evidence:
    return Evidence(evidence_id="x:1", source="library", title=title or text[:40], text=text)


def in_place(question: str, document: Evidence) -> list[str]:
    needle = Needle(question, [document])
    (reading,) = needle.readings()
    return [needle.words[place].shown for place in sorted(reading.neighbours)]


def test_an_untitled_work_on_another_thing_of_the_same_kind_answers_nothing() -> None:
    asked, exchanged = (f"Does sparing of nerves in {what} preserve continence?" for what in OPERATIONS)
    assert in_place(asked, record(ABSTRACT)) == []
    assert in_place(exchanged, record(ABSTRACT)) == ["nephrectomy"]
    (right,), (wrong,) = rank(asked, [record(ABSTRACT)]), rank(exchanged, [record(ABSTRACT)])
    assert right.relevance >= RELEVANT > wrong.relevance
    assert wrong.direct == 0


OPERATIONS = ("prostatectomy", "nephrectomy")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        # mentioned once in passing
        ("Does sparing of nerves in nephrectomy preserve continence?", NERVES),
        # both are asked for
        ("Does nephrectomy or prostatectomy preserve continence?", ABSTRACT),
        # any text gives times
        (
            "Did continence improve over the decade?",
            "Continence improved for years. Two years later it fell.",
        ),
    ],
)
def test_what_stands_in_place_of_nothing(question: str, text: str) -> None:
    assert in_place(question, record(text)) == []


def test_a_work_with_its_title_is_judged_by_what_it_mentions() -> None:
    titled = record(ABSTRACT, "Nerve-sparing surgery and continence")
    assert in_place("Does sparing of nerves in nephrectomy preserve continence?", titled) == []


CST = "Patients with cervicogenic somatic tinnitus (CST) were treated. In CST the complaint fell."


@pytest.mark.parametrize(
    ("question", "text", "mentioned"),
    [
        ("Does therapy relieve cryptogenic somatic tinnitus?", CST, False),
        ("Does therapy relieve cervicogenic somatic tinnitus?", "In CST the complaint fell.", True),
        # the initials are a prefix of English
        (
            "Is there practice of retroperitoneoscopic endarterectomy?",
            "Pre and post tests differed.",
            False,
        ),
        ("Is nonenhanced imaging accurate?", "Enhanced imaging was accurate.", False),
        ("Is enhanced imaging accurate?", "Nonenhanced imaging was accurate.", False),
        ("Is non-enhanced imaging accurate?", "Nonenhanced imaging was accurate.", True),
        ("Is there a triad of death?", "Three types of death were met.", False),
        ("Did statins help?", "Atorvastatin helped.", True),
    ],
)
def test_initials_and_prefixes_name_no_other_thing(question: str, text: str, mentioned: bool) -> None:
    document = record(text, "A study")
    needle = Needle(question, [document])
    (reading,) = needle.readings()
    unsaid = {word.shown for place, word in enumerate(needle.words) if place not in reading.spoken}
    named = {"cryptogenic", "cervicogenic", "endarterectomy", "nonenhanced", "enhanced", "statins", "triad"}
    assert named.isdisjoint(unsaid) is mentioned


def test_words_of_a_disease_apart_between_commas_do_not_name_it() -> None:
    question = "What are the types of spinal muscular atrophy?"
    title = "Prognosis of cervical amyotrophy"
    apart = record(
        "We read the age, type of the most atrophic and impaired muscle, the spinal signs on imaging.", title
    )
    named = record("The most atrophic muscles were spinal muscles, in which weakness began.", title)
    (other,), (same,) = (Needle(question, [document]).readings() for document in (apart, named))
    assert other.displaced
    assert not same.displaced
