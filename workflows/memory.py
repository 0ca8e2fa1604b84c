"""The memory of a loop: what the current iteration has found so far, and the records of those before it.

Pure. `RunState.iterations` reads it.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from pydantic import BaseModel, Field

from activities.contracts.evidence import EvidenceRef, SearchRecord, Usage
from activities.contracts.iterations import Finding, IterationRecord, IterationSearch
from activities.contracts.judge import JudgeAssessment

MAX_RECORDS = 200
"""Records that a run keeps at most, sections included: the latest."""
MAX_FINDINGS = 6
"""Works that a record names."""
MAX_SEARCHES = 12
MAX_GAPS = 5
TEXT_CHARS = 600
"""Length of each text of a record; a gap or a query has half of it."""
TITLE_CHARS = 160
REASON_CHARS = 120


class LoopMemory(BaseModel, defer_build=True):
    records: list[IterationRecord] = Field(default_factory=list)
    """Records of the iterations that have ended, and of those of sections; oldest first."""
    reported: int = 0
    """How many iterations of a section its parent knows."""
    # of the iteration under way
    begun: str = ""
    used: Usage = Usage()
    """What the run had used when the iteration began."""
    thought: str = ""
    reflection: str = ""
    gaps: tuple[str, ...] = ()
    new_items: int = 0
    findings: tuple[Finding, ...] = ()
    shared_items: int = 0
    closed: Usage | None = None
    """What the run had used when its loop ended; None while it goes on."""
    judged: JudgeAssessment | None = None
    sufficient: bool = False

    def begin(self, record: IterationRecord | None, now: str, usage: Usage) -> None:
        """Begin an iteration; `record` is that of the one before it."""
        if record is not None:
            self.records = [*self.records, record][-MAX_RECORDS:]
        self.begun, self.used, self.closed = now, usage, None
        self.thought = self.reflection = ""
        self.gaps, self.findings, self.new_items, self.shared_items = (), (), 0, 0
        self.judged, self.sufficient = None, False

    def add_found(self, refs: Sequence[EvidenceRef]) -> None:
        self.new_items += len(refs)
        findings = (Finding(evidence_id=ref.evidence_id, title=_cut(ref.title, TITLE_CHARS)) for ref in refs)
        self.findings = (*self.findings, *findings)[:MAX_FINDINGS]

    def record(
        self, iteration: int, section: str, searches: Iterable[SearchRecord], usage: Usage, now: str = ""
    ) -> IterationRecord:
        """Return the iteration under way as a record; `now` is given when it ends."""
        assessment = self.judged or JudgeAssessment()
        own_searches = [search for search in searches if search.iteration == iteration]
        difference = _difference(self.closed or usage, self.used)
        return IterationRecord(
            iteration=iteration,
            section=section,
            started_at=self.begun,
            seconds=_seconds(self.begun, now) if self.begun and now else 0.0,
            thought=_cut(self.thought),
            gaps=tuple(_cut(gap, TEXT_CHARS // 2) for gap in self.gaps[:MAX_GAPS]),
            searches=tuple(
                IterationSearch(
                    source=search.source,
                    query=_cut(search.asked or search.query, TEXT_CHARS // 2),
                    status=search.status,
                    hits=search.hits,
                    kept=search.kept,
                )
                for search in own_searches[:MAX_SEARCHES]
            ),
            new_items=self.new_items,
            findings=self.findings,
            shared_items=self.shared_items,
            reflection=_cut(self.reflection),
            judged=self.judged is not None,
            open=tuple(_cut(gap, TEXT_CHARS // 2) for gap in self._open()[:MAX_GAPS]),
            scores=assessment.scores,
            sources_breakdown=assessment.sources_breakdown,
            kinds_breakdown=assessment.kinds_breakdown,
            confidence=assessment.confidence,
            score_reasons={name: _cut(text, REASON_CHARS) for name, text in assessment.score_reasons.items()},
            sufficient=self.sufficient,
            verdict=_cut(assessment.reasoning),
            model_calls=difference.calls,
            tokens=difference.tokens,
            cost_microusd=difference.cost_microusd,
        )

    def _open(self) -> tuple[str, ...]:
        """Return what is open after the iteration; nothing where no model read what was found."""
        if self.judged is None:
            return self.gaps
        return () if self.judged.by_code else self.judged.gaps

    def adopt(self, records: Sequence[IterationRecord]) -> None:
        """Add the records that a section has reported.

        A section that was rewound reports iterations again: they replace those from the earliest of them on.
        """
        first: dict[str, int] = {}
        for record in records:
            first[record.section] = min(first.get(record.section, record.iteration), record.iteration)
        remaining = [r for r in self.records if r.section not in first or r.iteration < first[r.section]]
        self.records = [*remaining, *records][-MAX_RECORDS:]


def _cut(text: str, limit: int = TEXT_CHARS) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


def _difference(now: Usage, before: Usage) -> Usage:
    """Return what was used since; the cost is not known once any call had no known price."""
    has_cost = now.cost_microusd is not None and before.cost_microusd is not None
    return Usage(
        calls=now.calls - before.calls,
        input_tokens=now.input_tokens - before.input_tokens,
        output_tokens=now.output_tokens - before.output_tokens,
        cost_microusd=(now.cost_microusd or 0) - (before.cost_microusd or 0) if has_cost else None,
    )
