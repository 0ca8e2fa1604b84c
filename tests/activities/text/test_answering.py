"""Where the encoder of sentences is installed, it judges the works that matter, and only those."""

from collections.abc import Sequence

import numpy as np
import pytest

from activities.text import answering as module
from activities.text.answering import MOST_OF_AN_ABSTRACT, MOST_SENTENCES, MOST_WORKS, answering
from activities.text.directness import BY_ENCODER, BY_WORDS
from activities.text.embeddings import embedder
from activities.text.minilm import Vectors
from activities.text.needle import Needle
from activities.text.ranking import _least_chance, _ranked, rank, relevant
from activities.types import Evidence
from tests.activities.extractive.abstracts import document


class Recording:
    """An encoder for which all texts are alike."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return np.ones((len(texts), 2), np.float32) / np.float32(np.sqrt(2))


def note(number: int, text: str, title: str) -> Evidence:
    return document(number, f"# {title}\n\n{text}", f"# {title}", "document")


LAYOFFS = note(
    1,
    "In March the plant at Kassel let 140 people go. Those who had been there for more than ten years were "
    "paid a month's salary for each of them.",
    "Kassel",
)
CANTEEN = note(
    2, "The canteen serves two dishes a day. A third was given up because it was not asked for.", "Food"
)


@pytest.fixture(params=["encoder", "words"])
def model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "words":
        monkeypatch.setattr(module, "embedder", lambda: None)
    _ranked.cache_clear()
    return str(request.param)


def test_the_encoder_finds_the_answer_in_other_words(model: str) -> None:
    asked = "How many workers lost their job at the factory in Kassel?"
    helping = [item.document.evidence_id for item in relevant(rank(asked, [LAYOFFS, CANTEEN]))]
    assert helping == (["pmid:1"] if model == "encoder" else [])


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    "asked",
    ["Who designed the opera house of Sydney?", "How many workers died at the mine in Courrieres?"],
)
def test_neither_answers_what_is_not_there(asked: str) -> None:
    assert relevant(rank(asked, [LAYOFFS, CANTEEN])) == []


def test_only_the_likeliest_works_and_their_telling_sentences_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = "Did the pension fund of the tram company lose money?"
    fill = " ".join(f"The weather of day {n} was fair." for n in range(40))
    lost = "The pension fund lost money in year"
    works = [note(n, f"{fill} {lost} {n}.", f"Year {n}") for n in range(MOST_WORKS)]
    works += [note(100 + n, fill, f"Weather {n}") for n in range(5)]
    recording = Recording()
    monkeypatch.setattr(module, "embedder", lambda: recording)
    models = [model for model, _ in answering(asked, works, Needle(asked, works))]
    assert models == [BY_ENCODER] * MOST_WORKS + [BY_WORDS] * 5
    assert recording.texts[0] == asked
    assert len(recording.texts) == 1 + MOST_WORKS * MOST_SENTENCES
    assert not any("Weather" in text for text in recording.texts)
    for n in range(MOST_WORKS):
        assert f"# Year {n} {lost} {n}." in recording.texts


def test_without_the_encoder_words_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "embedder", lambda: None)
    asked = "Did people go?"
    assert answering(asked, [LAYOFFS], Needle(asked, [LAYOFFS]))[0][0] is BY_WORDS


def test_of_an_abstract_the_title_is_compared_and_a_few_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "Does telehealth help people to control their sugar?"
    said = " ".join(f"Sugar was measured on day {n} of the study." for n in range(9))
    paper = document(3, f"RESULTS: {said}", "Telemedicine in diabetes")
    recording = Recording()
    monkeypatch.setattr(module, "embedder", lambda: recording)
    answering(asked, [paper], Needle(asked, [paper]))
    assert recording.texts[:2] == [asked, "Telemedicine in diabetes"]
    assert len(recording.texts) == 2 + MOST_OF_AN_ABSTRACT


def test_of_an_overview_no_abstract_is_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "What is known about sugar in diabetes?"
    paper = document(3, "RESULTS: Sugar was measured on each day.", "Sugar in diabetes")
    recording = Recording()
    monkeypatch.setattr(module, "embedder", lambda: recording)
    assert answering(asked, [paper], Needle(asked, [paper]))[0][0] is BY_WORDS
    assert recording.texts == []


def test_the_encoder_takes_no_fact_from_a_work_that_words_find(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "How many people did the plant at Kassel let go in March?"
    monkeypatch.setattr(module, "embedder", lambda: None)
    ((_, by_words),) = answering(asked, [LAYOFFS], Needle(asked, [LAYOFFS]))

    class Unlike(Recording):
        def encode(self, texts: Sequence[str]) -> Vectors:
            vectors = np.zeros((len(texts), 2), np.float32)
            vectors[0, 0] = vectors[1:, 1] = 1
            return vectors

    monkeypatch.setattr(module, "embedder", Unlike)
    assert answering(asked, [LAYOFFS], Needle(asked, [LAYOFFS])) == [(BY_ENCODER, by_words)]


def test_less_is_asked_of_a_work_that_mentions_all_that_is_named() -> None:
    paper = document(3, "RESULTS: Sugar was measured on each day.", "Sugar in diabetes")
    least = [
        _least_chance(BY_ENCODER, paper, "yes_no", Needle(asked, [paper]).readings()[0])
        for asked in ("Is sugar measured in diabetes?", "Is sugar measured in schizophrenia?")
    ]
    assert least == [BY_ENCODER.least_all_said, BY_ENCODER.least_among_many]
    assert least[0] < least[1]


def test_a_lay_persons_words_find_the_abstract_that_answers(model: str) -> None:
    asked = "Does the style of a leader affect how well hospital staff sleep?"
    paper = document(
        4,
        "RESULTS: Transformational leadership was associated with better sleep of employees in health care. "
        "CONCLUSIONS: Self-efficacy mediated between leadership behaviours and sleep quality.",
        "Leadership behaviours and healthcare workers' sleep quality",
    )
    assert bool(relevant(rank(asked, [paper]))) == (model == "encoder")


def test_the_encoder_is_there() -> None:
    assert embedder() is not None
