"""An item of evidence as one line of data, with its whole stored text, and back."""

from collections.abc import Mapping
from typing import TypedDict, cast

from activities.contracts.evidence import Evidence, EvidenceRef
from activities.report.schema import UnusedReason


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
    relevance_score: float | None
    """0 to 1 by how directly it was judged to answer; None where it was not judged, as far as it is known."""


_OWN = {
    *("source", "title", "authors", "year", "venue", "url", "evidence_type", "full_text", "text", "facts"),
}


def evidence_line(
    ref: EvidenceRef,
    evidence: Evidence,
    cited_as: int | None = None,
    unused_because: UnusedReason | None = None,
    relevance_score: float | None = None,
) -> EvidenceLine:
    """Write an item with its whole stored text; name, standing, sections and queries are the run's."""
    line = evidence.model_dump(mode="json", include=_OWN) | {
        "evidence_id": ref.evidence_id,
        "identifiers": dict(evidence.identifiers.items_in_order()),
        "standing": ref.standing if evidence.standing == "unknown" else evidence.standing,
        "sections": list(ref.sections),
        "queries": list(ref.queries),
        "cited_as": cited_as,
        "unused_because": unused_because,
        "relevance_score": relevance_score,
    }
    return cast(EvidenceLine, {name: line[name] for name in EvidenceLine.__annotations__})


def as_evidence(line: Mapping[str, object]) -> Evidence:
    """Read a line, as far as a candidate's fields or a bibliography are made of it."""
    facts = line.get("facts")
    return Evidence(
        evidence_id=str(line.get("evidence_id")),
        source=str(line.get("source") or ""),
        title=str(line.get("title") or ""),
        text=str(line.get("text") or ""),
        full_text=bool(line.get("full_text")),
        facts={str(k): str(v) for k, v in facts.items()} if isinstance(facts, Mapping) else {},
    )
