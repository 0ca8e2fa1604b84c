"""The report as PDF, set by Typst: Greek letters, signs and links are rendered correctly without any system
font.

The text goes in as data, never as Typst markup; the figures are those of the HTML page.
"""

import json
from dataclasses import asdict
from pathlib import Path

from activities.report.formats.extras import MissingExtra
from activities.report.formats.figures import drawings
from activities.report.formats.model import (
    CERTAINTY_HEAD,
    CERTAINTY_NOTE,
    CHECK_HEAD,
    LEFT_OUT,
    NEAR_HEAD,
    NEAR_NOTE,
    SEARCH_HEAD,
    WORK_HEAD,
    ClaimView,
    View,
    lines,
    quotes_once,
    used_columns,
)
from activities.report.formats.view import view_of
from activities.report.schema import Report

TEMPLATE = Path(__file__).with_name("report.typ")


def pdf(report: Report) -> bytes:
    """The whole report. Raises MissingExtra without the `pdf` extra."""
    try:
        import typst
    except ImportError as error:
        raise MissingExtra("pdf") from error
    made = typst.compile(TEMPLATE.read_bytes(), sys_inputs={"report": json.dumps(_data(view_of(report)))})
    assert isinstance(made, bytes)
    return made


def _data(view: View) -> dict[str, object]:
    used = used_columns(view.works)
    return {
        "title": view.title,
        "question": view.question,
        "draft": view.draft,
        "answer": [" ".join(sentence.text for sentence in line) for line in lines(view.answer)],
        "points": [_claim(claim) for claim in view.summary],
        "point_quotes": [asdict(q) for q in quotes_once(view.summary)] if view.brief else [],
        "summary": view.summary_text,
        "near_head": NEAR_HEAD,
        "near_note": NEAR_NOTE,
        "near": [asdict(near) for near in view.near],
        "balance": view.balance,
        "confidence": view.confidence,
        "reasons": [*view.confidence_reasons, view.verified] if view.verified else [],
        "figures": drawings(view),
        "sections": [
            {
                "title": section.title,
                "question": section.question,
                "note": section.note,
                "by_work": [
                    {
                        "title": f"[{work.number}] {work.title}",
                        "about": work.about,
                        "claims": [
                            {
                                "claim": _claim(claim)
                                | {"pmids": [], "basis": claim.basis_beside(work.strength)},
                                "quotes": [asdict(q) for q in quotes_once((claim,))],
                            }
                            for claim in work.claims
                        ],
                    }
                    for work in section.by_work
                ],
                "paragraphs": [
                    {
                        "claims": [_claim(claim) for claim in paragraph],
                        "quotes": [{"text": q.text, "number": q.number} for q in quotes_once(paragraph)],
                    }
                    for paragraph in section.paragraphs
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
                "grade": candidate.quality[0],
                "reasons": candidate.quality[1:],
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
        "contradictions": [[_claim(claim) for claim in pair] for pair in view.contradictions],
        "gaps": view.gaps,
        "limitations": view.limitations,
        "read_as": view.read_as,
        "flow_text": view.flow_text,
        "spent": view.spent,
        "work_head": [WORK_HEAD[place] for place in used],
        "brief": view.brief,
        "works": [
            {"name": group.name, "rows": [[work.cells[place] for place in used] for work in group.works]}
            for group in view.work_groups
        ],
        "certainty_head": CERTAINTY_HEAD,
        "certainty": view.certainty,
        "certainty_note": CERTAINTY_NOTE,
        "search_head": SEARCH_HEAD,
        "searches": view.searches,
        "check_head": CHECK_HEAD,
        "checks": view.checks if view.verified else [],
        "verified": view.verified,
        "left_out": LEFT_OUT,
        "dropped": view.left_out,
        "decisions": view.decisions,
        "run_line": view.run_line,
        "references": [asdict(reference) | {"notes": reference.notes} for reference in view.references],
    }


def _claim(claim: ClaimView) -> dict[str, object]:
    return {
        "text": claim.text,
        "numbers": [cite.number for cite in claim.cites],
        "pmids": [cite.pmid for cite in claim.cites if cite.pmid],
        "basis": claim.basis,
    }
