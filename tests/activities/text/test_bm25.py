"""Ranking by words."""

import threading
from pathlib import Path
from random import Random

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.text import bm25, postings
from activities.text.bm25 import NOWHERE, Fields, Lexical, Segment, passage_starts, words
from activities.text.postings import Postings, Scores, numbered


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tumour", "tumor"),
        ("anaemia", "anemia"),
        ("haemorrhage", "hemorrhage"),
        ("oesophageal", "esophageal"),
        ("randomised", "randomized"),
        ("paediatric", "pediatric"),
        ("\N{GREEK SMALL LETTER BETA}-blocker", "beta blockers"),
        ("na\u00efve", "naive"),
        ("COVID-19", "covid 19"),
        ("Alzheimer's", "alzheimer"),
        ("treatments", "treatment"),
        ("non\u2010invasive", "non-invasive"),
    ],
)
def test_one_word_has_one_spelling(one: str, other: str) -> None:
    assert words(one) == words(other) != []


def test_words_that_differ_stay_apart() -> None:
    assert words("alpha") != words("beta")
    assert words("hypertension") != words("hypotension")
    assert words("disease") == words("diseases")
    assert words("Does the") == []


def test_a_title_counts_more_than_the_text() -> None:
    index = Lexical([Fields("statin and fever", "Fever"), Fields("statin and fever", "Statin")])
    scores = index.scores("statin")
    assert scores[1] > scores[0] > 0


def test_terms_are_found() -> None:
    index = Lexical([Fields("nothing here", terms=("Myocardial Infarction",)), Fields("nor here")])
    assert index.scores("infarction")[0] > 0 == index.scores("infarction")[1]


def test_words_that_stand_together_count_more_than_words_apart() -> None:
    filler = " ".join(f"filler{n}" for n in range(150))
    together = Fields(f"{filler} renal denervation {filler}")
    apart = Fields(f"renal {filler} {filler} denervation")
    scores = Lexical([apart, together]).scores("renal denervation")
    assert scores[1] > scores[0]


def test_words_of_one_root_count_though_their_stems_differ() -> None:
    assert words("cirrhotic") != words("cirrhosis")
    scores = Lexical([Fields("liver transplants"), Fields("liver cirrhosis")]).scores("cirrhotic liver")
    assert scores[1] > scores[0] > 0


def test_shared_pieces_alone_are_no_match() -> None:
    assert not Lexical([Fields("liver cirrhosis"), Fields("fever")]).scores("cirrhotic").any()


def test_nothing_matches_nothing() -> None:
    assert Lexical([]).scores("x").shape == (0,)
    assert not Lexical([Fields("a b c")]).scores("zebra").any()
    assert not Lexical([Fields("")]).scores("zebra").any()
    assert not Lexical([Fields("zebra")]).scores("").any()


def test_threads_do_not_disturb_each_other() -> None:
    index = Lexical([Fields(f"word{n} shared treatment of disease{n % 7}") for n in range(60)])
    questions = [f"word{n} disease{n % 5} treatments" for n in range(40)]
    alone = [index.scores(q) for q in questions]
    wrong: list[str] = []

    def ask() -> None:
        for question, expected in zip(questions, alone, strict=True):
            if not np.array_equal(index.scores(question), expected):
                wrong.append(question)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@given(st.integers(0, 400), st.integers(1, 20).map(lambda half: 2 * half))
def test_no_word_falls_between_two_passages(count: int, size: int) -> None:
    starts = passage_starts(count, size)
    assert len(starts) > 0
    assert {n for start in starts for n in range(start, min(start + size, count))} == set(range(count))


TEXTS = st.lists(
    st.sampled_from(["heart", "liver's", "anti-viral", "\u03b2", "the", "tumour", "2", "\u00bd", "-"])
)


@settings(max_examples=30)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6), st.integers(0, 200))
def test_scores_are_those_of_bm25s(rows: list[tuple[list[str], list[str]]], longer: int) -> None:
    texts = [" ".join(text * (1 + longer // 40)) for text, _ in rows]
    titles = [" ".join(title[:5]) for _, title in rows]
    documents = [Fields(text, title) for text, title in zip(texts, titles, strict=True)]
    asked = words("hearts liver antiviral beta tumor 2")
    passages = [
        (number, words(titles[number]) + words(" ".join(text.split()[start : start + bm25.PASSAGE_WORDS])))
        for number, text in enumerate(texts)
        for start in passage_starts(len(text.split()), bm25.PASSAGE_WORDS)
    ]
    best = np.zeros(len(documents))
    by_passage = reference([row for _, row in passages], asked)
    np.maximum.at(best, [number for number, _ in passages], by_passage)
    whole = [words(title) * bm25.TITLE_TIMES + words(text) for text, title in zip(texts, titles, strict=True)]
    expected = reference(whole, asked) + bm25.PASSAGE_WEIGHT * best
    found = Lexical(documents).scores("hearts liver antiviral beta tumor 2")
    pieces_add_at_most = 1 + bm25.PIECE_WEIGHT
    assert np.all(found >= expected - 1e-4)
    assert np.all(found <= pieces_add_at_most * max(expected.max(), 0) + expected + 1e-4)
    index = Lexical(documents)
    assert np.allclose(index.whole.scores(asked)[0], reference(whole, asked), atol=1e-4)
    assert np.allclose(index.passages.scores(asked)[0], by_passage, atol=1e-4)


@settings(max_examples=30)
@given(st.lists(st.tuples(TEXTS, st.integers(0, 2), st.booleans()), min_size=1, max_size=9), st.randoms())
def test_segments_score_as_one_index_of_what_is_searched(
    rows: list[tuple[list[str], int, bool]], order: Random
) -> None:
    """However documents are spread over segments, and whatever else these hold."""
    searched = [Fields(" ".join(text) * 20, f"Title {n}") for n, (text, _, kept) in enumerate(rows) if kept]
    places = iter(order.sample(range(len(searched)), len(searched)))
    segments: dict[int, list[tuple[Fields, int]]] = {}
    in_order: list[Fields] = [Fields("")] * len(searched)
    for n, (text, segment, kept) in enumerate(rows):
        document, place = Fields(" ".join(text) * 20, f"Title {n}"), next(places) if kept else NOWHERE
        segments.setdefault(segment, []).append((document, place))
        if kept:
            in_order[place] = document
    index = Lexical.of(
        [
            (Segment.build(document for document, _ in held), np.array([place for _, place in held], np.intp))
            for held in segments.values()
        ],
        len(searched),
    )
    for query in ("hearts liver antiviral", "title 2", "zebra"):
        assert np.allclose(index.scores(query), Lexical(in_order).scores(query), atol=1e-9)


def reference(rows: list[list[str]], asked: list[str]) -> Scores:
    """The scores of the package bm25s."""
    vocabulary = {word for row in rows for word in row}
    known = [word for word in asked if word in vocabulary]
    if not known:
        return np.zeros(len(rows))
    index = bm25s.BM25(method="lucene", k1=postings.K1, b=postings.B)
    index.index(rows, show_progress=False)
    return np.asarray(index.get_scores(known), dtype=np.float64)


def test_a_saved_index_scores_as_the_one_that_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [Fields(f"word{n} of the liver " * (n % 90), f"Title {n}", ("Mesh",)) for n in range(40)]
    whole = Lexical(documents)
    monkeypatch.setattr(postings, "AT_ONCE", 50)
    in_parts = Lexical(documents)
    Segment.write(documents, tmp_path)
    saved = Lexical.of([(Segment.load(tmp_path), np.arange(40))], 40)
    assert len(saved) == 40
    for query in ("word7 liver", "mesh title", "zebra", ""):
        assert np.array_equal(saved.scores(query), whole.scores(query))
        assert np.array_equal(in_parts.scores(query), whole.scores(query))


@pytest.mark.parametrize("documents", [[], [Fields("")]])
def test_an_index_of_nothing_is_saved_too(tmp_path: Path, documents: list[Fields]) -> None:
    Segment.write(documents, tmp_path)
    assert len(Segment.load(tmp_path)) == len(documents)


def test_files_of_two_indexes_are_not_mixed(tmp_path: Path) -> None:
    Segment.write([Fields("liver"), Fields("heart")], tmp_path)
    words, number = numbered(["liver"])
    Postings.build(words, number, np.zeros(1, np.int32), 1).save(tmp_path, "whole")
    with pytest.raises(ValueError, match="belong together"):
        Segment.load(tmp_path)
