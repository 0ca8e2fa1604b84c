"""A chart of a report as a file, for the command line and for programs."""

from activities.report.formats import MissingExtra
from activities.report.formats.charts import chart_of
from activities.report.formats.figures import picture, titled
from activities.report.formats.markdown import as_markdown
from activities.report.schema import Report


def render_chart(report: Report, name: str, form: str) -> bytes | None:
    """A chart of `activities.report.format_table.CHARTS` in one of its `CHART_FORMATS`; None where the report
    has nothing of it. Raises KeyError, and MissingExtra for a PNG without the `pdf` extra."""
    chart = chart_of(report, name)
    if chart is None:
        return None
    if form == "md":
        return f"{as_markdown(chart.table)}\n".encode()
    svg = titled(chart.svg(), chart.title)
    data = svg.encode() if form == "svg" else picture(svg)
    if data is None:
        raise MissingExtra("pdf", "svg and md need nothing")
    return data
