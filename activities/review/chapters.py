"""The chapters of a review on its studies: results, studies, risk of bias, full texts, checklist."""

from collections.abc import Iterable, Iterator

from activities.analysis.meta_analysis import REASONS, shown_interval
from activities.contracts.effects import MEASURE_NAMES
from activities.contracts.evidence import Support
from activities.report.formats import figures
from activities.report.formats.blocks import (
    Block,
    Cell,
    Chapter,
    Figure,
    Heading,
    Quote,
    Reference,
    References,
    Run,
    Table,
    Text,
    bullets,
    cell,
    filled,
    table,
)
from activities.report.formats.conclusion_words import found, line, reasons
from activities.report.formats.figures import Rows, Step
from activities.report.formats.text import authors_line, clean, ended, identifier_links, safe_url
from activities.review.archive import Published
from activities.review.bias import ANSWER_NAMES, DOMAINS, JUDGEMENT_NAMES, QUESTIONS, SOURCE, BiasAssessment
from activities.review.checklist import checklist
from activities.review.extraction import AGREED
from activities.review.findings import Findings, Study
from activities.review.synthesis import Synthesis

FLOW = "Flow of records (PRISMA 2020)"


def lead(findings: Findings | None) -> Iterator[Block]:
    """The conclusions, with which the report begins."""
    if findings is not None:
        yield from bullets(line(one.conclusion) for one in findings.syntheses)


def chapters(published: Published) -> Iterator[Chapter]:
    """What the stages after the screening of titles found; without those that hold nothing."""
    findings = published.findings
    if findings is None:
        return
    made = (
        Chapter("results", "Results by outcome", tuple(_results(findings))),
        Chapter("studies", "Studies", tuple(_studies(findings))),
        Chapter("bias", "Risk of bias", tuple(_bias(findings))),
        Chapter("full-texts", "Full texts", tuple(_full_texts(findings))),
    )
    yield from (chapter for chapter in made if chapter.blocks)


def closing(published: Published) -> Iterator[Chapter]:
    """The checklist and the references, with which the report ends."""
    if (findings := published.findings) is not None:
        yield Chapter("checklist", "PRISMA 2020 checklist", (_checklist(findings, published),))
        yield Chapter("references", "References", tuple(_references(findings)))


def _text(text: str) -> Iterator[Text]:
    if text:
        yield Text((Run(clean(text)),))


def flow_figure(published: Published) -> Figure:
    """The flow of PRISMA 2020 as a figure; its numbers stand in a table beside it."""
    return figures.flow_figure(FLOW, flow_steps(published))


def flow_steps(published: Published) -> tuple[Step, ...]:
    """The boxes of the flow, with what leaves it beside each."""
    flow = published.report.flow

    def rows(*every: tuple[str, int]) -> Rows:
        return tuple((clean(name), number) for name, number in every if number)

    criteria = {rule.id: rule.text for rule in published.protocol.criteria}
    because = ((criteria.get(name, name), number) for name, number in flow.excluded_because.items())
    return (
        Step(
            (("Identified", flow.given), *rows(*flow.identified.items())),
            rows(("Duplicates removed", flow.duplicates)),
        ),
        Step(
            (("Screened", flow.screened),),
            rows(("Excluded", flow.excluded), ("Not read", flow.unread), ("Undecided", flow.open)),
        ),
        Step(
            (("Full texts sought", flow.sought),),
            rows(("Not retrieved", flow.not_retrieved), ("Awaited", flow.awaited)),
        ),
        Step(
            (("Assessed", flow.assessed),),
            rows(("Excluded", flow.excluded_full_texts), *because, ("Undecided", flow.undecided)),
        ),
        Step((("Included", flow.included),)),
    )


def _quoted(text: str, support: Iterable[Support], findings: Findings) -> Cell:
    """A cell that opens the first quote behind it."""
    quote = next(iter(support), None)
    if quote is None or not text:
        return cell(text)
    study = next((one for one in findings.studies if one.evidence_id == quote.evidence_id), None)
    number, title = (study.number, clean(study.title)) if study else (0, "")
    return cell(text, quote=Quote(quote.evidence_id, number, title, clean(quote.quote)))


def _full_texts(findings: Findings) -> Iterator[Block]:
    if findings.excluded:
        yield Heading("Excluded")
        cells = [
            (cell(one.title), cell(one.criterion), _quoted(one.reason or "see it", one.support, findings))
            for one in findings.excluded
        ]
        yield Table(*filled(("Study", "Criterion", "Why"), cells))
    if findings.not_retrieved:
        yield Heading("Not retrieved")
        yield from bullets(findings.not_retrieved)


def _studies(findings: Findings) -> Iterator[Block]:
    own = [field for field in findings.fields if not field.outcome]
    by_id = {row.evidence_id: {one.field: one for one in row.values} for row in findings.rows}
    if findings.studies:
        rows = []
        for study in findings.studies:
            values = by_id.get(study.evidence_id, {})
            shown = [values.get(field.id) for field in own]
            rows.append(
                (
                    cell(f"[{study.number}] {study.label}"),
                    cell(in_words_of(study.evidence_type)),
                    *(_quoted(one.text, one.support, findings) if one else Cell() for one in shown),
                )
            )
        head = ("Study", "Design", *(clean(field.label) for field in own))
        yield Table(*filled(head, rows), wide=len(own) > 5)
    values_ = [one for row in findings.rows for one in row.values]
    if values_:
        people = sum(one.by != AGREED for one in values_)
        yield from _text(
            f"{len(values_):,} values were extracted by two independently: on {len(values_) - people:,} they "
            f"agreed, and {people:,} a person decided."
        )


def in_words_of(kind: str) -> str:
    """`randomized_trial` -> `randomized trial`."""
    return kind.replace("_", " ")


def _bias(findings: Findings) -> Iterator[Block]:
    if not (findings.bias or findings.not_assessed):
        return
    labels = {study.evidence_id: study.label for study in findings.studies}
    if findings.bias:
        yield from _text(f"By {SOURCE}: a model proposed answers with quotes, and a person decided each.")
        head = ("Study", "Outcome", *(domain.title for domain in DOMAINS), "Overall")
        rows = [
            (
                labels.get(one.evidence_id, one.evidence_id),
                one.outcome,
                *(JUDGEMENT_NAMES[one.domain(domain)] for domain in DOMAINS),
                JUDGEMENT_NAMES[one.overall],
            )
            for one in findings.bias
        ]
        yield table(head, rows)
        for one in findings.bias:
            name = labels.get(one.evidence_id, one.evidence_id)
            yield Heading(f"{name}{f', {one.outcome}' if one.outcome else ''}")
            yield Table(*filled(("No.", "Question", "Answer", "Why"), [*_signals(one, findings)]))
            yield from _text(one.reason)
    names = [labels.get(name, name) for name in findings.not_assessed]
    if names:
        yield from _text(f"No tool was applied to {', '.join(names)}: RoB 2 is for randomised trials.")


def _signals(one: BiasAssessment, findings: Findings) -> Iterator[tuple[Cell, ...]]:
    for row in sorted(one.answers, key=lambda row: row.question):
        why = row.reason or ("see the quote" if row.support else "")
        yield (
            cell(row.question),
            cell(QUESTIONS[row.question]),
            cell(ANSWER_NAMES[row.answer]),
            _quoted(why, row.support, findings),
        )


def _results(findings: Findings) -> Iterator[Block]:
    for one in findings.syntheses:
        yield Heading(clean(one.conclusion.outcome))
        yield from _text(line(one.conclusion))
        yield from bullets(reasons(one.conclusion))
        yield from _pool(one)
        yield _effects(one, findings)
        yield from bullets(
            f"{row.effect.study} is not pooled: {REASONS[row.reason]}." for row in one.not_pooled
        )


def _pool(one: Synthesis) -> Iterator[Block]:
    pool = one.pool
    if pool is None:
        return
    yield from figures.forest(clean(f"{pool.outcome}: {MEASURE_NAMES[pool.measure]}"), pool)
    rows = [(row.effect.study, shown_interval(row.result), f"{row.weight:.1%}") for row in pool.rows]
    rows += [("Fixed effect", shown_interval(pool.fixed), "")]
    rows += [("Random effects (Hartung and Knapp)", shown_interval(pool.hartung_knapp), "")]
    rows += [("Prediction interval", shown_interval(pool.prediction), "")] if pool.prediction else []
    yield table(("Study", "Effect (95 % interval)", "Weight"), rows)
    if pool.left_out:
        yield from _text("The random-effects estimate without each study:")
        without = [(f"Without {row.study}", shown_interval(row.result)) for row in pool.left_out]
        yield table(("Study", "Effect (95 % interval)"), without)
    if pool.small_studies is not None:
        yield from _text(f"Egger's test of small studies: p = {pool.small_studies.p:.3f}.")


def _effects(one: Synthesis, findings: Findings) -> Table:
    """What each study found, with its quote and its risk of bias."""
    labels = {study.evidence_id: study.label for study in findings.studies}
    outcome = one.conclusion.outcome
    risks = {row.evidence_id: row.overall for row in findings.bias if row.outcome in ("", outcome)}
    rows = []
    for work in one.conclusion.works:
        effect = f"{work.effect.measure} {shown_interval(work.result)}" if work.effect and work.result else ""
        risk = risks.get(work.evidence_id)
        rows.append(
            (
                cell(labels.get(work.evidence_id, work.evidence_id)),
                _quoted(effect or "no usable figures", work.support, findings),
                cell(found(work.direction)),
                cell(f"{work.n:,}" if work.n else ""),
                cell(JUDGEMENT_NAMES[risk] if risk else ""),
            )
        )
    head = ("Study", "Effect (95 % interval)", "Direction", "Participants", "Risk of bias")
    return Table(*filled(head, rows))


def answered(findings: Findings, published: Published) -> frozenset[str]:
    """What the report holds of what the checklist asks for."""
    pools = [one.pool for one in findings.syntheses if one.pool]
    step, protocol, flow = published.step, published.protocol, published.report.flow
    holds = {
        "title": "systematic review" in protocol.title.casefold(),
        "question": True,
        "criteria": True,
        "fields": bool(protocol.extraction),
        "outcomes": bool(protocol.outcomes),
        "registration": bool(protocol.registration),
        "amendments": bool(step.amendments) or step.version == 1,
        "searches": bool(step.searches),
        "queries": any(row.query for row in step.searches),
        "selection": flow.screened > 0,
        "flow": flow.given > 0,
        "excluded": bool(findings.excluded) or (flow.assessed > 0 and not flow.excluded_full_texts),
        "extraction": bool(findings.rows),
        "studies": bool(findings.studies),
        "bias": bool(findings.bias),
        "results": bool(findings.syntheses),
        "effects": any(work.result for one in findings.syntheses for work in one.conclusion.works),
        "pool": bool(pools),
        "sensitivity": any(pool.left_out for pool in pools),
        "small_studies": any(pool.small_studies for pool in pools),
        "limitations": True,
        "data": True,
    }
    return frozenset(name for name, held in holds.items() if held)


def _checklist(findings: Findings, published: Published) -> Table:
    return table(("Item", "Subject", "Where"), checklist(answered(findings, published)))


def _references(findings: Findings) -> Iterator[Block]:
    if findings.studies:
        yield References(tuple(map(_reference, findings.studies)))


def _reference(study: Study) -> Reference:
    links = [(f"{name} {clean(value)}", url) for name, value, url in identifier_links(study.identifiers)]
    url = safe_url(study.url) or next((link for _, link in links if link), None)
    parts = (
        Run(ended(authors_line(study.authors))),
        Run(ended(clean(study.title)), url=url),
        Run(ended(str(study.year or ""))),
        *(Run(text, url=link) for text, link in links),
    )
    return Reference(study.number, tuple(part for part in parts if part.text))
