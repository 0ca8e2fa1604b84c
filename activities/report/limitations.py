"""What a report must admit, in plain words, decided by code from what happened."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from activities.report.formats.text import STOPPED, clean
from activities.report.schema import DroppedClaim, Reference
from activities.steps import PlannedSection, PublishInput
from activities.types import Evidence, SearchRecord, SearchStatus

__all__ = ["STOPPED", "folded", "limitations", "search_failures", "why_unanswered"]

_FAILED: Mapping[SearchStatus, str] = {
    "rate_limited": "the source's rate limit",
    "unavailable": "an outage",
    "malformed": "an answer that could not be read",
    "refused": "a refusal",
}
_UNSHOWN = re.compile(r"\b(\d+) of (\d+) items were not shown to the model\b")
"""As `activities.roles.prompt.left_out` says it."""
_SECTION = {
    "partial": "is incomplete",
    "failed": "could not be researched",
    "cancelled": "was cancelled",
}


def limitations(
    step: PublishInput,
    *,
    references: Sequence[Reference],
    dropped: Sequence[DroppedClaim],
    verified: int,
    quotes_refused: int,
    retracted: Sequence[Evidence],
    candidates_dropped: Sequence[DroppedClaim] = (),
    notes: Sequence[str] = (),
) -> tuple[str, ...]:
    """Sentences for the reader, the gravest first, each once."""
    said: list[str] = []
    if step.draft:
        said.append("This is a draft: it waits for a reviewer's approval.")
    if not verified:
        said.append(f"The question is not answered: {why_unanswered(step, dropped)}.")
    if step.stop_reason != "sufficient_evidence":
        said.append(f"The research stopped early: {STOPPED[step.stop_reason]}.")
    said += _sections(step.sections)
    said += search_failures(step.searches)
    said += _retracted(retracted)
    said += notes
    if set(step.models) == {"extractive"}:
        said.append(
            "No language model was used: sentences were ranked and quoted, not weighed or put together; "
            "planning and judging were done by the same ranking."
        )
    elif "extractive" in step.models:
        said.append("Some steps were done without a language model, by ranking and quoting sentences.")
    said += _references(references)
    said += [f"Candidate {clean(item.text)} was left out: {item.reason}." for item in candidates_dropped]
    if dropped and verified:
        said.append(
            f"{_count(len(dropped), 'claim')} did not pass the quote check and "
            f"{'is' if len(dropped) == 1 else 'are'} left out; the verification names each with its reason."
        )
    if quotes_refused:
        said.append(
            f"{_count(quotes_refused, 'quote')} that did not pass the check stood beside others that did."
        )
    if step.usage.cost_microusd is None:
        said.append("What the run cost in money is not known: a model's price is not known.")
    said += folded([clean(text) for text in step.limitations if isinstance(text, str)])
    for planned in step.sections:
        said += [clean(text) for text in planned.draft.limitations]
    once: dict[str, str] = {}
    for text in filter(None, said):
        once.setdefault(text.casefold().rstrip(" ."), text)
    return tuple(once.values())


def folded(said: Sequence[str]) -> list[str]:
    """The same, with one sentence for all the steps whose prompts had no room for every item: a long run has
    dozens, each with numbers of its own. It stands where the first of them stood."""
    found = {text: match for text in said if (match := _UNSHOWN.search(text))}
    if len(found) < 2:
        return list(said)
    missing, of = max((int(match[1]), int(match[2])) for match in found.values())
    one = (
        "The model was not shown every item in every step, so that its prompts would fit: at most "
        f"{missing} of {of} items were left out of a step."
    )
    first = next(iter(found))
    return [one if text == first else text for text in said if text == first or text not in found]


def why_unanswered(step: PublishInput, dropped: Sequence[DroppedClaim]) -> str:
    """Why there is not one verified claim, as the end of a sentence."""
    answered = [s for s in step.searches if s.status in ("ok", "empty")]
    if dropped:
        return f"none of the {_count(len(dropped), 'claim')} written passed the quote check"
    if step.searches and not answered:
        return "every search failed, which says nothing of whether evidence exists"
    if not step.searches and not step.evidence:
        return f"nothing was searched ({STOPPED[step.stop_reason]})"
    if not step.evidence and not any(s.kept for s in answered):
        failed = len(step.searches) - len(answered)
        rest = f"; {failed} of {len(step.searches)} searches failed" if failed else ""
        return f"the searches that were answered found nothing{rest}"
    found = step.counts.screened or len(step.evidence)
    return f"none of the {_count(found, 'item')} found answers it" if found else "nothing found answers it"


def search_failures(searches: Sequence[SearchRecord]) -> list[str]:
    """One sentence for each source and kind of failure. A failed search is never called an empty one."""
    asked = Counter(s.source for s in searches)
    failed = Counter((s.source, s.status) for s in searches if s.status in _FAILED)
    said = [
        f"{count} of {_count(asked[source], 'search', 'searches')} of {clean(source)} failed through "
        f"{_FAILED[status]} ({status}): what {'it' if count == 1 else 'they'} would have found is not known."
        for (source, status), count in failed.items()
    ]
    # every search of the library counts the same files again
    own = max((s.set_aside for s in searches if s.source == "library"), default=0)
    set_aside = own + sum(s.set_aside for s in searches if s.source != "library")
    if set_aside:
        said.append(f"{_count(set_aside, 'record')} could not be read and {_were(set_aside)} set aside.")
    return said


def _sections(sections: Sequence[PlannedSection]) -> list[str]:
    """One sentence for all the sections that ended alike; none for the only one of a run that stopped early,
    which is said already."""
    alike: dict[tuple[str, str], list[PlannedSection]] = {}
    for planned in sections:
        if planned.status != "complete":
            alike.setdefault((planned.status, planned.note), []).append(planned)
    if len(sections) == 1 and sections[0].status == "partial" and not sections[0].note:
        return []
    return [_section(same[0]) if len(same) == 1 else _several(same) for same in alike.values()]


def _several(sections: Sequence[PlannedSection]) -> str:
    names = [f'"{clean(planned.section.title)}"' for planned in sections]
    what = _SECTION[sections[0].status]
    what = what.replace("is ", "are ", 1).replace("was ", "were ", 1)
    note = f": {clean(sections[0].note).rstrip('.')}" if sections[0].note else ""
    return f"The sections {', '.join(names[:-1])} and {names[-1]} {what}{note}."


def _section(planned: PlannedSection) -> str:
    note = f": {clean(planned.note).rstrip('.')}" if planned.note else ""
    return f'The section "{clean(planned.section.title)}" {_SECTION[planned.status]}{note}.'


def _retracted(items: Iterable[Evidence]) -> list[str]:
    return [
        f'Retracted work is not used as support and was left out: "{clean(item.title)}" ({item.evidence_id}).'
        for item in items
    ]


def _references(references: Sequence[Reference]) -> list[str]:
    said = []
    total = len(references)
    brief = sum(not r.full_text for r in references)
    if brief:
        share = "" if brief == total else f"{brief} of "
        said.append(f"Only the abstract or a summary was read of {share}{_count(total, 'cited item')}.")
    preprints = sum(r.evidence_type == "preprint" for r in references)
    if preprints:
        said.append(f"{_count(preprints, 'cited item')} {_were(preprints, 'is', 'are')} not peer reviewed.")
    said += [
        f'There is an expression of concern about [{r.number}] "{clean(r.title)}".'
        for r in references
        if r.standing == "concern"
    ]
    unknown = sum(r.standing == "unknown" for r in references)
    if unknown:
        said.append(
            f"Whether {_count(unknown, 'cited item')} of {total} {_were(unknown, 'has', 'have')} been "
            "retracted or corrected is not known."
        )
    return said


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _were(number: int, one: str = "was", many: str = "were") -> str:
    return one if number == 1 else many
