"""Keeps values that cross a boundary under the payload limit: one that is too large ends a run.

`activities.payloads` refuses more than 256 KiB. Everything a workflow sends that can grow with a run
(references, the search ledger, events) is cut to a share of that here, the least important part first. Pure.
"""

from collections.abc import Collection, Iterable

from activities.contracts.bounds import size, within
from activities.contracts.evidence import EvidenceRef, SearchRecord, Statement
from activities.contracts.iterations import IterationRecord
from activities.contracts.publish import PublishInput

ROOM = 200 * 1024
"""Largest JSON of a single growing value in bytes; the rest of the limit is for the fields beside it."""
REFS_ROOM = 120 * 1024
"""Largest JSON of the references in a step's input, in bytes."""
ROWS_ROOM = 80 * 1024
"""Largest JSON of the search ledger's rows in a result, in bytes."""
MAX_FINDINGS = 2
"""Works of an earlier iteration that prompts name."""
ROWS_MISSING = Statement.of("search_rows_missing")
"""The limitation that states missing rows."""
REPORT_CUT = Statement.of("report_cut")
"""The limitation that states missing text."""


def to_order(ref: EvidenceRef, queries: Collection[str]) -> EvidenceRef:
    """Return a reference with what ordering works reads.

    The text in the store, the kind, and which of the searches found it.
    """
    searches = tuple(name for name in ref.queries if name.split(": ", 1)[-1] in queries)
    return EvidenceRef(
        evidence_id=ref.evidence_id,
        blob=ref.blob,
        source=ref.source,
        title="",
        evidence_type=ref.evidence_type,
        queries=searches,
    )


def without_history(ref: EvidenceRef) -> EvidenceRef:
    """Return a reference without its searches and sections, with all that merging it with others needs."""
    return ref.replace(queries=(), sections=())


def input_refs(refs: Iterable[EvidenceRef], max_refs: int) -> tuple[EvidenceRef, ...]:
    """Return references for a step's input: the first `max_refs`, as far as there is room."""
    return within((ref.bare() for ref in tuple(refs)[:max_refs]), REFS_ROOM)


def rows(searches: Iterable[SearchRecord], room: int = ROWS_ROOM) -> tuple[SearchRecord, ...]:
    """Return the search ledger as it is sent; the oldest rows of one that is too long are missing.

    What was asked travels where the source was sent something else: searches are widened and recognised by
    it.
    """
    brief_rows = [
        row.replace(asked="" if row.asked == row.query else row.asked, detail=row.detail[:160])
        for row in searches
    ]
    return tuple(reversed(within(reversed(brief_rows), room)))


def short_rows(searches: Iterable[SearchRecord]) -> tuple[SearchRecord, ...]:
    """Return searches as prompts and the choice of the next ones read them."""
    return tuple(
        SearchRecord(
            source=row.source,
            query=row.asked or row.query,
            status=row.status,
            kept=row.kept,
            gap=row.gap,
        )
        for row in searches
    )


def brief_iteration(record: IterationRecord) -> IterationRecord:
    """Return an iteration as prompts show it."""
    return IterationRecord(
        iteration=record.iteration,
        gaps=record.gaps,
        searches=record.searches,
        new_items=record.new_items,
        findings=record.findings[:MAX_FINDINGS],
        reflection=record.reflection,
        judged=record.judged,
        scores=record.scores,
        confidence=record.confidence,
    )


def fit_document(document: PublishInput) -> PublishInput:
    """Return the document within the payload limit.

    The limitations state what is missing: rows of the search ledger, and as the last resort the ends of the
    longest sections.
    """
    if size(document) <= ROOM:
        return document
    document = document.replace(evidence=tuple(ref.bare() for ref in document.evidence), found={})
    if size(document) > ROOM:
        document = _with_limitation(document, ROWS_MISSING, searches=rows(document.searches, ROOM // 8))
    while size(document) > ROOM:
        longest = max(document.sections, key=lambda section: size(section.draft))
        if not longest.draft.paragraphs:
            break
        shorter = longest.draft.replace(paragraphs=longest.draft.paragraphs[:-1])
        document = _with_limitation(
            document,
            REPORT_CUT,
            sections=tuple(
                section.replace(draft=shorter) if section is longest else section
                for section in document.sections
            ),
        )
    return document


def _with_limitation(document: PublishInput, limitation: Statement, **changes: object) -> PublishInput:
    limitations = tuple(dict.fromkeys((*document.limitations, limitation)))
    return document.model_copy(update={**changes, "limitations": limitations})
