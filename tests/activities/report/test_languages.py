"""Reports in other languages: every message is translated, and nothing of ours is left in English."""

from string import Formatter

import pytest

from activities.messages import CATALOGUES, Plural
from activities.report.formats.statements import WORDING
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
        if isinstance(wording, Plural):
            assert wording.one in known, code
        elif isinstance(wording, str):
            assert wording in known, code
