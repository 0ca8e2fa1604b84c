"""The quote check: what supports a statement stands, word for word, in the very item it is attributed to.

Invariants:

- Each quote is looked for in the text of the very item it is attributed to, never in another one.
- A quote is one contiguous run of at least 25 characters after `normalise`, of whole words and whole numbers:
  a run that starts inside "inactive" or "12.5" would say something else than its source.
- Nothing is repaired, and there is no fuzzy match: it would let "alpha" pass for "beta".
- Retracted work supports nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from activities.contracts.evidence import Evidence, Statement, Support
from activities.text.normal_form import MIN_QUOTE_CHARS, normalise, occurs
from activities.text.quotability import quote_fault, refusal

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
    "groups_exchanged": "its sentence gives these numbers to the other group",
    "meaning_turned": "{how}",
    "not_of_quotes": "it shares next to no word with its quotes",
    "recommends": "it recommends what its quotes do not",
    "widens": "it says of all what its quotes do not: {words}",
}
"""Code of each refusal, and its wording as the end of a sentence."""


@dataclass(frozen=True, slots=True)
class Checked:
    support: tuple[Support, ...] = ()
    """The quotes that stand, each once."""
    refused: tuple[Statement, ...] = ()
    retracted: tuple[str, ...] = ()
    """Ids of retracted items that were not accepted as support."""


class QuoteChecker:
    """Looks for quotes in documents; normalises each document once."""

    def __init__(self, documents: Mapping[str, Evidence]) -> None:
        self._documents = documents
        self._text = cache(lambda name: normalise(documents[name].text))

    def supports(self, supports: Iterable[Support]) -> Checked:
        """The quotes that stand, and why the others do not. Never raises."""
        kept: dict[tuple[str, str], Support] = {}
        refused: list[Statement] = []
        retracted: list[str] = []
        for support in supports:
            document, quote = self._documents.get(support.evidence_id), normalise(support.quote)
            if document is None:
                refused.append(refusal("cites_unknown_item"))
            elif document.standing == "retracted":
                refused.append(refusal("rests_on_retracted"))
                retracted.append(document.evidence_id)
            elif len(quote) < MIN_QUOTE_CHARS:
                refused.append(refusal("quote_too_short"))
            elif not occurs(quote, self._text(document.evidence_id)):
                refused.append(refusal("quote_not_in_text"))
            elif fault := quote_fault(quote, document):
                refused.append(fault)
            else:
                kept.setdefault((support.evidence_id, quote), support)
        return Checked(tuple(kept.values()), tuple(refused), tuple(retracted))


def worded(reasons: Iterable[Statement]) -> str:
    """Refusals in words, as the end of a sentence."""
    return "; ".join(dict.fromkeys(REFUSALS[r.code].format(**r.values) for r in reasons))
