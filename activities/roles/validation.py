"""Validation of every answer: tolerant of form, strict about content.

Harmless mistakes of form by small models (a number as text, one string for a list, `85%`) are read; what
names something the model was not shown is dropped.
"""

import re
from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from typing_extensions import TypeAliasType

from activities.contracts.evidence import Statement, Support
from activities.contracts.judge import Refused, RefusedKind
from activities.report.formats.text import clean
from activities.roles.role import Prompt
from activities.text.sentences import Sentence
from activities.verification.gate import MAX_CLAIM_CHARS, words
from activities.verification.verdicts import MAX_REFUSED_CHARS

_NUMERIC_MARK = re.compile(r"(?:(?<!\s)\s+)?\[\s*\^?\d{1,3}(?:\s*[-\u2010-\u2015,;]\s*\d{1,3})*\s*\]")
_NAMED_MARK = re.compile(
    r"(?:(?<!\s)\s+)?(?:\[(?:pmid|pmcid|doi|nct|arxiv|openalex|s2|fda|url|doc|evidence|ref|source)\b[^\]]{0,300}\]"
    r"|\((?:pmid|pmcid|doi|nct|arxiv|openalex|s2|url|doc)\s*:[^)]{0,300}\)|\[s\d+\.[ar]?\d+\]|[\[(]E\d{1,3}\b[^\])]{0,40}[\])])",
    re.IGNORECASE,
)
_PART = re.compile(r"^[A-Z][A-Z /&]{3,40}:\s+(?=\w)")
"""The label of a structured abstract that a writer copied with its sentence."""
_INTERVAL = re.compile(r"\b(?:CI|CrI|IQR|intervals?|range)\W*$", re.IGNORECASE)
_BEFORE = re.compile(r"^(?:[,;:!?\s]|\.(?!\d))+(?=\w)")
"""What is left of the sentence before one that was cut."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LABEL = re.compile(r"[A-Z]\d{1,4}", re.IGNORECASE)
_JOINED = str.maketrans(" -", "__")

Value = TypeVar("Value", bound=str)


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
        read = (_one(part) for part in value)
        return [text for text in read if isinstance(text, str) and text]
    return value


def _one(part: object) -> object:
    """`{"gap": "..."}` for `"..."`: an object around a single text."""
    if isinstance(part, dict) and len(texts := [v for v in part.values() if isinstance(v, str)]) == 1:
        return texts[0]
    return _text(part)


def _truth(value: object) -> object:
    """`"yes"` and `true` alike; what is neither yes nor no is left open."""
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
    """`"S1, S3"` and `["[S1]", "S3"]` as labels. What holds no label stays as it is, to be refused."""
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
OneSentence = Annotated[SentenceLabel, BeforeValidator(_label)]
OneClaim = Annotated[ClaimLabel, BeforeValidator(_label)]
Text = Annotated[str, BeforeValidator(_text)]
Texts = Annotated[list[str], BeforeValidator(_texts)]
Truth = Annotated[bool | None, BeforeValidator(_truth)]
"""A yes or no that may be left open."""
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


def one_of(text: str, values: Iterable[Value]) -> Value | None:
    """The value that a text names, in any case and with its words joined or not; None for another text."""
    named = _code(text)
    return next((value for value in values if _code(value) == named), None)


def _code(text: str) -> str:
    return text.strip().casefold().translate(_JOINED)


def clamped(value: float, low: float, high: float) -> float:
    """The value within the bounds; one that is no number is the lowest."""
    return min(max(value, low), high) if value == value else low


def line(text: str, limit: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def sentence_text(text: str) -> str:
    """A sentence of a model on one line without the citation marks that it put in: code numbers citations.
    Years in brackets and intervals (`95% CI [2, 14]`) stay. One that is too long is cut."""

    def mark(match: re.Match[str]) -> str:
        return match.group() if _INTERVAL.search(text[: match.start()]) else ""

    text = clean(text)
    text = _PART.sub("", _NAMED_MARK.sub("", text))
    text = _NUMERIC_MARK.sub(mark, text).strip()
    return line(_BEFORE.sub("", re.sub(r" {2,}", " ", text)), MAX_CLAIM_CHARS + 20)


def lines(texts: Iterable[str], most: int, limit: int = 300) -> tuple[str, ...]:
    """Different, non-empty lines, at most so many."""
    unique: dict[str, str] = {}
    for text in texts:
        one = line(text, limit)
        if one:
            unique.setdefault(one.casefold(), one)
    return tuple(unique.values())[:most]


def cited(labels: Iterable[str], prompt: Prompt) -> tuple[tuple[Sentence, ...], tuple[str, ...]]:
    """The sentences that labels stand for, each once, and the labels that were not shown."""
    sentences: dict[str, Sentence] = {}
    unknown: list[str] = []
    for label in labels:
        sentence = prompt.sentences.get(label)
        if sentence is None:
            unknown.append(line(label, 40))
        else:
            sentences.setdefault(label, sentence)
    return tuple(sentences.values()), tuple(unknown)


def supports(sentences: Iterable[Sentence]) -> tuple[Support, ...]:
    """Sentences as quotes of their works, each once."""
    quotes = (Support(evidence_id=one.evidence_id, quote=one.quote) for one in sentences)
    return tuple(dict.fromkeys(quotes))


def refusal(
    kind: RefusedKind, text: str, reason: Statement | str, evidence_ids: Iterable[str] = (), **values: str
) -> Refused:
    """What is recorded of something that a check refused. `reason`: a statement, or the code of one."""
    stated = Statement(code=reason, values=dict(values)) if isinstance(reason, str) else reason
    return Refused(
        kind=kind,
        text=line(text, MAX_REFUSED_CHARS),
        reason=stated,
        evidence_ids=tuple(dict.fromkeys(evidence_ids)),
    )


def is_relevant(text: str, *about: str) -> bool:
    """Whether a text has at least one significant word of its subject."""
    return bool({word for word in words(text) if len(word) > 3} & {w for t in about for w in words(t)})
