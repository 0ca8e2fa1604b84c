"""The sentences and table rows in which a report describes itself, as plain text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from activities.contracts.evidence import Claim, SearchRecord, Statement, Vigilance
from activities.contracts.prepare import PART as CONTINUES
from activities.contracts.publish import Action, Decision, Dispute, IterationUse
from activities.contracts.write import RefusedKind
from activities.messages import N_, _, day, decimals, dollars, join_names, moment, ngettext, number
from activities.report.formats.prose import general_of_letter, scored
from activities.report.formats.statements import STATUSES, because, sentence, sentences, source_title
from activities.report.formats.text import clean, with_full_stop
from activities.report.parts import concludes
from activities.report.schema import Reference, Report, ReportSection, UnusedReason, UnusedWork

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


def of_letter(claims: Sequence[Claim], statements: Iterable[Statement]) -> Iterator[str]:
    """Say of a text that leaves the report what it lacks, and what in it no work states."""
    yield from sentences(statement for statement in statements if statement.code == "letter_cut")
    if general := general_of_letter(claims):
        yield general


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
