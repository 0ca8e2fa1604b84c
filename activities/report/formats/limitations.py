"""The limits of a report: what the works do not show, what was left open, and what limits the evidence."""

from collections.abc import Collection, Iterator

from activities.contracts.evidence import MODEL_SILENT, Statement
from activities.messages import _
from activities.report.formats.statements import sentence, sentences
from activities.report.formats.text import capitalized, clean, in_quotes, shortened, with_full_stop
from activities.report.formats.words import checks, heading, sureness
from activities.report.schema import Report

MAX_UNCITED = 5
"""Works that were read and are not cited which a report names; the whole account has more."""
MAX_TITLE_CHARS = 200
SAID_ELSEWHERE = frozenset(
    {
        *("claims_refused", "wordings_replaced", "draft_lost", "price_unknown"),
        *("words_absent", "draft", "letter_cut", "general_knowledge"),
    }
)
"""Codes of statements that stand at what they speak of, or in the account of the run."""
OF_EACH = frozenset({"abstract_only", "standing_unknown"})
"""Codes of statements on the cited works that stand beside an answer where they hold of all."""
OF_RUN = frozenset(
    {
        *(MODEL_SILENT, "steps_without_model", "ordered_by_small_model", "items_not_shown"),
        *("read_without_model", "planned_without_model", "model_fell_back", "nothing_pooled"),
        "model_call_cancelled",
        *("searched_as_typed", "not_judged", "not_edited", "candidates_unsupported"),
        *("searches_unknown", "searches_by_code", "no_section", "gate_not_asked", "quotes_refused"),
        *("not_for", "not_against", "sections_not_compared", "candidates_not_looked_up", "items_kept"),
        *("candidate_fields_unchecked", "no_programs", "search_rows_missing", "follow_up"),
    }
)
"""Codes of statements on how the run went, which say nothing of what the works show."""


def gaps(report: Report) -> tuple[str, ...]:
    """List what is not answered: sections without a claim, and what was left open in the last round."""
    sections = report.sections if len(report.sections) > 1 else ()
    duplicate = Statement.of("section_stands_elsewhere")
    parts = [part for part in sections if not part.claims and part.empty_because != duplicate]
    lines = (
        f"{heading(section)}: "
        + (sentence(section.empty_because) if section.empty_because else _("No claim is made here."))
        for section in parts
    )
    questions = (report.question, report.asked, *(section.key_question for section in report.sections))
    # where nothing was judged, the question itself was the first gap
    question_texts = {clean(text).casefold().rstrip(" .") for text in questions}
    open_gaps = [
        clean(gap).rstrip(".")
        for use in report.methodology.spent_by
        if report.written_by == "model"
        for gap in use.open
        if clean(gap).casefold().rstrip(" .") not in question_texts
    ]
    return (*lines, *(capitalized(with_full_stop(gap)) for gap in dict.fromkeys(open_gaps)))


def unreached(report: Report) -> list[Statement]:
    """Return the statements on sources that no connection from here reaches."""
    return [statement for statement in report.statements if statement.code == "source_unreachable"]


def not_shown(report: Report, apart: Collection[str] = SAID_ELSEWHERE) -> tuple[str, ...]:
    """List once what the works do not show, what was left open, and what limits the evidence.

    `apart`: codes of statements that stand elsewhere.
    """
    apart = {*apart, *OF_RUN, *(["unanswered"] if report.unanswered is not None else [])}
    statements = [statement for statement in report.statements if statement.code not in apart]
    outages = unreached(report)
    if len(outages) > 1:
        names = tuple(s.text("source") for s in outages)
        together = Statement.of("sources_not_reached", sources=names)
        statements = [together if s is outages[0] else s for s in statements if s not in outages[1:]]
    texts = (*gaps(report), *sentences(statements), *_read_in_vain(report))
    return tuple({text.casefold().rstrip(" ."): text for text in reversed(texts)}.values())[::-1]


def basis(report: Report) -> tuple[str, ...]:
    """Say beside the answer what it rests on, and what holds of each work that it cites."""
    if not report.answer:
        return ()
    of_each = [s for s in report.statements if s.code in OF_EACH and s.values["items"] == s.values["of"]]
    return tuple(filter(None, (sureness(report), *sentences(of_each))))


def _read_in_vain(report: Report) -> Iterator[str]:
    """Name works that were read and are not cited, with their judge's reason, those that answer first."""
    judgements = {work.evidence_id: work for work in report.judgements}
    reasons = ("not_relevant", "not_chosen")
    works = [w for w in report.unused if w.reason in reasons and judgements[w.evidence_id].reason]
    works.sort(key=lambda work: -judgements[work.evidence_id].answers)
    for work in works[:MAX_UNCITED]:
        title = in_quotes(shortened(clean(work.title), MAX_TITLE_CHARS))
        reason = clean(judgements[work.evidence_id].reason).rstrip(".")
        yield _("Read and not used: {title} ({reason}).").format(title=title, reason=reason)


def of_run(report: Report) -> tuple[str, ...]:
    """List what happened in the run, beside the steps that no model did, for a reader of its account."""
    apart = OF_RUN - {MODEL_SILENT, "steps_without_model"}
    return sentences(statement for statement in report.statements if statement.code in apart)


def _silent(report: Report) -> list[Statement]:
    """State together the steps that no model did."""
    steps = [statement.text("step") for statement in report.statements if statement.code == MODEL_SILENT]
    if steps:
        return [Statement.of("steps_without_model", steps=tuple(dict.fromkeys(steps)))]
    return [statement for statement in report.statements if statement.code == "steps_without_model"]


def limits(report: Report) -> tuple[str, ...]:
    """List what the works do not show, what was left open, and what limits the evidence."""
    check_line = checks(report) if report.written_by != "model" else ""
    codes = OF_EACH if basis(report) else frozenset[str]()
    lines = not_shown(report, SAID_ELSEWHERE | codes)
    return tuple(filter(None, (*lines, *sentences(_silent(report)), check_line)))
