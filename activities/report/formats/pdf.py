"""The report as PDF, set by Typst: Greek letters, signs and links come out right without any system font.

The text goes in as data, never as Typst markup.
"""

import json
from pathlib import Path

from activities.report.formats import words
from activities.report.formats.extras import MissingExtra
from activities.report.formats.text import (
    authors_line,
    badges,
    best_url,
    clean,
    ended,
    identifier_links,
    numbers_of,
)
from activities.report.schema import Reference, Report

TEMPLATE = Path(__file__).with_name("report.typ")


def pdf(report: Report) -> bytes:
    """The whole report. Raises MissingExtra without the `pdf` extra."""
    try:
        import typst
    except ImportError as error:
        raise MissingExtra("pdf") from error
    made = typst.compile(TEMPLATE.read_bytes(), sys_inputs={"report": json.dumps(_data(report))})
    assert isinstance(made, bytes)
    return made


def _data(report: Report) -> dict[str, object]:
    numbers = words.numbers_by_id(report)
    claims = {c.id: c for section in report.sections for c in section.claims}
    return {
        "title": clean(report.title),
        "question": " ".join(words.questions(report)),
        "points": [
            {"text": clean(c.text), "numbers": numbers_of(c.support, numbers)} for c in words.points(report)
        ],
        "summary": clean(report.executive_summary),
        "notes": [note for note in (words.balance(report), words.verified(report)) if note],
        "sections": [
            {
                "title": words.heading(s),
                "question": words.key_question(report, s),
                "claims": [
                    {
                        "text": clean(c.text),
                        "numbers": numbers_of(c.support, numbers),
                        "against": " ".join(clean(claims[x].text) for x in c.contradicts if x in claims),
                        "quotes": [
                            {"text": clean(q.quote), "number": numbers.get(q.evidence_id, 0)}
                            for q in c.support
                            if q.quote
                        ],
                    }
                    for c in s.claims
                ],
            }
            for s in words.told(report)
        ],
        "empty_head": words.EMPTY,
        "empty": words.untold(report),
        "candidate_head": [*words.CANDIDATE_HEAD, "Sources"],
        "candidates": [
            [*words.candidate_row(c), ", ".join(map(str, numbers_of(c.support, numbers)))]
            for c in report.candidates
        ],
        "unchecked": words.UNCHECKED,
        "limitations": [clean(text) for text in report.limitations],
        "references": [_reference(r) for r in report.references],
        "method": [
            words.flow(report),
            words.spent(report.methodology),
            *(words.decision(d) for d in report.methodology.approvals),
            words.run_line(report),
        ],
        "search_head": words.SEARCH_HEAD,
        "searches": words.search_rows(report.methodology.searches),
        "left_out": words.LEFT_OUT,
        "dropped": words.left_out(report),
    }


def _reference(reference: Reference) -> dict[str, object]:
    place = ", ".join(x for x in (clean(reference.venue or ""), str(reference.year or "")) if x)
    return {
        "number": reference.number,
        "authors": ended(authors_line(reference.authors)),
        "title": ended(clean(reference.title)),
        "url": best_url(reference) or "",
        "place": f"{place}." if place else "",
        "links": [
            {"text": f"{label} {clean(value)}", "url": url}
            for label, value, url in identifier_links(reference.identifiers)
            if url
        ],
        "badges": "; ".join([*badges(reference), f"found in {clean(reference.source)}"]),
    }
