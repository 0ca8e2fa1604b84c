"""No regular expression of the product takes more work than in proportion to the length of a text."""

import re

import pytest

from tests.expressions import ROOT, builders, expressions, growth, probes, slow


@pytest.mark.timeout(900)
@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.security)])
def test_the_work_of_every_expression_is_in_proportion_to_the_length(few: bool) -> None:
    """With a few strings for each expression; `make test-security` tries all."""
    held = expressions()
    assert len(held) > 250
    assert list(slow(held, few=few)) == []


def test_an_expression_that_a_function_builds_is_seen() -> None:
    source = "import re\ndef within(text, name):\n    return re.search(name + r'\\s+x', text)\n"
    assert builders({ROOT / "activities" / "made_up.py": source}) == {"activities/made_up.py within"}
    files = (file for package in ("activities", "client") for file in (ROOT / package).rglob("*.py"))
    assert builders({file: file.read_text() for file in files}) == set()


TAKE_MORE = [
    (r"\s+x", "finditer"),
    (r"(?:a+)+b", "match"),
    (r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?", "fullmatch"),
    (r"[a-z-]+/\d{7}", "finditer"),
    (r"\([^)]*\)", "finditer"),
]


@pytest.mark.parametrize(
    ("expression", "method", "few"),
    [
        *((*one, True) for one in TAKE_MORE[:2]),
        *(pytest.param(*one, False, marks=pytest.mark.security) for one in TAKE_MORE),
    ],
)
def test_an_expression_that_takes_more_is_noticed(expression: str, method: str, few: bool) -> None:
    pattern = re.compile(expression)

    def apply(text: str) -> object:
        matches = getattr(pattern, method)(text)
        return list(matches) if method == "finditer" else matches

    assert any(growth(apply, *probe) for probe in probes(pattern, few=few))
