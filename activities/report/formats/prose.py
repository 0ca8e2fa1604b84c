"""The claims of a report as Markdown text: `executive_summary` and `ReportSection.markdown`.

The text is made from the claims alone, so that a check can make it again and compare.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate, groupby, zip_longest
from operator import attrgetter, itemgetter
from typing import Literal

from activities.contracts.evidence import MODEL_REFUSED, MODEL_SILENT, Claim
from activities.contracts.iterations import IterationRecord
from activities.contracts.write import DraftClaim
from activities.messages import N_, _, plural
from activities.report.formats.blocks import CLOSING
from activities.report.formats.statements import STATUSES, sentence
from activities.report.formats.text import (
    INDENT,
    LINE,
    clean,
    escape_markdown,
    in_quotes,
    marker,
    pipe_table,
    quoted_markdown,
    stressed_markdown,
    with_citation,
    with_colon,
)
from activities.report.schema import Reference, Report, ReportSection
from activities.text.layout import ENDS

NAME_ABSENT = "name_absent"
"""Code of the statement that the rarest name of the question occurs nowhere."""
NO_ANSWER = N_("No claim could be supported, so the question is not answered: {why}.")
NO_PASSAGE = N_("Nothing is quoted: {why}.")
NOTHING_SEARCHED = N_("Nothing could be searched, so the question is not answered: {why}.")
_PASSAGES = N_(
    "These are the passages closest to the question, word for word; they have not been judged, weighed or "
    "combined."
)
NOT_READ = N_("No language model has read this.")
UNREAD = N_("No language model has read this: {why}.")
ORDERED = N_("A small model put the passages in order and did nothing else.")
SOURCES_OF_LETTER = N_("Sources of this text:")
GENERAL = N_("general knowledge")
GENERAL_SIGN = "\u2020"
"""Marks a sentence of general knowledge in a report, which says once what it means."""
GENERAL_NOTE = N_("{sign} From general knowledge, not from the sources; check it before you rely on it.")
GENERAL_OF_LETTER = N_("From general knowledge, not from these sources; check it or leave it out:")
MAX_OF_ROW = 5
"""Works from which the figures of a row are computed that are named in it."""
READERS = ("judge", "writer")
"""Steps without which no model has read what was found."""
FIRST_CLAIMS = 5
"""Claims of a summary in place of an editor's and an answer, or passages of one without a model."""


def numbers_of(references: Iterable[Reference]) -> dict[str, int]:
    return {reference.evidence_id: reference.number for reference in references}


def claim_text(claim: Claim, numbers: Mapping[str, int]) -> str:
    """Write a claim in Markdown, with its citations; without any where nothing is cited."""
    lead = f"**{escape_markdown(with_colon(claim.lead), inline=True)}** " if claim.lead else ""
    if claim.strong and not (claim.support or claim.letter or claim.kind == "background"):
        return f"**{stressed_markdown(claim.body, claim.emphasis_in(claim.body), inline=True)}**"

    def write(text: str, at: int = 0) -> str:
        return stressed_markdown(text, claim.emphasis_in(text, at), inline=bool(lead or at))

    return lead + (write(claim.body) if claim.letter else _cite(claim, numbers, write))


def plain_text(claim: Claim, numbers: Mapping[str, int]) -> str:
    lead = f"{with_colon(clean(claim.lead))} " if claim.lead else ""
    return lead + (clean(claim.body) if claim.letter else _cite(claim, numbers, lambda text, _: clean(text)))


def general_mark(claim: Claim) -> str:
    return f"({_(GENERAL)})" if claim.kind == "background" else ""


def with_general_sign(text: str) -> str:
    """Put the sign of general knowledge before the full stop of a sentence."""
    stem = text.removesuffix(text[-1:]) if text.endswith(ENDS) else text
    return f"{stem}{GENERAL_SIGN}{text[len(stem) :]}"


def general_note(claims: Iterable[Claim]) -> str:
    """Say what the sign of general knowledge means; empty where no sentence has it."""
    has_sign = any(claim.kind == "background" and not claim.letter for claim in claims)
    return _(GENERAL_NOTE).format(sign=GENERAL_SIGN) if has_sign else ""


def general_of_letter(claims: Iterable[Claim]) -> str:
    """Name the sentences of a letter that no work states, since nothing within it marks them."""
    texts = [in_quotes(clean(claim.text)) for claim in claims if claim.kind == "background"]
    return " ".join((_(GENERAL_OF_LETTER), *texts)) if texts else ""


def names_none(claim: Claim | DraftClaim, works: int) -> bool:
    """Tell whether a computed sentence names no work: its writer cites none, so that none says it.

    A row, whose works stand in a field of their own, names them unless they are many."""
    return claim.kind == "computed" and not claim.marks and (not claim.is_row or works > MAX_OF_ROW)


def _cite(claim: Claim, numbers: Mapping[str, int], write: Callable[[str, int], str]) -> str:
    """Write a claim with its citations. `write`: writes a part of it that begins at a character."""
    *first, (at, last, works) = pieces(claim)
    texts = [" ".join(filter(None, (write(text, at), _mark(names, numbers)))) for at, text, names in first]
    works = () if names_none(claim, len(works)) else works
    texts.append(with_citation(write(last, at), general_mark(claim) or _mark(works, numbers)))
    return "".join(
        f" {text}" if place and not text.startswith(CLOSING) else text for place, text in enumerate(texts)
    )


def pieces(claim: Claim) -> list[tuple[int, str, tuple[str, ...]]]:
    """Part a sentence at its citations, each part with its place and the ids of the works cited behind it.

    Works that no mark names are cited at its end; what has no word is no part of its own.
    """
    body, start = claim.body, 0
    marked_ids = {name for mark in claim.marks for name in mark.works}
    rest = tuple(s.evidence_id for s in claim.support if s.evidence_id not in marked_ids)
    parts: list[tuple[int, str, tuple[str, ...]]] = []
    for end, works in (*((mark.at, mark.works) for mark in claim.marks), (len(body), rest)):
        text = body[start:end].strip()
        if parts and not any(map(str.isalnum, text)):
            at, before, names = parts.pop()
            parts.append((at, f"{before}{text}", (*names, *works)))
        else:
            parts.append((body.find(text, start), text, works))
        start = end
    at, text, works = parts.pop()
    return [*parts, (at, text, tuple(dict.fromkeys(works)))]


def _mark(names: Iterable[str], numbers: Mapping[str, int]) -> str:
    works = sorted({numbers[name] for name in names if name in numbers})
    return f"[{', '.join(map(str, works))}]" if works else ""


def notice(report: Report) -> str:
    """Say first in a report without a model why none has read it, and what its passages are.

    Empty for one that a model wrote, and where nothing is there for it to read.
    """
    if report.written_by != "extractive":
        return ""
    passages = any(section.claims for section in report.sections)
    if fault := model_fault(report):
        text = _(UNREAD).format(why=fault)
        if fault.endswith(ENDS):  # a question has its own sign
            text = text.removesuffix(text[-1])
        return f"{text} {_(_PASSAGES)}" if passages else text
    if not passages:
        return ""
    is_ordered = any(statement.code == "ordered_by_small_model" for statement in report.statements)
    return f"{_(ORDERED if is_ordered else NOT_READ)} {_(_PASSAGES)}"


def model_fault(report: Report) -> str:
    """Say why the model was of no use: its server refused, or no judge and no writer got an answer.

    Empty for a run that it served, and for one that asked none.
    """
    refusals = [s for s in report.statements if s.code == MODEL_REFUSED]
    silences = [s for s in report.statements if s.code == MODEL_SILENT and s.text("step") in READERS]
    faults = refusals or (silences if report.written_by == "extractive" else [])
    return faults[0].text("reason").rstrip(".") if faults else ""


def absent(report: Report) -> str:
    """Which words of the question occur nowhere, as a sentence; empty where none is known."""
    return next((sentence(s) for s in report.statements if s.code == "words_absent"), "")


def summary_of(report: Report) -> tuple[Claim, ...]:
    """Return first claims of the sections in turn, or passages, where nothing answers."""
    if report.answer:
        return ()
    if report.written_by == "extractive":
        return tuple(claim for section in report.sections for claim in section.claims)[:FIRST_CLAIMS]
    longest = max((len(section.claims) for section in report.sections), default=0)
    turns = (s.claims[place] for place in range(longest) for s in report.sections if place < len(s.claims))
    return tuple(turns)[:FIRST_CLAIMS]


def unanswered(report: Report) -> str:
    """Why there is no answer, as a sentence; empty where there is one, and where `absent` has said why."""
    if report.unanswered is None:
        return ""
    if report.unanswered.code == NAME_ABSENT:
        return "" if absent(report) else sentence(report.unanswered)
    lead = NO_PASSAGE if report.written_by == "extractive" else NO_ANSWER
    if report.stop_reason == "all_sources_failed":
        lead = NOTHING_SEARCHED
    return _(lead).format(why=sentence(report.unanswered).rstrip("."))


def summary_text(report: Report) -> str:
    """Write the answer, else the first claims, or why there is none."""
    numbers = numbers_of(report.references)
    reason = escape_markdown(unanswered(report) or absent(report))
    if reason and not any(report.claims()):
        return " ".join(filter(None, (escape_markdown(notice(report)), reason)))
    bullets = "\n".join(f"- {claim_text(claim, numbers)}" for claim in summary_of(report))
    parts = (reason, escape_markdown(notice(report)), *_write(shapes(report.answer), numbers), bullets)
    return "\n\n".join(filter(None, parts))


def section_text(section: ReportSection, numbers: Mapping[str, int]) -> str:
    """Write the claims of a section, by paragraph, list and table, or why there is none."""
    blocks = blocks_of(section)
    if not blocks and section.empty_because is not None:
        return escape_markdown(sentence(section.empty_because))
    parts = []
    for heading, claims in blocks:
        parts += [f"### {escape_markdown(heading)}"] if heading else []
        parts += _write(shapes(claims), numbers)
    return "\n\n".join(parts)


def _write(groups: Iterable[tuple["Shape", list[Claim]]], numbers: Mapping[str, int]) -> Iterator[str]:
    """Write paragraphs, lists, tables and letters."""
    for shape, group in groups:
        if shape == "letter":
            yield quoted_markdown("\n\n".join(_write(shapes_within(group), numbers)))
            if mark := _mark((s.evidence_id for claim in group for s in claim.support), numbers):
                yield f"{_(SOURCES_OF_LETTER)} {mark}"
            if general := general_of_letter(group):
                yield escape_markdown(general)
        elif shape == "table":
            marks = (general_mark(c) or _mark((s.evidence_id for s in c.support), numbers) for c in group)
            rows = ([*_fields(claim), mark] for claim, mark in zip(group, marks, strict=True))
            yield pipe_table([*(head for head, _ in group[0].cells), ""], rows)
        elif shape == "list":
            yield "\n".join(
                f"{INDENT * level}{marker(item[0].number)} " + _line(item, numbers)
                for level, item in items(group)
            )
        else:
            yield _line(group, numbers)


def _line(claims: Iterable[Claim], numbers: Mapping[str, int]) -> str:
    """Write the sentences of a paragraph or an item."""
    texts = ((LINE if claim.line else " ") + claim_text(claim, numbers) for claim in claims)
    return "".join(texts).lstrip()


def _fields(claim: Claim) -> Iterator[str]:
    for place, (_head, text) in enumerate(claim.cells):
        yield stressed_markdown(text, claim.emphasis_in(text, field=place), inline=True)


def blocks_of(section: ReportSection) -> list[tuple[str, list[Claim]]]:
    """Return the heading and the claims of each paragraph, list and table."""
    by_id = {claim.id: claim for claim in section.claims}
    blocks = [
        (heading, [by_id[name] for name in names if name in by_id])
        for names, heading in zip_longest(section.paragraphs, section.headings, fillvalue="")
    ]
    return headed(blocks)


def headed(blocks: Iterable[tuple[str, list[Claim]]]) -> list[tuple[str, list[Claim]]]:
    """Leave out blocks without sentences, whose headings go to what follows them under these."""
    kept: list[tuple[str, list[Claim]]] = []
    heading = ""
    for name, claims in blocks:
        heading = name or heading
        if claims:
            kept.append((heading, claims))
            heading = ""
    return kept


Shape = Literal["text", "list", "table", "letter"]


def shapes(claims: Iterable[Claim]) -> Iterator[tuple[Shape, list[Claim]]]:
    """Part claims into paragraphs, items of a list, rows of a table with the same headings, and letters."""
    for is_letter, group in groupby(claims, attrgetter("letter")):
        if is_letter:
            yield "letter", [*group]
        else:
            yield from shapes_within(group)


def shapes_within(claims: Iterable[Claim]) -> Iterator[tuple[Shape, list[Claim]]]:
    """Part claims into paragraphs, items of a list and rows of a table, also those of a letter."""
    claims = tuple(claims)
    places = accumulate(claim.begins and not (claim.item or claim.line) for claim in claims)
    # an item within others belongs to the list of the outermost one
    lists = accumulate(claims, lambda last, c: last if c.level else bool(c.number), initial=False)
    rows = zip(map(_head, claims), places, [*lists][1:], claims, strict=True)
    for key, group in groupby(rows, itemgetter(0, 1, 2)):
        yield "text" if key[0] is None else "table" if key[0] else "list", [row[-1] for row in group]


def _head(claim: Claim) -> tuple[str, ...] | None:
    """Return the headings of a row, nothing of an item, None of a sentence."""
    return tuple(head for head, _ in claim.cells) if claim.is_row else () if claim.item else None


def items(claims: Iterable[Claim]) -> list[tuple[int, list[Claim]]]:
    """Return the items of a list with their levels, each at most one below the item before it."""
    groups: list[tuple[int, list[Claim]]] = []
    for claim in claims:
        if claim.begins or not groups:
            groups.append((min(claim.level, groups[-1][0] + 1) if groups else 0, [claim]))
        else:
            groups[-1][1].append(claim)
    return groups


def rows(record: IterationRecord) -> Iterator[tuple[str, str]]:
    """Yield the rows of an iteration: gaps, searches with their results, and the judgement."""
    yield "Thought", record.thought
    yield from (("Missing", gap) for gap in record.gaps)
    for search in record.searches:
        status = STATUSES[search.status]
        yield "Searched", f"{search.source}: {search.query} ({status}, {search.kept} of {search.hits} kept)"
    titles = "; ".join(finding.title for finding in record.findings)
    if record.searches:
        yield "Found", f"{plural(record.new_items, 'new work')}{f': {titles}' if titles else ''}"
    if record.shared_items:
        yield "Shared", f"{plural(record.shared_items, 'work')} of other sections"
    yield "Reflected", record.reflection
    if record.judged:
        sure = "" if record.confidence is None else f"confidence {record.confidence:.2f}"
        enough = "sufficient" if record.sufficient else "not sufficient"
        parts = (scored(record.scores, record.score_reasons), sure, enough, record.verdict)
        yield "Judged", "; ".join(filter(None, parts))
    sources = ", ".join(f"{count} from {source}" for source, count in record.sources_breakdown.items())
    kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in record.kinds_breakdown.items())
    yield "Shown", f"{sources} ({kinds})" if kinds else sources


def scored(scores: Mapping[str, int], reasons: Mapping[str, str]) -> str:
    """Word `mechanism 6 (one trial), candidates 4`."""
    return ", ".join(
        f"{_(name.replace('_', ' '))} {score}{f' ({reason})' if (reason := reasons.get(name)) else ''}"
        for name, score in scores.items()
    )


def iteration_text(record: IterationRecord) -> str:
    title = f"{record.section}, iteration" if record.section else "Iteration"
    lines = "\n".join(f"- {escape_markdown(f'{word}: {text}')}" for word, text in rows(record) if text)
    return f"### {title} {record.iteration}\n\n{lines}"
