"""A report format of one's own: the claims with their quotes as plain text (entry point `plain`)."""

from collections.abc import Mapping

from determinator import Evidence, Format, Report


def plain_text(report: Report, evidence: Mapping[str, Evidence]) -> bytes:
    """Each claim in a line, its quotes below it."""
    lines = [report.question, ""]
    for claim in report.claims():
        lines += [claim.text, *(f"    {support.evidence_id}: {support.quote}" for support in claim.support)]
    return "\n".join(lines).encode()


PLAIN = Format("plain", "report.txt", "text/plain", plain_text, "the claims with their quotes")
