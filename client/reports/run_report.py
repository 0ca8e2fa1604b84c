"""A report as Python gets it: it shows itself in a notebook and gives its works as rows."""

from html import escape

from activities.contracts.evidence import Length
from activities.contracts.judge import PART as TABLE
from activities.report.formats import render
from activities.report.schema import Report

HEIGHT_EM = 42


class RunReport(Report):
    """The report of a run. `draft` is true while the run has not ended."""

    @classmethod
    def of(cls, report: Report) -> "RunReport":
        return cls.model_construct(**dict(report))

    def at_length(self, length: Length | None) -> "RunReport":
        """Return the report with more or less of it printed; None: as it was asked."""
        return self if length is None else self.replace(length=length)

    def _repr_html_(self) -> str:
        """Show the HTML report in a frame of its own, without access to the notebook."""
        page = escape(render(self, "html").decode(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-popups" title="Report" '
            f'style="width:100%;height:{HEIGHT_EM}em;border:0"></iframe>'
        )

    def work_rows(self) -> list[dict[str, str | int | bool | None]]:
        """Make a row for each reference, for `pandas.DataFrame`, with judgement and cells of the table."""
        judged = {work.evidence_id: work for work in self.judgements}
        cells = {row.evidence_id: row.cells for row in TABLE.shown(self).rows}
        rows = []
        for reference in self.references:
            row = reference.model_dump(mode="json", exclude={"identifiers", "authors"})
            row["authors"] = "; ".join(reference.authors)
            row.update(reference.identifiers.model_dump(mode="json"))
            if (work := judged.get(reference.evidence_id)) is not None:
                row.update(answers=work.answers, direction=work.direction)
            row.update({name: cell.text for name, cell in cells.get(reference.evidence_id, {}).items()})
            rows.append({name: value for name, value in row.items() if not isinstance(value, (list, dict))})
        return rows

    def claim_rows(self) -> list[dict[str, str | int | None]]:
        """Make a row for each quote of each claim."""
        cited = {reference.evidence_id: reference for reference in self.references}
        return [
            {
                "section": section.title,
                "claim": claim.text,
                "reference": cited[support.evidence_id].number,
                "title": cited[support.evidence_id].title,
                "evidence_id": support.evidence_id,
                "quote": support.quote,
            }
            for section in self.sections
            for claim in section.claims
            for support in claim.support
        ]
