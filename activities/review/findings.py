"""The findings of a review on its studies, as data: chapters, exports and later versions are made of them.

The figures of each outcome are those that two extractors agreed on or a person decided; nothing is read anew.
An effect of a study is that of its events by group where it has them, else the one that it states. Direction,
certainty and their reasons are computed as for every report (`activities.analysis`); the risk of bias is
shown beside them and lowers nothing by itself, which is for people to weigh.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Self, get_args

from activities.analysis import figures
from activities.analysis.certainty import certainty_of
from activities.analysis.conclusions import by_effects_of
from activities.analysis.figures import ARM_FIELDS, INTERVAL, MEANS, Means
from activities.analysis.pooling import LEVEL, pool_all
from activities.analysis.scale import NotUsable, no_effect, point_of, side_of, study_interval
from activities.contracts.appraisal import (
    AppraisedWork,
    Conclusion,
    EffectDirection,
    PooledFigure,
    WorkFacts,
)
from activities.contracts.effects import BY_COUNTS, Arms, Effect, Interval, NotPooled, Pool
from activities.contracts.errors import NotInstalled
from activities.contracts.evidence import Evidence, Frozen, Standing, Support, Work, fields_of
from activities.messages import _
from activities.report.formats.references import family_first
from activities.report.independence import studies as studies_of
from activities.report.schema import Reference
from activities.report.strength import facts_of
from activities.retractions.rules import worst
from activities.review.bias import BiasAssessment, Judgement
from activities.review.decisions import Decision, exclusions
from activities.review.extraction import (
    AGREED,
    AskedField,
    DecidedStudy,
    asked_fields,
    figure_id,
    number_of,
)
from activities.review.protocol import PooledOutcome, Protocol, ReviewQuestion
from activities.review.records import Records
from activities.review.state import NOT_A_TRIAL, ReviewState

if TYPE_CHECKING:
    from activities.review.archive import Archive


class ListedWork(Reference):
    """A report as it is cited; without a number, where it is no study of the review."""

    number: int = 0

    @classmethod
    def of_work(cls, work: Evidence, **fields: object) -> Self:
        values = fields_of(Work, work) | {"authors": work.authors, "venue": work.venue}
        return cls.model_validate(values | fields)


class Study(ListedWork):
    """An included work: a report of a study, which others may report as well (`study`)."""

    record: int
    letter: str = ""
    """`b` for the second of several with one name."""

    @property
    def label(self) -> str:
        """Name it as a reader does: `Doe 2020`, or its number where no author is known."""
        family = family_first(self.authors[0]).split(",")[0] if self.authors else ""
        return (
            f"{family} {self.year or ''}{self.letter}".strip()
            if family
            else _("Study {number}").format(number=self.number)
        )


def with_letters(studies: Sequence[Study]) -> list[Study]:
    """Return the studies with a letter behind each name that several have: `Doe 2020a`, `Doe 2020b`."""
    labels = [study.label for study in studies]
    places = [labels[:place].count(label) for place, label in enumerate(labels)]
    return [
        study.replace(letter=chr(ord("a") + place)) if labels.count(study.label) > 1 and place < 26 else study
        for study, place in zip(studies, places, strict=True)
    ]


class ExcludedText(ListedWork):
    criterion: str
    """Its text; empty where none is named."""
    is_unmet: bool = False
    """It is one that a work has to meet, and this one did not."""
    reason: str = ""
    support: tuple[Support, ...] = ()


NO_NUMBERS: Mapping[str, int] = {}


class Synthesis(Frozen):
    id: str
    conclusion: Conclusion
    pool: Pool | None = None
    not_pooled: tuple[NotPooled, ...] = ()
    without_numbers: tuple[str, ...] = ()
    """Ids of studies that report the outcome without figures that give an effect."""
    not_installed: bool = False
    """The library that pools is missing."""


class Findings(Frozen):
    studies: tuple[Study, ...] = ()
    excluded: tuple[ExcludedText, ...] = ()
    not_retrieved: tuple[ListedWork, ...] = ()
    fields: tuple[AskedField, ...] = ()
    rows: tuple[DecidedStudy, ...] = ()
    bias: tuple[BiasAssessment, ...] = ()
    not_assessed: tuple[str, ...] = ()
    """Ids of studies that no tool was applied to."""
    syntheses: tuple[Synthesis, ...] = ()

    @property
    def study_count(self) -> int:
        """Count the studies: several reports of one count once."""
        return len({study.study or -study.number for study in self.studies})

    @property
    def people(self) -> tuple[str, ...]:
        """List who decided on fields and on the risk of bias."""
        deciders = [value.by for row in self.rows for value in row.values if value.by != AGREED]
        return tuple(dict.fromkeys((*deciders, *(bias.decided_by for bias in self.bias))))

    def overall_risks(self, outcome: str) -> dict[str, Judgement]:
        """Return the risk of bias of each work on an outcome, as far as it was assessed."""
        return {row.evidence_id: row.overall for row in self.bias if row.outcome in ("", outcome)}

    def study(self, evidence_id: str) -> Study | None:
        return next((study for study in self.studies if study.evidence_id == evidence_id), None)

    def label(self, evidence_id: str) -> str:
        study = self.study(evidence_id)
        return study.label if study else evidence_id


async def findings_of(
    archive: "Archive",
    state: ReviewState,
    records: Records,
    log: Sequence[Decision],
    standings: Mapping[str, Standing],
) -> Findings | None:
    """Put the findings of a review together; None where no full text was sought. Raises StoreError."""
    protocol = state.protocol
    if not state.sought_records() or not any(state.got.values()):
        return None
    included = state.included_records()
    works = await archive.store.get_many([state.studies.texts[number] for number in included])
    assessed = [state.assessment(*unit) for unit in state.units("bias")]
    bias = tuple([await archive.get(key, BiasAssessment) for key in assessed if key not in ("", NOT_A_TRIAL)])
    trials = {judgement.evidence_id for judgement in bias}
    # who answers the questions of RoB 2 says that the study is a randomised trial, whatever its record says
    works = [
        work.replace(
            evidence_type="randomized_trial" if work.evidence_id in trials else work.evidence_type,
            standing=worst(work.standing, standings.get(work.evidence_id, "unknown")),
        )
        for work in works
    ]
    # the registration in an abstract is that of its own trial; a full text names those of others as well
    study_numbers = studies_of([work.replace(text=work.text.partition("\n\n")[0]) for work in works])
    studies = with_letters(
        [
            Study.of_work(work, number=place, record=number, study=study_numbers[work.evidence_id])
            for place, (number, work) in enumerate(zip(included, works, strict=True), 1)
        ]
    )
    decisions = [decision for decision in log if decision.stage == "extraction"]
    settlements = [await archive.settlement(state, n, decisions) for n in included]
    rows = tuple(row[0] for row in settlements if row)
    excluded = [n for n in state.retrieved_records() if state.full_texts.state(n) == "excluded"]
    unretrieved = [n for n in state.sought_records() if state.got.get(n) == "not_retrieved"]
    excluded_works = await archive.store.get_many([state.studies.texts[n] for n in excluded])
    missing_works = await archive.store.get_many([records.records[n] for n in unretrieved])
    grounds = exclusions(state.decisions_in_force(log), [rule.id for rule in protocol.criteria])
    names = {study.evidence_id: study.label for study in studies}
    facts = {work.evidence_id: facts_of(work, None) for work in works}
    retracted = {study.evidence_id for study in studies if study.standing == "retracted"}
    no_trials = {n for n, outcome in state.units("bias") if state.assessment(n, outcome) == NOT_A_TRIAL}
    return Findings(
        studies=tuple(studies),
        excluded=tuple(
            _excluded_text(work, grounds.get(n), protocol)
            for n, work in zip(excluded, excluded_works, strict=True)
        ),
        not_retrieved=tuple(map(ListedWork.of_work, missing_works)),
        fields=asked_fields(protocol),
        rows=rows,
        bias=bias,
        not_assessed=tuple(study.evidence_id for study in studies if study.record in no_trials),
        syntheses=tuple(
            synthesise(outcome, protocol.question, rows, names, facts, study_numbers, retracted)
            for outcome in (protocol.outcomes if rows else ())
        ),
    )


def _excluded_text(work: Evidence, decision: Decision | None, protocol: Protocol) -> ExcludedText:
    """Say why a full text is excluded; nothing where the log does not tell."""
    rule = protocol.criterion(decision.criterion) if decision else None
    words = decision.words if decision else ()
    return ExcludedText.of_work(
        work,
        criterion=rule.text if rule else "",
        is_unmet=rule is not None and rule.kind == "include",
        reason=decision.reason if decision else "",
        support=tuple(Support(evidence_id=work.evidence_id, quote=quote) for quote in words),
    )


def synthesise(
    outcome: PooledOutcome,
    question: ReviewQuestion,
    studies: Sequence[DecidedStudy],
    names: Mapping[str, str],
    facts: Mapping[str, WorkFacts],
    study_numbers: Mapping[str, int] = NO_NUMBERS,
    retracted: Collection[str] = (),
) -> Synthesis:
    """Put the studies of an outcome together. `names`: what a reader calls each study.

    `study_numbers`: of works that report one study the first with an effect counts.
    `retracted`: works that count nowhere.
    """
    reports: dict[int | str, list[AppraisedWork]] = {}
    withdrawn: list[NotPooled] = []
    for study in studies:
        name = study.evidence_id
        effect = effect_of(study, outcome, names.get(name, name))
        direction_text = study.text(figure_id(outcome.id, "direction"))
        if effect is None and not direction_text:
            continue
        if name in retracted:
            withdrawn += [NotPooled(effect=effect, reason="retracted")] if effect else []
            continue
        work = _appraise(study, outcome, effect, direction_text, facts.get(name, WorkFacts()))
        reports.setdefault(study_numbers.get(name, name), []).append(work)
    rows = [sorted(rows, key=lambda row: row.effect is None) for rows in reports.values()]
    works = [first for first, *_others in rows]
    pool, not_pooled, not_installed = None, tuple[NotPooled, ...](), False
    if outcome.pool:
        try:
            pool, not_pooled = _largest_pool([work.effect for work in works if work.effect])
        except NotInstalled:
            not_installed = True
    figure, ids = None, tuple[str, ...]()
    if pool is not None:
        ids = tuple(row.effect.evidence_id for row in pool.rows)
        figure = PooledFigure(measure=pool.measure, result=pool.random, works=ids, i2=pool.i2)
    pooled_names = {name: names.get(name, name) for name in ids}
    twins = (
        NotPooled(effect=twin.effect, reason="same_trial", same_as=pooled_names.get(first.evidence_id, ""))
        for first, *others in rows
        for twin in others
        if twin.effect
    )
    starts, concerns, certainty = certainty_of(works, pool)
    direction = by_effects_of(works, figure)
    return Synthesis(
        id=outcome.id,
        conclusion=Conclusion(
            outcome=outcome.label,
            group=question.intervention,
            comparator=question.comparator,
            direction=direction,
            by_effects=direction,
            certainty=certainty,
            starts=starts,
            concerns=concerns,
            works=tuple(works),
            pooled=figure,
        ),
        pool=pool,
        not_pooled=(*not_pooled, *twins, *withdrawn),
        without_numbers=tuple(work.evidence_id for work in works if work.effect is None),
        not_installed=not_installed,
    )


def effect_of(study: DecidedStudy, outcome: PooledOutcome, name: str) -> Effect | None:
    """Return the effect of a study on an outcome, on the measure of the protocol where it names one.

    None where its figures give none that can be used.
    """
    numbers = {
        figure: number
        for figure in dict.fromkeys((*ARM_FIELDS, *MEANS, *INTERVAL))
        if (number := number_of(study.text(figure_id(outcome.id, figure)))) is not None
    }
    measure_text = study.text(figure_id(outcome.id, "measure"))
    is_clustered = study.text(figure_id(outcome.id, "clustered")) == "yes"
    arms = None if is_clustered else figures.groups_of(Arms, numbers, ARM_FIELDS)
    effect = stated = figures.effect_of_interval(measure_text or outcome.measure or "", numbers)
    measure = outcome.measure or (stated.measure if stated else "RR")
    if arms is not None and measure in BY_COUNTS:
        effect = Effect(study="", outcome="", measure=measure, arms=arms)
    elif stated is None and outcome.measure in ("MD", "SMD", None):
        means = figures.groups_of(Means, numbers, MEANS)
        if means is not None:
            effect = figures.effect_of_means(means, natural=outcome.measure == "MD")
    if effect is None or (outcome.measure and effect.measure != outcome.measure):
        return None
    people = numbers.get("total", 0) + numbers.get("control_total", 0)
    figure_ids = {figure_id(outcome.id, figure) for figure in numbers}
    quotes = (value.support[0].quote for value in study.values if value.support and value.field in figure_ids)
    effect = effect.replace(
        study=name,
        outcome=outcome.label,
        evidence_id=study.evidence_id,
        n=int(people) or None,
        quote=next(quotes, ""),
    )
    try:
        point_of(effect)
    except NotUsable:
        return None
    return effect


def _appraise(
    study: DecidedStudy, outcome: PooledOutcome, effect: Effect | None, direction_text: str, facts: WorkFacts
) -> AppraisedWork:
    result: Interval | None = None
    direction: EffectDirection = next(
        (name for name in get_args(EffectDirection) if name == direction_text), "uncertain"
    )
    if effect is not None:
        result = study_interval(effect, point_of(effect), LEVEL)
        direction = side_of(result, no_effect(effect.measure))
    prefix = figure_id(outcome.id, "")
    support = dict.fromkeys(
        quote for value in study.values if value.field.startswith(prefix) for quote in value.support
    )
    return AppraisedWork(
        evidence_id=study.evidence_id,
        direction=direction,
        effect=effect,
        result=result,
        n=effect.n if effect else facts.participants,
        facts=facts,
        support=tuple(support),
    )


def _largest_pool(effects: Sequence[Effect]) -> tuple[Pool | None, tuple[NotPooled, ...]]:
    """Return the pool with the most studies, and all effects that are not in it. Raises NotInstalled."""
    pools, not_pooled = pool_all(effects)
    best = max(pools, key=lambda pool: len(pool.rows), default=None)
    left_out = [row.effect for pool in pools if pool is not best for row in pool.rows]
    return best, (*not_pooled, *(NotPooled(effect=effect, reason="another_measure") for effect in left_out))
