"""Validation of every answer: what names something that the model was not shown is dropped."""

import re
from collections.abc import Iterable
from typing import TypeVar

from activities.contracts.evidence import Statement, Support
from activities.contracts.judge import Refused, RefusedKind
from activities.report.formats.text import clean
from activities.roles.role import Prompt
from activities.text.sentences import Sentence
from activities.text.tokens import plain_words
from activities.verification.gate import MAX_CLAIM_CHARS
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
_JOINED = str.maketrans(" -", "__")

Value = TypeVar("Value", bound=str)


def one_of(text: str, values: Iterable[Value]) -> Value | None:
    """Return the value that a text names, in any case and with its words joined or not; None without one."""
    by_code = {value.strip().casefold().translate(_JOINED): value for value in [*values][::-1]}
    return by_code.get(text.strip().casefold().translate(_JOINED))


def clamp(value: float, low: float, high: float) -> float:
    """Return the value within the bounds; the lowest for one that is no number."""
    return min(max(value, low), high) if value == value else low


def line(text: str, max_chars: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= max_chars else flat[: max_chars - 1].rstrip() + "…"


def sentence_text(text: str) -> str:
    """Put a sentence of a model on one line without the citation marks that it put in.

    Years in brackets and intervals (`95% CI [2, 14]`) stay. One that is too long is cut.
    """

    def mark(match: re.Match[str]) -> str:
        return match.group() if _INTERVAL.search(text[: match.start()]) else ""

    text = clean(text)
    text = _PART.sub("", _NAMED_MARK.sub("", text))
    text = _NUMERIC_MARK.sub(mark, text).strip()
    return line(_BEFORE.sub("", re.sub(r" {2,}", " ", text)), MAX_CLAIM_CHARS + 20)


def lines(texts: Iterable[str], max_lines: int, max_chars: int = 300) -> tuple[str, ...]:
    """Return different, non-empty lines, at most so many."""
    unique: dict[str, str] = {}
    for text in texts:
        text_line = line(text, max_chars)
        if text_line:
            unique.setdefault(text_line.casefold(), text_line)
    return tuple(unique.values())[:max_lines]


def resolve(labels: Iterable[str | None], prompt: Prompt) -> tuple[tuple[Sentence, ...], tuple[str, ...]]:
    """Return the sentences that labels stand for, each once, and the labels that were not shown."""
    sentences: dict[str, Sentence] = {}
    unknown_labels: list[str] = []
    for label in labels:
        sentence = prompt.sentences.get(label or "")
        if not label or sentence is None:
            unknown_labels.append(line(label or "", 40))
        else:
            sentences.setdefault(label, sentence)
    return tuple(sentences.values()), tuple(unknown_labels)


def supports(sentences: Iterable[Sentence]) -> tuple[Support, ...]:
    """Return sentences as quotes of their works, each once."""
    quotes = (Support(evidence_id=sentence.evidence_id, quote=sentence.quote) for sentence in sentences)
    return tuple(dict.fromkeys(quotes))


def refusal(
    kind: RefusedKind, text: str, reason: Statement | str, evidence_ids: Iterable[str] = (), **values: str
) -> Refused:
    """Record something that a check refused. `reason`: a statement, or the code of one."""
    statement = Statement(code=reason, values=dict(values)) if isinstance(reason, str) else reason
    return Refused(
        kind=kind,
        text=line(text, MAX_REFUSED_CHARS),
        reason=statement,
        evidence_ids=tuple(dict.fromkeys(evidence_ids)),
    )


def is_relevant(text: str, *subjects: str) -> bool:
    """Tell whether a text has at least one significant word of its subject."""
    return bool(
        {word for word in plain_words(text) if len(word) > 3} & {w for t in subjects for w in plain_words(t)}
    )
