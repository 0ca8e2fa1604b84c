"""Numbers, lists and nouns as a sentence has them."""

from collections.abc import Iterable


def counted(number: int, one: str, many: str = "") -> str:
    """`1 claim`, `2 claims`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = tuple(names) or ("",)
    return f"{', '.join(most)} and {last}" if most else last


def with_article(noun: str) -> str:
    """`A cohort`, `An article`: at the beginning of a sentence."""
    return f"{'An' if noun[:1].casefold() in 'aeiou' else 'A'} {noun}"


def plural(noun: str) -> str:
    """The plural of a type of evidence."""
    for ending, many in (("study", "studies"), ("analysis", "analyses")):
        if noun.endswith(ending):
            return noun.removesuffix(ending) + many
    return f"{noun}s"


def in_words(number: int) -> str:
    """Numbers up to ten in words."""
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[number] if number < len(words) else f"{number:,}"


def in_sentence_case(text: str) -> str:
    """A phrase from a title, whose words begin with capitals, as it is written within a sentence."""
    words = text.split()
    capital = [word for word in words if word[:1].isupper() and word[1:].islower()]
    if 2 * len(capital) <= len(words):
        return text
    return " ".join(word.lower() if word in capital else word for word in words)
