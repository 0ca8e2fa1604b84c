"""What the editor wrote, checked: it rests on claims that stand, and adds no fact.

Each of its sentences gets the quotes of the claims it restates and goes through the same check as they. What
fails is left out: the claims say it themselves.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rapidfuzz import fuzz

from activities.drafts import DraftClaim, Edited, EditedSentence
from activities.report.claims import CheckedDrafts, CheckedSection, of_role, plain_claim
from activities.report.formats.text import clean
from activities.types import Claim, Statement
from activities.verification.claim_check import missing_number
from activities.verification.quote_check import QuoteChecker, normalise

_ALIKE = 60.0
"""Percent of shared words from which a claim may be called a repetition of one on other works."""


@dataclass(frozen=True, slots=True)
class CheckedEdit:
    """What stands of what the editor wrote."""

    title: str = ""
    answer: tuple[Claim, ...] = ()
    summary: tuple[Claim, ...] = ()
    mechanism: tuple[Claim, ...] = ()
    leads: Mapping[str, str] = field(default_factory=dict)
    """Section id -> the sentence that leads into it."""


def check_edited(
    edited: Edited,
    question: str,
    done: CheckedDrafts,
    checker: QuoteChecker,
) -> CheckedEdit:
    """Check every sentence of the editor; what is refused is recorded in `done`. Repetitions are removed from
    its sections first."""
    done.dropped += [of_role(refused) for refused in edited.refused]
    everything = {claim.id: claim for claim in done.standing}
    _remove_repeated(edited.repeated, done)
    writer = _Sentences(everything, done, checker)
    quotes = [support.quote for claim in done.claims for support in claim.support]
    said = [question, *(claim.text for claim in done.claims), *quotes]
    title = clean(edited.title)
    if title and _adds_number(title, said):
        done.drop(title, [Statement(code="summary_adds")], "summary", "", ())
        title = ""
    return CheckedEdit(
        title=title,
        answer=writer.checked(edited.answer, "a"),
        summary=writer.checked(edited.executive_summary, "x"),
        mechanism=writer.checked(edited.mechanism, "m"),
        leads=_leads(edited.transitions, done),
    )


class _Sentences:
    def __init__(self, claims: Mapping[str, Claim], done: CheckedDrafts, checker: QuoteChecker) -> None:
        self.claims = claims
        self.done = done
        self.checker = checker

    def checked(self, sentences: Iterable[EditedSentence], prefix: str) -> tuple[Claim, ...]:
        made = (self.claim(one, f"{prefix}{place}") for place, one in enumerate(sentences, start=1))
        return tuple(claim for claim in made if claim is not None)

    def claim(self, sentence: EditedSentence, name: str) -> Claim | None:
        """The sentence with the quotes of its claims; None where it rests on none that stands, or fails."""
        named = dict.fromkeys(sentence.claims)
        rests_on = tuple(dict.fromkeys(own for one in named if (own := self._standing(one)) in self.claims))
        said = [self.claims[one] for one in (*named, *rests_on) if one in self.claims]
        quotes = dict.fromkeys(support for claim in said for support in claim.support)
        text = plain_claim(sentence.text)
        if not named or any(self._standing(one) not in self.claims for one in named):
            reason = Statement(code="rests_on_dropped")
            self.done.drop(text, [reason], "summary", "", (s.evidence_id for s in quotes))
            return None
        draft = DraftClaim(text=text, support=tuple(quotes))
        checked = self.checker.check(draft)
        if not checked.kept:
            self.done.drop(text, checked.reasons, "summary", "", (s.evidence_id for s in quotes))
            return None
        return Claim(id=name, text=text, support=checked.support, rests_on=rests_on)

    def _standing(self, name: str) -> str:
        """The claim that says what this one says, where it was left out as a repetition."""
        while name in self.done.repeats:
            name = self.done.repeats[name]
        return name


def _remove_repeated(repeated: Sequence[str], done: CheckedDrafts) -> None:
    """Leave out the claims that another claim says: one that stands and cites the same work or has most of
    its words. The last claim of a report is never removed."""
    standing = {claim.id: claim for claim in done.claims}
    for name in dict.fromkeys(repeated):
        claim = standing.get(name)
        if claim is None:
            continue
        others = (other for other in standing.values() if other.id != name)
        same = next((other for other in others if _may_repeat(claim, other)), None)
        if same is None:
            continue
        del standing[name]
        done.repeats[name] = same.id
        section = next(s for s in done.sections if claim in s.claims)
        reason = Statement(code="repeats_claim", values={"claim": same.id})
        done.drop(claim.text, [reason], "claim", section.section_id, (s.evidence_id for s in claim.support))
    done.sections = [_only(section, standing) for section in done.sections]


def _only(section: CheckedSection, standing: Mapping[str, Claim]) -> CheckedSection:
    left = (tuple(claim for claim in paragraph if claim.id in standing) for paragraph in section.paragraphs)
    return replace(section, paragraphs=tuple(filter(None, left)))


def _may_repeat(claim: Claim, other: Claim) -> bool:
    shared = {s.evidence_id for s in claim.support} & {s.evidence_id for s in other.support}
    return bool(shared) or fuzz.token_set_ratio(claim.text, other.text) >= _ALIKE


def _leads(transitions: Mapping[str, str], done: CheckedDrafts) -> dict[str, str]:
    """The sentences that lead into sections, without those that have a number of their own."""
    found: dict[str, str] = {}
    for section in done.sections:
        text = clean(transitions.get(section.section_id, ""))
        said = [section.title, section.planned.section.key_question, *(c.text for c in section.claims)]
        said += [support.quote for claim in section.claims for support in claim.support]
        if not text or not section.claims:
            continue
        if _adds_number(text, said):
            done.drop(text, [Statement(code="summary_adds")], "summary", section.section_id, ())
        else:
            found[section.section_id] = text
    return found


def _adds_number(text: str, said: Sequence[str]) -> bool:
    return bool(missing_number(normalise(text), [normalise(one) for one in said], (), 0))
