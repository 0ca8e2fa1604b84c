"""The words of a text as they are compared."""

from hypothesis import given
from hypothesis import strategies as st

from activities.text import tokens
from activities.text.tokens import fold, terms

SIGNS = "Aab1-'./_ \n\t\u00a0\u2028\u2019\u0301\u00a8\u00bd\u00e9\ufb01\u03b1\u0130\u5149\u7ebf\u0915\u093e"


@given(st.text(SIGNS))
def test_the_terms_of_a_text_are_those_of_its_words_folded_together(text: str) -> None:
    words = tokens._WORD.findall(fold(text).replace("_", " "))
    assert terms(text) == [term for word in words for term in terms(word)]
