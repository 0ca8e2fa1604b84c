"""Independent verification of a report: evidence as JSON lines, and the check itself.

`examine` needs nothing but a report and the lines: no store, no server, no trust in the run.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypedDict

from activities.candidates.types import Candidate
from activities.drafts import UnusedReason
from activities.report.brief import brief
from activities.report.candidates import fields_not_said
from activities.report.formats.citations import Citations
from activities.report.formats.prose import (
    claim_text,
    paragraphs_of,
    section_text,
    summary_of,
    summary_text,
)
from activities.report.schema import Report, ReportSection
from activities.types import Evidence, EvidenceRef, Frozen, Support
from activities.verification.quote_check import MIN_QUOTE_CHARS, normalise, verbatim

_CONNECTING = ("**The sources disagree:**", "**On the other hand:**")
"""What separates the claims of a section in reports from before contradictions had a part of their own."""
_UNSUPPORTED = "No claim "
"""How a summary or a section without a claim began in such reports."""
_SHOWN_CHARS = 120


class EvidenceLine(TypedDict):
    """One line of `evidence --format jsonl`."""

    evidence_id: str
    source: str
    title: str
    authors: list[str]
    year: int | None
    venue: str | None
    identifiers: dict[str, str]
    url: str | None
    evidence_type: str
    standing: str
    full_text: bool
    text: str
    facts: dict[str, str]
    sections: list[str]
    queries: list[str]
    cited_as: int | None
    """Number of the reference that the report gives it; None when the report does not cite it."""
    unused_because: UnusedReason | None
    """Why the report does not cite it, as far as it is known."""


def evidence_line(
    ref: EvidenceRef,
    evidence: Evidence,
    cited_as: int | None = None,
    unused_because: UnusedReason | None = None,
) -> EvidenceLine:
    """An item with its whole stored text. Name, standing, sections and queries are the run's."""
    return EvidenceLine(
        evidence_id=ref.evidence_id,
        source=evidence.source,
        title=evidence.title,
        authors=list(evidence.authors),
        year=evidence.year,
        venue=evidence.venue,
        identifiers=dict(evidence.identifiers.items_in_order()),
        url=evidence.url,
        evidence_type=evidence.evidence_type,
        standing=ref.standing if evidence.standing == "unknown" else evidence.standing,
        full_text=evidence.full_text,
        text=evidence.text,
        facts=dict(evidence.facts),
        sections=list(ref.sections),
        queries=list(ref.queries),
        cited_as=cited_as,
        unused_because=unused_because,
    )


class CheckedQuote(Frozen):
    """One quote and the item it is attributed to."""

    evidence_id: str
    number: int | None
    """Of the reference; None when it is not among them."""
    quote: str
    problem: str = ""
    """A sentence on what is wrong; empty when the quote holds."""


class CheckedBearer(Frozen):
    """What quotes, with the results for its quotes."""

    kind: Literal["claim", "candidate", "near"]
    """`near`: a passage that is quoted in place of an answer."""
    name: str
    """The claim's id, the candidate's name, or the passage's place among those that come near."""
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
    items = {str(line.get("evidence_id")): line for line in lines}
    texts = {name: normalise(str(line.get("text") or "")) for name, line in items.items()}
    numbers = {reference.evidence_id: reference.number for reference in report.references}
    standings = {work.evidence_id: work.standing for work in report.quoted_works}

    def checked(bearer: str, support: Support, *, cited: bool = True) -> CheckedQuote:
        name, problem = support.evidence_id, ""
        if name not in items:
            problem = f"{bearer} cites {name}, which is not among the evidence"
        elif not verbatim(support.quote, texts[name]):
            problem = f'{bearer}: not in the text of {name}: "{support.quote}"{_why(support, texts)}'
        elif "retracted" in (items[name].get("standing"), standings.get(name)):
            problem = f"{bearer} rests on {name}, which is retracted"
        elif cited and name not in numbers:
            problem = f"{bearer} cites {name}, which is not among the references"
        return CheckedQuote(evidence_id=name, number=numbers.get(name), quote=support.quote, problem=problem)

    bearers = [
        CheckedBearer(
            kind="claim",
            name=claim.id,
            text=claim.text,
            quotes=tuple(checked(f"claim {claim.id}", support) for support in claim.support),
            problems=() if claim.support else (f"claim {claim.id} has no support",),
        )
        for section in report.sections
        for claim in section.claims
    ]
    bearers += [
        CheckedBearer(
            kind="candidate",
            name=candidate.name,
            text=candidate.proposed_mechanism or candidate.mechanism,
            quotes=tuple(checked(f"candidate {candidate.name}", s) for s in candidate.quotes),
            problems=_candidate_problems(candidate, items, fields=report.structured),
        )
        for candidate in report.candidates
    ]
    bearers += [
        CheckedBearer(
            kind="near",
            name=f"near {place}",
            quotes=(checked(f"near passage {place}", support, cited=False),),
            problems=("a passage is called near beside claims",) if report.unanswered is None else (),
        )
        for place, support in enumerate(near_supports(report), start=1)
    ]
    return Examination(
        run_id=report.run_id,
        bearers=tuple(bearers),
        problems=(*_numbering(report), *_prose(report), *_answers(report), *_brief(report)),
    )


def _answers(report: Report) -> list[str]:
    """Answers that no quote contains, and answers of claims that the report does not make."""
    claims = {claim.id: claim for section in report.sections for claim in section.claims}
    said = " ".join(normalise(s.quote) for claim in claims.values() for s in claim.support)
    return [
        f'no quote contains the answer "{answer.text}"'
        for answer in report.answers
        if normalise(answer.text) not in said or not claims.keys() >= set(answer.claims)
    ]


def _brief(report: Report) -> list[str]:
    """Sentences of the short answer that code does not make from this report's claims and works. A report
    that was cut to travel has no works to make them from."""
    if not report.brief or not report.works:
        return []
    claims = [claim for section in report.sections for claim in section.claims]
    made = [
        said
        for candidates in ((), report.candidates)  # reports of before have no sentence on them
        for said in brief(
            report.question,
            claims,
            summary_of(report),
            report.works,
            report.references,
            report.answers,
            candidates,
        )
    ]
    known = {(said.text, said.claims) for said in made}
    return [
        f'the short answer says what its claims do not: "{said.text[:_SHOWN_CHARS]}"'
        for said in report.brief
        if (said.text, said.claims) not in known
    ]


def _candidate_problems(
    candidate: Candidate, items: Mapping[str, Mapping[str, object]], *, fields: bool
) -> tuple[str, ...]:
    """What is wrong with a candidate beyond its quotes. `fields`: also which of mechanism, indications and
    status neither a cited item nor a record says; reports of before these were checked may have any."""
    if not candidate.support:
        return (f"candidate {candidate.name} has no support",)
    if not fields:
        return ()
    cited = dict.fromkeys(s.evidence_id for s in candidate.quotes)
    known = [_as_evidence(items[name]) for name in cited if name in items]
    return tuple(
        f"candidate {candidate.name}: no item it cites says its {name.replace('_', ' ')}"
        for name in fields_not_said(candidate, known)
    )


def _as_evidence(line: Mapping[str, object]) -> Evidence:
    """What a line says, as far as a candidate's fields may be said by it."""
    facts = line.get("facts")
    return Evidence(
        evidence_id=str(line.get("evidence_id")),
        source=str(line.get("source") or ""),
        title=str(line.get("title") or ""),
        text=str(line.get("text") or ""),
        facts={str(k): str(v) for k, v in facts.items()} if isinstance(facts, Mapping) else {},
    )


def supports_of(report: Report) -> list[Support]:
    """Every quote that a claim or a candidate rests on."""
    claims = [support for section in report.sections for claim in section.claims for support in claim.support]
    return [*claims, *(support for candidate in report.candidates for support in candidate.quotes)]


def near_supports(report: Report) -> list[Support]:
    """The passages that come nearest, as quotes of their works."""
    return [Support(evidence_id=p.work.evidence_id, quote=p.quote) for p in report.near]


def _why(support: Support, texts: Mapping[str, str]) -> str:
    """What else can be said of a quote that is not where it should be."""
    if len(normalise(support.quote)) < MIN_QUOTE_CHARS:
        return f" (shorter than {MIN_QUOTE_CHARS} characters)"
    other = next((name for name, text in texts.items() if verbatim(support.quote, text)), None)
    return f" (it is in {other})" if other else ""


def _numbering(report: Report) -> list[str]:
    used = {support.evidence_id for support in supports_of(report)}
    problems = [
        f"reference {r.number} is never cited" for r in report.references if r.evidence_id not in used
    ]
    if [r.number for r in report.references] != list(range(1, len(report.references) + 1)):
        problems.append("the references are not numbered from 1 without gaps")
    if len({r.evidence_id for r in report.references}) < len(report.references):
        problems.append("a work is listed more than once among the references")
    return problems


def _prose(report: Report) -> list[str]:
    """What the summary and the sections say beyond the claims, or say otherwise. The text is made again from
    the claims and compared; the sentences only help to name the difference."""
    citations = Citations.of(report.references, pmids=report.structured)
    texts_of_claims = {
        claim.id: claim_text(claim, citations) for section in report.sections for claim in section.claims
    }
    sentences = sorted(set(texts_of_claims.values()), key=len, reverse=True)
    problems: list[str] = []
    for section in report.sections:
        if section.markdown:  # else it was left out of a report that was too large to travel
            problems += _section_prose(report, section, texts_of_claims, sentences, citations)
    made = summary_text(summary_of(report), citations, report.unanswered, report.brief)
    if report.structured and report.executive_summary == made:
        return problems
    if not report.structured and not texts_of_claims and report.executive_summary.startswith(_UNSUPPORTED):
        return problems
    rest = _beyond(report.executive_summary, sentences)
    if rest:
        problems.append(f'the summary says what no claim stands for: "{rest}"')
    elif report.structured:
        problems.append("the summary does not say its claims with their references")
    return problems


def _section_prose(
    report: Report,
    section: ReportSection,
    texts_of_claims: Mapping[str, str],
    sentences: Sequence[str],
    citations: Citations,
) -> list[str]:
    if report.structured:
        made = section_text(paragraphs_of(section), citations, section.empty_because)
        if section.markdown == made:
            return []
    elif not section.claims and section.markdown.startswith(_UNSUPPORTED):
        return []
    problems = [
        f"section {section.id} does not say claim {claim.id} with its references"
        for claim in section.claims
        if texts_of_claims[claim.id] not in section.markdown
    ]
    if rest := _beyond(section.markdown, sentences):
        problems.append(f'section {section.id} says what no claim stands for: "{rest}"')
    if report.structured and not problems:
        problems.append(f"section {section.id} does not say its claims in their order")
    return problems


def _beyond(text: str, sentences: Sequence[str]) -> str:
    """The words of a text that are left without the sentences and the text between them."""
    for known in (*sentences, *_CONNECTING):
        text = text.replace(known, " ")
    return " ".join(text.split())[:_SHOWN_CHARS] if any(c.isalnum() for c in text) else ""
