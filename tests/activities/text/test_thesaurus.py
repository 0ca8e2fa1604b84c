"""What else a word is called, from WordNet."""

import pytest

from activities.text import thesaurus


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("kidney", "renal"),
        ("renal", "kidney"),
        ("womb", "uterine"),
        ("nosebleed", "epistaxis"),
        ("high blood pressure", "hypertension"),
        ("women", "woman"),
        ("vein", "venous"),
    ],
)
def test_a_word_has_its_synonyms_and_the_adjective_of_its_noun(word: str, other: str) -> None:
    assert other in thesaurus.synonyms(word)


def test_a_class_has_its_members_and_a_whole_field_has_none() -> None:
    assert "atorvastatin" in thesaurus.narrower("statin")
    assert thesaurus.narrower("disease") == frozenset()
    assert "statin" not in thesaurus.narrower("atorvastatin")


def test_a_form_of_a_verb_is_no_noun_unless_it_names_a_state() -> None:
    assert thesaurus.mostly_noun("kidney")
    assert thesaurus.mostly_noun("bleeding")
    assert not thesaurus.mostly_noun("performing")
    assert thesaurus.parts_of_speech("evaluate") == {"v"}


def test_neighbours_are_kinds_of_one_thing() -> None:
    assert set(thesaurus.hypernyms("kidney")) & set(thesaurus.hypernyms("liver"))
    assert not set(thesaurus.hypernyms("kidney")) & set(thesaurus.hypernyms("surgery"))
