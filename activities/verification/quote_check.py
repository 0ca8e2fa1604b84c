"""The quote check: what supports a statement stands, word for word, in the very item it is attributed to.

Invariants:

- Each quote is looked for in the text of the very item it is attributed to, never in another one.
- A quote is one contiguous run of at least 25 characters after `normalise`, of whole words and whole numbers:
  a run that starts inside "inactive" or "12.5" would say something else than its source.
- Nothing is repaired, and there is no fuzzy match: it would let "alpha" pass for "beta".
- Retracted work supports nothing.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from activities.types import Evidence, Statement, Support
from activities.verification.normal_form import MIN_QUOTE_CHARS as MIN_QUOTE_CHARS
from activities.verification.normal_form import normalise as normalise
from activities.verification.normal_form import occurs
from activities.verification.normal_form import verbatim as verbatim

REFUSALS: Mapping[str, str] = {
    "claim_empty": "it says nothing",
    "cites_nothing": "it cites nothing",
    "cites_unknown_item": "it cites an item that was not found in this run",
    "rests_on_retracted": "it rests on retracted work",
    "quote_too_short": f"its quote is shorter than {MIN_QUOTE_CHARS} characters",
    "quote_not_in_text": "its quote is not in the text of the item it cites",
    "quote_is_title": "its quote is merely the title",
    "quote_is_copyright": "its quote is a copyright line",
    "quote_is_citation": "its quote is a citation line",
    "quote_is_reference": "its quote is a line of references",
    "number_missing": "it has a number that its quote does not have: {number}",
    "name_missing": "it has a name that the works it cites do not have: {name}",
    "not_supported": "a second reader, asked whether the quoted text says this, answered {verdict}: {reason}",
    "not_verified": "no second reader confirmed that the quoted text says this",
    "not_carried": "a second reader named no words of the works that carry it",
    "leans_on_refused": "it points at a sentence that does not stand",
    "label_unknown": "it names a sentence or work that was not shown: {label}",
    "text_cut": "it was cut off at its length limit",
    "adds_to_claims": "it says more than the claims it rests on",
    "other_work": "the sentence it names is of another work",
    "not_in_work": "the work does not say it",
    "direction_of_numbers": "its numbers are on the other side of no effect",
    "meaning_turned": "{how}",
    "not_of_quotes": "it shares next to no word with its quotes",
    "recommends": "it recommends what its quotes do not",
    "widens": "it says of all what its quotes do not: {words}",
}
"""Code of each refusal, and its wording as the end of a sentence."""

_VOLUME_AND_PAGES = re.compile(
    r"\b(?:19|20)\d\d\b[^.;:]{0,12};\s*\d+\s*(?:\([^)]{1,12}\))?\s*:\s*[A-Za-z]?\d+"
    r"|\b\d+\s*\(\d+\)\s*[:,]\s*[A-Za-z]?\d+\s*-\s*\d+"
    r"|\bvol\.?\s*\d+\b.{0,20}\bpp?\.\s*\d+",
    re.IGNORECASE,
)
_LOCATOR = re.compile(r"\bdoi\b\s*:|\b10\.\d{4,9}/\S|\bPMI?D\s*:|\bPMCID\s*:|\bISSN\b", re.IGNORECASE)
_AUTHORS = re.compile(
    r"^\W*(?:\d{1,3}[\].)]?\s*)?[A-Z][\w'-]+ [A-Z]{1,3}(?:, [A-Z][\w'-]+ [A-Z]{1,3})*"
    r"(?:,? (?:et al|and [A-Z][\w'-]+ [A-Z]{1,3}))?\.(?:\s|$)"
)
_AUTHORS_APA = re.compile(r"^\W*[A-Z][\w'-]+, (?:[A-Z]\. ?)++.*\((?:19|20)\d\d[a-z]?\)")
_COPYRIGHT = re.compile(r"^\W*(?:\u00a9|\(c\)|copyright\b)|\ball rights reserved\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of looking for quotes."""

    support: tuple[Support, ...] = ()
    """The quotes that stand, each once."""
    refused: tuple[Statement, ...] = ()
    """Why the others do not."""
    retracted: tuple[str, ...] = ()
    """Ids of retracted items that were not accepted as support."""


class QuoteChecker:
    """Looks for quotes in documents; normalises each document once."""

    def __init__(self, documents: Mapping[str, Evidence]) -> None:
        self._documents = documents
        self._texts: dict[str, str] = {}

    def supports(self, supports: Iterable[Support]) -> Checked:
        """The quotes that stand, and why the others do not. Never raises."""
        kept: dict[tuple[str, str], Support] = {}
        refused: list[Statement] = []
        retracted: list[str] = []
        for support in supports:
            document, quote = self._documents.get(support.evidence_id), normalise(support.quote)
            if document is None:
                refused.append(_refusal("cites_unknown_item"))
            elif document.standing == "retracted":
                refused.append(_refusal("rests_on_retracted"))
                retracted.append(document.evidence_id)
            elif len(quote) < MIN_QUOTE_CHARS:
                refused.append(_refusal("quote_too_short"))
            elif not occurs(quote, self._text(document)):
                refused.append(_refusal("quote_not_in_text"))
            elif fault := quote_fault(quote, document):
                refused.append(fault)
            else:
                kept.setdefault((support.evidence_id, quote), support)
        return Checked(tuple(kept.values()), tuple(refused), tuple(retracted))

    def _text(self, document: Evidence) -> str:
        key = document.evidence_id
        if key not in self._texts:
            self._texts[key] = normalise(document.text)
        return self._texts[key]


def worded(reasons: Iterable[Statement]) -> str:
    """Refusals in words, as the end of a sentence."""
    return "; ".join(dict.fromkeys(REFUSALS[r.code].format(**r.values) for r in reasons))


def quote_fault(quote: str, document: Evidence) -> Statement | None:
    """Why a quote that is in the text still supports nothing: a title, a citation line, a reference."""
    title = _heading(document)
    plain = quote.casefold().strip(" .")
    beyond = len(plain) - len(title)
    if (title and plain in title) or (
        len(title) >= MIN_QUOTE_CHARS and title in plain and beyond < MIN_QUOTE_CHARS
    ):
        return _refusal("quote_is_title")
    if _COPYRIGHT.search(quote):
        return _refusal("quote_is_copyright")
    if _VOLUME_AND_PAGES.search(quote) or _LOCATOR.search(quote):
        return _refusal("quote_is_citation")
    if _AUTHORS.search(quote) or _AUTHORS_APA.search(quote):
        return _refusal("quote_is_reference")
    return None


def _heading(document: Evidence) -> str:
    """The title, for comparing; empty where it is none: a record without a title is listed by the start of
    its text, which ends in an ellipsis unless it is the whole text."""
    title = normalise(document.title).casefold()
    cut = title.endswith("...")
    if cut or len(document.text) < len(document.title) + MIN_QUOTE_CHARS:
        start = normalise(document.text[: 2 * len(title) + 200]).casefold()
        if start == title or (cut and start.startswith(title.rstrip(" ."))):
            return ""
    return title.strip(" .")


def _refusal(code: str, **values: str) -> Statement:
    return Statement(code=code, values=dict(values))
