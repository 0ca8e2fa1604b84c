"""The words of a text as they are compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.text import tokens
from activities.text.tokens import MAX_TOKEN, fold, terms

SIGNS = "Aab1-'./_ \n\t\u00a0\u2028\u2019\u0301\u00a8\u00bd\u00e9\ufb01\u03b1\u0130\u5149\u7ebf\u0915\u093e"


@given(st.text(SIGNS))
def test_the_terms_of_a_text_are_those_of_its_words_folded_together(text: str) -> None:
    words = tokens._WORD.findall(fold(text).replace("_", " "))
    assert terms(text) == [term for word in words for term in terms(word)]


def test_what_is_remembered_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MAX_TOKENS", 2)
    known = tokens._known_tokens("en")
    known.clear()
    assert terms(f"one colchicine three {'x' * (MAX_TOKEN + 1)} heart five") == [
        *("colchicin", "three", "x" * (MAX_TOKEN + 1), "heart", "five")
    ]
    assert set(known) == {"five"}
