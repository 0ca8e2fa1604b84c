"""The fields that models are asked for, tolerant of form.

Harmless mistakes of small models (a number as text, one string for a list, `85%`) are read; what an answer
may say is up to `activities.roles.validation`.
"""

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from typing_extensions import TypeAliasType

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LABEL = re.compile(r"[A-Z]\d{1,4}", re.IGNORECASE)


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
        scalars = (_scalar(part) for part in value)
        return [text for text in scalars if isinstance(text, str) and text]
    return value


def _fields(value: object) -> object:
    """Read the fields of a row, of which some are empty."""
    parts = value if isinstance(value, list) else [] if value is None or value == "" else [value]
    return [text if isinstance(text := _scalar(part), str) else "" for part in parts]


def _scalar(part: object) -> object:
    """Read an object around a single text, `{"gap": "..."}`, as that text."""
    if isinstance(part, dict) and len(texts := [v for v in part.values() if isinstance(v, str)]) == 1:
        return texts[0]
    return _text(part)


def _truth(value: object) -> object:
    """Read `"yes"` and `true` alike; leave open what is neither yes nor no."""
    text = str(value).strip().casefold()
    return True if text in ("true", "yes") else False if text in ("false", "no") else None


def _score(value: object) -> object:
    if isinstance(value, str) and (match := _NUMBER.search(value)):
        value = float(match.group())
    return round(value) if isinstance(value, float) and abs(value) < 1e9 else value


def _share(value: object) -> object:
    if isinstance(value, str) and (match := _NUMBER.search(value)):
        number = float(match.group())
        return number / 100 if "%" in value else number
    return value


def _labels(value: object) -> object:
    """Read `"S1, S3"` and `["[S1]", "S3"]` as labels; what holds none stays as it is, to be refused."""
    if value is None or value == "":
        return []
    parts = value if isinstance(value, list) else [value]
    labels: list[str] = []
    for part in parts:
        text = str(part)
        labels += [label.upper() for label in _LABEL.findall(text)] or ([text] if text.strip() else [])
    return list(dict.fromkeys(labels))


def _label(value: object) -> object:
    labels = _labels(value)
    return labels[0] if isinstance(labels, list) and labels else ""


SentenceLabel = TypeAliasType("SentenceLabel", str)
"""`S1`: a sentence of a work that is shown. Its values are listed once in an answer's schema."""
WorkLabel = TypeAliasType("WorkLabel", str)
"""`E1`: a work that is shown."""
ClaimLabel = TypeAliasType("ClaimLabel", str)
"""`C1`: a claim that is shown."""
SentenceLabels = Annotated[list[SentenceLabel], BeforeValidator(_labels)]
WorkLabels = Annotated[list[WorkLabel], BeforeValidator(_labels)]
ClaimLabels = Annotated[list[ClaimLabel], BeforeValidator(_labels)]
Labels = Annotated[list[str], BeforeValidator(_labels)]
"""Labels of sentences or works."""
OneWork = Annotated[WorkLabel, BeforeValidator(_label)]
OneSentence = Annotated[SentenceLabel | None, BeforeValidator(_label)]
"""The label of a sentence, or none where no sentence says it."""
OneClaim = Annotated[ClaimLabel, BeforeValidator(_label)]
Text = Annotated[str, BeforeValidator(_text)]
Texts = Annotated[list[str], BeforeValidator(_texts)]
Fields = Annotated[list[str], BeforeValidator(_fields)]
"""Texts by place, of which some may be empty."""
Truth = Annotated[bool | None, BeforeValidator(_truth)]
"""A yes or no that may be left open."""
Score = Annotated[int, BeforeValidator(_score)]
Share = Annotated[float, BeforeValidator(_share)]


def limits(*, items: int | None = None, length: int | None = None, **also: Any) -> Any:  # noqa: ANN401
    """Bound a field in its JSON schema: how many items it has and how long its text, or each item's, is.

    For the model only: what an answer has beyond that is cut by code, not refused.
    """

    def bound(schema: dict[str, Any]) -> None:
        if items is not None:
            schema["maxItems"] = items
        texts = schema.get("items", schema) if schema.get("type") == "array" else schema
        if length is not None and texts.get("type") == "string":
            texts["maxLength"] = length

    return Field(json_schema_extra=bound, **also)
