"""An iteration of a run in words: what it thought, searched, found and decided."""

from collections.abc import Iterator, Mapping

from activities.contracts.iterations import IterationRecord
from activities.messages import _
from activities.plural import plural
from activities.report.formats.statements import STATUSES
from activities.report.formats.text import escape_markdown


def rows(record: IterationRecord) -> Iterator[tuple[str, str]]:
    """What each row is, in a word, and its text: gaps, searches with their results, and the judgement."""
    yield "Thought", record.thought
    yield from (("Missing", gap) for gap in record.gaps)
    for search in record.searches:
        status = STATUSES[search.status]
        yield "Searched", f"{search.source}: {search.query} ({status}, {search.kept} of {search.hits} kept)"
    titles = "; ".join(one.title for one in record.findings)
    if record.searches:
        yield "Found", f"{plural(record.new_items, 'new work')}{f': {titles}' if titles else ''}"
    if record.shared_items:
        yield "Shared", f"{plural(record.shared_items, 'work')} of other sections"
    yield "Reflected", record.reflection
    if record.judged:
        sure = "" if record.confidence is None else f"confidence {record.confidence:.2f}"
        enough = "sufficient" if record.sufficient else "not sufficient"
        yield (
            "Judged",
            "; ".join(
                filter(None, (scored(record.scores, record.score_reasons), sure, enough, record.verdict))
            ),
        )
    shown = ", ".join(f"{count} from {source}" for source, count in record.sources_breakdown.items())
    kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in record.kinds_breakdown.items())
    yield "Shown", f"{shown} ({kinds})" if kinds else shown


def scored(scores: Mapping[str, int], reasons: Mapping[str, str]) -> str:
    """`mechanism 6 (one trial), candidates 4`"""
    return ", ".join(
        f"{_(name.replace('_', ' '))} {score}{f' ({why})' if (why := reasons.get(name)) else ''}"
        for name, score in scores.items()
    )


def iteration_text(record: IterationRecord) -> str:
    """An iteration in Markdown, below a heading."""
    where = f"{record.section}, iteration" if record.section else "Iteration"
    listed = "\n".join(f"- {escape_markdown(f'{word}: {text}')}" for word, text in rows(record) if text)
    return f"### {where} {record.iteration}\n\n{listed}"
