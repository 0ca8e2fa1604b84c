"""What a review found in its studies, as data: chapters, exports and later versions are made of it."""

from collections.abc import Callable, Sequence

from activities.contracts.evidence import Evidence, EvidenceType, Frozen, Identifiers, Support
from activities.plural import counted
from activities.report.formats.references import family_first
from activities.review.bias import BiasAssessment
from activities.review.extraction import AGREED, DecidedStudy
from activities.review.protocol import Protocol
from activities.review.studies import AskedField
from activities.review.synthesis import Synthesis


class Study(Frozen):
    """An included study with its reference."""

    number: int
    record: int
    evidence_id: str
    title: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    identifiers: Identifiers = Identifiers()
    url: str | None = None
    evidence_type: EvidenceType = "article"

    @classmethod
    def of(cls, number: int, record: int, work: Evidence) -> "Study":
        return cls(
            number=number,
            record=record,
            evidence_id=work.evidence_id,
            title=work.title,
            authors=work.authors,
            year=work.year,
            identifiers=work.identifiers,
            url=work.url,
            evidence_type=work.evidence_type,
        )

    @property
    def label(self) -> str:
        """What a reader calls it: `Doe 2020`, or its number where no author is known."""
        family = family_first(self.authors[0]).split(",")[0] if self.authors else ""
        return f"{family} {self.year or ''}".strip() if family else f"Study {self.number}"


class ExcludedText(Frozen):
    """A full text that was excluded, with its reason."""

    title: str
    criterion: str
    """Its text."""
    reason: str = ""
    support: tuple[Support, ...] = ()


class Findings(Frozen):
    run_id: str
    title: str
    at: str
    version: int = 1
    """Of the report."""
    studies: tuple[Study, ...] = ()
    excluded: tuple[ExcludedText, ...] = ()
    not_retrieved: tuple[str, ...] = ()
    """Titles."""
    fields: tuple[AskedField, ...] = ()
    rows: tuple[DecidedStudy, ...] = ()
    bias: tuple[BiasAssessment, ...] = ()
    not_assessed: tuple[str, ...] = ()
    """Ids of studies that no tool was applied to."""
    syntheses: tuple[Synthesis, ...] = ()

    @property
    def people(self) -> tuple[str, ...]:
        """Who decided on fields and on the risk of bias."""
        by = [one.by for row in self.rows for one in row.values if one.by != AGREED]
        return tuple(dict.fromkeys((*by, *(one.decided_by for one in self.bias))))

    def named(self, name: Callable[[str], str]) -> "Findings":
        """The same under other names of people."""
        rows = (
            row.replace(values=tuple(one.replace(by=name(one.by)) for one in row.values)) for row in self.rows
        )
        bias = (one.replace(decided_by=name(one.decided_by)) for one in self.bias)
        return self.replace(rows=tuple(rows), bias=tuple(bias))


def limitations(findings: Findings, protocol: Protocol) -> Sequence[str]:
    """What the findings cannot vouch for, as far as their data show it."""
    rows = list[str]()
    if findings.not_retrieved:
        missing = counted(len(findings.not_retrieved), "full text")
        rows.append(f"{missing} not retrieved; what is in them may change the conclusions.")
    if findings.not_assessed:
        studies = counted(len(findings.not_assessed), "study", "studies")
        rows.append(f"No tool for the risk of bias was applied to {studies}: RoB 2 is for randomised trials.")
    if findings.studies and protocol.bias == "none":
        rows.append("The risk of bias was not assessed.")
    if findings.syntheses:
        rows.append(
            "The certainty is computed from figures and designs; the risk of bias stands beside it and is no "
            "part of it."
        )
    for one in findings.syntheses:
        if one.without_numbers:
            studies = counted(len(one.without_numbers), "study", "studies")
            rows.append(f"{one.conclusion.outcome}: without usable figures in {studies} that report it.")
    if any(one.not_installed for one in findings.syntheses):
        rows.append("Nothing was pooled: the library that pools is not installed (extra `analysis`).")
    return rows
