"""Independent verification of a report: evidence as JSON lines, and the check itself.

`examine` needs nothing but a report and the lines: no store, no server, no trust in the run.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal

from activities.analysis.conclusions import again, numbers_stand, unpooled
from activities.contracts.appraisal import Conclusion, PooledFigure
from activities.contracts.candidates import Candidate
from activities.contracts.evidence import Claim, Frozen, Support
from activities.report.candidates import fields_not_said
from activities.report.evidence_lines import as_evidence
from activities.report.formats.prose import Citations, paragraphs_of, section_text, summary_text
from activities.report.schema import Report
from activities.text.normal_form import MIN_QUOTE_CHARS, normalise, verbatim


class CheckedQuote(Frozen):
    """One quote and the item it is attributed to."""

    evidence_id: str
    number: int | None
    """Of the reference; None when it is not among them."""
    quote: str
    problem: str = ""
    """A sentence on what is wrong; empty when the quote holds."""


BearerKind = Literal["claim", "candidate", "related", "cell", "conclusion", "judgement"]
"""`related`: a passage of a work that does not mention all that is asked."""


class CheckedBearer(Frozen):
    """What quotes, with the results for its quotes."""

    kind: BearerKind
    name: str
    """The claim's id, the candidate's name, or the id of the work."""
    text: str = ""
    quotes: tuple[CheckedQuote, ...] = ()
    problems: tuple[str, ...] = ()
    """Beyond those of single quotes."""

    @property
    def holds(self) -> bool:
        return not self.problems and not any(quote.problem for quote in self.quotes)

    def faults(self) -> tuple[str, ...]:
        """Everything that is wrong, one sentence each."""
        return (*(q.problem for q in self.quotes if q.problem), *self.problems)


class Examination(Frozen):
    """What a check of a whole report found."""

    run_id: str
    bearers: tuple[CheckedBearer, ...] = ()
    problems: tuple[str, ...] = ()
    """Of the report as a whole: its numbering, and text without a claim."""

    @property
    def holds(self) -> bool:
        return not self.problems and all(bearer.holds for bearer in self.bearers)

    def faults(self) -> list[str]:
        """Everything that is wrong, one sentence each."""
        return [*(fault for bearer in self.bearers for fault in bearer.faults()), *self.problems]


def verify(report: Report, lines: Iterable[Mapping[str, object]]) -> list[str]:
    """What is wrong with a report, one sentence a problem; empty when everything in `examine` holds."""
    return examine(report, lines).faults()


def examine(report: Report, lines: Iterable[Mapping[str, object]]) -> Examination:
    """Check every quote against the text of the very item it is attributed to, the numbering of the
    references, and that the text says what the claims say and no more."""
    pairs = [(str(line.get("evidence_id")), line) for line in lines]
    items = dict(pairs)
    texts = {name: normalise(str(line.get("text") or "")) for name, line in items.items()}
    numbers = {reference.evidence_id: reference.number for reference in report.references}
    retracted = {name for name, line in pairs if line.get("standing") == "retracted"}
    retracted |= {r.evidence_id for r in report.references if r.standing == "retracted"}

    def checked(bearer: str, support: Support, *, cited: bool = True) -> CheckedQuote:
        name, problem = support.evidence_id, ""
        if name not in items:
            problem = f"{bearer} cites {name}, which is not among the evidence"
        elif not verbatim(support.quote, texts[name]):
            problem = f'{bearer}: not in the text of {name}: "{support.quote}"{_why(support, texts)}'
        elif name in retracted:
            problem = f"{bearer} rests on {name}, which is retracted"
        elif cited and name not in numbers:
            problem = f"{bearer} cites {name}, which is not among the references"
        return CheckedQuote(evidence_id=name, number=numbers.get(name), quote=support.quote, problem=problem)

    def bearer(
        kind: BearerKind,
        name: str,
        text: str,
        supports: Iterable[Support],
        problems: Iterable[str] = (),
        *,
        said: str = "",
        cited: bool = True,
    ) -> CheckedBearer:
        quotes = tuple(checked(said or f"{kind} {name}", support, cited=cited) for support in supports)
        return CheckedBearer(kind=kind, name=name, text=text, quotes=quotes, problems=tuple(problems))

    known = {claim.id for claim in report.sentences() if not claim.rests_on}
    bearers = [
        bearer("claim", claim.id, claim.text, claim.support, _claim_problems(claim, known))
        for claim in report.sentences()
    ]
    for candidate in report.candidates:
        text = candidate.proposed_mechanism or candidate.mechanism
        problems = _candidate_problems(candidate, items)
        bearers.append(bearer("candidate", candidate.name, text, candidate.quotes, problems))
    for one in report.conclusions:
        quoted = [support for work in one.works for support in work.support]
        bearers.append(bearer("conclusion", one.outcome, one.direction, quoted, _conclusion_problems(one)))
    for passage in (passage for section in report.sections for passage in section.related):
        name = passage.evidence_id
        quotes = [Support(evidence_id=name, quote=quote) for quote in passage.quotes]
        bearers.append(bearer("related", name, "", quotes, said=f"passage of {name}"))
    for row in report.table.rows:
        for column, cell in row.cells.items():
            said, own = f"{column} of {row.evidence_id}", cell.support
            fits = own is not None and own.evidence_id == row.evidence_id
            wrong = () if fits else (f"{said} has no sentence of that work",)
            bearers.append(bearer("cell", row.evidence_id, cell.text, [own] if own else (), wrong, said=said))
    for work in report.judgements:
        if work.finding or work.support:
            name = work.evidence_id
            wrong = () if work.support else (f"the finding of {name} has no quote",)
            said = f"judgement of {name}"
            bearers.append(
                bearer("judgement", name, work.finding, work.support, wrong, said=said, cited=False)
            )
    return Examination(
        run_id=report.run_id,
        bearers=tuple(bearers),
        problems=(*_numbering(report), *_prose(report)),
    )


def _claim_problems(claim: Claim, known: Collection[str]) -> Iterator[str]:
    if not claim.support and claim.kind != "missing":
        yield f"claim {claim.id} has no support"
    for other in claim.rests_on:
        if other not in known:
            yield f"claim {claim.id} rests on claim {other}, which is not in the report"


def _conclusion_problems(one: Conclusion) -> Iterator[str]:
    """What is wrong with a conclusion beyond its quotes: it is made again from the works that it names, and
    their numbers are looked for in their quotes."""
    if one.pooled is not None and unpooled(one):
        how = "pip install 'determinator[analysis]'"
        yield f"conclusion {one.outcome}: {how} to make its pooled figure again"
        return
    made = again(one)
    for field in ("direction", "certainty", "reasons"):
        if getattr(made, field) != getattr(one, field):
            yield f"conclusion {one.outcome}: its {field} does not follow from its works"
    pools = [(pool.measure, pool.works) if pool else None for pool in (made.pooled, one.pooled)]
    if pools[0] != pools[1] or (made.pooled and one.pooled and not _alike(made.pooled, one.pooled)):
        yield f"conclusion {one.outcome}: its pooled figure does not follow from its works"
    for work in one.works:
        if not numbers_stand(work):
            yield f"conclusion {one.outcome}: a number of {work.evidence_id} is not in its quotes"


def _alike(one: PooledFigure, other: PooledFigure) -> bool:
    """Whether two pooled figures are the same but for rounding."""
    pairs = zip(one.result.model_dump().values(), other.result.model_dump().values(), strict=True)
    return all(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) for a, b in pairs)


def _candidate_problems(candidate: Candidate, items: Mapping[str, Mapping[str, object]]) -> tuple[str, ...]:
    """What is wrong with a candidate beyond its quotes: mechanism, indications and status that neither a
    cited item nor a record says."""
    if not candidate.support:
        return (f"candidate {candidate.name} has no support",)
    cited = dict.fromkeys(s.evidence_id for s in candidate.quotes)
    known = [as_evidence(items[name]) for name in cited if name in items]
    return tuple(
        f"candidate {candidate.name}: no item it cites says its {name.replace('_', ' ')}"
        for name in fields_not_said(candidate, known)
    )


def _why(support: Support, texts: Mapping[str, str]) -> str:
    """What else can be said of a quote that is not where it should be."""
    if len(normalise(support.quote)) < MIN_QUOTE_CHARS:
        return f" (shorter than {MIN_QUOTE_CHARS} characters)"
    other = next((name for name, text in texts.items() if verbatim(support.quote, text)), None)
    return f" (it is in {other})" if other else ""


def _numbering(report: Report) -> list[str]:
    used = {support.evidence_id for support in report.cited_quotes()}
    problems = [
        f"reference {r.number} is never cited" for r in report.references if r.evidence_id not in used
    ]
    if [r.number for r in report.references] != list(range(1, len(report.references) + 1)):
        problems.append("the references are not numbered from 1 without gaps")
    if len({r.evidence_id for r in report.references}) < len(report.references):
        problems.append("a work is listed more than once among the references")
    return problems


def _prose(report: Report) -> list[str]:
    """Text that says more than the claims, or something else: it is made again from them and compared."""
    citations = Citations.of(report.references)
    problems = [
        f"section {section.id} does not say its claims, and no more, with their references"
        for section in report.sections
        if section.markdown  # else it was left out of a report that was too large to travel
        and section.markdown != section_text(paragraphs_of(section), citations, section.empty_because)
    ]
    if report.executive_summary != summary_text(report):
        problems.append("the summary does not say its claims, and no more, with their references")
    return problems
