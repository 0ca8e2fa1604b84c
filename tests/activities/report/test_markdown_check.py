"""`verify` of any Markdown: each problem has its code; generated reports pass."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.report.markdown_check import check_markdown

SOUND = """\
# Metformin

Mortality fell [1, 3]. It rose elsewhere [2] (95% CI [4, 14]); see \\[9\\] and `x[7]`.

```
a[8]
```

## References

1. Doe J. Title one. https://example.org/one doi: 10.1000/abc
2. Roe B. Title two. PMID: 12345678. NCT01234567.
3. Title three. <https://arxiv.org/abs/1707.08567> arXiv:1707.08567v2, PMC6329583
"""


def found(text: str) -> set[tuple[str, str]]:
    """Codes with the value that names the place."""
    return {
        (p.code, p.text("number") or p.text("numbers") or p.text("value"))
        for p in check_markdown(text).problems
    }


def test_a_sound_text_holds() -> None:
    done = check_markdown(SOUND)
    assert done.problems == ()
    assert (done.references, done.citations) == (3, 2)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("It rose elsewhere [2]", "It rose elsewhere", ("reference_never_cited", "2")),
        ("[1, 3]", "[1-4]", ("citation_without_reference", "4")),
        ("3. Title three", "[3] Roe. Title\n\n5. Title five", ("reference_number_missing", "4")),
        ("two. PMID", "https://example.org/one?utm_source=x PMID", ("address_under_several_numbers", "1, 2")),
        ("two. PMID", "doi.org/10.1000/ABC PMID", ("address_under_several_numbers", "1, 2")),
        ("PMID: 12345678", "PMID: 1234567890", ("identifier_malformed", "1234567890")),
        ("PMID: 12345678", "PMID: 12a45678", ("identifier_malformed", "12a45678")),
        ("10.1000/abc", "10.10/abc", ("identifier_malformed", "10.10/abc")),
        ("10.1000/abc", "11.1000/abc", ("identifier_malformed", "11.1000/abc")),
        ("NCT01234567", "NCT0123456", ("identifier_malformed", "NCT0123456")),
        ("arXiv:1707.08567v2", "arXiv:1707.08", ("identifier_malformed", "1707.08")),
        ("PMC6329583", "PMC63x", ("identifier_malformed", "PMC63x")),
    ],
)  # fmt: skip
def test_each_defect_is_named(old: str, new: str, problem: tuple[str, str]) -> None:
    assert old in SOUND
    assert problem in found(SOUND.replace(old, new))


@pytest.mark.parametrize(
    "text",
    [
        "A [^1]. B [^2].\n\n[^1]: Doe. One.\n[^2]: Roe. Two.\n",
        "A [1]. B [2].\n\n[1]: https://example.org/a\n[2]: https://example.org/b\n",
        "A [1](https://example.org/a), [[2]](https://example.org/b).\n\n# Sources\n\n[1] Doe\n[2] Roe\n",
        "A [1; 2].\n\n**x**\n\n### Bibliography\n\n- [1] Doe. One\n- [2] Roe. Two\n",
    ],
)
def test_references_are_found_in_the_forms_people_write(text: str) -> None:
    done = check_markdown(text)
    assert (done.references, done.problems) == (2, ())


@given(st.text("[](){}^:.,;-0123456789 \n#*`>|\\aPMIDdoiNCT/", max_size=80))
def test_no_text_makes_the_check_fail(text: str) -> None:
    done = check_markdown(f"{text}\n\n## References\n\n{text}")
    assert done.references >= 0


def test_many_marks_take_a_time_that_grows_with_their_number() -> None:
    began = time.process_time()
    assert check_markdown("word [1] " * 4_000 + "\n\n## References\n\n1. Doe. A title.\n").citations == 4_000
    check_markdown("[1-999] " * 4_000)
    assert time.process_time() - began < 6


def test_references_of_four_digits_are_seen_and_a_year_in_brackets_is_none() -> None:
    entries = "\n".join(f"{n}. Doe. Title {n}." for n in range(1, 1_202))
    text = f"First [1-900], then [901-1200], and [2019].\n\n## References\n\n{entries}\n"
    found = check_markdown(text)
    assert (found.references, found.citations) == (1_201, 2)
    assert [problem.values for problem in found.problems] == [{"number": 1_201}]
