"""The chapters of a review on its studies: results, studies, risk of bias, full texts, references."""

from collections.abc import Iterable, Iterator

from activities.analysis.meta_analysis import REASONS, shown_interval
from activities.contracts.effects import MEASURE_NAMES
from activities.contracts.evidence import Support
from activities.plural import counted
from activities.report.formats import figures
from activities.report.formats.blocks import (
    Block,
    Cell,
    Chapter,
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
from activities.report.formats.text import authors_line, clean, ended, identifier_links, safe_url
from activities.review.bias import ANSWER_NAMES, DOMAINS, JUDGEMENT_NAMES, QUESTIONS, SOURCE, BiasAssessment
from activities.review.extraction import AGREED
from activities.review.findings import Findings, Study
from activities.review.protocol import Protocol
from activities.review.synthesis import Synthesis

EFFECT = "Effect (95 % interval)"


def of_studies(findings: Findings) -> Iterator[Chapter]:
    """Make the chapters on what was read after the screening of titles; the empty ones are left out."""
    yield Chapter("results", "Results by outcome", tuple(_results(findings)))
    yield Chapter("studies", "Studies", tuple(_studies(findings)))
    yield Chapter("bias", "Risk of bias", tuple(_bias(findings)))
    yield Chapter("full-texts", "Full texts", tuple(_full_texts(findings)))


def references(findings: Findings) -> Iterator[Block]:
    if findings.studies:
        yield References(tuple(map(_reference, findings.studies)))


def limitations(findings: Findings, protocol: Protocol) -> list[str]:
    """List what the findings cannot vouch for, as far as their data show it."""
    rows = list[str]()
    if findings.not_retrieved:
        missing = counted(len(findings.not_retrieved), "full text")
        rows.append(f"{missing} not retrieved; what is in them may change the conclusions.")
    if findings.not_assessed:
        studies = counted(len(findings.not_assessed), "study", "studies")
        rows.append(f"No tool for the risk of bias was applied to {studies}: RoB 2 is for randomised trials.")
    if findings.studies and protocol.bias == "none":
        rows.append("The risk of bias was not assessed.")
    if findings.syntheses:
        rows.append(
            "The certainty is computed from figures and designs; the risk of bias stands beside it and is no "
            "part of it."
        )
    for one in findings.syntheses:
        if one.without_numbers:
            studies = counted(len(one.without_numbers), "study", "studies")
            rows.append(f"{one.conclusion.outcome}: without usable figures in {studies} that report it.")
    if any(one.not_installed for one in findings.syntheses):
        rows.append("Nothing was pooled: the library that pools is not installed (extra `analysis`).")
    return rows


def _text(text: str) -> Iterator[Text]:
    if text:
        yield Text((Run(clean(text)),))


def _quoted(text: str, support: Iterable[Support], findings: Findings) -> Cell:
    """Make a cell that opens the first quote behind it."""
    quote = next(iter(support), None)
    if quote is None or not text:
        return cell(text)
    study = findings.study(quote.evidence_id)
    number, title = (study.number, clean(study.title)) if study else (0, "")
    return cell(text, quote=Quote(quote.evidence_id, number, title, clean(quote.quote)))


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
    yield table(("Study", EFFECT, "Weight"), rows)
    if pool.left_out:
        yield from _text("The random-effects estimate without each study:")
        without = [(f"Without {row.study}", shown_interval(row.result)) for row in pool.left_out]
        yield table(("Study", EFFECT), without)
    if pool.small_studies is not None:
        yield from _text(f"Egger's test of small studies: p = {pool.small_studies.p:.3f}.")


def _effects(one: Synthesis, findings: Findings) -> Table:
    """List the effect of each study, with its quote and its risk of bias."""
    outcome = one.conclusion.outcome
    risks = {row.evidence_id: row.overall for row in findings.bias if row.outcome in ("", outcome)}
    rows = []
    for work in one.conclusion.works:
        effect = f"{work.effect.measure} {shown_interval(work.result)}" if work.effect and work.result else ""
        risk = risks.get(work.evidence_id)
        rows.append(
            (
                cell(findings.label(work.evidence_id)),
                _quoted(effect or "no usable figures", work.support, findings),
                cell(found(work.direction)),
                cell(f"{work.n:,}" if work.n else ""),
                cell(JUDGEMENT_NAMES[risk] if risk else ""),
            )
        )
    return Table(*filled(("Study", EFFECT, "Direction", "Participants", "Risk of bias"), rows))


def _studies(findings: Findings) -> Iterator[Block]:
    own = [field for field in findings.fields if not field.outcome]
    decided = {row.evidence_id: {one.field: one for one in row.values} for row in findings.rows}
    rows = []
    for study in findings.studies:
        values = decided.get(study.evidence_id, {})
        shown = [values.get(field.id) for field in own]
        rows.append(
            (
                cell(f"[{study.number}] {study.label}"),
                cell(study.evidence_type.replace("_", " ")),
                *(_quoted(one.text, one.support, findings) if one else Cell() for one in shown),
            )
        )
    if rows:
        head = ("Study", "Design", *(clean(field.label) for field in own))
        yield Table(*filled(head, rows), wide=len(own) > 5)
    by = [one.by for row in findings.rows for one in row.values]
    if by:
        agreed = by.count(AGREED)
        yield from _text(
            f"{len(by):,} values were extracted by two independently: on {agreed:,} they agreed, and "
            f"{len(by) - agreed:,} a person decided."
        )


def _bias(findings: Findings) -> Iterator[Block]:
    if findings.bias:
        yield from _text(f"By {SOURCE}: a model proposed answers with quotes, and a person decided each.")
        head = ("Study", "Outcome", *(domain.title for domain in DOMAINS), "Overall")
        rows = [
            (
                findings.label(one.evidence_id),
                one.outcome,
                *(JUDGEMENT_NAMES[judged] for _, judged in one.judged()),
                JUDGEMENT_NAMES[one.overall],
            )
            for one in findings.bias
        ]
        yield table(head, rows)
    for one in findings.bias:
        name = findings.label(one.evidence_id)
        yield Heading(f"{name}{f', {one.outcome}' if one.outcome else ''}")
        yield Table(*filled(("No.", "Question", "Answer", "Why"), [*_signals(one, findings)]))
        yield from _text(one.reason)
    if names := ", ".join(map(findings.label, findings.not_assessed)):
        yield from _text(f"No tool was applied to {names}: RoB 2 is for randomised trials.")


def _signals(one: BiasAssessment, findings: Findings) -> Iterator[tuple[Cell, ...]]:
    for row in one.answers:
        why = row.reason or ("see the quote" if row.support else "")
        yield (
            cell(row.question),
            cell(QUESTIONS[row.question]),
            cell(ANSWER_NAMES[row.answer]),
            _quoted(why, row.support, findings),
        )


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
