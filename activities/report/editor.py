"""What of the editor's work is printed: sentences that stand, on claims that stand.

In place of one that does not stand the claims that it names are printed; a mechanism and what leads into
a section are left out.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from activities.contracts.evidence import Claim, Statement
from activities.contracts.write import Edited, EditedSentence
from activities.report.claims import Checks, as_claim
from activities.report.formats.prose import paragraphs_of
from activities.report.formats.text import clean
from activities.verification.verdicts import leaned_on, refused


@dataclass(frozen=True, slots=True)
class CheckedEdit:
    title: str = ""
    answer: tuple[Claim, ...] = ()
    summary: tuple[Claim, ...] = ()
    mechanism: tuple[Claim, ...] = ()
    leads: Mapping[str, str] = field(default_factory=dict)
    """Section id -> the sentence that leads into it."""


def check_edited(edited: Edited, checks: Checks) -> CheckedEdit:
    """What is printed of the editor's work; what falls is recorded. Repetitions are removed from the sections
    first."""
    checks.drop_refused(edited.refused)
    claims = {claim.id: claim for claim in checks.standing}
    _remove_repeated(edited.repeated, checks)
    return CheckedEdit(
        title=clean(edited.title),
        answer=_printed(edited.answer, claims, checks),
        summary=_printed(edited.executive_summary, claims, checks),
        mechanism=_printed(edited.mechanism, claims, checks, in_place=False),
        leads=_leads(edited.transitions, checks),
    )


def _printed(
    sentences: Sequence[EditedSentence], claims: Mapping[str, Claim], checks: Checks, *, in_place: bool = True
) -> tuple[Claim, ...]:
    """The sentences that stand, each once; `in_place`: and the claims of those that do not, under their own
    ids, by which they are disputed and changed."""
    kept: dict[str, Claim] = {}
    for sentence in sentences:
        names = tuple(dict.fromkeys(_standing(name, checks.repeats) for name in sentence.claims))
        if (problem := _problem(sentence, names, claims, checks)) is None:
            claim = as_claim(sentence).replace(rests_on=names)
            kept.setdefault(claim.text, claim)
            continue
        checks.drop_refused([refused(sentence.replace(problem=problem), "summary")])
        for claim in (claims[name] for name in names if in_place and name in claims):
            kept.setdefault(claim.text, claim.replace(contradicts=()))
    return tuple(kept.values())


def _problem(
    sentence: EditedSentence, names: Sequence[str], claims: Collection[str], checks: Checks
) -> Statement | None:
    if sentence.state != "stands":
        return sentence.problem or Statement.of("not_read")
    if not names or any(name not in claims for name in names):
        return Statement.of("rests_on_dropped")
    return next(iter(checks.supports(sentence.support).refused), None)


def _standing(name: str, repeats: Mapping[str, str]) -> str:
    """The claim that says what this one says, where it was left out as a repetition."""
    while name in repeats:
        name = repeats[name]
    return name


def _remove_repeated(repeated: Sequence[tuple[str, str]], checks: Checks) -> None:
    """Leave out the claims that another one which stands says."""
    standing = {claim.id: (claim, section) for section in checks.sections for claim in section.claims}
    carrying = {
        name for section in checks.sections for own in paragraphs_of(section) for name in leaned_on(own)
    }
    for name, same in dict(repeated).items():
        if name in standing and same in standing and same != name and name not in carrying:
            claim, section = standing.pop(name)
            checks.drop_repeated(claim, same, section.id)
    for place, section in enumerate(checks.sections):
        left = (tuple(name for name in paragraph if name in standing) for paragraph in section.paragraphs)
        checks.sections[place] = section.replace(
            claims=tuple(claim for claim in section.claims if claim.id in standing),
            paragraphs=tuple(filter(None, left)),
        )


def _leads(transitions: Mapping[str, EditedSentence], checks: Checks) -> dict[str, str]:
    leads: dict[str, str] = {}
    for section in checks.sections:
        lead = transitions.get(section.id)
        if lead is None or not section.claims:
            continue
        if lead.state == "stands":
            leads[section.id] = clean(lead.text)
        else:
            checks.drop_refused([refused(lead, "summary")], section.id)
    return leads
