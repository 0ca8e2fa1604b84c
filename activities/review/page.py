"""The report of a review as a tree of blocks, from which every format is made (PRISMA 2020, PRISMA-S)."""

from collections import Counter
from collections.abc import Iterator

from activities.plural import counted
from activities.report.formats.blocks import Block, Chapter, Document, Run, Text, bullets, table
from activities.review.archive import Published
from activities.review.chapters import chapters, closing, flow_figure, lead
from activities.review.course import Rate
from activities.review.decisions import latest
from activities.review.export import Names, final_states
from activities.review.extraction import AGREED
from activities.review.findings import limitations as of_findings

MAX_LISTED = 500
"""Included records that the report lists; the exports have all."""


def document(published: Published, version: str, names: Names) -> Document:
    """The whole report. `version`: of this program."""
    protocol, step = published.protocol, published.step
    made = (
        Chapter("result", "Result", (*lead(published.findings), *_result(published)), "answer"),
        *chapters(published),
        Chapter("included", "Included records", tuple(_included(published))),
        Chapter("protocol", "Protocol", tuple(_protocol(published, names))),
        Chapter("search", "Search (PRISMA-S)", tuple(_search(published))),
        Chapter("flow", "Flow of records (PRISMA 2020)", tuple(_flow(published))),
        Chapter("screening", "Screening", tuple(_screening(published, names))),
        Chapter("tools", "Statement on the use of tools", tuple(_tools(published, names, version))),
        Chapter("limitations", "Limitations", tuple(bullets(limitations(published)))),
        *closing(published),
    )
    return Document(
        title=protocol.title,
        kicker=f"Systematic review, report of {step.at[:10]}",
        head=(_text(protocol.question.text(), "question"),),
        chapters=tuple(chapter for chapter in made if chapter.blocks),
        run_line=step.run_id,
        about={"question": protocol.question.text(), "profile": "systematic review", "at": step.at},
    )


def _text(text: str, kind: str = "plain") -> Text:
    return Text((Run(text),), "question" if kind == "question" else "plain")


def _result(published: Published) -> Iterator[Text]:
    flow = published.report.flow
    course = published.step.screening.course
    yield _text(
        f"Of {counted(flow.given - flow.duplicates, 'record')}, {flow.screened:,} were screened by title and "
        f"abstract and {flow.screened - flow.excluded:,} included."
    )
    if course.recall is not None and flow.unread:
        yield _text(
            f"Screening stopped with {flow.unread:,} records unread. With 95 % confidence at least "
            f"{course.recall:.1%} of the relevant records were found (a random sample of "
            f"{len(published.step.screening.drawn):,} records and the measured sensitivity of the screeners)."
        )
    elif course.recall is not None:
        yield _text(
            f"All records were read. With 95 % confidence at least {course.recall:.1%} of the "
            "relevant records "
            "were found; what is missing is what both screeners excluded by mistake."
        )
    else:
        yield _text("Screening did not end by its rule, so no recall is stated.")


def _included(published: Published) -> Iterator[Block]:
    rows = [
        (
            str(number),
            ref.title,
            str(ref.year or ""),
            next(iter(ref.identifiers.items_in_order()), ("", ""))[1],
        )
        for number, (ref, state) in enumerate(
            zip(published.records.records, final_states(published), strict=True)
        )
        if state == "included"
    ]
    if rows:
        yield table(("Record", "Title", "Year", "Identifier"), rows[:MAX_LISTED])
    if len(rows) > MAX_LISTED:
        yield _text(f"{len(rows) - MAX_LISTED:,} more are in decisions.csv.")


def _protocol(published: Published, names: Names) -> Iterator[Block]:
    protocol, step = published.protocol, published.step
    approved = f", approved by {names.of(step.approved_by)}" if step.approved_by else ""
    registered = f" Registered: {protocol.registration}." if protocol.registration else ""
    yield _text(f"Version {step.version}{approved}.{registered}")
    yield table(
        ("Criterion", "Kind", "Text"), ((rule.id, rule.kind, rule.text) for rule in protocol.criteria)
    )
    if step.amendments:
        yield table(
            ("Version", "Date", "By", "Reason", "Changed"),
            (
                (str(one.version), one.at[:10], names.of(one.by), one.reason, ", ".join(one.keys))
                for one in step.amendments
            ),
            "Amendments",
        )


def _search(published: Published) -> Iterator[Block]:
    yield table(
        ("Source", "Query as sent", "Date", "Hits", "Records", "New", "Status"),
        (
            (
                row.source if row.source != "file" else row.origin,
                row.query,
                row.at[:10],
                str(row.hits),
                str(row.records),
                str(row.new),
                row.status,
            )
            for row in published.step.searches
        ),
    )
    merged = len(published.records.copies)
    yield _text(
        f"{counted(merged, 'record')} merged with others by identifier or title; merged.csv lists them."
    )


def _flow(published: Published) -> Iterator[Block]:
    yield flow_figure(published)
    flow = published.report.flow
    rows = [("Records identified", f"{flow.given:,}")]
    rows += [(f"  {origin}", f"{count:,}") for origin, count in flow.identified.items()]
    rows += [
        ("Duplicates removed", f"{flow.duplicates:,}"),
        ("Records screened", f"{flow.screened:,}"),
        ("Records excluded", f"{flow.excluded:,}"),
        ("Records not read (stopped)", f"{flow.unread:,}"),
        ("Records that wait for a decision", f"{flow.open:,}"),
        ("Full texts sought", f"{flow.sought:,}"),
        ("Full texts not retrieved", f"{flow.not_retrieved:,}"),
        ("Full texts not obtained yet", f"{flow.awaited:,}"),
        ("Full texts assessed", f"{flow.assessed:,}"),
    ]
    rows += [(f"  excluded by {name}", f"{count:,}") for name, count in flow.excluded_because.items()]
    rows.append(("Works included", f"{flow.included:,}"))
    yield table(("Stage", "Records"), rows)
    yield from bullets(flow.faults())


def _share(rate: Rate) -> str:
    if not rate.of:
        return "not known: no such record was labelled"
    interval = f"95 % interval {rate.low:.1%} to {rate.high:.1%}"
    return f"{rate.hits / rate.of:.1%} ({rate.hits} of {rate.of}; {interval})"


def _screening(published: Published, names: Names) -> Iterator[Block]:
    protocol, step, made = published.protocol, published.step, published.report.validation
    both = " and ".join(
        f"{names.of(one.name)} ({'a model' if one.kind == 'model' else 'a person'})"
        for one in protocol.screeners
    )
    yield _text(
        f"Titles and abstracts were screened by {both}, independently of each other; a person decided "
        "where they "
        "differed or were unsure. Records were read in rounds, the most promising first by a "
        "logistic regression "
        "over words and pairs of words that was learnt again after each round "
        f"({counted(step.screening.number, 'round')}; every order is stored)."
    )
    if made is not None:
        people = ", ".join(map(names.of, made.by))
        yield _text(
            f"{people} labelled {counted(made.labelled, 'random record')} without seeing other "
            "decisions. A screener "
            "who is unsure excludes nothing."
        )
        yield table(
            ("Screener", "Sensitivity", "Specificity"),
            (
                (names.of(one.name), _share(one.sensitivity), _share(one.specificity))
                for one in made.screeners
            ),
            "Accuracy on the labelled records",
        )
    course = step.screening.course
    if course.mistaken:
        yield _text(f"By its decisions both screeners included about {course.mistaken} records by mistake.")


def _tools(published: Published, names: Names, version: str) -> Iterator[Block]:
    step = published.step
    yield _text(
        f"This review was made with Determinator {version} (Apache-2.0). What follows is from its "
        "history, where "
        "every decision has its time, its author and the version of the protocol (decisions-log.csv)."
    )
    if step.tools:
        yield table(
            ("Stage", "Screener", "Model", "Prompt", "Calls", "Decisions", "Tokens"),
            (
                (
                    one.stage,
                    one.screener,
                    one.model,
                    one.prompt,
                    f"{one.calls:,}",
                    f"{one.decisions:,}",
                    f"{one.usage.tokens:,}",
                )
                for one in step.tools
            ),
            "Models as they were used",
        )
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
    yield table(
        ("Who", "Kind", "Stage", "Part", "Decisions that hold"),
        ((*who, f"{count:,}") for who, count in sorted(made.items())),
        "Who decided",
    )
    yield _text(
        "The authors of the review answer for its content; the tools decide nothing that a person "
        "cannot overrule."
    )


def limitations(published: Published) -> list[str]:
    """What a reader has to know, each as a sentence."""
    step, flow = published.step, published.report.flow
    lines = list(step.unreached)
    for row in step.searches:
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
            "The stated recall assumes that the sample is random among the records left, that the "
            "person who decides "
            "is right, and that the screeners miss records independently of each other."
        )
    if published.report.validation is None and step.tools:
        lines.append(
            "No random sample was labelled, so the accuracy of the models on this review is not known."
        )
    if published.findings is not None:
        lines += of_findings(published.findings, published.protocol)
    lines += [f"The numbers do not add up: {fault}." for fault in flow.faults()]
    return lines
