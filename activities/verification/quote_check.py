"""The quote check: a claim is kept only with words that the item it cites really contains.

Invariants:

- Each quote is looked for in the text of the very item it is attributed to, never in another one.
- A quote is one contiguous run of at least 25 characters after `normalise`, of whole words and whole numbers:
  a run that starts inside "inactive" or "12.5" would say something else than its source.
- The only repairs are splitting a quote at its ellipses into parts that are each verbatim, and removing
  quotation marks and a label around it. There is no fuzzy match: it would let "alpha" pass for "beta".
- Retracted work supports nothing.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from activities.drafts import DraftClaim
from activities.types import Evidence, Statement, Support
from activities.verification.normal_form import MIN_QUOTE_CHARS as MIN_QUOTE_CHARS
from activities.verification.normal_form import normalise as normalise
from activities.verification.normal_form import occurs
from activities.verification.normal_form import verbatim as verbatim
from activities.verification.wording import sources_of, wording_problem

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
    "label_unknown": "it names a sentence or work that was not shown: {label}",
    "text_cut": "it was cut off at its length limit",
    "adds_to_claims": "it says more than the claims it rests on",
    "other_work": "the sentence it names is of another work",
    "not_in_work": "the work does not say it",
    "meaning_turned": "{how}",
    "not_of_quotes": "it shares next to no word with its quotes",
    "recommends": "it recommends what its quotes do not",
    "widens": "it says of all what its quotes do not: {words}",
}
"""Code of each refusal, and its wording as the end of a sentence."""

_ELLIPSIS = re.compile(r"(?:(?<!\s)\s+)?(?:\[\s*\.{3,}\s*\]|\(\s*\.{3,}\s*\)|\.{3,})\s*")
_LABEL = re.compile(r"^[^\W\d_][^\W\d_ /&-]*(?:[ /&-][^\W\d_]+){0,3}:\s+")
_MARKS = "\"'`"

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
    """The result of checking one claim."""

    support: tuple[Support, ...] = ()
    """The quotes that passed; empty when the claim is dropped."""
    reasons: tuple[Statement, ...] = ()
    """Why the claim is dropped; empty when it is kept."""
    repaired: bool = False
    refused: tuple[Statement, ...] = ()
    """Why single quotes were not accepted."""
    retracted: tuple[str, ...] = ()
    """Ids of retracted items that were not accepted as support."""

    @property
    def kept(self) -> bool:
        return not self.reasons


class QuoteChecker:
    """Checks claims against documents; normalises each document once."""

    def __init__(self, documents: Mapping[str, Evidence]) -> None:
        self._documents = documents
        self._texts: dict[str, str] = {}

    def check(self, draft: DraftClaim) -> Checked:
        """Check one claim; of one that rests on several works every quote must pass. Never raises: what
        cannot be verified is dropped with its reason."""
        stood = self.supports(draft.support)
        claim = normalise(draft.text)
        several = len({support.evidence_id for support in draft.support}) > 1
        reasons: tuple[Statement, ...] = ()
        if not claim:
            reasons = (_refusal("claim_empty"),)
        elif not draft.support:
            reasons = (_refusal("cites_nothing"),)
        elif not stood.support or (several and stood.refused):
            reasons = _each_once(stood.refused)
        elif not any(_same(claim, support.quote) for support in stood.support):
            problem = wording_problem(draft.text, sources_of(stood.support, self._documents))
            reasons = (problem,) if problem else ()
        return Checked(
            () if reasons else stood.support,
            reasons,
            stood.repaired and not reasons,
            stood.refused,
            stood.retracted,
        )

    def supports(self, supports: Iterable[Support]) -> Checked:
        """Check quotes alone, without a claim: those that pass, and why the others do not."""
        kept: dict[tuple[str, str], Support] = {}
        refused: list[Statement] = []
        retracted: list[str] = []
        repaired = False
        for support in supports:
            document = self._documents.get(support.evidence_id)
            if document is None:
                refused.append(_refusal("cites_unknown_item"))
            elif document.standing == "retracted":
                refused.append(_refusal("rests_on_retracted"))
                retracted.append(document.evidence_id)
            else:
                parts, reason = self._parts(support.quote, document)
                if reason:
                    refused.append(reason)
                else:
                    repaired = repaired or parts != (_tidy(support.quote),)
                    for part in parts:
                        key = (support.evidence_id, normalise(part))
                        kept.setdefault(key, Support(evidence_id=support.evidence_id, quote=part))
        return Checked(
            tuple(kept.values()),
            repaired=repaired,
            refused=tuple(refused),
            retracted=tuple(retracted),
        )

    def _parts(self, quote: str, document: Evidence) -> tuple[tuple[str, ...], Statement | None]:
        """The verbatim quotes in what was given as one, or the reason why there is none."""
        text = self._text(document)
        plain = normalise(quote)
        if occurs(plain, text):
            parts: tuple[str, ...] = (plain,)
        else:
            stripped = plain.strip(_MARKS + " ")
            parts = tuple(part for part in _ELLIPSIS.split(stripped) if part)
            parts = tuple(part.strip(_MARKS + " ") for part in parts)
            if parts and not occurs(parts[0], text):
                parts = (_LABEL.sub("", parts[0]).strip(_MARKS + " "), *parts[1:])
            if not parts or any(len(part) < MIN_QUOTE_CHARS for part in parts):
                return (), _refusal("quote_too_short")
            if not all(occurs(part, text) for part in parts):
                return (), _refusal("quote_not_in_text")
        for part in parts:
            reason = quote_fault(part, document)
            if reason:
                return (), reason
        return ((_tidy(quote),) if parts == (plain,) else parts), None

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


def _same(claim: str, quote: str) -> bool:
    """Whether a claim is its quote, but for a capital first and a stop last."""
    return claim.casefold().rstrip(".") == normalise(quote).casefold().rstrip(".")


def _tidy(quote: str) -> str:
    """White space made single, nothing else changed."""
    return " ".join(quote.split())


def _refusal(code: str, **values: str) -> Statement:
    return Statement(code=code, values=dict(values))


def _each_once(reasons: Sequence[Statement]) -> tuple[Statement, ...]:
    return tuple(reason for place, reason in enumerate(reasons) if reason not in reasons[:place])
