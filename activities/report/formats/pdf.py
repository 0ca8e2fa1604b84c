"""The report as PDF, set by Typst: Greek letters, signs and links are rendered correctly without any system
font.

The text goes in as data, never as Typst markup; the figures are those of the HTML page.
"""

import json
from dataclasses import asdict
from pathlib import Path

from activities.analysis.forest import forest_plot
from activities.analysis.types import Analysis
from activities.report.formats.analysis import (
    HEAD,
    LISTED_TITLE,
    PROGRAM_TITLE,
    TITLE,
    listed,
    pool_rows,
    pool_title,
    program_lines,
    program_rows,
    verdict_line,
)
from activities.report.formats.figures import drawings
from activities.report.formats.libraries import MissingExtra
from activities.report.formats.model import (
    CHECK_HEAD,
    LONG,
    REFUSED_HEAD,
    REFUSED_NOTE,
    REFUSED_TITLE,
    SEARCH_HEAD,
    ClaimView,
    Paragraph,
    PassageView,
    View,
    quotes_once,
)
from activities.report.formats.text import clean
from activities.report.formats.view import view_of
from activities.report.schema import Report

TEMPLATE = Path(__file__).with_name("report.typ")


def pdf(report: Report) -> bytes:
    """The whole report. Raises MissingExtra without the `pdf` extra."""
    try:
        import typst
    except ImportError as error:
        raise MissingExtra("pdf") from error
    made = typst.compile(
        TEMPLATE.read_bytes(), sys_inputs={"report": json.dumps(_data(report, view_of(report)))}
    )
    assert isinstance(made, bytes)
    return made


def _data(report: Report, view: View) -> dict[str, object]:
    return {
        "title": view.title,
        "question": view.question,
        "continues": view.continues,
        "draft": view.draft,
        "notice": view.notice,
        "answer": _paragraphs(view.answer),
        "balance": view.balance,
        "summary": _paragraphs(view.summary),
        "points": [_claim(claim) for claim in view.points],
        "summary_text": view.summary_text,
        "reservations": view.reservations,
        "confidence": view.confidence,
        "reasons": [*view.confidence_reasons, view.verified] if view.verified else [],
        "figures": drawings(view),
        "mechanism": _paragraphs(view.mechanism),
        "sections": [
            {
                "title": section.title,
                "question": section.question,
                "lead": section.lead,
                "paragraphs": _paragraphs(section.answer, *section.paragraphs),
                "passages": [_passage(passage) for passage in section.passages],
                "related": [
                    {"title": related.title, "passages": [_passage(p) for p in related.passages]}
                    for related in section.related
                ],
            }
            for section in view.sections
        ],
        "candidate_head": view.candidate_head,
        "candidates": [candidate.cells for candidate in view.candidates],
        "candidate_note": view.candidate_note,
        "candidate_pages": [
            {
                "title": candidate.title,
                "quality": candidate.quality,
                "fields": [
                    {
                        "label": field.label,
                        "missing": field.missing,
                        "lines": [asdict(line) | {"where": line.where} for line in field.lines],
                    }
                    for field in candidate.fields
                ],
            }
            for candidate in view.candidates
            if candidate.fields
        ],
        "statistics": None if report.analysis is None else _statistics(report.analysis),
        "tables": [{"title": table.title, "head": table.head, "rows": table.texts} for table in view.tables],
        "contradictions": [[_claim(claim) for claim in pair] for pair in view.contradictions],
        "gaps": view.gaps,
        "limitations": view.limitations,
        "flow_text": view.flow_text,
        "spent": view.spent,
        "search_head": SEARCH_HEAD,
        "searches": view.searches,
        "check_head": CHECK_HEAD,
        "checks": view.checks if view.verified else [],
        "verified": view.verified,
        "refused_title": REFUSED_TITLE,
        "refused_note": REFUSED_NOTE,
        "refused_head": REFUSED_HEAD,
        "refused": view.refused,
        "long": sorted(LONG),
        "decisions": view.decisions,
        "run_line": view.run_line,
        "references": [asdict(reference) | {"notes": reference.notes} for reference in view.references],
    }


def _statistics(analysis: Analysis) -> dict[str, object]:
    return {
        "title": TITLE,
        "verdict": verdict_line(analysis),
        "findings": [clean(text) for text in analysis.key_findings],
        "head": HEAD,
        "pools": [
            {
                "title": clean(pool_title(pool)),
                "plot": forest_plot(pool),
                "rows": [[clean(cell) for cell in row] for row in pool_rows(pool)],
            }
            for pool in analysis.pools
        ],
        "listed_title": LISTED_TITLE,
        "listed": [clean(text) for text in listed(analysis)],
        "program_title": PROGRAM_TITLE,
        "program": [clean(text) for text in program_lines(analysis)],
        "code": "\n".join(program_rows(analysis.generated.code)) if analysis.generated else "",
        "limitations": [clean(text) for text in analysis.limitations],
    }


def _paragraphs(*paragraphs: Paragraph) -> list[dict[str, object]]:
    return [
        {
            "claims": [_claim(claim) for claim in paragraph],
            "quotes": [{"text": q.text, "number": q.number} for q in quotes_once(paragraph)],
        }
        for paragraph in paragraphs
        if paragraph
    ]


def _passage(passage: PassageView) -> dict[str, object]:
    return asdict(passage) | {"text": passage.text}


def _claim(claim: ClaimView) -> dict[str, object]:
    return {
        "text": claim.text,
        "numbers": [cite.number for cite in claim.cites],
        "pmids": [cite.pmid for cite in claim.cites if cite.pmid],
        "basis": claim.basis,
    }
