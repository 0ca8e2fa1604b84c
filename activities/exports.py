"""What leaves the house for others to check: evidence as JSON lines, and the check itself.

`verify` needs nothing but a report and the lines: no store, no server, no trust in the run.
"""

from collections.abc import Iterable, Mapping
from typing import TypedDict

from activities.claims import verbatim
from activities.report_types import Report
from activities.types import Evidence, EvidenceRef, Support


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
    sections: list[str]
    queries: list[str]


def evidence_line(ref: EvidenceRef, evidence: Evidence) -> EvidenceLine:
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
        sections=list(ref.sections),
        queries=list(ref.queries),
    )


def verify(report: Report, lines: Iterable[Mapping[str, object]]) -> list[str]:
    """What is wrong with a report, one sentence a problem; empty when every quote is verbatim in the item it
    is attributed to and the numbering holds."""
    items = {str(line.get("evidence_id")): line for line in lines}
    numbered = {reference.evidence_id for reference in report.references}
    problems: list[str] = []
    cited: set[str] = set()
    for bearer, support in _supports(report):
        name = support.evidence_id
        cited.add(name)
        line = items.get(name)
        if line is None:
            problems.append(f"{bearer} cites {name}, which is not among the evidence")
            continue
        if not verbatim(support.quote, str(line.get("text", ""))):
            problems.append(f'{bearer}: not in the text of {name}: "{support.quote}"')
        if line.get("standing") == "retracted":
            problems.append(f"{bearer} rests on {name}, which is retracted")
        if name not in numbered:
            problems.append(f"{bearer} cites {name}, which is not among the references")
    problems += [
        f"claim {claim.id} has no support"
        for section in report.sections
        for claim in section.claims
        if not claim.support
    ]
    problems += [
        f"reference {r.number} is never cited" for r in report.references if r.evidence_id not in cited
    ]
    if [r.number for r in report.references] != list(range(1, len(report.references) + 1)):
        problems.append("the references are not numbered from 1 without gaps")
    return problems


def _supports(report: Report) -> Iterable[tuple[str, Support]]:
    for section in report.sections:
        for claim in section.claims:
            for support in claim.support:
                yield f"claim {claim.id}", support
    for candidate in report.candidates:
        for support in candidate.support:
            yield f"candidate {candidate.name}", support
