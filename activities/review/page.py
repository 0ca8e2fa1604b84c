"""The report of a review as a tree of blocks, from which every format is made (PRISMA 2020, PRISMA-S)."""

import json
from collections import Counter
from collections.abc import Iterator

from activities.contracts.evidence import SearchKind
from activities.messages import N_, _, day, decimals, in_its_language, join_names, number, percent
from activities.report.formats import figures, render_document
from activities.report.formats.blocks import Block, Chapter, Document, Run, Text, bullets, table
from activities.report.formats.conclusion_words import line
from activities.report.formats.figures import FlowBox, Rows
from activities.report.formats.statements import STATUSES, source_title
from activities.report.formats.text import clean
from activities.review import chapters
from activities.review.archive import PublishedReview
from activities.review.chapters import fill_text, paragraph
from activities.review.export import final_states
from activities.review.results import Share
from activities.review.state import SearchRow

KINDS = {"include": N_("include"), "exclude": N_("exclude")}
SCREENERS = {"model": N_("a model"), "person": N_("a person")}
STAGES: dict[str, str] = {
    "titles": N_("titles and abstracts"),
    "full_texts": N_("full texts"),
    "extraction": N_("extraction"),
    "bias": N_("risk of bias"),
}
SEARCH_KINDS: dict[SearchKind, str] = {
    "database": N_("Databases"),
    "register": N_("Registers"),
    "other": N_("Other methods"),
}
PARTS: dict[str, str] = {
    "screener": N_("screener"),
    "word": N_("word on a conflict"),
    "label": N_("label"),
    "word extraction": N_("field"),
    "word bias": N_("result"),
}
"""Part of a decision, or part and stage -> its name."""


@in_its_language
def render(review: PublishedReview, form: str, version: str) -> bytes:
    """Write the report in a format. `version`: of this program. Raises UnknownFormat and MissingExtra."""
    if form == "json":
        findings = review.findings.model_dump(mode="json") if review.findings else None
        data = {**review.report.model_dump(mode="json"), "findings": findings}
        return json.dumps(data, indent=2).encode()
    return render_document(document(review, version), form)


def document(review: PublishedReview, version: str) -> Document:
    """Make the whole report as blocks."""
    protocol, findings = review.protocol, review.findings
    question = protocol.question.text()
    content = [
        Chapter("result", _("Result"), tuple(_result(review)), "answer"),
        *(chapters.study_chapters(findings, protocol) if findings else ()),
        Chapter("included", _("Included records"), tuple(_included(review))),
        Chapter("protocol", _("Protocol"), tuple(_protocol(review))),
        Chapter("search", _("Search (PRISMA-S)"), tuple(_search(review))),
        Chapter("flow", _(figures.FLOW), tuple(_flow(review))),
        Chapter("screening", _("Screening"), tuple(_screening(review))),
        Chapter("tools", _("Statement on the use of tools"), tuple(_tools(review, version))),
        Chapter("limitations", _("Limitations"), tuple(bullets(limitations(review)))),
    ]
    if findings:
        titles = {chapter.anchor: chapter.title for chapter in content if chapter.blocks}
        rows = chapters.checklist(review, findings, titles)
        items = table((_("Item"), _("Subject"), _("Where")), rows)
        content.append(Chapter("checklist", _("PRISMA 2020 checklist"), (items,)))
        content.append(Chapter("references", _("References"), tuple(chapters.references(findings))))
    at = review.report.at
    return Document(
        title=protocol.title,
        kicker=_("Systematic review, report of {date}").format(date=day(at[:10])),
        head=(Text((Run(question),), "question"),),
        chapters=tuple(chapter for chapter in content if chapter.blocks),
        run_line=review.run_id,
        about={"question": question, "profile": "systematic review", "at": at},
        language=review.language,
    )


def _result(review: PublishedReview) -> Iterator[Block]:
    if review.findings:
        yield from bullets(line(synthesis.conclusion) for synthesis in review.findings.syntheses)
    flow, course = review.report.flow, review.state.course
    counts = _(
        "Records: {records}. Screened by title and abstract: {screened}, of which included: {included}."
    )
    records, included = flow.identified_count - flow.duplicates, flow.screened - flow.excluded
    yield paragraph(counts, records=records, screened=flow.screened, included=included)
    if flow.assessed:
        counts = _("Full texts: {sought}. Assessed: {assessed}, of which included: {included}.")
        yield paragraph(counts, sought=flow.sought, assessed=flow.assessed, included=flow.included)
    if course is None or course.phase != "done":
        yield paragraph(_("Screening did not end by its rule, so no recall is stated."))
        return
    if course.recall is not None:
        text = _("At least {recall} of the relevant records were found, with a confidence of 95%.")
        yield paragraph(text, recall=percent(course.recall, 1))
    text = _("All records were read; what is missing is what both screeners excluded by mistake.")
    if flow.unread:
        text = _(
            "Screening stopped before these records were read: {unread}. The recall rests on a random sample "
            "of {drawn} of what was left, and on the measured errors of the screeners."
        )
    yield paragraph(text, unread=flow.unread, drawn=course.all_drawn)


def _included(review: PublishedReview) -> Iterator[Block]:
    states = enumerate(final_states(review))
    included = [(n, review.records.records[n]) for n, state in states if state == "included"]
    rows = [
        (
            str(n),
            ref.title,
            str(ref.year or ""),
            next((id_ for _kind, id_ in ref.identifiers.items_in_order()), ""),
        )
        for n, ref in included
    ]
    if rows:
        yield table((_("Record"), _("Title"), _("Year"), _("Identifier")), rows)


def _protocol(review: PublishedReview) -> Iterator[Block]:
    protocol, state = review.protocol, review.state
    rows = [(_("Version"), str(state.version)), (_("Approved by"), state.approved_by)]
    rows.append((_("Registered"), protocol.registration))
    yield from bullets(f"{name}: {text}" for name, text in rows if text)
    rules = [(rule.id, _(KINDS[rule.kind]), rule.text) for rule in protocol.criteria]
    yield table((_("Criterion"), _("Kind"), _("Text")), rules)
    if state.amendments:
        amendments = [
            (str(row.version), day(row.at[:10]), row.by, row.reason, ", ".join(row.keys))
            for row in state.amendments
        ]
        head = (_("Version"), _("Date"), _("By"), _("Reason"), _("Changed"))
        yield table(head, amendments, _("Amendments"))


def _searched(row: SearchRow) -> str:
    """Name a source by its title, a file by its database where the protocol says which."""
    return source_title(row.source) if row.source != "file" else row.database or row.origin


def _search(review: PublishedReview) -> Iterator[Block]:
    rows = [
        (
            *(_searched(row), row.query, day(row.date or row.at[:10])),
            *(number(count) for count in (row.hits, row.records, row.new)),
            _(STATUSES.get(row.status, row.status)),
        )
        for row in review.state.reported_searches()
    ]
    head = (_("Source"), _("Query as sent"), _("Date"), _("Hits"), _("Records"), _("New"), _("Status"))
    yield table(head, rows)
    merged = _("Records merged with others by identifier or title: {count}; merged.csv lists them.")
    yield paragraph(merged, count=len(review.records.copies))


def _flow(review: PublishedReview) -> Iterator[Block]:
    yield figures.flow_figure(flow_boxes(review))


def flow_boxes(review: PublishedReview) -> tuple[FlowBox, ...]:
    """Make the boxes of the flow, with what leaves it beside each."""
    flow = review.report.flow

    def rows(*every: tuple[str, int]) -> Rows:
        return tuple((clean(name), count) for name, count in every if count)

    criteria = {
        rule.id: f"{rule.id} {chapters.ground_of(rule.text, is_unmet=rule.kind == 'include')}"
        for rule in review.protocol.criteria
    }
    names = {row.origin: _searched(row) for row in review.state.reported_searches()}
    identified: list[tuple[str, int]] = []
    for kind, total in flow.identified_by_kind.items():
        counts = Counter[str]()
        for origin, count in flow.identified_of(kind).items():
            counts[names.get(origin, origin)] += count
        identified += [(_(SEARCH_KINDS[kind]), total), *((f"\u2013 {name}", n) for name, n in counts.items())]
    reasons = ((criteria.get(name, _(name)), count) for name, count in flow.excluded_because.items())
    excluded, undecided = _("Excluded"), _("Undecided")
    return (
        FlowBox(
            ((_("Identified"), flow.identified_count), *rows(*identified)),
            rows((_("Duplicates removed"), flow.duplicates)),
        ),
        FlowBox(
            ((_("Screened"), flow.screened),),
            rows((excluded, flow.excluded), (_("Not read"), flow.unread), (undecided, flow.open)),
        ),
        FlowBox(
            ((_("Full texts sought"), flow.sought),),
            rows((_("Not retrieved"), flow.not_retrieved), (_("Awaited"), flow.awaited)),
        ),
        FlowBox(
            ((_("Assessed"), flow.assessed),),
            rows((excluded, flow.excluded_full_texts), *reasons, (undecided, flow.undecided)),
        ),
        FlowBox(((_("Included"), flow.included), *rows((_("Studies reported"), flow.studies)))),
    )


def _share(rate: Share) -> str:
    if not rate.of:
        return _("not known: no such record was labelled")
    return _("{share} ({hits} of {of}; 95% interval {low} to {high})").format(
        share=percent(rate.hits / rate.of, 1),
        hits=rate.hits,
        of=rate.of,
        low=percent(rate.low, 1),
        high=percent(rate.high, 1),
    )


def _screening(review: PublishedReview) -> Iterator[Block]:
    validation, course = review.report.validation, review.state.course
    screeners = (f"{row.name} ({_(SCREENERS[row.kind])})" for row in review.protocol.screeners)
    text = _(
        "Titles and abstracts were screened by {both}, independently of each other; a person decided "
        "where they differed or were unsure. Records were read in rounds, the most promising first by a "
        "logistic regression over words and pairs of words that was learnt again after each round; every "
        "order is stored. Rounds: {rounds}."
    )
    yield paragraph(text, both=join_names(screeners), rounds=course.number if course else 0)
    if validation is not None:
        text = _(
            "Random records labelled by {people} without seeing other decisions: {count}. A screener who is "
            "unsure excludes nothing."
        )
        yield paragraph(text, people=join_names(validation.by), count=validation.labelled)
        rows = [
            (screener.name, _share(screener.sensitivity), _share(screener.specificity))
            for screener in validation.screeners
            if screener.sensitivity.of or screener.specificity.of
        ]
        head = (_("Screener"), _("Sensitivity"), _("Specificity"))
        if rows:  # a person who screens is not asked for what is labelled
            yield table(head, rows, _("Accuracy on the labelled records"))
    agreements = [
        (
            *(_(STAGES[row.stage]), number(row.both)),
            f"{number(row.agreed)} ({percent(row.agreed / row.both, 1)})",
            decimals(f"{row.kappa:.2f}") if row.kappa is not None else "",
        )
        for row in review.report.agreement
    ]
    if agreements:
        columns = (_("Stage"), _("Decided by both"), _("Agreed"), _("Cohen's kappa"))
        yield table(columns, agreements, _("Agreement of the screeners before a person decided"))
    if course and course.all_drawn:
        yield paragraph(_("Of the random sample a person confirmed what both screeners included."))
    if course and course.mistaken:
        text = _("Records that both screeners may be expected to have included by mistake: {count}.")
        yield paragraph(text, count=course.mistaken)


def _tools(review: PublishedReview, version: str) -> Iterator[Block]:
    text = _(
        "This review was made with Determinator {version} (Apache-2.0). What follows is from its "
        "history, where every decision has its time, its author and the version of the protocol "
        "(decisions-log.csv)."
    )
    yield paragraph(text, version=version)
    tools = [
        (
            *(_(STAGES[tool.stage]), tool.screener, tool.model, tool.prompt),
            *(number(count) for count in (tool.calls, tool.decisions, tool.usage.tokens)),
        )
        for tool in review.state.tools.values()
    ]
    if tools:
        head = (_("Stage"), _("Screener"), _("Model"), _("Prompt"), _("Calls"), _("Decisions"), _("Tokens"))
        yield table(head, tools, _("Models as they were used"))
    else:
        yield paragraph(_("No model was used for decisions."))
    decisions = review.decisions_in_force
    counts = Counter((row.by, "model" if row.model else "person", row.stage, row.part) for row in decisions)
    rows = [
        (
            *(name, _(SCREENERS[kind]), _(STAGES[stage])),
            *(_(PARTS.get(f"{part} {stage}", PARTS[part])), number(count)),
        )
        for (name, kind, stage, part), count in sorted(counts.items())
    ]
    columns = (_("Who"), _("Kind"), _("Stage"), _("Part"), _("Decisions that hold"))
    yield table(columns, rows, _("Who decided"))
    text = _(
        "The authors of the review answer for its content; the tools decide nothing that a person cannot "
        "overrule."
    )
    yield paragraph(text)


def limitations(review: PublishedReview) -> list[str]:
    """List what a reader has to know, each as a sentence."""
    flow, lines = review.report.flow, list[str]()

    def note(holds: object, text: str, **values: str | int) -> None:
        if holds:
            lines.append(fill_text(text, **values))

    for row in {row.origin: row for row in review.state.reported_searches()}.values():  # the newest of each
        text = _("{origin}: records that match: {hits}; taken: {taken}.")
        is_cut = row.hits > row.records + row.set_aside and row.source != "file"
        note(is_cut, text, origin=row.origin, hits=row.hits, taken=row.records)
        text = _("{origin}: records that could not be read: {count}.")
        note(row.set_aside, text, origin=row.origin, count=row.set_aside)
        reason = ": ".join(filter(None, (_(STATUSES.get(row.status, row.status)), row.detail)))
        text = _("{origin}: the search that gave this file is not stated.")
        note(row.source == "file" and not row.query, text, origin=row.origin)
        text = _("{origin}: the search failed ({why}).")
        note(row.status not in ("ok", "empty"), text, origin=row.origin, why=reason)
    note(flow.open, _("Records that wait for a decision: {count}."), count=flow.open)
    text = _(
        "The stated recall assumes that the sample is random among the records left, that the person "
        "who decides is right, and that the screeners err independently of each other."
    )
    note(flow.unread, text)
    text = _("No random sample was labelled, so the accuracy of the models on this review is not known.")
    note(review.report.validation is None and review.state.tools, text)
    if review.findings is not None:
        lines += chapters.limitations(review.findings, review.protocol)
    for fault in flow.faults():
        note(fault, _("The numbers do not add up: {fault}."), fault=fault)
    return lines
