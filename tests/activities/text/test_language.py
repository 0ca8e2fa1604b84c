"""Texts of any language are told apart, divided, compared and quoted."""

from functools import cache
from pathlib import Path

import pytest

from activities.contracts.evidence import Evidence
from activities.sources.library.index import Libraries
from activities.text import language
from activities.text.language import _identifier, language_of, language_of_question, main_languages
from activities.text.normal_form import verbatim
from activities.text.ranking import best_first, rank
from activities.text.sentences import sentences
from activities.text.tokens import terms

GERMAN = (
    "Der Mitgliedsbeitrag ist jeweils am 31. März fällig und wird per Lastschrift eingezogen. "
    "Herr Dr. Müller führt z. B. die Kasse des Vereins. Die Versammlung findet im Mai statt."
)
CHINESE = "施工期间，公交车停在北门对面的临时站台。图书馆在周末和节假日不开放。会计每年三月报告账目。"
SPANISH = "La biblioteca cierra los domingos. El tesorero guarda las facturas durante diez años."
HINDI = "पुस्तकालय रविवार को बंद रहता है। कोषाध्यक्ष दस वर्ष तक बिल रखता है।"
THAI = "ห้องสมุดปิดทุกวันอาทิตย์และวันหยุดราชการ เหรัญญิกเก็บใบเสร็จไว้สิบปี"


def document(text: str, name: str = "a", language: str = "") -> Evidence:
    return Evidence(
        evidence_id=name, source="library", title="", text=text, evidence_type="document", language=language
    )


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GERMAN, "de"),
        (CHINESE, "zh"),
        (SPANISH, "es"),
        (HINDI, "hi"),
        (THAI, "th"),
        ("The library is closed on Sundays and on public holidays.", "en"),
        ("IL-6", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_text_is_told_and_of_a_short_one_it_is_not(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Does metformin reduce cardiovascular mortality?", "en"),
        ("Wer ist Kassenwart?", "de"),
        ("\u00bfReduce la metformina la mortalidad cardiovascular?", "es"),
    ],
)
def test_names_of_drugs_and_diseases_do_not_tell_the_language_of_a_question(
    question: str, language: str
) -> None:
    assert language_of_question(question) == language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie behandelt man Bluthochdruck?", "de"),
        ("\u00bfLa aspirina previene el infarto?", "es"),
        ("Does aspirin help?", ""),
        ("metformin and cancer", ""),
        ("Who won the cup?", ""),
        ("What does error E18 mean?", "en"),
    ],
)
def test_a_short_question_tells_its_language_by_function_words_that_english_has_not(
    question: str, language: str
) -> None:
    assert language_of_question(question) in (language, language or "en")


def test_a_language_of_next_to_no_document_is_none_of_its_folder() -> None:
    assert main_languages({"en": 599, "nl": 1, "": 3}) == ("en",)
    assert main_languages({"en": 19, "de": 1}) == ("de", "en")


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        (
            GERMAN,
            ["Der Mitgliedsbeitrag ist jeweils am 31. März fällig und wird per Lastschrift eingezogen."],
        ),
        (
            CHINESE,
            [
                "施工期间，公交车停在北门对面的临时站台。",
                "图书馆在周末和节假日不开放。",
                "会计每年三月报告账目。",
            ][:2],
        ),
        (HINDI, ["पुस्तकालय रविवार को बंद रहता है।"]),
        (
            "만성 피로 환자 90명이 연구에 참여했다. 수면의 질에는 차이가 없었다.",
            ["만성 피로 환자 90명이 연구에 참여했다.", "수면의 질에는 차이가 없었다."],
        ),
    ],
)
def test_sentences_of_any_language_are_whole_and_can_be_quoted(text: str, quotes: list[str]) -> None:
    every = [sentence.quote for sentence in sentences(document(text))]
    assert set(quotes) <= set(every)
    assert all(verbatim(quote, text) for quote in every)


def test_words_are_compared_by_the_stems_of_their_language() -> None:
    assert set(terms("die Mitglieder", "de")) == set(terms("des Mitglieds", "de")) != set()
    assert set(terms("公交车停在哪里", "zh")) & set(terms("公交车停在北门", "zh")) >= {"公交", "交车"}
    assert {"인삼", "피로"} <= set(terms("인삼은 피로를 줄이는가", "ko")) & set(
        terms("인삼이 피로에 미치는 영향", "ko")
    )
    assert terms("la biblioteca", "es") == terms("las bibliotecas", "es")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When do members have to pay their fee to the club?", "Der Mitgliedsbeitrag"),
        ("施工期间公交车停在哪里？", "施工期间，公交车停在北门对面的临时站台。"),
    ],
)
def test_a_question_finds_the_answer_in_its_own_and_in_another_language(question: str, answer: str) -> None:
    texts = {"de": GERMAN, "zh": CHINESE, "es": SPANISH}
    items = best_first(rank(question, [document(text, name) for name, text in texts.items()]))
    assert items[0].sentences[0].sentence.quote.startswith(answer)


def test_a_folder_is_encoded_for_the_language_of_the_question(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "fee.txt").write_text("The members of the club pay their yearly fee until the end of March.")
    (folder / "bus.txt").write_text("The bus stops at the northern gate while the street is being repaired.")
    index = Libraries(tmp_path / "cache").open(folder)
    question = "Wo h\u00e4lt der Bus w\u00e4hrend der Bauarbeiten an der Stra\u00dfe?"
    found, _ = index.search(question, 1)
    assert [item.document.title for item in found] == ["bus"]
    encoding = index.encoding_of(question)
    assert encoding is not None
    assert encoding.wait(60)


def test_without_room_to_unpack_the_model_no_language_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> object:
        raise OSError(28, "No space left on device")

    for cached in (_identifier, language_of):
        monkeypatch.setattr(f"activities.text.language.{cached.__name__}", cache(cached.__wrapped__))
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    assert language.language_of(GERMAN) == ""
    monkeypatch.undo()
    assert language_of(GERMAN) == "de"
