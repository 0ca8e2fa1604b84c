"""The chapters of a review on its studies, from their results to the checklist of PRISMA 2020."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from activities.analysis.meta_analysis import REASONS, plain_interval_text
from activities.contracts.effects import MEASURE_NAMES, NotPooled
from activities.contracts.evidence import Support
from activities.messages import N_, _, decimals, join_names, number
from activities.report.formats import figures
from activities.report.formats.blocks import (
    Block,
    Bullets,
    Cell,
    Chapter,
    Heading,
    Quote,
    References,
    Run,
    Table,
    Text,
    bullets,
    cell,
    table,
    trim,
)
from activities.report.formats.conclusion_words import differs, direction_words, line, reasons
from activities.report.formats.references import STANDINGS, WARNING_STANDINGS
from activities.report.formats.references import entry_of as listed_work
from activities.report.formats.text import clean, in_quotes
from activities.report.strength import TYPE_NAMES
from activities.review.archive import PublishedReview
from activities.review.bias import (
    ANSWER_NAMES,
    DOMAINS,
    JUDGEMENT_NAMES,
    JUDGEMENTS,
    QUESTIONS,
    SOURCE,
    BiasAssessment,
)
from activities.review.extraction import AGREED, Value
from activities.review.findings import ExcludedText, Findings, ListedWork, Synthesis
from activities.review.protocol import Protocol

EFFECT = N_("Effect (95% interval)")
NOT_REPORTED = N_("not reported")
ITEMS: tuple[tuple[str, ...], ...] = (
    ("1", N_("Identified as a systematic review in the title"), "title", "title"),
    ("2", N_("Abstract"), ""),
    ("3", N_("Rationale"), ""),
    ("4", N_("Objectives or questions"), "protocol"),
    ("5", N_("Eligibility criteria, and how studies are grouped"), "protocol"),
    ("6", N_("Information sources and when each was searched"), "search"),
    ("7", N_("Full search strategies"), "search", "queries"),
    ("8", N_("Selection process: how many screened, tools used"), "screening"),
    ("9", N_("Data collection process"), "studies", "extraction"),
    ("10a", N_("Outcomes for which data were sought"), "results"),
    ("10b", N_("Other variables for which data were sought"), "studies", "fields"),
    ("11", N_("Risk of bias assessment: the tool and who used it"), "bias", "bias"),
    ("12", N_("Effect measures"), "results"),
    ("13a", N_("Which studies each synthesis holds"), "results"),
    ("13b", N_("How data were prepared for synthesis"), "results"),
    ("13c", N_("How results are tabulated and shown"), "results"),
    ("13d", N_("Methods of synthesis"), "results", "pool"),
    ("13e", N_("How heterogeneity was explored"), ""),
    ("13f", N_("Sensitivity analyses"), "results", "sensitivity"),
    ("14", N_("Reporting bias assessment"), "results", "small_studies"),
    ("15", N_("How certainty was assessed"), "results"),
    ("16a", N_("Results of search and selection, with a flow diagram"), "flow"),
    ("16b", N_("Studies excluded by their full text, with the reason"), "full-texts", "excluded"),
    ("17", N_("Characteristics of each study"), "studies"),
    ("18", N_("Risk of bias of each study"), "bias", "bias"),
    ("19", N_("Results of each study"), "results", "effects"),
    ("20a", N_("Characteristics and risk of bias of the studies of each synthesis"), "studies"),
    ("20b", N_("Results of each synthesis"), "results"),
    ("20c", N_("Results of what was explored of heterogeneity"), ""),
    ("20d", N_("Results of sensitivity analyses"), "results", "sensitivity"),
    ("21", N_("Risk of bias due to missing results"), "results", "small_studies"),
    ("22", N_("Certainty of the evidence on each outcome"), "results"),
    ("23a", N_("Interpretation in the context of other evidence"), ""),
    ("23b", N_("Limitations of the evidence"), "limitations"),
    ("23c", N_("Limitations of the review's processes"), "limitations"),
    ("23d", N_("Implications for practice, policy and research"), ""),
    ("24a", N_("Registration"), "protocol", "registration"),
    ("24b", N_("Where the protocol can be read"), "protocol"),
    ("24c", N_("Amendments of the protocol"), "protocol"),
    ("25", N_("Support, funders"), ""),
    ("26", N_("Competing interests"), ""),
    ("27", N_("Availability of data, code and other materials"), "tools"),
)
"""The items of PRISMA 2020 (Page et al., doi:10.1136/bmj.n71), worded shortly: number, subject, the chapter
that answers it (empty for what only the authors can write), and what that chapter has to hold."""


SYSTEMATIC_REVIEW = (
    *("systematic review", "systematische übersicht", "systematischer review", "systematisches review"),
    *("revisión sistemática", "revue systématique", "系统评价", "系统综述", "系统性综述"),
)
"""Names of what a report is, in the languages that it may be written in."""


def study_chapters(findings: Findings, protocol: Protocol) -> Iterator[Chapter]:
    """Make the chapters on what was read after the screening of titles; the empty ones are left out."""
    yield Chapter("results", _("Results by outcome"), tuple(_results(findings)))
    yield Chapter("studies", _("Studies"), tuple(_studies(findings)))
    yield Chapter("bias", _("Risk of bias"), tuple(_bias(findings, protocol)))
    yield Chapter("full-texts", _("Full texts"), tuple(_full_texts(findings)))


def references(findings: Findings) -> Iterator[Block]:
    if findings.studies:
        yield References(tuple(listed_work(study, _warnings(study)) for study in findings.studies))


def _warnings(study: ListedWork) -> list[str]:
    return [_(STANDINGS[study.standing])] if study.standing in WARNING_STANDINGS else []


def limitations(findings: Findings, protocol: Protocol) -> list[str]:
    """List what the findings cannot vouch for, as far as their data show it."""
    syntheses, standings = findings.syntheses, Counter(study.standing for study in findings.studies)
    silent = _("{outcome}: studies that report it without usable figures: {count}.")
    certainty = _(
        "The certainty is computed from figures and designs; the risk of bias stands beside it and is no "
        "part of it."
    )
    retracted = _(
        "Included works that were retracted: {count}; no model reads them, and they are in no result."
    )
    unchecked = _("Included works on which no source says whether they were retracted: {count}.")
    uninstalled = _("Nothing was pooled: the library that pools is not installed (extra `analysis`).")
    unassessed = _("Studies without a tool for the risk of bias: {count}; RoB 2 is for randomised trials.")
    missing = _("Full texts not retrieved: {count}; what is in them may change the conclusions.")
    counts = {
        missing: len(findings.not_retrieved),
        unassessed: len(findings.not_assessed),
        retracted: standings["retracted"],
        unchecked: standings["unknown"],
        _("The risk of bias was not assessed."): len(findings.studies) * (protocol.bias == "none"),
        certainty: len(syntheses),
        **{
            silent.replace("{outcome}", row.conclusion.outcome): len(row.without_numbers) for row in syntheses
        },
        uninstalled: sum(row.not_installed for row in syntheses),
    }
    return [text.replace("{count}", str(count)) for text, count in counts.items() if count]


def fill_text(text: str, **values: str | int) -> str:
    """Fill a text; counts stand as its language writes them."""
    counts = {name: number(value) if isinstance(value, int) else value for name, value in values.items()}
    return text.format(**counts) if counts else text


def paragraph(text: str, **values: str | int) -> Text:
    return Text((Run(clean(fill_text(text, **values))),))


def _quoting_cell(text: str, support: Iterable[Support], findings: Findings) -> Cell:
    """Make a cell that opens the first quote behind it."""
    quote = next(iter(support), None)
    if quote is None or not text:
        return cell(text)
    study = findings.study(quote.evidence_id)
    number, title = (study.number, clean(study.title)) if study else (0, "")
    return cell(text, quote=Quote(quote.evidence_id, number, title, clean(quote.quote)))


def _results(findings: Findings) -> Iterator[Block]:
    for synthesis in findings.syntheses:
        yield Heading(clean(synthesis.conclusion.outcome))
        yield paragraph(line(synthesis.conclusion))
        causes = reasons(synthesis.conclusion) if synthesis.conclusion.concerns else ""
        yield from bullets(filter(None, (differs(synthesis.conclusion), causes, _risks(synthesis, findings))))
        yield from _pool(synthesis)
        yield _effects(synthesis, findings)
        yield from bullets(
            _("{study} is not pooled: {why}.").format(study=row.effect.study, why=_why_not_pooled(row))
            for row in synthesis.not_pooled
        )


def _risks(synthesis: Synthesis, findings: Findings) -> str:
    """Count the works on an outcome by their risk of bias, which the certainty leaves out."""
    risks = findings.overall_risks(synthesis.conclusion.outcome)
    works = [work.evidence_id for work in synthesis.conclusion.works]
    counts = Counter(risks[name] for name in works if name in risks)
    names = (f"{_(JUDGEMENT_NAMES[risk])} {number(counts[risk])}" for risk in JUDGEMENTS if counts[risk])
    return fill_text(_("Risk of bias: {counts}."), counts=", ".join(names)) if counts else ""


def _why_not_pooled(row: NotPooled) -> str:
    reason = _(REASONS[row.reason])
    return reason + (_(" as {study}, which is pooled").format(study=row.same_as) if row.same_as else "")


def _pool(synthesis: Synthesis) -> Iterator[Block]:
    pool = synthesis.pool
    if pool is None:
        return
    yield from figures.pool_blocks(clean(f"{pool.outcome}: {_(MEASURE_NAMES[pool.measure])}"), pool)
    yield paragraph(_("Heterogeneity: {figures}."), figures=figures.heterogeneity(pool))
    yield paragraph(
        _(
            "Pooled by inverse variance, with the variance between studies by Paule and Mandel; a group "
            "without events, or with nothing but events, counts with 0.5 added to each cell."
        )
    )
    if pool.left_out:
        rows = [(row.study, plain_interval_text(row.result)) for row in pool.left_out]
        yield table((_("Without the study"), _(EFFECT)), rows, _("Random effects without each study"))
    if pool.small_studies is not None:
        p = decimals(f"{pool.small_studies.p:.3f}")
        yield paragraph(_("Egger's test of small studies: p = {p}."), p=p)


def _effects(synthesis: Synthesis, findings: Findings) -> Table:
    """List the effect of each study, with its quote and its risk of bias."""
    outcome = synthesis.conclusion.outcome
    risks = findings.overall_risks(outcome)
    rows = []
    for work in synthesis.conclusion.works:
        effect = (
            f"{work.effect.measure} {plain_interval_text(work.result)}" if work.effect and work.result else ""
        )
        size, risk = number(work.n) if work.n else "", risks.get(work.evidence_id)
        name, effects = findings.label(work.evidence_id), effect or _("no usable figures")
        details = (direction_words(work.direction), size, _(JUDGEMENT_NAMES[risk]) if risk else "")
        rows.append((cell(name), _quoting_cell(effects, work.support, findings), *map(cell, details)))
    head = (_("Study"), _(EFFECT), _("Direction"), _("Participants"), _("Risk of bias"))
    return Table(*trim(head, rows))


def _studies(findings: Findings) -> Iterator[Block]:
    general = [field for field in findings.fields if not field.outcome]
    values_by_study = {row.evidence_id: {value.field: value for value in row.values} for row in findings.rows}
    rows = []
    for study in findings.studies:
        values = values_by_study.get(study.evidence_id, {})
        cells = [values.get(field.id) for field in general]
        rows.append(
            (
                cell(" ".join((f"[{study.number}] {study.label}", *_warnings(study)))),
                cell(_(TYPE_NAMES[study.evidence_type])),
                *(_quoting_cell(value.text, value.support, findings) if value else Cell() for value in cells),
            )
        )
    if rows:
        head = (_("Study"), _("Design"), *(clean(field.label) for field in general))
        yield Table(*trim(head, rows), wide=len(general) > 5)
    deciders = [value.by for row in findings.rows for value in row.values]
    if deciders:
        agreed = deciders.count(AGREED)
        text = _(
            "Values extracted by two independently: {count}. Both agreed on {agreed}, a person decided "
            "{decided}."
        )
        yield paragraph(text, count=len(deciders), agreed=agreed, decided=len(deciders) - agreed)


def _bias(findings: Findings, protocol: Protocol) -> Iterator[Block]:
    if findings.bias:
        text = _("By {tool}: a person answered the questions on each result.")
        if protocol.models:
            text = _("By {tool}: a model proposed answers with quotes, and a person decided each.")
        yield paragraph(text, tool=SOURCE)
        head = (_("Study"), _("Outcome"), *(_(domain.title) for domain in DOMAINS), _("Overall"))
        rows = [
            (
                findings.label(bias.evidence_id),
                bias.outcome,
                *(_(JUDGEMENT_NAMES[judgement]) for _title, judgement in bias.judgements()),
                _(JUDGEMENT_NAMES[bias.overall]),
            )
            for bias in findings.bias
        ]
        yield table(head, rows)
    for bias in findings.bias:
        name = findings.label(bias.evidence_id)
        yield Heading(f"{name}{f', {bias.outcome}' if bias.outcome else ''}")
        head = (_("No."), _("Question"), _("Answer"), _("Why"))
        yield Table(*trim(head, [*_signals(bias, findings)]))
        if bias.reason:
            yield paragraph(bias.reason)
    if findings.not_assessed:
        text = _("No tool was applied to {names}: RoB 2 is for randomised trials.")
        yield paragraph(text, names=join_names(map(findings.label, findings.not_assessed)))


def _signals(assessment: BiasAssessment, findings: Findings) -> Iterator[tuple[Cell, ...]]:
    for row in assessment.answers:
        texts = (row.field, _(QUESTIONS[row.field]), _(ANSWER_NAMES[row.text]))
        yield (*map(cell, texts), _quoting_cell(_why(row), row.support, findings))


def _why(row: Value | ExcludedText) -> str:
    """Write the ground of an answer with the words of the study, as every format shows them."""
    return " ".join((*filter(None, (row.reason,)), *(in_quotes(support.quote) for support in row.support)))


def ground_of(criterion: str, *, is_unmet: bool) -> str:
    """Name a criterion as the ground of an exclusion: one that has to be met was not."""
    return _("not met: {criterion}").format(criterion=criterion) if is_unmet else criterion or _("not stated")


def _full_texts(findings: Findings) -> Iterator[Block]:
    if findings.excluded:
        yield Heading(_("Excluded"))
        cells = [
            (
                *(_citation(text), cell(ground_of(text.criterion, is_unmet=text.is_unmet))),
                _quoting_cell(_why(text), text.support, findings),
            )
            for text in findings.excluded
        ]
        yield Table(*trim((_("Report"), _("Criterion"), _("Why")), cells))
    if findings.not_retrieved:
        yield Heading(_("Not retrieved"))
        yield Bullets(tuple(_citation(work).parts for work in findings.not_retrieved))


def _citation(work: ListedWork) -> Cell:
    """Cite a report with its authors, year, journal and identifiers."""
    return Cell(listed_work(work, _warnings(work)).parts)


def checklist(
    review: PublishedReview, findings: Findings, titles: Mapping[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield number, subject and place of each item; one that no chapter answers is not reported.

    Authors see by it what they have to write. `titles`: of the chapters that the report has.
    """
    pools = [synthesis.pool for synthesis in findings.syntheses if synthesis.pool]
    protocol = review.protocol
    holds: Mapping[str, object] = {
        "title": any(name in protocol.title.casefold() for name in SYSTEMATIC_REVIEW),
        "registration": protocol.registration,
        "queries": all(row.query for row in review.state.reported_searches()),
        "fields": protocol.extraction,
        "extraction": findings.rows,
        "excluded": findings.excluded,
        "bias": findings.bias,
        "effects": any(work.result for row in findings.syntheses for work in row.conclusion.works),
        "pool": pools,
        "sensitivity": any(pool.left_out for pool in pools),
        "small_studies": any(pool.small_studies for pool in pools),
    }
    places = {"title": _("Title"), **titles}
    for item, subject, chapter, *needs in ITEMS:
        is_met = all(holds[need] for need in needs)
        yield item, _(subject), (places.get(chapter) if is_met else None) or _(NOT_REPORTED)
