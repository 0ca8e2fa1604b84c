"""Citation marks: `[1, 3] [PMID: 22663011]`, the same in every text of a report."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from activities.report.schema import Reference
from activities.types import Support


@dataclass(frozen=True, slots=True)
class Citations:
    """The numbers and PubMed ids of references by evidence id."""

    numbers: Mapping[str, int]
    pmids: Mapping[str, str]

    @classmethod
    def of(cls, references: Iterable[Reference], *, pmids: bool = True) -> "Citations":
        """The citations of a reference list; without `pmids` marks are numbers only, as in reports written
        before PubMed ids stood beside them."""
        listed = list(references)
        known = {r.evidence_id: r.identifiers.pmid for r in listed if r.identifiers.pmid} if pmids else {}
        return cls({r.evidence_id: r.number for r in listed}, known)

    def cited(self, supports: Iterable[Support]) -> list[tuple[int, str]]:
        """Number and PubMed id (or an empty string) of each cited reference, in order, each once."""
        names = {s.evidence_id for s in supports if s.evidence_id in self.numbers}
        return sorted((self.numbers[name], self.pmids.get(name, "")) for name in names)

    def mark(self, supports: Iterable[Support]) -> str:
        """The mark for a claim; empty when nothing is cited."""
        found = self.cited(supports)
        if not found:
            return ""
        pmids = [pmid for _, pmid in found if pmid.isdigit()]
        mark = f"[{', '.join(str(number) for number, _ in found)}]"
        return f"{mark} [PMID: {', '.join(pmids)}]" if pmids else mark
