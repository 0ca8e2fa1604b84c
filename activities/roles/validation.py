"""Validation of every answer: tolerant of form, strict about content.

Harmless mistakes of form by small models (a number as text, one string for a list, `85%`) are read; what
names something the model was not shown is dropped.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from activities.roles.role import Prompt
from activities.types import Evidence, Support

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LABEL = re.compile(r"E\d{1,4}", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


class Loose(BaseModel):
    """Base of what models are asked for: fields that were not asked for are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


def _text(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value)
    return value


def _texts(value: object) -> object:
    if value is None or value == "":
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for text in (_one(part) for part in value) if text != ""]
    return value


def _one(part: object) -> object:
    """`{"gap": "..."}` for `"..."`: an object around a single text."""
    if isinstance(part, dict) and len(texts := [v for v in part.values() if isinstance(v, str)]) == 1:
        return texts[0]
    return _text(part)


def _score(value: object) -> object:
    if isinstance(value, str) and (found := _NUMBER.search(value)):
        value = float(found.group())
    return round(value) if isinstance(value, float) and abs(value) < 1e9 else value


def _share(value: object) -> object:
    if isinstance(value, str) and (found := _NUMBER.search(value)):
        number = float(found.group())
        return number / 100 if "%" in value else number
    return value


Text = Annotated[str, BeforeValidator(_text)]
Texts = Annotated[list[str], BeforeValidator(_texts)]
Score = Annotated[int, BeforeValidator(_score)]
Share = Annotated[float, BeforeValidator(_share)]


def limits(*, items: int | None = None, length: int | None = None, **also: Any) -> Any:  # noqa: ANN401
    """A field whose JSON schema says how many items it may have and how long its text (or each item's) may
    be. For the model only: what an answer has beyond that is cut by code, not refused."""

    def bound(schema: dict[str, Any]) -> None:
        if items is not None:
            schema["maxItems"] = items
        texts = schema.get("items", schema) if schema.get("type") == "array" else schema
        if length is not None and texts.get("type") == "string":
            texts["maxLength"] = length

    return Field(json_schema_extra=bound, **also)


class Quoted(Loose):
    """A quote and the label of its item."""

    item: Text = limits(length=8, default="")
    quote: Text = limits(length=400, default="")


def copied(example: object, answer: object) -> str:
    """The first text of an example of four words and more that an answer repeats; empty when there is
    none."""
    said = {" ".join(words(text)) for text in texts_in(answer)}
    return next((t for t in texts_in(example) if len(words(t)) > 3 and " ".join(words(t)) in said), "")


def texts_in(value: object) -> list[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for part in value for text in texts_in(part)] if isinstance(value, list) else []


def clamped(value: float, low: float, high: float) -> float:
    """Within the bounds; a value that is no number is the lowest."""
    return min(max(value, low), high) if value == value else low


def line(text: str, limit: int) -> str:
    """One line of at most so many characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def lines(texts: Iterable[str], most: int, limit: int = 300) -> tuple[str, ...]:
    """Different, non-empty lines, at most so many."""
    unique: dict[str, str] = {}
    for text in texts:
        one = line(text, limit)
        if one:
            unique.setdefault(one.casefold(), one)
    return tuple(unique.values())[:most]


def item(label: str, prompt: Prompt) -> Evidence | None:
    """The item a label stands for; None for one that was not shown. A label may come with brackets or as the
    evidence id itself."""
    text = label.strip().strip("[]()").strip()
    if _LABEL.fullmatch(text):
        return prompt.shown.get(text.upper())
    return next((shown for shown in prompt.shown.values() if shown.evidence_id == text), None)


def items(labels: Iterable[str], prompt: Prompt) -> tuple[str, ...]:
    """Evidence ids of the labels that were shown, each once, in order. `"E1, E3"` is two labels."""
    found: dict[str, None] = {}
    for text in labels:
        exact = item(text, prompt)
        several = [exact] if exact else [item(label, prompt) for label in _LABEL.findall(text)]
        found.update({one.evidence_id: None for one in several if one})
    return tuple(found)


def supports(quotes: Sequence[Quoted], prompt: Prompt) -> tuple[tuple[Support, ...], int]:
    """Quotes of items that were shown, and how many named another one. Whether a quote is verbatim is for the
    quote check to say."""
    kept: dict[Support, None] = {}
    unknown = 0
    for quoted in quotes:
        shown = item(quoted.item, prompt)
        if shown is None:
            unknown += 1
        elif quoted.quote.strip():
            kept[Support(evidence_id=shown.evidence_id, quote=quoted.quote.strip()[:2_000])] = None
    return tuple(kept), unknown


def words(text: str) -> list[str]:
    """The words of a text in the form they are compared in."""
    return [word.casefold() for word in _WORD.findall(text)]


def names(name: str, text: str) -> bool:
    """Whether the words of a name stand side by side in the text."""
    wanted = " ".join(words(name))
    return bool(wanted) and f" {wanted} " in f" {' '.join(words(text))} "


def is_relevant(text: str, *about: str) -> bool:
    """Whether a text has at least one significant word of its subject."""
    return bool({word for word in words(text) if len(word) > 3} & {w for t in about for w in words(t)})


def grounded(text: str, corpus: str) -> str:
    """The text if every number and two thirds of its longer words occur in the corpus, else nothing."""
    there = set(words(corpus))
    significant = [word for word in words(text) if len(word) > 3 or any(c.isdigit() for c in word)]
    known = sum(word in there for word in significant)
    numbers = all(word in there for word in significant if any(c.isdigit() for c in word))
    return text if significant and numbers and 3 * known >= 2 * len(significant) else ""


def plural(count: int, thing: str) -> str:
    """`1 claim`, `2 claims`."""
    ending = "es" if thing.endswith(("ch", "s")) else "s"
    return f"{count} {thing}{'' if count == 1 else ending}"
