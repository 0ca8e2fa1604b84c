"""The report of a review as a tree of blocks, from which every format is made (PRISMA 2020, PRISMA-S)."""

import json
from collections import Counter
from collections.abc import Iterator

from activities.plural import counted
from activities.report.formats import figures, render_document
from activities.report.formats.blocks import Block, Chapter, Document, Run, Text, bullets, table
from activities.report.formats.conclusion_words import line
from activities.report.formats.figures import Rows, Step
from activities.report.formats.text import clean
from activities.review import chapters
from activities.review.archive import Published
from activities.review.checklist import checklist
from activities.review.decisions import latest
from activities.review.export import Names, final_states
from activities.review.extraction import AGREED
from activities.review.state import Share

MAX_LISTED = 500
"""Included records that the report lists; the exports have all."""
FLOW = "Flow of records (PRISMA 2020)"


def rendered(published: Published, form: str, version: str, names: Names) -> bytes:
    """Write the report in a format. `version`: of this program. Raises UnknownFormat and MissingExtra."""
    if form == "json":
        findings = published.findings.named(names.of).model_dump(mode="json") if published.findings else None
        data = {**published.report.model_dump(mode="json"), "findings": findings}
        return json.dumps(data, indent=2).encode()
    return render_document(document(published, version, names), form)


def document(published: Published, version: str, names: Names) -> Document:
    """Make the whole report as blocks."""
    protocol, found = published.protocol, published.findings
    question = protocol.question.text()
    made = [
        Chapter("result", "Result", tuple(_result(published)), "answer"),
        *(chapters.of_studies(found) if found else ()),
        Chapter("included", "Included records", tuple(_included(published))),
        Chapter("protocol", "Protocol", tuple(_protocol(published, names))),
        Chapter("search", "Search (PRISMA-S)", tuple(_search(published))),
        Chapter("flow", FLOW, tuple(_flow(published))),
        Chapter("screening", "Screening", tuple(_screening(published, names))),
        Chapter("tools", "Statement on the use of tools", tuple(_tools(published, names, version))),
        Chapter("limitations", "Limitations", tuple(bullets(limitations(published)))),
    ]
    if found:
        items = table(("Item", "Subject", "Where"), checklist(published, found))
        made.append(Chapter("checklist", "PRISMA 2020 checklist", (items,)))
        made.append(Chapter("references", "References", tuple(chapters.references(found))))
    return Document(
        title=protocol.title,
        kicker=f"Systematic review, report of {published.report.at[:10]}",
        head=(Text((Run(question),), "question"),),
        chapters=tuple(chapter for chapter in made if chapter.blocks),
        run_line=published.run_id,
        about={"question": question, "profile": "systematic review", "at": published.report.at},
    )


def _text(text: str) -> Text:
    return Text((Run(text),))


def _result(published: Published) -> Iterator[Block]:
    if published.findings:
        yield from bullets(line(one.conclusion) for one in published.findings.syntheses)
    flow, course = published.report.flow, published.state.course
    yield _text(
        f"Of {counted(flow.given - flow.duplicates, 'record')}, {flow.screened:,} were screened by title and "
        f"abstract and {flow.screened - flow.excluded:,} included."
    )
    if course is None or course.recall is None:
        yield _text("Screening did not end by its rule, so no recall is stated.")
        return
    found = f"With 95 % confidence at least {course.recall:.1%} of the relevant records were found"
    if flow.unread:
        yield _text(
            f"Screening stopped with {flow.unread:,} records unread. {found} (a random sample of "
            f"{len(course.drawn):,} records and the measured sensitivity of the screeners)."
        )
    else:
        yield _text(
            f"All records were read. {found}; what is missing is what both screeners excluded by mistake."
        )


def _included(published: Published) -> Iterator[Block]:
    rows = [
        (
            str(number),
            ref.title,
            str(ref.year or ""),
            *[value for _, value in ref.identifiers.items_in_order()],
        )
        for number, (ref, state) in enumerate(
            zip(published.records.records, final_states(published), strict=True)
        )
        if state == "included"
    ]
    if rows:
        yield table(("Record", "Title", "Year", "Identifier"), [(*row, "")[:4] for row in rows[:MAX_LISTED]])
    if len(rows) > MAX_LISTED:
        yield _text(f"{len(rows) - MAX_LISTED:,} more are in decisions.csv.")


def _protocol(published: Published, names: Names) -> Iterator[Block]:
    protocol, state = published.protocol, published.state
    approved = f", approved by {names.of(state.approved_by)}" if state.approved_by else ""
    registered = f" Registered: {protocol.registration}." if protocol.registration else ""
    yield _text(f"Version {state.version}{approved}.{registered}")
    rules = [(rule.id, rule.kind, rule.text) for rule in protocol.criteria]
    yield table(("Criterion", "Kind", "Text"), rules)
    if state.amendments:
        amendments = [
            (str(one.version), one.at[:10], names.of(one.by), one.reason, ", ".join(one.keys))
            for one in state.amendments
        ]
        yield table(("Version", "Date", "By", "Reason", "Changed"), amendments, "Amendments")


def _search(published: Published) -> Iterator[Block]:
    rows = [
        (
            row.source if row.source != "file" else row.origin,
            row.query,
            row.at[:10],
            *(f"{count}" for count in (row.hits, row.records, row.new)),
            row.status,
        )
        for row in published.state.searches
    ]
    yield table(("Source", "Query as sent", "Date", "Hits", "Records", "New", "Status"), rows)
    merged = counted(len(published.records.copies), "record")
    yield _text(f"{merged} merged with others by identifier or title; merged.csv lists them.")


def _flow(published: Published) -> Iterator[Block]:
    yield figures.flow_figure(FLOW, flow_steps(published))
    flow = published.report.flow
    rows = (
        ("Records identified", flow.given),
        *((f"  {origin}", count) for origin, count in flow.identified.items()),
        ("Duplicates removed", flow.duplicates),
        ("Records screened", flow.screened),
        ("Records excluded", flow.excluded),
        ("Records not read (stopped)", flow.unread),
        ("Records that wait for a decision", flow.open),
        ("Full texts sought", flow.sought),
        ("Full texts not retrieved", flow.not_retrieved),
        ("Full texts not obtained yet", flow.awaited),
        ("Full texts assessed", flow.assessed),
        *((f"  excluded by {name}", count) for name, count in flow.excluded_because.items()),
        ("Works included", flow.included),
    )
    yield table(("Stage", "Records"), [(name, f"{count:,}") for name, count in rows])
    yield from bullets(flow.faults())


def flow_steps(published: Published) -> tuple[Step, ...]:
    """Make the boxes of the flow, with what leaves it beside each."""
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


def _share(rate: Share) -> str:
    if not rate.of:
        return "not known: no such record was labelled"
    interval = f"95 % interval {rate.low:.1%} to {rate.high:.1%}"
    return f"{rate.hits / rate.of:.1%} ({rate.hits} of {rate.of}; {interval})"


def _screening(published: Published, names: Names) -> Iterator[Block]:
    validation, course = published.report.validation, published.state.course
    both = " and ".join(
        f"{names.of(one.name)} ({'a model' if one.kind == 'model' else 'a person'})"
        for one in published.protocol.screeners
    )
    rounds = counted(course.number if course else 0, "round")
    yield _text(
        f"Titles and abstracts were screened by {both}, independently of each other; a person decided where "
        "they differed or were unsure. Records were read in rounds, the most promising first by a logistic "
        f"regression over words and pairs of words that was learnt again after each round ({rounds}; every "
        "order is stored)."
    )
    if validation is not None:
        people = ", ".join(map(names.of, validation.by))
        sample = counted(validation.labelled, "random record")
        yield _text(
            f"{people} labelled {sample} without seeing other decisions. A screener who is unsure excludes "
            "nothing."
        )
        rows = [
            (names.of(one.name), _share(one.sensitivity), _share(one.specificity))
            for one in validation.screeners
        ]
        yield table(("Screener", "Sensitivity", "Specificity"), rows, "Accuracy on the labelled records")
    if course and course.mistaken:
        yield _text(f"By its decisions both screeners included about {course.mistaken} records by mistake.")


def _tools(published: Published, names: Names, version: str) -> Iterator[Block]:
    yield _text(
        f"This review was made with Determinator {version} (Apache-2.0). What follows is from its history, "
        "where every decision has its time, its author and the version of the protocol (decisions-log.csv)."
    )
    tools = [
        (
            *(one.stage, one.screener, one.model, one.prompt),
            *(f"{count:,}" for count in (one.calls, one.decisions, one.usage.tokens)),
        )
        for one in published.state.tools.values()
    ]
    if tools:
        head = ("Stage", "Screener", "Model", "Prompt", "Calls", "Decisions", "Tokens")
        yield table(head, tools, "Models as they were used")
    else:
        yield _text("No model was used for decisions.")
    made: Counter[tuple[str, str, str, str]] = Counter(
        (names.of(one.by), "a model" if one.model else "a person", one.stage, one.part)
        for one in latest(published.decisions).values()
    )
    if (found := published.findings) is not None:
        by = [one.by for row in found.rows for one in row.values if one.by != AGREED]
        made += Counter((names.of(name), "a person", "extraction", "field") for name in by)
        made += Counter((names.of(one.decided_by), "a person", "bias", "result") for one in found.bias)
    rows = [(*who, f"{count:,}") for who, count in sorted(made.items())]
    yield table(("Who", "Kind", "Stage", "Part", "Decisions that hold"), rows, "Who decided")
    yield _text(
        "The authors of the review answer for its content; the tools decide nothing that a person cannot "
        "overrule."
    )


def limitations(published: Published) -> list[str]:
    """List what a reader has to know, each as a sentence."""
    flow, lines = published.report.flow, list[str]()
    for row in published.state.searches:
        if row.hits > row.records + row.set_aside and row.source != "file":
            lines.append(f"{row.origin}: {row.hits:,} records match and {row.records:,} were taken.")
        if row.set_aside:
            lines.append(f"{row.origin}: {counted(row.set_aside, 'record')} could not be read.")
        if row.status not in ("ok", "empty"):
            lines.append(f"{row.origin}: the search failed ({row.status}: {row.detail}).")
    if flow.open:
        lines.append(f"{counted(flow.open, 'record')} wait for a decision.")
    if flow.unread:
        lines.append(
            "The stated recall assumes that the sample is random among the records left, that the person who "
            "decides is right, and that the screeners miss records independently of each other."
        )
    if published.report.validation is None and published.state.tools:
        lines.append(
            "No random sample was labelled, so the accuracy of the models on this review is not known."
        )
    if published.findings is not None:
        lines += chapters.limitations(published.findings, published.protocol)
    return lines + [f"The numbers do not add up: {fault}." for fault in flow.faults()]
