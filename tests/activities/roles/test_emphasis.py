"""What a writer stresses within a sentence: it goes beside the plain text, and comes out in every format."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from activities.contracts.evidence import Sentence
from activities.report.formats.text import escape_markdown, stressed_markdown
from activities.roles.prose import read_markdown, read_row, read_sentence

WORKS = {"E1": "pmid:1", "E2": "pmid:2"}
SIGNS = {"strong": "**", "em": "*", "code": "`", "": ""}


def read(markdown: str) -> Sentence:
    """The one sentence of a paragraph."""
    (block,) = read_markdown(markdown, WORKS, "en").answer
    (row,) = block.rows
    return row.claim


def stressed(sentence: Sentence) -> list[tuple[str, str]]:
    return [(e.style, e.words) for e in sentence.emphasis]


def written(sentence: Sentence) -> str:
    return stressed_markdown(sentence.text, sentence.emphasis_in(sentence.text))


def styles(markdown: str) -> list[tuple[str, frozenset[str]]]:
    """The characters that a reader of Markdown shows, each with what it is set in."""
    shown, tags = list[tuple[str, frozenset[str]]](), list[str]()
    (token,) = MarkdownIt("commonmark", {"html": False}).enable("table").parseInline(markdown)
    for child in token.children or ():
        if child.nesting:
            tags = [*tags, child.tag] if child.nesting > 0 else tags[:-1]
        else:
            shown += [(char, frozenset(filter(None, (*tags, child.tag)))) for char in child.content]
    return shown


@pytest.mark.parametrize(
    ("markdown", "text", "expected"),
    [
        ("The study shows **neither option** [E1].", "The study shows neither option.", ["neither option"]),
        ("It *may* help; it __must__ not.", "It may help; it must not.", ["must", "may"]),
        ("Set `a_b()` to **25%** of $30.", "Set a_b() to 25% of $30.", ["25%", "a_b()"]),
        ("CO<sub>2</sub> at 10<sup>6</sup> V<sub>max</sub>.", "CO\u2082 at 10\u2076 Vmax.", []),
        ("**Yes [E1] and no** it is.", "Yes and no it is.", ["Yes", "and no"]),
        ("Not 1**2**3, **GLP**-1, **4**.5 or [**E1**].", "Not 1**2**3, GLP-1, 4.5 or.", []),
        ("It is 2*3*4 *mg* or `2*3`.", "It is 2*3*4 mg or 2*3.", ["mg", "2*3"]),
        (
            'They "saw **no** effect" in **all "arms"**.',
            'They "saw no effect" in all "arms".',
            ['all "arms"'],
        ),
        ("So <b>it</b> **is [here](http://x.org) and", "So <b>it</b> **is here and", []),
        (
            "\u8fd9\u662f**\u91cd\u8981**\u7684\u3002",
            "\u8fd9\u662f\u91cd\u8981\u7684\u3002",
            ["\u91cd\u8981"],
        ),
        *(
            (f"{before}**{words}**{after}\u3002", f"{before}{words}{after}\u3002", [bold])
            for before, words, after, bold in (
                ("\u662f", "\u201c\u91cd\u8981\u201d", "\u7684", "\u91cd\u8981"),
                ("\u662f", "\u91cd\uff08\u8981\uff09", "\u7684", "\u91cd\uff08\u8981"),
                ("\ud55c\uad6d ", "\u201c\uc911\u201d", "\ud55c", "\uc911"),
            )
        ),
        ("**Answer:** it *is* so.", "Answer: it is so.", ["is"]),
    ],
)
def test_a_sentence_stays_plain_and_beside_it_is_what_its_writer_stressed(
    markdown: str, text: str, expected: list[str]
) -> None:
    sentence = read(markdown)
    assert sentence.text == text
    assert [words for _, words in stressed(sentence)] == expected
    assert sentence.emphasis_in(sentence.body) == sentence.emphasis


def test_a_lead_of_a_script_without_blanks_leads() -> None:
    sentence = read("**\u7ed3\u8bba\uff1a**\u5b83\u662f**\u91cd\u8981**\u7684\u3002")
    assert (sentence.lead, sentence.body) == ("\u7ed3\u8bba", "\u5b83\u662f\u91cd\u8981\u7684\u3002")
    assert stressed(sentence) == [("strong", "\u91cd\u8981")]


WORDS = st.text("ab\u00e9\u91cd1.,%()'<&_\\", max_size=5).map(lambda text: f"a{text}b")
STYLED = st.tuples(WORDS, st.sampled_from(["", "**", "*", "`", "***"]))


@settings(max_examples=300)
@given(st.lists(STYLED, min_size=1, max_size=6))
def test_what_goes_in_as_markdown_comes_out_as_markdown(parts: list[tuple[str, str]]) -> None:
    """Of a sentence and of a field of a table alike."""
    texts = (text if sign == "`" else escape_markdown(text, inline=True) for text, sign in parts)
    markdown = " ".join(f"{sign}{text}{sign}" for text, (_, sign) in zip(texts, parts, strict=True))
    sentence, row = read_sentence(markdown, WORKS), read_row([markdown, "x"], ["A", "B"], WORKS)
    assert sentence is not None
    for claim in (sentence.claim, row.claim):
        text = claim.cells[0][1] if claim.is_row else claim.text
        assert styles(stressed_markdown(text, claim.emphasis_in(text))) == styles(markdown)


@settings(max_examples=500)
@given(st.text("*_`[]()E1,. a\u91cd\"'\\<&|~\n", max_size=24).map(lambda text: f"x{text}y"))
@example("**a *b*** c")
def test_no_marks_do_harm(markdown: str) -> None:
    row = read_sentence(markdown, WORKS)
    assert row is not None
    claim = row.claim
    shown = styles(written(claim))
    assert "".join(char for char, _ in shown) == claim.text
    for style in ("strong", "em", "code"):
        spans = [e for e in claim.emphasis if e.style == style]
        places = {at for at, (_, tags) in enumerate(shown) if style in tags}
        assert places <= {at for e in spans for at in range(e.at, e.end)}
        assert places >= {at for e in spans if e.words.isalnum() for at in range(e.at, e.end)}
