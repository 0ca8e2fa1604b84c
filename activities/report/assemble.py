"""Assembling the report: pure code over what was written and what is stored.

Models write; code checks what may stand, gives numbers, takes from records what they say of the works, and
states limits, in this order. It reads no language: which claims answer, and which way, is what the writer and
the judge said.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version

from activities.contracts.evidence import (
    UNPLANNED,
    Claim,
    Evidence,
    Statement,
    Vigilance,
    fields_of,
)
from activities.contracts.identifiers import fingerprint
from activities.contracts.judge import MIN_ANSWERS
from activities.contracts.publish import Head, Method, PlannedSection, PublishInput
from activities.messages import _, in_its_language
from activities.report.claims import CheckedEdit, Checks, check_edit, check_judgements
from activities.report.formats.prose import numbers_of, section_text, summary_text
from activities.report.formats.statements import as_statement, sentence, sentences
from activities.report.formats.text import clean, shortened
from activities.report.independence import studies
from activities.report.limitations import limitations, missing_name, why_unanswered
from activities.report.parts import cited_quotes, concludes, part_of, parts_of
from activities.report.schema import (
    JudgedWork,
    Methodology,
    Reference,
    Report,
    ReportSection,
    Verification,
)
from activities.report.works import (
    contexts,
    references,
    unused_works,
    with_strength,
    words_for,
)

MAX_TITLE_CHARS = 140
"""Characters of a question that is the title of its report."""


@in_its_language
def build_report(
    step: PublishInput,
    documents: Mapping[str, Evidence],
    notes: Sequence[Statement | str] = (),
    part_data: Mapping[str, object] | None = None,
) -> Report:
    """Build the report of what was written; any output of a model yields one.

    `documents` are the cited and judged items by evidence id, with the standing they have now; `part_data`
    is what was read from the store for each part, by name.
    """
    checks = Checks(documents)
    report = _number(step, _check(step, checks, part_data or {}), documents)
    claims = checks.claims
    refusal_count = sum(item.kind in ("claim", "wording") for item in checks.dropped)
    counts = Counter(claim.stands_by for claim in claims)
    is_judged = step.written_by == "model" and bool(claims)  # else there is nothing to be confident of
    report = report.replace(
        unanswered=missing_name(step) if claims else why_unanswered(step, refusal_count),
        unused=unused_works(step, report, checks.dropped, checks.retracted),
        verification=Verification(
            claims=max(sum(checks.totals.values()), len(claims)),
            verified=len(claims),
            replaced=checks.replaced,
            dropped=tuple(checks.dropped),
            by_quote=counts["quote"],
            by_reader=counts["reader"],
            computed=sum(bool(claim.computed) for claim in claims),
            fell=sum(checks.losses.values()),
            reader=step.reader,
            vigilance=sum((section.draft.vigilance for section in step.sections), Vigilance()),
            unread=sum(item.statement.code == "not_read" for item in checks.dropped),
        ),
        confidence=round(step.confidence, 4) if is_judged and step.confidence is not None else None,
        confidence_reasons=(step.confidence_reasons or _work_counts(report.judgements)) if is_judged else (),
    )
    remarks = [as_statement(note) for note in notes]
    for part in parts_of(report):
        remarks += part.remarks(report, has_claims=bool(claims))
    statements = limitations(step, report, checks, [*remarks, *checks.statements])
    report = report.replace(statements=statements, limitations=sentences(statements))
    return report.replace(executive_summary=summary_text(report))


def _check(step: PublishInput, checks: Checks, part_data: Mapping[str, object]) -> Report:
    """Make the report without what a check refuses."""
    for plan in step.sections:
        checks.add_section(plan)
    checks.drop_refused(step.refused)
    by_model = step.written_by == "model"
    edit = CheckedEdit()
    if step.edited is not None and by_model:
        edit = check_edit(step.edited, checks)
    judgements = check_judgements(step.judgements, step.evidence, checks)
    values = {name: part_of(name).check(step, checks, judgements, part_data.get(name)) for name in step.parts}
    has_several_answers = sum(bool(section.answer) for section in checks.sections) > 1
    head = fields_of(Head, step)
    head["title"] = _title(step, edit.title) or _("Research report")
    report = Report(
        **head,
        executive_summary="",
        made_with=version("determinator"),
        mechanism=edit.mechanism,
        sections=tuple(
            section.replace(
                answer=section.answer if has_several_answers else (),
                # without a claim it is not complete, however its research ended
                status="partial" if plan.status == "complete" and not section.claims else plan.status,
                empty_because=_why_empty(plan, section, checks),
            )
            for plan, section in zip(step.sections, checks.sections, strict=True)
        ),
        judgements=judgements,
    ).replace(**values)
    return report.replace(answer=_answer(step, checks, edit, concludes=concludes(report)))


def _answer(step: PublishInput, checks: Checks, edit: CheckedEdit, *, concludes: bool) -> tuple[Claim, ...]:
    """Choose the direct answer: the only one that was written with sections, or the editor's.

    A section of which the editor's answer says nothing adds the first sentence of its own. Where the first
    sentence fell, or nothing is left and no conclusion begins the answer, the report says so.
    """
    if step.written_by == "extractive":
        return ()
    sections = [section for section in checks.sections if section.answer]
    not_confirmed = Claim(id="a0", text=sentence(Statement.of("answer_not_confirmed")), kind="inference")
    if len(sections) == 1 and not edit.answer:
        (section,) = sections
        answer = (not_confirmed, *section.answer) if section.id in checks.without_lead else section.answer
    else:
        answer = edit.answer
        for section in checks.sections:
            claim_ids = {claim.id for claim in (*section.answer, *section.claims)}
            if section.answer and not any(claim_ids & {claim.id, *claim.rests_on} for claim in answer):
                answer = (*answer, section.answer[0])
    if not answer and not concludes and checks.without_lead and any(s.claims for s in checks.sections):
        return (not_confirmed,)
    return answer


def _title(step: PublishInput, editor_title: str) -> str:
    """Return the title of the editor, the plan or a person; where that is the question, the writer's."""
    headings = (section.draft.heading for section in step.sections if section.section.title == UNPLANNED)
    writer_titles = [heading.text for heading in headings if heading and heading.state == "stands"]
    titles = [*map(clean, (editor_title, step.title)), *map(clean, writer_titles)]
    question = clean(step.question)
    return next(
        (title for title in titles if title not in ("", question)), shortened(question, MAX_TITLE_CHARS)
    )


def _why_empty(plan: PlannedSection, section: ReportSection, checks: Checks) -> Statement | None:
    if section.claims:
        return None
    if plan.status in ("failed", "cancelled"):
        return Statement.of("section_not_researched", note=clean(plan.note))
    if plan.draft.elsewhere or checks.totals[section.id] > checks.losses[section.id]:
        return Statement.of("section_stands_elsewhere")
    return Statement.of("section_claims_refused" if checks.losses[section.id] else "section_without_claims")


def _work_counts(judgements: Iterable[JudgedWork]) -> tuple[Statement, ...]:
    """Count the works that answer, for a report whose sections were judged apart: their sides differ."""
    answering = {
        fingerprint(work.title, None) or work.evidence_id: work.answers
        for work in sorted(judgements, key=lambda work: work.answers)
        if work.answers >= MIN_ANSWERS
    }
    direct_works = sum(answers >= 3 for answers in answering.values())
    counts = {"works": len(answering), "direct": direct_works, "yes": 0, "no": 0, "mixed": 0}
    return (Statement.of("confidence_of_judgements", **counts),) if answering else ()


def _number(step: PublishInput, report: Report, documents: Mapping[str, Evidence]) -> Report:
    """Add the references, what is known of them, and beside each claim the strength of what it cites."""
    quotes = list(cited_quotes(report))
    items = [documents[name] for name in dict.fromkeys(support.evidence_id for support in quotes)]
    study = studies(items)
    words = words_for(step.words, items, step.searches)
    by_model = step.written_by == "model"
    judgements = {work.evidence_id: work for work in report.judgements}
    translations = {
        quote: clean(translation.text)
        for plan in step.sections
        for translation in plan.draft.translations
        for quote in translation.support
        if translation.state == "stands"
    }
    around = contexts(quotes, documents, step.language, translations)
    origins = {ref.evidence_id: ref.from_run for ref in step.evidence}
    with_grades = by_model and words.graded
    rows = references(quotes, documents, study, origins, around, judgements, with_grades=with_grades)
    if by_model:
        grades = {reference.evidence_id: reference.strength for reference in rows}
        report = report.changed(lambda claim: with_strength(claim, grades))
    numbers = numbers_of(rows)

    return report.replace(
        sections=tuple(
            section.replace(
                markdown=section_text(section, numbers),
                passages=tuple(row.replace(number=numbers[row.evidence_id]) for row in section.passages),
            )
            for section in report.sections
        ),
        references=rows,
        # sections end in any order
        judgements=tuple(
            sorted(
                report.judgements,
                key=lambda w: (-w.answers, numbers.get(w.evidence_id, len(numbers) + 1), w.evidence_id),
            )
        ),
        words=words,
        contexts=around,
        methodology=_methodology(step, rows),
    )


def _methodology(step: PublishInput, references: Sequence[Reference]) -> Methodology:
    cost = step.usage.cost_microusd
    method = fields_of(Method, step)
    closed_gaps = {gap for plan in step.sections for gap in plan.draft.settled}
    method["spent_by"] = tuple(
        use.replace(open=tuple(gap for gap in use.open if gap not in closed_gaps)) for use in step.spent_by
    )
    method["counts"] = step.counts.add_up(len(step.found), step.screened, len(references))
    # concurrent steps end in any order; two runs that did the same must report the same
    method["prompt_versions"] = tuple(sorted(step.prompt_versions))
    return Methodology(
        **method,
        tokens=step.usage.tokens,
        model_calls=step.usage.calls,
        cost_usd=None if cost is None else cost / 1_000_000,
    )
