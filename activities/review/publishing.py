"""What a review found in its studies, put together from what was read and decided of each."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from activities.contracts.appraisal import WorkFacts
from activities.contracts.evidence import Support
from activities.report.strength import facts_of
from activities.review.bias import BiasAssessment
from activities.review.decisions import Decision
from activities.review.extraction import DecidedStudy, Difference, asked_fields, decided_study
from activities.review.findings import ExcludedText, Findings, Study
from activities.review.protocol import Protocol
from activities.review.records import Records
from activities.review.steps import PublishStep
from activities.review.studies import AskedField, Extraction, ExtractionDecision
from activities.review.study_steps import NOT_A_TRIAL
from activities.review.synthesis import synthesise

if TYPE_CHECKING:
    from activities.review.archive import Archive


async def findings_of(
    archive: "Archive", step: PublishStep, protocol: Protocol, records: Records, log: Sequence[Decision]
) -> Findings | None:
    """Put the findings of a review together; None where no full text was sought. Raises StoreError."""
    sought = [number for number, state in enumerate(step.titles.states()) if state == "included"]
    read = [number for number in sought if step.got.get(number) == "got"]
    if not sought or not step.got:
        return None
    included = [number for number in read if step.full_texts.state(number) == "included"]
    refs = [step.studies.texts.get(number, records.records[number]) for number in included]
    works = dict(zip(included, await archive.store.get_many(refs), strict=True))
    fields = asked_fields(protocol)
    rows = await _rows(archive, step, fields, included)
    bias = await _bias(archive, step, included)
    trials = {one.evidence_id for one in bias}
    # who answers the questions of RoB 2 says that the study is a randomised trial, whatever its record says
    works = {
        number: work.replace(evidence_type="randomized_trial") if work.evidence_id in trials else work
        for number, work in works.items()
    }
    studies = [Study.of(place, number, work) for place, (number, work) in enumerate(works.items(), 1)]
    names = {study.evidence_id: study.label for study in studies}
    facts: dict[str, WorkFacts] = {work.evidence_id: facts_of(work, None) for work in works.values()}
    by_record = {number: work.evidence_id for number, work in works.items()}
    left_out = [
        int(key.split("/")[0]) for key, value in step.studies.assessed.items() if value == NOT_A_TRIAL
    ]
    return Findings(
        run_id=step.run_id,
        title=protocol.title,
        at=step.at,
        version=step.reports + 1,
        studies=tuple(studies),
        excluded=tuple(
            _excluded(number, protocol, records, log)
            for number in read
            if step.full_texts.state(number) == "excluded"
        ),
        not_retrieved=tuple(
            records.records[number].title for number in sought if step.got.get(number) == "not_retrieved"
        ),
        fields=fields,
        rows=rows,
        bias=bias,
        not_assessed=tuple(dict.fromkeys(by_record[number] for number in left_out if number in by_record)),
        syntheses=tuple(
            synthesise(outcome, protocol.question, rows, names, facts) for outcome in protocol.outcomes
        )
        if rows
        else (),
    )


def _excluded(number: int, protocol: Protocol, records: Records, log: Sequence[Decision]) -> ExcludedText:
    """A full text that was excluded, by a person's word, else by the first criterion of the protocol."""
    made = [
        one for one in log if one.record == number and one.stage == "full_texts" and one.verdict == "exclude"
    ]
    order = [rule.id for rule in protocol.criteria]
    words = [one for one in made if one.part == "word"]
    ranked = sorted(
        made, key=lambda one: order.index(one.criterion) if one.criterion in order else len(order)
    )
    decision = words[-1] if words else ranked[0] if ranked else None
    rule = protocol.criterion(decision.criterion) if decision else None
    ref = records.records[number]
    return ExcludedText(
        title=ref.title,
        criterion=rule.text if rule else "not stated",
        reason=decision.reason if decision else "",
        support=tuple(
            Support(evidence_id=ref.evidence_id, quote=quote)
            for quote in (decision.words if decision else ())
        ),
    )


async def _rows(
    archive: "Archive", step: PublishStep, fields: Sequence[AskedField], included: Sequence[int]
) -> tuple[DecidedStudy, ...]:
    decisions = await field_decisions(archive, step.studies.decisions)
    keys = [step.studies.extracted.get(number, ()) for number in included]
    return tuple(
        [
            (await settled_fields(archive, fields, pair, decisions))[0]
            for pair in keys
            if len(pair) == 2 and all(pair)
        ]
    )


async def _bias(archive: "Archive", step: PublishStep, included: Sequence[int]) -> tuple[BiasAssessment, ...]:
    keys = [
        key
        for name, key in sorted(step.studies.assessed.items())
        if key != NOT_A_TRIAL and int(name.split("/")[0]) in included
    ]
    return tuple([await archive.get(key, BiasAssessment) for key in keys])


async def field_decisions(archive: "Archive", key: str) -> tuple[ExtractionDecision, ...]:
    """The decisions of people on fields, oldest first."""
    return tuple(await archive.lines(key, ExtractionDecision)) if key else ()


async def settled_fields(
    archive: "Archive",
    fields: Sequence[AskedField],
    keys: Sequence[str],
    decisions: Sequence[ExtractionDecision],
) -> tuple[DecidedStudy, tuple[Difference, ...]]:
    """The row of a study as far as it is decided, and the fields on which a person has to decide."""
    first, second = [await archive.get(key, Extraction) for key in keys]
    own: Mapping[str, ExtractionDecision] = {
        one.field: one for one in decisions if one.evidence_id == first.evidence_id
    }
    return decided_study(fields, first, second, own)
