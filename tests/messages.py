"""The messages of reports: `python -m tests.messages` prints them in English, one a line, to be read.

`--update` adds new messages to the catalogues, without a translation, and removes those that are gone.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from activities.messages import CATALOGUES, FOLDER

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "activities", ROOT / "client" / "reports")
METHODS = {".py": "python", ".jinja": "jinja2"}
MARKS = re.compile(r"(?<!\w)(?:N?_|ngettext)\(")
KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2)}


@cache
def written() -> Catalog:
    """Collect the messages that the code marks."""
    catalogue = Catalog(fuzzy=False)
    plurals: dict[str, tuple[str, str]] = {}
    for one, many in _pairs():
        plurals[one] = (one, many)
    # `Plural(N_(one), N_(many))` is one message with two forms
    others = {many for _, many in plurals.values()}
    for message, context in _marked():
        text = message if isinstance(message, str) else tuple(message)
        if isinstance(text, str) and text in others and text not in plurals:
            continue
        catalogue.add(plurals.get(text, text) if isinstance(text, str) else text, context=context)
    return catalogue


def _marked() -> Iterator[tuple[str | tuple[str, ...], str | None]]:
    """The messages of the files that have any: to take every file apart lasts three times as long."""
    for suffix, method in METHODS.items():
        for path in sorted(path for folder in FOLDERS for path in folder.rglob(f"*{suffix}")):
            if MARKS.search(path.read_text("utf-8")):
                for _line, message, _comments, context in extract_from_file(method, path, KEYWORDS):
                    yield message, context


def _pairs() -> Iterator[tuple[str, str]]:
    """The two forms of each message that is declared as `Plural(N_(...), N_(...))`."""
    import ast

    texts = (path.read_text("utf-8") for path in FOLDERS[0].rglob("*.py"))
    for text in (text for text in texts if "Plural(" in text):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Plural":
                yield tuple(ast.literal_eval(form.args[0]) for form in node.args[:2])  # type: ignore[attr-defined]


def catalogue(language: str) -> Catalog:
    """Read the catalogue of a language; an empty one before it is written first."""
    path = FOLDER / f"{language}.po"
    if not path.exists():
        return Catalog(locale=language, fuzzy=False)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def update(language: str) -> None:
    """Add the messages that are new to a catalogue, and remove those that are gone."""
    made = catalogue(language)
    made.update(written(), no_fuzzy_matching=True)
    made.obsolete.clear()
    with (FOLDER / f"{language}.po").open("wb") as file:
        write_po(file, made, width=110, no_location=True, omit_header=True, sort_output=True)


if __name__ == "__main__":
    if "--update" in sys.argv:
        for name in CATALOGUES:
            update(name)
    else:
        for message in written():
            for form in message.id if isinstance(message.id, tuple) else (message.id,):
                print(form)  # noqa: T201 - it is what the command is for
