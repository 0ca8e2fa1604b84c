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


def test_a_class_has_its_members_and_a_word_its_parts_of_speech() -> None:
    assert "atorvastatin" in thesaurus.narrower("statin")
    assert thesaurus.narrower("disease") == frozenset()
    assert "statin" not in thesaurus.narrower("atorvastatin")
    assert thesaurus.mostly_noun("kidney")
    assert thesaurus.mostly_noun("bleeding")
    assert not thesaurus.mostly_noun("performing")
    assert thesaurus.parts_of_speech("evaluate") == {"v"}


def test_of_a_word_with_several_meanings_only_those_of_the_given_files_are_used() -> None:
    disease = frozenset({"26"})
    assert "throw" in thesaurus.synonyms("stroke")
    assert "throw" not in thesaurus.synonyms("stroke", disease)
    assert "apoplexy" in thesaurus.synonyms("stroke", disease)
    assert thesaurus.synonyms("kidney", disease) == thesaurus.synonyms("kidney")
