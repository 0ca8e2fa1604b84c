"""The report's claims as Markdown text: what `executive_summary` and `ReportSection.markdown` hold.

The text is made from the claims alone, so that a check can make it again and compare.
"""

from collections.abc import Sequence

from activities.report.formats.citations import Citations
from activities.report.formats.statements import sentence
from activities.report.formats.text import cited, escape_markdown
from activities.report.schema import BriefSentence, Report, ReportSection
from activities.types import Claim, Statement

NO_ANSWER = "No claim could be supported, so the question is not answered"


def claim_text(claim: Claim, citations: Citations) -> str:
    """A claim with its citation, as Markdown."""
    return cited(escape_markdown(claim.text), citations.mark(claim.support))


def summary_text(
    claims: Sequence[Claim],
    citations: Citations,
    unanswered: Statement | None,
    brief: Sequence[BriefSentence] = (),
) -> str:
    """The short answer where there is one and one point for each claim that it does not quote, or why there
    is no claim."""
    if claims or unanswered is None:
        answer = (
            escape_markdown(" ".join(said.text for said in brief)).replace(r"\[", "[").replace(r"\]", "]")
        )
        quoted = quoted_in(brief)
        points = "\n".join(f"- {claim_text(claim, citations)}" for claim in claims if claim.id not in quoted)
        return "\n\n".join(filter(None, (answer, points)))
    return f"{NO_ANSWER}: {escape_markdown(sentence(unanswered))}."


def quoted_in(brief: Sequence[BriefSentence]) -> frozenset[str]:
    """Ids of the claims that the short answer quotes."""
    return frozenset(name for said in brief if "quote" in said.statement.values for name in said.claims)


def section_text(
    paragraphs: Sequence[Sequence[Claim]], citations: Citations, empty_because: Statement | None
) -> str:
    """The claims by paragraph, or why there is none."""
    if not paragraphs and empty_because is not None:
        return escape_markdown(sentence(empty_because))
    return "\n\n".join(" ".join(claim_text(c, citations) for c in paragraph) for paragraph in paragraphs)


def paragraphs_of(section: ReportSection) -> list[list[Claim]]:
    """A section's claims by paragraph; a claim that no paragraph names is one by itself, as is each claim of
    a report written before paragraphs were kept."""
    by_id = {claim.id: claim for claim in section.claims}
    found = [[by_id[name] for name in paragraph if name in by_id] for paragraph in section.paragraphs]
    placed = {claim.id for paragraph in found for claim in paragraph}
    found += [[claim] for claim in section.claims if claim.id not in placed]
    return [paragraph for paragraph in found if paragraph]


def summary_of(report: Report) -> list[Claim]:
    """The claims that the summary repeats, in its order."""
    by_id = {claim.id: claim for section in report.sections for claim in section.claims}
    return [by_id[name] for name in report.summary_claims if name in by_id]
