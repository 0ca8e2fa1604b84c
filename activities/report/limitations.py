"""What a report must state about its own limits, decided by code from what happened.

Statements only: `activities.report.formats.statements` words them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from activities.contracts.evidence import ANSWERED, MODEL_SILENT, AbsentWord, SearchRecord, Statement
from activities.contracts.judge import MIN_ANSWERS
from activities.contracts.publish import PlannedSection, PublishInput
from activities.contracts.stop_reasons import STOPS
from activities.report.claims import Checks
from activities.report.formats.prose import NAME_ABSENT
from activities.report.formats.statements import as_statement, sentence
from activities.report.formats.text import clean, in_quotes, shortened
from activities.report.schema import Reference, Report

_OF_RECORDS = frozenset({"standing_not_looked_up", "authority_silent"})
"""What is not said of documents that nobody can retract."""
MAX_PART_CHARS = 60
"""Characters of a row or a heading by which it is known where it was left out."""
MAX_REASON_CHARS = 160
"""Characters of the reason why a search failed; the method of a full report has all of it."""
MAX_ASKED = 6
"""Queries that a report without an answer names; its method has all."""


def limitations(
    step: PublishInput, report: Report, checks: Checks, notes: Sequence[Statement] = ()
) -> tuple[Statement, ...]:
    """State the limitations, the most serious first; `notes` are what the publishing step found itself."""
    inputs = [as_statement(limitation) for limitation in step.limitations]
    statements = [statement for statement in inputs if statement.code == "sample_only"]
    statements += _absence(step)
    if step.draft:
        statements.append(Statement.of("draft"))
    if (reason := report.unanswered) is not None:
        statements.append(Statement.of("unanswered", **reason.values, because=reason.code))
    unread_counts = Counter(item.section for item in checks.dropped if item.statement.code == "not_read")
    lossy = {
        section.id: section
        for section in report.sections
        if 3 * (checks.losses[section.id] - unread_counts[section.id]) > checks.totals[section.id] > 0
    }
    statements += [
        Statement.of("draft_lost", title=section.title, lost=checks.losses[name], drafted=checks.totals[name])
        for name, section in lossy.items()
    ]
    if STOPS[step.stop_reason].early:
        statements.append(Statement.of("stopped_early", stop_reason=step.stop_reason))
    statements += _sections(step.sections)
    statements += search_failures(step.searches)
    # what a draft cited, and what a search found and was withheld
    titles = {ref.evidence_id: ref.title for ref in step.evidence if ref.standing == "retracted"}
    titles |= {name: checks.documents[name].title for name in checks.retracted}
    statements += [
        Statement.of("retracted_left_out", title=title, evidence_id=name) for name, title in titles.items()
    ]
    statements += notes
    if step.written_by == "model" and "extractive" in step.models:
        statements.append(Statement.of("steps_without_model"))
    statements += _references(report.references) if report.words.standing else []
    if general := len({claim.id for claim in report.sentences() if claim.kind == "background"}):
        statements.append(Statement.of("general_knowledge", sentences=general))
    codes = Counter(item.statement.code for item in checks.dropped)
    if codes["not_confirmed"]:
        reader, count = report.verification.vigilance, codes["not_confirmed"]
        values = {"sentences": count, "missed": reader.missed, "planted": reader.planted}
        statements.append(Statement.of("unconfirmed", **values))
    kinds = Counter(
        item.kind
        for item in checks.dropped
        if item.section not in lossy and item.statement.code not in ("not_read", "not_confirmed")
    )
    omissions = (in_quotes(shortened(clean(part), MAX_PART_CHARS)) for part in checks.omissions)
    counts = (
        ("unread", "sentences", codes["not_read"]),
        ("claims_refused", "claims", kinds["claim"] if reason is None else 0),
        ("wordings_replaced", "claims", kinds["wording"]),
        ("parts_refused", "parts", ", ".join(omissions)),
        ("quotes_refused", "quotes", checks.quotes_refused),
    )
    statements += [Statement.of(code, **{name: count}) for code, name, count in counts if count]
    if step.usage.cost_microusd is None:
        statements.append(Statement.of("price_unknown"))
    statements += inputs
    statements += [as_statement(text) for plan in step.sections for text in plan.draft.limitations]
    return unique(
        statement for statement in statements if report.words.standing or statement.code not in _OF_RECORDS
    )


def stated_limits(report: Report) -> Iterator[Statement]:
    """Yield the limitations that follow from what else a report says."""
    if report.draft:
        yield Statement.of("draft")
    if STOPS[report.stop_reason].early:
        yield Statement.of("stopped_early", stop_reason=report.stop_reason)
    yield from search_failures(report.methodology.searches)
    if report.words.standing:
        yield from _references(report.references)


def unique(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """Keep each statement once.

    Sentences that differ by case or the full stop are one, so is a step that the model did not answer
    several times, and so are the steps whose prompts could not hold every item.
    """
    by_code: dict[str, Statement] = {}
    for statement in statements:
        key = sentence(statement).casefold().rstrip(" .")
        if statement.code == MODEL_SILENT:
            key = f"{statement.code} {statement.text('step')}"
        elif statement.code == "items_not_shown":
            key = statement.code
            if (other := by_code.get(key)) is not None:
                greatest = max(statement, other, key=lambda s: (s.number("missing"), s.number("of")))
                by_code[key] = Statement.of(key, missing=greatest.number("missing"), of=greatest.number("of"))
        if key:
            by_code.setdefault(key, statement)
    return tuple(by_code.values())


def missing_name(step: PublishInput) -> Statement | None:
    """State the rarest name of the question, where it occurs nowhere and no model has read."""
    words, documents = absent_words(step)
    name = next((word.word for word in words if word.decides), "")
    return Statement.of(NAME_ABSENT, word=name, documents=documents, **_partly(step)) if name else None


def _partly(step: PublishInput) -> dict[str, int]:
    """Count the files of folders that were not read, or only in part: their rest may have any word."""
    partly = max((search.set_aside for search in step.searches if search.documents), default=0)
    return {"partly": partly} if partly else {}


def absent_words(step: PublishInput) -> tuple[tuple[AbsentWord, ...], int]:
    """Return the words of the question that no document looked through has, and their number.

    Documents are all of a folder, and the works at hand of other sources. None where a model wrote.
    """
    if step.written_by == "model":
        return (), 0
    question = step.question.casefold()
    folders = [search for search in step.searches if search.documents]
    drafts = [section.draft for section in step.sections if section.draft.documents]
    # a section of a plan is searched with words that nobody asked about
    words = [word for folder in folders for word in folder.absent if word.word.casefold() in question]
    lists = [words] if folders else []
    lists += [list(draft.absent) for draft in drafts]
    if not lists:
        return (), 0
    by_word = [{word.word.casefold(): word for word in words} for words in lists]
    alike = [
        AbsentWord(
            word=word.word,
            instead=tuple(dict.fromkeys(name for absences in by_word for name in absences[key].instead)),
            decides=all(absences[key].decides for absences in by_word),
        )
        for key, word in by_word[0].items()
        if all(key in absences for absences in by_word)
    ]
    documents = max((folder.documents for folder in folders), default=0)
    return tuple(alike), documents + max((draft.documents for draft in drafts), default=0)


def _absence(step: PublishInput) -> list[Statement]:
    words, documents = absent_words(step)
    if not words:
        return []
    instead = tuple(", ".join(word.instead) for word in words)
    names = tuple(word.word for word in words)
    return [Statement.of("words_absent", words=names, instead=instead, documents=documents, **_partly(step))]


def why_unanswered(step: PublishInput, refusal_count: int) -> Statement:
    """Why nothing stands. `refusal_count`: claims and passages that were refused."""
    successes = [s for s in step.searches if s.status in ANSWERED]
    if refusal_count:
        return Statement.of("claims_all_refused", claims=refusal_count)
    if step.searches and not successes:
        return Statement.of("searches_all_failed")
    if not step.searches and not step.evidence:
        return Statement.of("nothing_searched", stop_reason=step.stop_reason)
    if not step.evidence and not any(s.kept for s in successes):
        failures = len(step.searches) - len(successes)
        search_rows = _search_rows(step.searches)
        return Statement.of("nothing_found", failed=failures, searches=len(step.searches), **search_rows)
    answering = sum(judgement.answers >= MIN_ANSWERS for judgement in step.judgements)
    if step.written_by == "model" and answering:
        of = max(step.screened or len(step.evidence), answering)
        return Statement.of("answers_without_claim", answering=answering, items=of)
    code = "nothing_near" if step.written_by == "extractive" else "no_item_answers"
    return Statement.of(code, items=step.screened or len(step.evidence), **_search_rows(step.searches))


def _search_rows(searches: Sequence[SearchRecord]) -> dict[str, tuple[str, ...]]:
    """List each source, query and result once, the first ones only, in three lists of one length."""
    rows = {(s.source, clean(s.query)): str(s.hits) if s.status in ANSWERED else s.status for s in searches}
    pairs = list(rows.items())[:MAX_ASKED]
    return {
        "sources": tuple(source for (source, _), _ in pairs),
        "queries": tuple(query for (_, query), _ in pairs),
        "gave": tuple(result for _, result in pairs),
    }


def search_failures(searches: Sequence[SearchRecord]) -> list[Statement]:
    """One statement for each source and kind of failure, with the reason that was given first.

    A failed search is never called an empty one.
    """
    totals = Counter(s.source for s in searches)
    failures = Counter((s.source, s.status) for s in searches if s.status not in ANSWERED)
    reasons = {
        (s.source, s.status): shortened(clean(s.detail), MAX_REASON_CHARS).rstrip(".")
        for s in reversed(searches)
        if s.detail
    }
    statements = []
    for (source, status), count in failures.items():
        counts = {"failed": count, "of": totals[source]}
        detail = {"detail": reason} if (reason := reasons.get((source, status))) else {}
        statements.append(Statement.of("searches_failed", source=source, status=status, **counts, **detail))
    # every search of the library counts the same files again
    library_count = max((s.set_aside for s in searches if s.source == "library"), default=0)
    unreadable = library_count + sum(s.set_aside for s in searches if s.source != "library")
    if unreadable:
        statements.append(Statement.of("records_unreadable", records=unreadable))
    return statements


def _sections(sections: Sequence[PlannedSection]) -> list[Statement]:
    """State once all the sections that ended alike; nothing for the only one of a run that stopped early."""
    alike: dict[tuple[str, str], list[str]] = {}
    for plan in sections:
        # what was searched until nothing new came is not cut short; a section without a claim is a gap
        stop = next((stop for name, stop in STOPS.items() if name == plan.note.replace(" ", "_")), None)
        searched_out = plan.status == "partial" and stop is not None and not stop.early
        if plan.status != "complete" and not searched_out:
            alike.setdefault((plan.status, plan.note), []).append(plan.section.title)
    if len(sections) == 1 and sections[0].status == "partial" and not sections[0].note:
        return []
    return [
        Statement.of("section_incomplete", titles=tuple(titles), status=status, note=note)
        for (status, note), titles in alike.items()
    ]


def _references(references: Sequence[Reference]) -> list[Statement]:
    def count_statement(code: str, items: int) -> list[Statement]:
        return [Statement.of(code, items=items, of=len(references))] if items else []

    return [
        *count_statement("abstract_only", sum(not r.full_text for r in references)),
        *count_statement("preprints", sum(r.evidence_type == "preprint" for r in references)),
        *(
            Statement.of("concern", number=r.number, title=r.title, evidence_id=r.evidence_id)
            for r in references
            if r.standing == "concern"
        ),
        *count_statement(
            "standing_unknown", sum(r.standing == "unknown" and r.in_registers for r in references)
        ),
    ]
