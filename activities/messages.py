"""Fixed words of reports in the language of a report, and numbers with their nouns in lines for people.

A message is named by its English text, as gettext does. The catalogues (`activities/report/locale/*.po`) are
compiled in memory, once a process. Outside `in_language`, and for a language without a catalogue, messages
are English.
"""

import gettext
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime, timedelta
from functools import cache, wraps
from io import BytesIO
from pathlib import Path
from typing import Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

ENGLISH = "en"
CATALOGUES = ("de", "es", "fr", "zh")
"""Languages that fixed words are translated to."""
LOCALES = {ENGLISH: "en_GB"}
"""Locales of dates that differ from their language's."""
FOLDER = Path(__file__).parent / "report" / "locale"
S = TypeVar("S", bound="Spoken")
P = ParamSpec("P")
R = TypeVar("R")
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


class Plural(NamedTuple):
    """A message that depends on a number."""

    one: str
    many: str


@contextmanager
def in_language(language: str) -> Iterator[None]:
    """Say messages in a language."""
    token = _language.set(spoken(language))
    try:
        yield
    finally:
        _language.reset(token)


class Spoken(Protocol):
    """What is written in a language."""

    @property
    def language(self) -> str: ...


def in_its_language(write: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Decorate a function to say messages in the language of its first argument."""

    def spoken_in(subject: S, /, *args: P.args, **values: P.kwargs) -> R:
        with in_language(subject.language):
            return write(subject, *args, **values)

    return wraps(write)(spoken_in)


def spoken(language: str) -> str:
    """Return the language of the messages of a report in `language`."""
    return language if language in CATALOGUES else ENGLISH


def code_of(text: str) -> str:
    """Read a language tag such as `de`, `de-AT` or `zh-Hans` as an ISO 639-1 code. Raises ValueError."""
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(text.strip().replace("_", "-"), sep="-").language
    except (UnknownLocaleError, ValueError):
        raise ValueError(f"{text!r} is not a language code such as de, es or zh") from None


def english_name(code: str) -> str:
    """Name a language in English: `German`; a code that is not known as it is."""
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(code).get_language_name("en") or code
    except (UnknownLocaleError, ValueError):
        return code


def language() -> str:
    """Return the language of messages here."""
    return _language.get()


def N_(message: str) -> str:  # noqa: N802 - the name by which gettext's tools know it
    """Mark a message that is said elsewhere."""
    return message


def _(message: str) -> str:
    """Say a message."""
    return _catalogue(language()).gettext(message) if message else ""


def ngettext(singular: str, many: str, number: int) -> str:
    """Say a message in the form that a number asks for."""
    return _catalogue(language()).ngettext(singular, many, number)


@cache
def _catalogue(name: str) -> gettext.NullTranslations:
    if name == ENGLISH:
        return gettext.NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with (FOLDER / f"{name}.po").open("rb") as file:
        catalogue = read_po(file, locale=name)
    file_data = BytesIO()
    write_mo(file_data, catalogue)
    file_data.seek(0)
    return gettext.GNUTranslations(file_data)


def _locale() -> str:
    return LOCALES.get(language(), language())


def number(value: int) -> str:
    """Write a whole number: `1,000`, in German `1.000`."""
    if language() == ENGLISH:
        return f"{value:,}"
    from babel.numbers import format_decimal

    return format_decimal(value, locale=_locale())


def decimals(figures: str) -> str:
    """Write figures that have a decimal point as the language does: `0.85`, in German `0,85`."""
    if language() == ENGLISH:
        return figures
    from babel.numbers import get_decimal_symbol

    return figures.replace(".", get_decimal_symbol(_locale()))


def percent(share: float, digits: int = 0) -> str:
    """Write a share: `12.5%`, in German `12,5 %`."""
    return _("{number}%").format(number=decimals(f"{100 * share:.{digits}f}"))


def dollars(amount: float, digits: int = 4) -> str:
    """Write an amount of US dollars."""
    return _("${amount}").format(amount=decimals(f"{amount:.{digits}f}"))


def day(text: str) -> str:
    """Write the day of an ISO date or time: `21 November 2026`; any other text as it is."""
    try:
        value = datetime.fromisoformat(text).date() if "T" in text else date.fromisoformat(text)
    except ValueError:
        return text
    from babel.dates import format_date

    return format_date(value, "long", locale=_locale())


def moment(text: str) -> str:
    """Write an ISO time in UTC: `21 November 2026, 10:05 UTC`; any other text as it is."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{day(text)}, {time:%H:%M} UTC" if time.utcoffset() == timedelta() else day(text)


def join_names(names: Iterable[str]) -> str:
    """Join names: `a`, `a and b`, `a, b and c`."""
    *most, last = tuple(names) or ("",)
    if not most:
        return last
    if language() == ENGLISH:
        return f"{', '.join(most)} and {last}"
    from babel.lists import format_list

    return format_list([*most, last], locale=_locale())


def plural(count: int, thing: str) -> str:
    """`1 claim`, `2 claims`, `2 searches`, `2 studies`; of several words the last is the noun."""
    if count == 1:
        return f"1 {thing}"
    if thing.endswith("y") and thing[-2] not in "aeiou":
        return f"{count} {thing[:-1]}ies"
    return f"{count} {thing}{'es' if thing.endswith(('ch', 's')) else 's'}"


def count_of(number: int, singular: str, many: str = "") -> str:
    """`1 claim`, `2,000 claims`; `many` where the plural is not made by an s."""
    return f"{number:,} {singular if number == 1 else many or singular + 's'}"


def clock(seconds: float) -> str:
    """`1:02:03` or `2:03`."""
    minutes, rest_seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest_seconds:02}" if hours else f"{minutes}:{rest_seconds:02}"
