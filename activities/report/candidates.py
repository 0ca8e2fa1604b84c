"""Candidates for repurposing: which are named by a verified quote, and which of their fields are borne out.

Invariants:

- A candidate stays only with a verified quote from an item that names it.
- Mechanism, indications and status are a writer's words. Each is kept when an item that the candidate cites
  says it: every word of content and every number of the field occurs in one passage of that item or among its
  facts. What no cited item says is removed, and the report states which fields were.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from activities.report.formats.text import clean
from activities.report.schema import DroppedClaim
from activities.report.strength import grade
from activities.types import Candidate, Evidence, Statement
from activities.verification.quote_check import Checked, QuoteChecker, normalise, worded

_FIELDS = ("mechanism", "proposed_mechanism", "regulatory_status", "trial_status")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_PASSAGE = re.compile(r"(?<=[.;!?])\s+")
_LINK = re.compile(r"\s*(?:->|[;|\u2192])\s*")
"""Between the links of a chain of effects."""
_LEAST_WORD = 4
"""Shorter words carry no content of their own, unless they hold a digit or are written in capitals."""
_STEM = 5
"""Characters by which words meet: `inhibits`, `inhibition`."""


class CheckedCandidates:
    """What became of the candidates."""

    def __init__(self) -> None:
        self.kept: list[Candidate] = []
        self.dropped: list[DroppedClaim] = []
        self.checked: list[Checked] = []
        self.statements: list[Statement] = []


def check_candidates(
    candidates: Iterable[Candidate], checker: QuoteChecker, documents: Mapping[str, Evidence]
) -> CheckedCandidates:
    """Check quotes, names and fields of every candidate."""
    done = CheckedCandidates()
    for candidate in candidates:
        result = checker.supports(candidate.support)
        done.checked.append(result)
        names = [normalise(n).casefold() for n in (candidate.name, candidate.generic_name) if clean(n)]
        support = tuple(s for s in result.support if _names_any(documents[s.evidence_id], names))
        name = clean(candidate.name) or clean(candidate.generic_name)
        if not support or not name:
            _drop(done, name or "without a name", result)
            continue
        items = [documents[key] for key in dict.fromkeys(s.evidence_id for s in support)]
        kept = candidate.model_copy(
            update={"name": name, "support": support, "evidence_quality": grade(items)}
        )
        kept, removed = _with_checked_fields(kept, items)
        if removed:
            done.statements.append(
                Statement(code="candidate_fields_unchecked", values={"name": name, "fields": removed})
            )
        done.kept.append(kept)
    return done


def _drop(done: CheckedCandidates, name: str, result: Checked) -> None:
    reasons = list(dict.fromkeys(filter(None, [worded(result.refused)])))
    codes = list(result.refused)
    if result.support:
        reasons.append("the items it cites never name it")
        codes.append(Statement(code="never_named"))
    reason = "; ".join(reasons) or "it cites nothing"
    done.dropped.append(
        DroppedClaim(text=name, reason=reason, reasons=tuple(codes) or (Statement(code="cites_nothing"),))
    )
    done.statements.append(Statement(code="candidate_left_out", values={"name": name, "reason": reason}))


def _names_any(document: Evidence, names: Sequence[str]) -> bool:
    text = normalise(f"{document.title} {document.text}").casefold()
    return any(re.search(rf"(?<!\w){re.escape(name)}", text) for name in names)


def _with_checked_fields(
    candidate: Candidate, items: Sequence[Evidence]
) -> tuple[Candidate, tuple[str, ...]]:
    """The candidate without the fields that none of its items says, and the names of those fields."""
    passages = [_stems(passage) for item in items for passage in _passages(item)]
    known = _stems(f"{candidate.name} {candidate.generic_name}")
    update: dict[str, object] = {}
    removed: list[str] = []
    for name in _FIELDS:
        if not _said(getattr(candidate, name), passages, known):
            update[name] = ""
            removed.append(name)
    indications = tuple(text for text in candidate.current_indications if _said(text, passages, known))
    if indications != candidate.current_indications:
        update["current_indications"] = indications
        removed.append("current_indications")
    return (candidate.model_copy(update=update) if update else candidate), tuple(removed)


def _passages(item: Evidence) -> list[str]:
    """Sentences, each with the one after it, the title, and each fact with its name."""
    sentences = _PASSAGE.split(normalise(item.text))
    pairs = [f"{one} {other}" for one, other in zip(sentences, [*sentences[1:], ""], strict=True)]
    facts = [f"{name} {value}" for name, value in item.facts.items()]
    return [*pairs, item.title, *facts, " ".join(facts)]


def _said(text: str, passages: Sequence[set[str]], known: set[str]) -> bool:
    """Whether each part of a field (a chain's links, a list's entries) has all its words of content in one
    passage; the candidate's own name needs no support."""
    parts = [_stems(part) - known for part in _LINK.split(text)]
    return all(not words or any(words <= passage for passage in passages) for words in parts)


def _stems(text: str) -> set[str]:
    return {
        word.casefold()[:_STEM] if not any(map(str.isdigit, word)) else word.casefold()
        for word in _WORD.findall(normalise(text))
        if len(word) >= _LEAST_WORD or any(map(str.isdigit, word)) or (word.isupper() and len(word) > 1)
    }
