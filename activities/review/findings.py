"""The findings of a review on its studies, as data: chapters, exports and later versions are made of them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from activities.contracts.evidence import Evidence, Frozen, Support, Work, fields_of
from activities.messages import _
from activities.report.formats.references import family_first
from activities.report.schema import Reference
from activities.report.strength import facts_of
from activities.review.bias import BiasAssessment
from activities.review.decisions import Decision
from activities.review.extraction import AGREED, AskedField, DecidedStudy, FieldDecision, asked_fields
from activities.review.protocol import Protocol
from activities.review.records import Records
from activities.review.state import NOT_A_TRIAL, ReviewState
from activities.review.steps import StateStep
from activities.review.synthesis import Synthesis, synthesise

if TYPE_CHECKING:
    from activities.review.archive import Archive


class Study(Reference):
    """An included study."""

    record: int

    @classmethod
    def of(cls, number: int, record: int, work: Evidence) -> "Study":
        about = fields_of(Work, work) | {"authors": work.authors, "venue": work.venue}
        return cls(number=number, record=record, **about)

    @property
    def label(self) -> str:
        """Name it as a reader does: `Doe 2020`, or its number where no author is known."""
        family = family_first(self.authors[0]).split(",")[0] if self.authors else ""
        return (
            f"{family} {self.year or ''}".strip()
            if family
            else _("Study {number}").format(number=self.number)
        )


class ExcludedText(Frozen):
    """A full text that was excluded, with its reason."""

    title: str
    criterion: str
    """Its text; empty where none is named."""
    reason: str = ""
    support: tuple[Support, ...] = ()


class Findings(Frozen):
    run_id: str
    title: str
    at: str
    version: int = 1
    """Of the report."""
    studies: tuple[Study, ...] = ()
    excluded: tuple[ExcludedText, ...] = ()
    not_retrieved: tuple[str, ...] = ()
    """Titles."""
    fields: tuple[AskedField, ...] = ()
    rows: tuple[DecidedStudy, ...] = ()
    bias: tuple[BiasAssessment, ...] = ()
    not_assessed: tuple[str, ...] = ()
    """Ids of studies that no tool was applied to."""
    syntheses: tuple[Synthesis, ...] = ()

    @property
    def people(self) -> tuple[str, ...]:
        """List who decided on fields and on the risk of bias."""
        by = [value.by for row in self.rows for value in row.values if value.by != AGREED]
        return tuple(dict.fromkeys((*by, *(bias.decided_by for bias in self.bias))))

    def named(self, name: Callable[[str], str]) -> "Findings":
        """Return the same under other names of people."""
        rows = (
            row.replace(values=tuple(value.replace(by=name(value.by)) for value in row.values))
            for row in self.rows
        )
        bias = (judgement.replace(decided_by=name(judgement.decided_by)) for judgement in self.bias)
        return self.replace(rows=tuple(rows), bias=tuple(bias))

    def study(self, evidence_id: str) -> Study | None:
        return next((study for study in self.studies if study.evidence_id == evidence_id), None)

    def label(self, evidence_id: str) -> str:
        study = self.study(evidence_id)
        return study.label if study else evidence_id


async def findings_of(
    archive: "Archive", step: StateStep, records: Records, log: Sequence[Decision]
) -> Findings | None:
    """Put the findings of a review together; None where no full text was sought. Raises StoreError."""
    state, protocol = step.state, step.state.protocol
    if not state.sought() or not state.got:
        return None
    included = state.included()
    works = await archive.store.get_many([state.studies.texts[number] for number in included])
    bias = await _bias(archive, state)
    trials = {judgement.evidence_id for judgement in bias}
    # who answers the questions of RoB 2 says that the study is a randomised trial, whatever its record says
    works = [
        work.replace(evidence_type="randomized_trial") if work.evidence_id in trials else work
        for work in works
    ]
    studies = [
        Study.of(place, number, work)
        for place, (number, work) in enumerate(zip(included, works, strict=True), 1)
    ]
    fields = asked_fields(protocol)
    decisions = await archive.lines(state.studies.decisions, FieldDecision)
    pairs = [(number, state.studies.extracted.get(number, ("",))) for number in included]
    rows = tuple(
        [(await archive.settled(fields, number, pair, decisions))[0] for number, pair in pairs if all(pair)]
    )
    names = {study.evidence_id: study.label for study in studies}
    facts = {work.evidence_id: facts_of(work, None) for work in works}
    by_record = {str(study.record): study.evidence_id for study in studies}
    left_out = (key.split("/")[0] for key, value in state.studies.assessed.items() if value == NOT_A_TRIAL)
    return Findings(
        run_id=step.run_id,
        title=protocol.title,
        at=step.at,
        version=state.reports + 1,
        studies=tuple(studies),
        excluded=tuple(
            _excluded(number, protocol, records, log)
            for number in state.retrieved()
            if state.full_texts.state(number) == "excluded"
        ),
        not_retrieved=tuple(
            records.records[number].title
            for number in state.sought()
            if state.got.get(number) == "not_retrieved"
        ),
        fields=fields,
        rows=rows,
        bias=bias,
        not_assessed=tuple(dict.fromkeys(by_record[number] for number in left_out if number in by_record)),
        syntheses=tuple(
            synthesise(outcome, protocol.question, rows, names, facts)
            for outcome in protocol.outcomes
            if rows
        ),
    )


def _excluded(number: int, protocol: Protocol, records: Records, log: Sequence[Decision]) -> ExcludedText:
    """Say why a full text is excluded: by a person's word, else by the first criterion of the protocol."""
    order = [rule.id for rule in protocol.criteria]
    made = [row for row in log if (row.record, row.stage, row.verdict) == (number, "full_texts", "exclude")]
    made.sort(key=lambda row: order.index(row.criterion) if row.criterion in order else len(order))
    words = [row for row in log if row in made and row.part == "word"]
    decision = next(iter((*words[-1:], *made)), None)
    rule = protocol.criterion(decision.criterion) if decision else None
    ref = records.records[number]
    return ExcludedText(
        title=ref.title,
        criterion=rule.text if rule else "",
        reason=decision.reason if decision else "",
        support=tuple(
            Support(evidence_id=ref.evidence_id, quote=quote)
            for quote in (decision.words if decision else ())
        ),
    )


async def _bias(archive: "Archive", state: ReviewState) -> tuple[BiasAssessment, ...]:
    included = set(map(str, state.included()))
    keys = [
        key
        for name, key in sorted(state.studies.assessed.items())
        if key != NOT_A_TRIAL and name.split("/")[0] in included
    ]
    return tuple([await archive.get(key, BiasAssessment) for key in keys])
