"""The quote check: what supports a statement stands, word for word, in the very item it is attributed to.

Invariants:

- Each quote is looked for in the text of the very item it is attributed to, never in another one.
- A quote is one contiguous run of at least 25 characters (10 in scripts without blanks) after `normalise`, of
  whole words and whole numbers: a run that starts inside "inactive" or "12.5" would say something else than
  its source.
- Nothing is repaired, and there is no fuzzy match: it would let "alpha" pass for "beta".
- Retracted work supports nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from activities.contracts.evidence import Evidence, Statement, Support
from activities.text.normal_form import min_chars, normalise, occurs
from activities.text.quotability import heading_of, quote_fault


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
        """Return the quotes that stand, and why the others do not.

        Never raises."""
        unique: dict[tuple[str, str], Support] = {}
        refusals: list[Statement] = []
        retracted_ids: list[str] = []
        for support in supports:
            document, quote = self._documents.get(support.evidence_id), normalise(support.quote)
            if document is None:
                refusals.append(Statement.of("cites_unknown_item"))
            elif document.standing == "retracted":
                refusals.append(Statement.of("rests_on_retracted"))
                retracted_ids.append(document.evidence_id)
            elif len(quote) < min_chars(quote):
                refusals.append(Statement.of("quote_too_short", min_chars=min_chars(quote)))
            elif not occurs(quote, self._text(document.evidence_id)):
                refusals.append(Statement.of("quote_not_in_text"))
            elif fault := quote_fault(quote, heading_of(document.title, document.text)):
                refusals.append(fault)
            else:
                unique.setdefault((support.evidence_id, quote), support)
        return Checked(tuple(unique.values()), tuple(refusals), tuple(retracted_ids))
