"""Ranking by words."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.text.bm25 import Fields, Lexical, windows, words


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


@given(st.lists(st.text(alphabet="ab \n", max_size=8), max_size=60), st.integers(2, 20))
def test_no_word_falls_between_two_passages(parts: list[str], size: int) -> None:
    text = " ".join(f"{part} w{n}" for n, part in enumerate(parts))
    found = windows(text, size)
    assert found
    assert set(" ".join(found).split()) == set(text.split())
    assert all(len(p.split()) <= size for p in found)
