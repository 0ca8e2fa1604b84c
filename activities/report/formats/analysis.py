"""The statistics of a report, as every format shows them."""

from markupsafe import Markup

from activities.analysis.forest import forest_plot
from activities.analysis.meta_analysis import REASONS, is_complete, shown_interval
from activities.analysis.types import MEASURE_NAMES, Analysis, Pool
from activities.report.formats.text import clean

HEAD = ("Study", "Effect (95 % interval)", "Weight")
TITLE = "Statistics"
LISTED_TITLE = "Listed, not pooled"
PROGRAM_TITLE = "A program that a model wrote"


def verdict_line(analysis: Analysis) -> str:
    """The verdict with its confidence, in one line."""
    if not is_complete(analysis):
        return f"No verdict from numbers: not every effect could be read (expected: {analysis.expected})."
    sure = "" if analysis.confidence is None else f", confidence {analysis.confidence:.2f}"
    return f"Verdict from numbers: {analysis.verdict}{sure} (expected: {analysis.expected})."


def pool_rows(pool: Pool) -> list[tuple[str, str, str]]:
    """The rows of a pool's table, its summaries last."""
    rows = [(clean(row.effect.study), shown_interval(row.result), f"{row.weight:.1%}") for row in pool.rows]
    rows += [
        ("Fixed effect", shown_interval(pool.fixed), ""),
        ("Random effects", shown_interval(pool.hartung_knapp), ""),
    ]
    if pool.prediction is not None:
        rows.append(("Prediction interval", shown_interval(pool.prediction), ""))
    return rows


def pool_title(pool: Pool) -> str:
    """`Death: risk ratio`."""
    return clean(f"{pool.outcome}: {MEASURE_NAMES[pool.measure]}")


def listed(analysis: Analysis) -> list[str]:
    """What was not pooled, and why."""
    return [
        clean(
            f"{one.effect.study} ({one.effect.outcome}): {REASONS[one.reason]}"
            + (f" as {one.same_as}, which is pooled" if one.same_as else "")
        )
        for one in analysis.not_pooled
    ]


def program_lines(analysis: Analysis) -> list[str]:
    """What the generated program computes, and what it printed; empty without one."""
    done = analysis.generated
    if done is None:
        return []
    by = f"Written by {done.model or 'a model'}, run in a sandbox without network and files."
    printed = f"It printed: {done.output.strip()}" if done.output.strip() else ""
    return [clean(text) for text in (done.method, by, printed) if text]


def program_rows(code: str) -> list[str]:
    """The lines of a program, without control characters."""
    return ["".join(c for c in row if c.isprintable()) for row in code.expandtabs(4).splitlines()]


def plots(analysis: Analysis | None) -> list[Markup]:
    """A forest plot for each pool, as SVG whose text is escaped."""
    return [Markup(forest_plot(pool)) for pool in (analysis.pools if analysis else ())]  # noqa: S704
