"""Reports in other languages: every message is translated, and nothing of ours is left in English."""

import re
from functools import cache
from string import Formatter

import pytest

from activities.contracts.evidence import Length, Support
from activities.contracts.write import DraftClaim
from activities.messages import CATALOGUES
from activities.report.assemble import build_report
from activities.report.formats import render
from activities.report.formats.statements import WORDING, Choice
from activities.report.formats.text import with_full_stop
from activities.report.strength import DESIGN_NAMES, TYPE_NAMES
from activities.verification.verdicts import printable_draft
from tests.activities.report.rendered import EVERY_FORMAT, faults, page_of, words_of
from tests.activities.report.wide import ALL
from tests.activities.report.wide import STEP as WIDE
from tests.activities.report.written import INFECTION, INJURY, PASSAGES, STEP, WORKS
from tests.messages import catalogue, written


def forms(text: object) -> tuple[str, ...]:
    return tuple(text) if isinstance(text, tuple | list) else (str(text),)


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", CATALOGUES)
def test_every_message_is_translated_with_its_values(language: str) -> None:
    ours, theirs = written(), catalogue(language)
    assert {message.id for message in theirs if message.id} == {m.id for m in ours if m.id}
    for message in theirs:
        if not message.id:
            continue
        english, translated = forms(message.id), forms(message.string)
        assert all(translated), message.id
        assert len(translated) == (theirs.num_plurals if len(english) > 1 else 1)
        # a translation of a form without its number may still have it
        assert fields(translated[-1]) == fields(english[-1]), message.id
        for form in translated:
            assert fields(form) <= set().union(*map(fields, english)), message.id


@pytest.mark.parametrize("language", CATALOGUES)
def test_every_statement_that_is_a_message_is_in_every_language(language: str) -> None:
    known = {forms(message.id)[0] for message in catalogue(language) if message.string}
    for code, wording in WORDING.items():
        texts = (*wording.among.values(), wording.otherwise) if isinstance(wording, Choice) else (wording,)
        assert {text for text in texts if isinstance(text, str)} - {"{text}"} <= known, code


DATA = {*TYPE_NAMES.values(), *DESIGN_NAMES.values()}
"""What JSON holds as data: the kind of a work."""
LENGTHS: tuple[Length, ...] = ("brief", "full")
"""`standard` has nothing that is in neither."""
LEAST = 14
"""Characters from which a fixed text is told from the words of works."""


@cache
def fixed_texts() -> frozenset[str]:
    """The English texts of messages, between their values, that no other language has."""
    parts = {
        part.strip(" .,:;()“”[]")
        for message in written()
        for form in forms(message.id)
        for part in re.split(r"\{\w*\}", form)
    }
    return frozenset(part for part in parts if len(part) >= LEAST and " " in part)


@pytest.mark.parametrize(  # what a format words itself it words in each language: catalogues are whole
    ("language", "name"),
    [
        *((language, "md") for language in CATALOGUES),
        *(("de", name) for name in EVERY_FORMAT[1:]),
        ("de", "json"),
    ],
)
def test_a_report_in_another_language_has_no_fixed_text_in_english(language: str, name: str) -> None:
    steps = ((WIDE, ALL), (STEP, WORKS), (PASSAGES, WORKS))
    for step, works in steps if name in ("md", "json") else steps[:1]:
        made, given = (
            build_report(step.replace(language=language), works),
            " ".join(work.model_dump_json() for work in (step, *works.values())),
        )
        for length in LENGTHS if name in ("md", "json") else LENGTHS[1:]:
            report = made.replace(length=length)
            shown = report.model_dump_json() if name == "json" else words_of(report, name)
            left = {text for text in fixed_texts() if text in shown and text not in given}
            left -= DATA if name == "json" else set()
            assert not left, (length, left)
        assert not faults(made, ALL | WORKS), "it does not hold"


def test_a_sentence_in_chinese_ends_with_its_own_full_stop() -> None:
    for step, works in ((WIDE, ALL), (STEP, WORKS), (PASSAGES, WORKS)):
        for length in LENGTHS:
            report = build_report(step.replace(language="zh"), works).replace(length=length)
            assert re.findall(r".{10}[\u4e00-\u9fff]\.(?=\s|$)", words_of(report, "md")) == []


@pytest.mark.parametrize(("language", "lang"), [("de", "de"), ("zh", "zh"), ("it", "en"), ("en", "en")])
def test_a_page_says_its_language(language: str, lang: str) -> None:
    report = build_report(STEP.replace(language=language), WORKS)
    page = page_of(render(report, "html"))
    assert page.get("lang") == lang
    quoted = {quote.get("lang") for quote in page.xpath("//details[@class='opens']//blockquote")}
    assert quoted == ({None} if language == "en" else {"en"})
    # what a model wrote in a language without a catalogue stands among English fixed words
    prose = {part.get("lang") for part in page.xpath("//*[@class='prose answer']")}
    assert prose == ({"it"} if language == "it" else {None})


@pytest.mark.parametrize("name", ["md", "html"])
def test_a_confirmed_translation_stands_beside_its_quote_and_no_other(name: str) -> None:
    """Whoever reads German sees the quote as it is, and what it says."""
    quote = Support(evidence_id="pmid:11", quote=INFECTION)
    other = Support(evidence_id="pmid:13", quote=INJURY)
    confirmed = DraftClaim(text="Wundinfektionen waren seltener.", support=(quote,), kind="translation")
    unread = confirmed.replace(text="Niemand hat dies gelesen.", support=(other,), state="ask")
    draft = STEP.sections[0].draft.replace(translations=(confirmed, unread))
    (first, *rest) = STEP.sections
    step = STEP.replace(language="de", sections=(first.replace(draft=printable_draft(draft)), *rest))
    report = build_report(step, WORKS)
    context = next(one for one in report.contexts if one.quote == INFECTION)
    assert (context.translation, context.language) == ("Wundinfektionen waren seltener.", "en")
    assert [one.translation for one in report.contexts if one.quote == INJURY] in ([], [""])
    data = render(report, name)
    shown = page_of(data).text_content() if name == "html" else words_of(report, name)
    marked = "Übersetzung des Modells, vom zweiten Leser bestätigt: „Wundinfektionen waren seltener."
    assert marked in " ".join(shown.split())
    assert "Niemand hat dies gelesen" not in shown


@pytest.mark.parametrize(
    ("language", "marks"), [("de", "\u201e{}\u201c"), ("fr", "\u00ab {} \u00bb"), ("es", "\u00ab{}\u00bb")]
)
def test_quotation_marks_are_those_of_the_language_of_the_report(language: str, marks: str) -> None:
    shown = words_of(build_report(STEP, WORKS).replace(language=language))
    assert marks.format(INFECTION) in shown
    assert "\u201d" not in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        *((text, text) for text in ("\u0939\u0948\u0964", "\u0644\u0629\u061f", "\u5f00\u59cb\u3002", "")),
        ("\u6709\u5229\u4e4b\u5904", "\u6709\u5229\u4e4b\u5904\u3002"),
        ("It fell", "It fell."),
        ("(It fell.)", "(It fell.)"),
        ("(It fell)", "(It fell)."),
        ("A trial (Smith et al.)", "A trial (Smith et al.)."),
        ('Say: "It fell."', 'Say: "It fell."'),
        ("Say: \u201cIt fell\u201d", "Say: \u201cIt fell\u201d."),
        ("साथी की देखरेख उपयोगी है", "साथी की देखरेख उपयोगी है।"),
    ],
)
def test_a_sentence_ends_with_one_full_stop_of_its_script(text: str, shown: str) -> None:
    assert with_full_stop(text) == shown
