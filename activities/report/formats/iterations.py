"""An iteration of a run in Markdown: what it thought, searched, found and decided."""

from activities.contracts.iterations import IterationRecord
from activities.plural import plural
from activities.report.formats.text import escape_markdown


def iteration_text(record: IterationRecord) -> str:
    """Its gaps, the results of its searches and its judgement, below a heading."""
    where = f"{record.section}, iteration" if record.section else "Iteration"
    searches = (f"{s.source}: {s.query} ({s.status}, {s.kept} of {s.hits} kept)" for s in record.searches)
    scores = ", ".join(
        f"{name} {score}{f' ({why})' if (why := record.score_reasons.get(name)) else ''}"
        for name, score in record.scores.items()
    )
    by_kind = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in record.kinds_breakdown.items())
    shown = ", ".join(f"{count} from {source}" for source, count in record.sources_breakdown.items())
    shown += f" ({by_kind})" if by_kind else ""
    sure = "" if record.confidence is None else f"confidence {record.confidence:.2f}"
    judged = "; ".join(filter(None, (scores, sure)))
    verdict = " ".join(filter(None, (f"{judged}." if judged else "", record.verdict)))
    titles = "; ".join(one.title for one in record.findings)
    rows = {
        "Known": (record.thought,),
        "Missing": record.gaps,
        "Searched": tuple(searches),
        "Found": (f"{plural(record.new_items, 'new work')}{f': {titles}' if titles else ''}",),
        "From other sections": (plural(record.shared_items, "work"),) if record.shared_items else (),
        "On the searches": (record.reflection,),
        "Judged": (verdict,) if record.judged else (),
        "Shown to the judge": (shown,),
    }
    lines = [f"{name}: {text}" for name, texts in rows.items() for text in texts if text]
    listed = "\n".join(f"- {escape_markdown(line)}" for line in lines)
    return f"### {where} {record.iteration}\n\n{listed}"
