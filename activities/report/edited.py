"""What of the editor's work is printed: sentences that stand, on claims that stand.

In place of one that does not stand the claims that it names are printed; a mechanism and what leads into
a section are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from activities.contracts.evidence import Claim, Statement
from activities.contracts.write import Edited, EditedSentence
from activities.report.claims import CheckedDrafts, as_claim, of_role
from activities.report.formats.text import clean
from activities.verification.quote_check import QuoteChecker
from activities.verification.verdicts import refused


@dataclass(frozen=True, slots=True)
class CheckedEdit:
    """What stands of what the editor wrote."""

    title: str = ""
    answer: tuple[Claim, ...] = ()
    summary: tuple[Claim, ...] = ()
    mechanism: tuple[Claim, ...] = ()
    leads: Mapping[str, str] = field(default_factory=dict)
    """Section id -> the sentence that leads into it."""


def check_edited(edited: Edited, done: CheckedDrafts, checker: QuoteChecker) -> CheckedEdit:
    """What is printed of the editor's work; what falls is recorded in `done`. Repetitions are removed from
    its sections first."""
    done.dropped += [of_role(one) for one in edited.refused]
    everything = {claim.id: claim for claim in done.standing}
    _remove_repeated(edited.repeated, done)
    writer = _Sentences(everything, done, checker)
    return CheckedEdit(
        title=clean(edited.title),
        answer=writer.printed(edited.answer),
        summary=writer.printed(edited.executive_summary),
        mechanism=writer.printed(edited.mechanism, in_place=False),
        leads=_leads(edited.transitions, done),
    )


class _Sentences:
    def __init__(self, claims: Mapping[str, Claim], done: CheckedDrafts, checker: QuoteChecker) -> None:
        self.claims = claims
        self.done = done
        self.checker = checker

    def printed(self, sentences: Sequence[EditedSentence], *, in_place: bool = True) -> tuple[Claim, ...]:
        """The sentences that stand, each once; `in_place`: and the claims of those that do not."""
        kept: dict[str, Claim] = {}
        for sentence in sentences:
            named = tuple(dict.fromkeys(map(self._standing, sentence.claims)))
            on = [self.claims[name] for name in named if name in self.claims]
            if (problem := self._problem(sentence, named)) is None:
                claim = as_claim(sentence).replace(rests_on=named)
                kept.setdefault(claim.text, claim)
                continue
            fallen = sentence.replace(problem=problem)
            self.done.dropped.append(of_role(refused(fallen, "summary")))
            for claim in on if in_place else ():
                again = claim.replace(id=_next(sentence.id, kept), rests_on=(claim.id,), contradicts=())
                kept.setdefault(claim.text, again)
        return tuple(kept.values())

    def _problem(self, sentence: EditedSentence, named: Sequence[str]) -> Statement | None:
        if sentence.state != "stands":
            return sentence.problem or Statement.of("not_verified")
        if not named or any(name not in self.claims for name in named):
            return Statement.of("rests_on_dropped")
        return next(iter(self.checker.supports(sentence.support).refused), None)

    def _standing(self, name: str) -> str:
        """The claim that says what this one says, where it was left out as a repetition."""
        while name in self.done.repeats:
            name = self.done.repeats[name]
        return name


def _next(name: str, kept: Mapping[str, Claim]) -> str:
    """The id of one of several claims in the place of a sentence: `a2`, `a2.2`."""
    used = {claim.id for claim in kept.values()}
    place = 1
    while (found := name if place == 1 else f"{name}.{place}") in used:
        place += 1
    return found


def _remove_repeated(repeated: Sequence[tuple[str, str]], done: CheckedDrafts) -> None:
    """Leave out the claims that another one which stands says."""
    standing = {claim.id: claim for claim in done.claims}
    for name, same in dict(repeated).items():
        claim = standing.get(name)
        if claim is None or same not in standing or same == name:
            continue
        del standing[name]
        done.repeats[name] = same
        section = next(s for s in done.sections if claim in s.claims)
        reason = Statement.of("repeats_claim", claim=same)
        done.drop(claim.text, [reason], "claim", section.section_id, (s.evidence_id for s in claim.support))
    for place, section in enumerate(done.sections):
        left = (tuple(claim for claim in one if claim.id in standing) for one in section.paragraphs)
        done.sections[place] = replace(section, paragraphs=tuple(filter(None, left)))


def _leads(transitions: Mapping[str, EditedSentence], done: CheckedDrafts) -> dict[str, str]:
    """The sentences that lead into sections which have a claim."""
    found: dict[str, str] = {}
    for section in done.sections:
        lead = transitions.get(section.section_id)
        if lead is None or not section.claims:
            continue
        if lead.state == "stands":
            found[section.section_id] = clean(lead.text)
        else:
            done.dropped.append(of_role(refused(lead, "summary"), section.section_id))
    return found
