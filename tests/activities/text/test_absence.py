"""A word is said to occur nowhere only where no text has it, letter by letter."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.contracts.evidence import Evidence
from activities.text.absence import TermsOf, absent_words
from activities.text.language import language_of_question
from activities.text.sentences import language_in


def absences(question: str, *texts: str) -> list[tuple[str, tuple[str, ...], bool]]:
    works = [
        Evidence(evidence_id=str(n), source="pubmed", title="", text=text) for n, text in enumerate(texts)
    ]
    is_german = any("die " in text or "Wartung" in text for text in texts)  # too short to tell
    languages = ("de",) if is_german else tuple({language_in(work) for work in works})
    index = TermsOf(works)
    return [
        (word.word, word.instead, word.decides)
        for word in absent_words(question, languages, index.holds, index.has)
    ]


@pytest.mark.parametrize(
    ("question", "text", "words"),
    [
        ("Is warfarin safe after a stroke?", "Strokes were rare and treatment was safe.", ["warfarin"]),
        ("Does tonsillectomy help my son snore?", "Adenotonsillectomy stopped the snores.", []),
        ("Do statins lower the risk of dementia?", "Somatostatin in dementia.", ["statins"]),
        ("Do mice get tumours?", "A tumor grew in one mouse.", []),
        ("Are \u03b2-blockers safe?", "Beta blockers were safe.", []),
        ("Is Gentiana verna protected?", "Gentiana pneumonanthe is protected.", ["verna"]),
        ("Does vitamin E help skin?", "Vitamin D helped the skin.", ["vitamin E"]),
        (
            "Wann ist die Wartung der Heizung f\u00e4llig?",
            "Die Wartungen sind im M\u00e4rz f\u00e4llig.",
            ["Heizung"],
        ),
        (
            "Was sagt die Satzung \u00fcber Hunde?",
            "Nach der Satzung wird die Rechnung vom Kassenwart bezahlt.",
            ["Hunde"],
        ),
        (
            "\u4f1a\u8d39\u4ec0\u4e48\u65f6\u5019\u5230\u671f\uff1f",
            "\u4f1a\u8ba1\u6bcf\u5e74\u4e09\u6708\u62a5\u544a\u8d26\u76ee",
            [],
        ),
        (
            "\uc544\uc2a4\ud53c\ub9b0\uc740 \ub1cc\uc878\uc911\uc744 \ub9c9\ub294\uac00?",
            "Aspirin was tried.",
            [],
        ),
    ],
)
def test_a_word_occurs_in_any_form_and_within_longer_ones(question: str, text: str, words: list[str]) -> None:
    assert [word for word, *_ in absences(question, text)] == words


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Combien coûte l'adhésion ?", "L\u2019adhésion coûte 20 euros."),
        ("Combien coûte-t-elle ?", "L\u2019adhésion coûte 20 euros."),
        ("¿Cuántas personas hay en la lista?", "Hay doce personas en la lista."),
        ("Wieviel kostet die Wartung?", "Die Wartung kostet 90 Euro."),
        ("Wofür ist die Wartung gut?", "Die Wartung ist gut für den Kessel."),
        ("Ilu ludzi jest na liście?", "Na liście jest dwunastu ludzi."),
        ("Сколько людей в этом списке?", "\u0412 этом списке двенадцать людей."),
        ("Bu listede kaç kişi vard\u0131r?", "Bu listede on iki kişi vard\u0131r."),
        ("Πόσα άτομα είναι στη λίστα;", "Στη λίστα είναι δώδεκα άτομα."),
    ],
)
def test_the_word_that_asks_is_not_called_absent(question: str, text: str) -> None:
    language = language_of_question(question)
    index = TermsOf([Evidence(evidence_id="1", source="library", title="", text=text)])
    assert language not in ("", "en")
    assert absent_words(question, (language,), index.holds, index.has) == ()


def test_of_a_question_in_another_language_than_the_documents_names_alone_are_absent() -> None:
    text = "Die Wartung der Heizung ist im M\u00e4rz f\u00e4llig."
    assert absences("When is the maintenance of the heating due this year?", text) == []
    assert absences("When is the water turned off?", text) == []
    (word,) = absences("When is semaglutide given to the members of the club?", text)
    assert word[0] == "semaglutide"
    assert absences("Wie behandelt man Bluthochdruck?", "High blood pressure was treated.") == []
    assert absences("Hilft Schl\u00fcssellochtechnik den Kranken?", "Laparoscopy helped patients.") == []


def test_the_rarest_word_stands_first_and_another_name_that_occurs_is_named() -> None:
    assert absences(
        "Does a heart attack worsen zinc deficiency?", "Myocardial infarction and zinc deficiency."
    ) == [("worsen", (), False), ("heart attack", ("Myocardial Infarction",), False)]
    first, *_ = absences("Does chocolate or semaglutide lower weight?", "Weight fell.")
    assert first == ("semaglutide", (), True)


def test_a_compound_occurs_where_its_parts_stand_side_by_side() -> None:
    assert absences("Is homebirth safe?", "A home birth was safe.") == []
    assert [word for word, *_ in absences("Is homebirth safe?", "Birth was safe, at home.")] == ["homebirth"]


def test_a_word_with_vowel_signs_is_one_word_and_a_frequent_one_of_a_language_carries_no_topic() -> None:
    rules = "पुस्तकालय सोमवार से शनिवार तक सुबह नौ बजे से शाम छह बजे तक खुला रहता है।"
    assert [word for word, *_ in absences("जुर्माना कितना है और पुस्तकालय कब खुलता है?", rules)] == ["जुर्माना"]
    lease = "El arrendatario entrega una fianza de 1.280 euros al propietario."
    assert absences("¿Cuánto es la fianza?", lease) == []


def test_a_number_with_an_ending_is_not_called_absent() -> None:
    assert absences("Hips of men in their 80s on April 5th", "Hips of men in April.") == []


def test_a_rare_form_of_a_common_word_is_no_name() -> None:
    """Of a language whose words take many endings."""
    text = "Evcil hayvanlara izin verilir. E18 hatas\u0131 t\u0131kal\u0131 hortumu g\u00f6sterir."
    (word, *_), *_ = rows = absences("Evde k\u00f6pek besleyebilir miyim?", text)
    assert (word, any(decides for *_, decides in rows)) == ("besleyebilir", False)
    assert absences("What does error E18 mean?", text) == []


@pytest.mark.parametrize("word", ["Gletscherabfluss", "Verhandlungsstrategie", "abpumpt", "Semaglutid"])
def test_in_german_a_compound_and_a_verb_are_no_names(word: str) -> None:
    works = [Evidence(evidence_id="1", source="library", title="", text="Die Wartung ist im März fällig.")]
    index = TermsOf(works)
    question = f"Wie wirkt {word} auf die Wartung der Heizung im Winter?"
    (row,) = [row for row in absent_words(question, ("de",), index.holds, index.has) if row.word == word]
    assert row.decides is (word == "Semaglutid")


def test_a_common_word_that_is_absent_leaves_a_question_open_for_its_passages() -> None:
    assert not any(decides for *_, decides in absences("Do mums notice?", "Mothers saw it."))


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=80), st.text(max_size=200))
def test_no_word_that_a_text_has_is_called_absent(question: str, text: str) -> None:
    for word, *_ in absences(question, text + " " + question):
        assert word.casefold() not in question.casefold().split()
