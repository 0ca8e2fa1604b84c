"""Cut a report that is too large for the workflow's history.

Left out in this order: quotes' surroundings, what was not used, judgements and the reader's table,
candidates' pages, sections' Markdown, what was refused, the search ledger, quotes, references' details,
claims, and at last everything but the outline. The blob keeps the whole report.
"""

from collections.abc import Callable

from activities.candidates.types import Candidate
from activities.judgements import Table
from activities.report.schema import Methodology, Published, Report, Verification
from activities.types import Claim, Support

MAX_BYTES = 200 * 1024
"""Under the guard of 256 KiB, with room for what wraps it."""


def slim(published: Published, limit: int = MAX_BYTES) -> Published:
    """The same answer in at most `limit` bytes of JSON; `complete` is False when anything was left out."""
    for cut in (None, *_CUTS):
        if cut is not None:
            published = published.model_copy(update={"report": cut(published.report), "complete": False})
        if len(published.model_dump_json().encode()) <= limit:
            break
    return published


def _no_contexts(report: Report) -> Report:
    return report.model_copy(update={"contexts": (), "unused": ()})


def _no_judgements(report: Report) -> Report:
    return report.model_copy(update={"judgements": (), "table": Table(), "works": ()})


def _no_pages(report: Report) -> Report:
    candidates = tuple(candidate.model_copy(update={"fields": ()}) for candidate in report.candidates)
    return report.model_copy(update={"candidates": candidates})


def _no_markdown(report: Report) -> Report:
    sections = tuple(section.model_copy(update={"markdown": ""}) for section in report.sections)
    return report.model_copy(update={"sections": sections})


def _no_dropped(report: Report) -> Report:
    kept: Verification = report.verification.model_copy(update={"dropped": ()})
    return report.model_copy(update={"verification": kept})


def _no_searches(report: Report) -> Report:
    kept: Methodology = report.methodology.model_copy(update={"searches": ()})
    return report.model_copy(update={"methodology": kept})


def _bare(supports: tuple[Support, ...]) -> tuple[Support, ...]:
    return tuple(support.model_copy(update={"quote": ""}) for support in supports)


def _no_quotes(report: Report) -> Report:
    def claim(item: Claim) -> Claim:
        return item.model_copy(update={"support": _bare(item.support)})

    def candidate(item: Candidate) -> Candidate:
        cut = {name: _bare(getattr(item, name)) for name in ("support", "against", "records")}
        return item.model_copy(update=cut)

    sections = tuple(
        section.model_copy(
            update={
                "claims": tuple(map(claim, section.claims)),
                "answer": tuple(map(claim, section.answer)),
                "passages": (),
                "related": (),
            }
        )
        for section in report.sections
    )
    stated = {name: tuple(map(claim, getattr(report, name))) for name in ("answer", "summary", "mechanism")}
    return report.model_copy(
        update={"sections": sections, "candidates": tuple(map(candidate, report.candidates)), **stated}
    )


def _short_references(report: Report) -> Report:
    references = tuple(
        reference.model_copy(
            update={"authors": reference.authors[:1], "venue": None, "title": reference.title[:120]}
        )
        for reference in report.references
    )
    return report.model_copy(update={"references": references})


def _no_claims(report: Report) -> Report:
    sections = tuple(
        section.model_copy(update={"claims": (), "paragraphs": (), "answer": ()})
        for section in report.sections
    )
    return report.model_copy(update={"sections": sections, "summary": (), "mechanism": ()})


def _outline(report: Report) -> Report:
    return report.model_copy(
        update={
            "question": report.question[:1000],
            "title": report.title[:300],
            "executive_summary": report.executive_summary[:8000],
            "sections": tuple(
                section.model_copy(
                    update={"title": section.title[:200], "key_question": section.key_question[:300]}
                )
                for section in report.sections[:50]
            ),
            "answer": (),
            "reservations": (),
            "candidates": (),
            "references": (),
            "limitations": tuple(text[:300] for text in report.limitations[:40]),
            "statements": (),
            "methodology": report.methodology.model_copy(
                update={
                    "searches": (),
                    "approvals": (),
                    "models": report.methodology.models[:10],
                    "prompt_versions": (),
                }
            ),
        }
    )


_CUTS: tuple[Callable[[Report], Report], ...] = (
    _no_contexts,
    _no_judgements,
    _no_pages,
    _no_markdown,
    _no_dropped,
    _no_searches,
    _no_quotes,
    _short_references,
    _no_claims,
    _outline,
)
