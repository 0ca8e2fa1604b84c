"""The sentences and table rows in which a report describes itself, as plain text."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from activities.contracts.effects import MEASURE_NAMES
from activities.contracts.evidence import (
    MODEL_SILENT,
    Claim,
    SearchRecord,
    Statement,
    Vigilance,
)
from activities.contracts.prepare import PART as CONTINUES
from activities.contracts.publish import Action, Decision, Dispute, IterationUse
from activities.contracts.write import RefusedKind
from activities.messages import (
    N_,
    _,
    day,
    decimals,
    dollars,
    join_names,
    moment,
    ngettext,
    number,
)
from activities.report.formats.prose import general_of_letter, scored
from activities.report.formats.statements import (
    STATUSES,
    because,
    sentence,
    sentences,
    source_title,
)
from activities.report.formats.text import capitalized, clean, in_quotes, shortened, with_full_stop
from activities.report.parts import concludes
from activities.report.schema import Reference, Report, ReportSection, UnusedReason, UnusedWork
from activities.text.numbers import Number, figures
from activities.verification.computed import STATISTIC
from activities.verification.expressions import COUNTS, STATISTICS

KINDS: Mapping[RefusedKind, str] = {
    "claim": N_("sentence"),
    "wording": N_("wording, replaced by its quote"),
    "reworded": N_("wording, written again"),
    "summary": N_("sentence of the summary"),
    "cell": N_("field of the table"),
    "judgement": N_("field of a judgement"),
    "hypothesis": N_("candidate or hypothesis"),
    "effect": N_("effect of a work"),
}
READERS: Mapping[str, str] = {
    "": N_("confirmed by a second reader"),
    "same_model": N_("confirmed in a second reading by the same model"),
    "other_model": N_("confirmed by another model as second reader"),
}
AS_DATA = (
    *(N_("relevance"), N_("clinical evidence"), N_("mechanism"), N_("sources"), N_("candidates")),
    *(N_("coverage"), N_("balance"), N_("Findings"), N_("The question itself")),
    *(N_("Study"), N_("Source"), N_("Document"), N_("clarification"), N_("plan"), N_("report")),
)
"""Words that reports hold as data: criteria, sections without a plan, a head of a table, gates."""
ACTIONS: Mapping[Action, str] = {
    "approved": N_("approved"),
    "rejected": N_("rejected"),
    "timed_out_approved": N_("approved when the time ran out"),
    "timed_out_rejected": N_("rejected when the time ran out"),
    "edited": N_("edited"),
    "chosen": N_("chosen"),
    "answered": N_("answered"),
}
MAX_UNCITED = 5
"""Works that were read and are not cited which a report names; the whole account has more."""
MAX_TITLE_CHARS = 200
GROUP_OF_EVENTS, GROUP_OF_MEAN = N_("{0} of {1}"), N_("{0} (SD {1}, n = {2})")
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


def steps(claims: Iterable[Claim], expressions: set[str]) -> list[str]:
    """Show how figures that no work states follow from quoted ones, each computation with what it gives.

    One that goes on from another begins with its result; one whose numbers all stand in its sentence is
    there to see. `expressions`: the computations that a report shows already, to which these are added.
    """
    claims = [*claims]
    results: dict[str, str] = {}
    rows: list[str] = []
    for claim, line in [(c, clean(row)) for c in claims for row in c.computed]:
        expression, _equals, result = line.rpartition(" = ")
        stated = {value for number in figures(claim.text) for value in number.values}
        is_shown = all(stated & number.values for number in figures(line))
        if is_shown and claim.is_row:  # nor below the rows that go on from it
            expressions.add(expression)
        if is_shown or expression in expressions:
            continue
        expressions.add(expression)
        goes_on = [start for start in results if expression.startswith((f"{start} + ", f"{start} - "))]
        base = max(goes_on, key=len, default="")
        results[expression] = result
        computation = statistic(line) or f"{results.get(base, '')}{expression.removeprefix(base)} = {result}"
        computation = computation.replace(" * ", "*").replace("*", " \u00d7 ").replace(" - ", " \u2212 ")
        values = [number.values for number in figures(result)]
        is_of_row = claim.is_row and all(stated & amounts for amounts in values)
        name = _gives(claim, figures(result), claims) if is_of_row else ""
        rows.append(f"{name}: {computation}" if name else computation)
    return rows


def _gives(claim: Claim, results: Iterable[Number], claims: Sequence[Claim]) -> str:
    """Name what a computation of a row gives, by the row and its column."""
    values = {value for result in results for value in result.values}
    (_head, name), *cells = ((clean(head), clean(field)) for head, field in claim.cells)
    column = next((head for head, field in cells if any(values & f.values for f in figures(field))), "")
    row_group = [row for row in claims if row.is_row and row.cells[0][1] == claim.cells[0][1]]
    apart = (field for head, field in cells if head != column and field)
    second_name = next(apart, "") if len(row_group) > 1 else ""
    return ", ".join(filter(None, (name, second_name, column)))


def statistic(line: str) -> str:
    """Word a statistic of two groups; empty for any other computation."""
    if (match := STATISTIC.fullmatch(line)) is None:
        return ""
    measure = STATISTICS[match["name"]]
    numbers = [decimals(number) for number in match["numbers"].split(", ")]
    size = COUNTS[match["name"]] // 2
    form = _(GROUP_OF_MEAN) if measure == "MD" else _(GROUP_OF_EVENTS)
    groups = [form.format(*numbers[start : start + size]) for start in range(0, len(numbers), size)]
    studies = [
        _("{measure} of {group} against {other}").format(
            measure=_(MEASURE_NAMES[measure]), group=group, other=other
        )
        for group, other in zip(groups[::2], groups[1::2], strict=True)
    ]
    value, low, high = (decimals(match[name]) for name in ("value", "low", "high"))
    text = "; ".join(studies)
    if len(studies) > 1:
        text = _("{studies}, pooled with random effects (Paule-Mandel)").format(studies=text)
    return f"{text} = {value} ({_('{low} to {high}').format(low=low, high=high)})"


def checks(report: Report) -> str:
    """Say how the sentences that stand were checked, and how many were left out."""
    check = report.verification
    if report.written_by == "extractive":
        text = ngettext(
            "The quote stands word for word in its source.",
            "Each of the {count} quotes stands word for word in its source.",
            check.verified,
        )
        return text.format(count=number(check.verified)) if check.claims else ""
    ways = (
        (check.by_reader, READERS[check.reader]),
        (check.by_quote - check.replaced, N_("quoted word for word")),
        (check.replaced, N_("replaced by the quote itself")),
    )
    repeats = sum(item.statement.code == "repeats_claim" for item in check.dropped)
    losses = (
        (check.fell - check.unread, N_("refused")),
        (check.unread, N_("not read by the second reader")),
        (repeats, N_("repeated")),
    )
    how, refusals = (
        join_names(f"{number(count)} {_(text)}" for count, text in counts if count > 0)
        for counts in (ways, losses)
    )
    parts = (
        _("Sentences checked: {how}.").format(how=how) if how else "",
        vigilance(check.vigilance),
        _("Sentences left out: {how}.").format(how=refusals) if refusals else "",
    )
    return " ".join(filter(None, parts))


def vigilance(row: Vigilance) -> str:
    """State how well the second reader read; empty where nothing was planted."""
    text = _(
        "In a test, the second reader found {noticed} of {planted} planted errors and wrongly refused "
        "{refused} of {true} true sentences."
    )
    numbers = {"noticed": row.noticed, "planted": row.planted, "refused": row.refused, "true": row.true}
    return text.format(**numbers) if row.planted else ""


def heading(section: ReportSection) -> str:
    """Title a section, with its status when it was not researched to its end."""
    titled = {"failed": N_("{title} (failed)"), "cancelled": N_("{title} (cancelled)")}
    title = clean(section.title)
    return _(titled[section.status]).format(title=title) if section.status in titled else title


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


def of_letter(claims: Sequence[Claim], statements: Iterable[Statement]) -> Iterator[str]:
    """Say of a text that leaves the report what it lacks, and what in it no work states."""
    yield from sentences(statement for statement in statements if statement.code == "letter_cut")
    if general := general_of_letter(claims):
        yield general


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


def continues(report: Report) -> str:
    """Say what a follow-up continues, and how its question was typed; empty for any other report."""
    if (origin := CONTINUES.of_report(report)) is None:
        return ""
    question = clean(origin.question) or _("an earlier question")
    text = _("This report continues “{earlier}” (run {run}).").format(
        earlier=question, run=clean(origin.run_id)
    )
    if typed_question := clean(report.asked):
        text += " " + _("Asked as: “{asked}”.").format(asked=typed_question)
    return text


def refused_rows(report: Report) -> tuple[tuple[str, ...], ...]:
    titles = {section.id: clean(section.title) for section in report.sections}
    return tuple(
        (
            _(KINDS[item.kind]),
            clean(item.text) or _("(empty)"),
            sentence(item.statement) or clean(item.reason),
            titles.get(item.section, ""),
        )
        for item in report.verification.dropped
    )


UNUSED: Mapping[UnusedReason, str] = {
    "retracted": N_("retracted"),
    "refused": N_("the sentences citing it were refused"),
    "not_relevant": N_("judged not to answer the question"),
    "not_chosen": N_("not used by the model"),
    "not_read": N_("ranked too low to be read"),
}


def unused(work: UnusedWork, reason: str) -> str:
    """Say why a work is not cited; `reason`: what its judge said of it."""
    return ": ".join(filter(None, (_(UNUSED[work.reason]), reason)))


def made_with(report: Report) -> str:
    """Say in a sentence what made a report and when, for the properties of a file."""
    models = clean(", ".join(report.methodology.models)) if report.written_by == "model" else ""
    text = (
        _("Made with Determinator and {models} on {date}.")
        if models
        else _("Made with Determinator on {date}.")
    )
    return text.format(date=day(clean(report.generated_at)), models=models)


def limits(report: Report) -> tuple[str, ...]:
    """List what the works do not show, what was left open, and what limits the evidence."""
    check_line = checks(report) if report.written_by != "model" else ""
    codes = OF_EACH if basis(report) else frozenset[str]()
    lines = not_shown(report, SAID_ELSEWHERE | codes)
    return tuple(filter(None, (*lines, *sentences(_silent(report)), check_line)))


def account(report: Report) -> str:
    method = report.methodology
    counts = {
        "searches": len(method.searches),
        "kept": method.counts.identified - method.counts.duplicates,
        "screened": method.counts.screened,
        "included": method.counts.included,
    }
    text = _("Searches: {searches}; works found: {kept}, read: {screened}, cited: {included}.")
    line = text.format(**{name: number(count) for name, count in counts.items()})
    models = _("Language models: {models}.").format(models=clean(", ".join(method.models)))
    parts = (with_full_stop(kicker(report)), line, checks(report), models if method.model_calls else "")
    return " ".join(filter(None, parts))


def flow_text(report: Report) -> str:
    """Say why the search ended, and which works were read in full."""
    stop_line = ngettext(
        "The search ended after {count} round: {because}.",
        "The search ended after {count} rounds: {because}.",
        report.methodology.iterations,
    ).format(count=number(report.methodology.iterations), because=because(report.stop_reason))
    numbers = [str(reference.number) for reference in report.references if reference.full_text]
    reading_line = _("Read in full: {numbers}.").format(numbers=", ".join(numbers)) if numbers else ""
    if len(numbers) == len(report.references) > 1:
        reading_line = _("All cited works were read in full.")
    return " ".join(filter(None, (stop_line, reading_line)))


def grounds(report: Report) -> tuple[str, ...]:
    """Say what an answer rests on; nothing where no model judged, and of own documents.

    Where a conclusion begins the answer, its certainty says how the works agree.
    """
    reasons = report.confidence_reasons if report.words.counted else ()
    sides = {"yes": 0, "no": 0, "mixed": 0} if concludes(report) else {}
    return sentences(reason.replace(values={**reason.values, **sides}) for reason in reasons)


def sureness(report: Report) -> str:
    reasons = " ".join(grounds(report))
    return _("Basis of the answer: {reasons}").format(reasons=reasons) if reasons else ""


def dispute_line(dispute: Dispute) -> str:
    """Word a dispute with what the second reader and a person say of it."""
    parts = [
        _("{sentence} “{text}”: disputed by {who}: {reason}.").format(
            sentence=dispute.sentence,
            text=clean(dispute.text),
            who=clean(dispute.by) or _("somebody"),
            reason=clean(dispute.reason).rstrip("."),
        )
    ]
    if dispute.reader == "stands":
        parts.append(_("A second reader read its works again and confirmed it."))
    elif dispute.problem is not None:
        problem = sentence(dispute.problem).rstrip(".")
        parts.append(_("A second reader read its works again: {problem}.").format(problem=problem))
    else:
        parts.append(_("No second reader has read its works again."))
    if dispute.decision:
        templates = {
            "upheld": N_("Dispute upheld by {who}{note}."),
            "rejected": N_("Rejected by {who}{note}."),
        }
        note = f" ({clean(dispute.note)})" if dispute.note else ""
        person = clean(dispute.decided_by) or _("somebody")
        parts.append(_(templates[dispute.decision]).format(who=person, note=note))
    else:
        parts.append(_("Not decided yet."))
    return " ".join(parts)


def spent(report: Report) -> str:
    """State what the models used; empty where none was asked."""
    method = report.methodology
    if not method.model_calls:
        return ""
    return _("Model calls: {calls}; tokens: {tokens}; cost: {cost}.").format(
        calls=number(method.model_calls),
        tokens=number(method.tokens),
        cost=_("not known") if method.cost_usd is None else dollars(method.cost_usd),
    )


def kicker(report: Report) -> str:
    return _("Research report, {date}").format(date=day(clean(report.generated_at)))


def run_line(report: Report) -> str:
    plan = (
        _(", plan {hash}").format(hash=clean(report.methodology.plan_hash))
        if report.methodology.plan_hash
        else ""
    )
    return _("Run {run} (mode {mode}, profile {profile}{plan}), generated {at}.").format(
        run=clean(report.run_id),
        mode=clean(report.mode),
        profile=clean(report.profile).replace("_", " "),
        plan=plan,
        at=moment(clean(report.generated_at)),
    )


def decision(row: Decision) -> str:
    parts = (
        f"{_(row.gate).capitalize()}: {_(ACTIONS[row.action])}",
        _("by {who}").format(who=clean(row.by)) if row.by else "",
        f"({moment(clean(row.at))})" if row.at else "",
    )
    return " ".join(filter(None, parts)) + (f": {clean(row.note)}" if row.note else "")


def used_rows(report: Report) -> tuple[tuple[str, ...], ...]:
    """Make the cells under `USED_HEAD`: a row for each iteration of each loop, and one for all else."""
    method, titles = report.methodology, {section.id: section.title for section in report.sections}
    remainder = IterationUse(
        iteration=0,
        calls=method.model_calls - sum(use.calls for use in method.spent_by),
        tokens=method.tokens - sum(use.tokens for use in method.spent_by),
        cost_usd=None
        if method.cost_usd is None or any(use.cost_usd is None for use in method.spent_by)
        else method.cost_usd - sum(use.cost_usd or 0.0 for use in method.spent_by),
    )
    return tuple(
        (
            clean(titles.get(use.section, use.section)),
            str(use.iteration or _("reading, planning, writing")),
            number(use.calls),
            number(use.tokens),
            _("not known") if use.cost_usd is None else dollars(use.cost_usd),
            clean(scored(use.scores, use.score_reasons)),
            because(use.stopped) if use.stopped else "",
        )
        for use in (*method.spent_by, remainder)
    )


def search_rows(searches: Iterable[SearchRecord]) -> tuple[tuple[str, ...], ...]:
    """Make the cells under `SEARCH_HEAD`; searches of several sections that ended alike are one row."""
    alike: dict[tuple[str, ...], list[SearchRecord]] = {}
    for record in searches:
        counts = (str(record.hits), str(record.kept), str(record.listed))
        key = (record.source, record.query, record.status, record.detail, *counts)
        alike.setdefault(key, []).append(record)
    return tuple(_search_row(records) for records in alike.values())


def _search_row(records: Sequence[SearchRecord]) -> tuple[str, ...]:
    record = records[0]
    note = _("{count} listed, not read").format(count=number(record.listed)) if record.listed else ""
    detail = "; ".join(filter(None, (clean(record.detail), note)))
    return (
        source_title(record.source),
        clean(record.query),
        ": ".join(filter(None, (_(STATUSES[record.status]), detail))),
        number(record.hits),
        number(record.kept),
        number(len(records)),
        decimals(f"{sum(r.seconds for r in records):.1f}"),
        number(sum(r.attempts for r in records)),
    )


def about_work(reference: Reference, label: str) -> str:
    """Word `Doe 2020, cohort study, PMID 1`."""
    authored = not clean(reference.title).startswith(label.rstrip(" \u2026"))
    pmid = reference.identifiers.pmid
    parts = (
        label if authored else str(reference.year or ""),
        _(reference.design),
        f"PMID {pmid}" if pmid else "",
    )
    return ", ".join(filter(None, parts))
