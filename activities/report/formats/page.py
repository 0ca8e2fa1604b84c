"""The tree of blocks of a report (`activities.report.formats.blocks`), in the order of the page.

A sentence is printed once: what the answer says no section says again, but for its conclusion and for what
another sentence leans on. Answer, findings, what is not shown and the works with their quotes are the report;
how it was made is a paragraph at its end. `brief` leaves the findings out; `full` adds the question, what the
editor put together, every quote and computation, every search and round, and what was refused.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest

from activities.contracts.evidence import Claim, Support
from activities.contracts.write import section_of
from activities.messages import N_, _, in_its_language
from activities.report.formats import calculations, figures, limitations, words
from activities.report.formats import references as refs
from activities.report.formats.blocks import (
    Block,
    Bullets,
    Cell,
    Chapter,
    ChapterKind,
    Cite,
    Document,
    Fields,
    Group,
    Heading,
    Mark,
    Part,
    Parts,
    Run,
    Sentence,
    Table,
    Text,
    TextKind,
    bullets,
    listed_quotes,
    quotes_in,
    table,
    trim,
    with_works_once,
)
from activities.report.formats.prose import (
    GENERAL,
    GENERAL_SIGN,
    Shape,
    absent,
    blocks_of,
    general_note,
    headed,
    items,
    notice,
    shapes,
    shapes_within,
    unanswered,
)
from activities.report.formats.references import Quotes, anchor_of, words_of
from activities.report.formats.statements import sentence
from activities.report.formats.text import clean, in_quotes, shortened, with_colon
from activities.report.formats.works_table import WIDE, works_table
from activities.report.parts import concludes, parts_of
from activities.report.schema import QuotedPassage, Report, ReportSection
from activities.text.layout import COLONS, ENDS
from activities.text.number_index import missing_numbers
from activities.text.tokens import terms
from activities.verification.verdicts import bases_of

USED_HEAD = (
    *(N_("Section"), N_("Round"), N_("Calls"), N_("Tokens"), N_("Cost"), N_("Judged")),
    N_("Why it ended"),
)
SEARCH_HEAD = (
    *(N_("Source"), N_("Query as sent"), N_("Status"), N_("Hits"), N_("Kept"), N_("Times"), N_("Seconds")),
    N_("Attempts"),
)
REFUSED_HEAD = (N_("Kind of text"), N_("Text"), N_("Reason"), N_("Section"))
UNUSED_HEAD = (N_("Work"), N_("Id"), N_("Reason"))
FOLLOWS_CHARS = 40
"""Characters by which a quote is told to stand right behind another one."""
FIRST = 3
"""Passages or sentences of a section in a brief report without an answer."""
MIN_TOLD = 0.8
"""Share of the content words of a sentence by which another text says it, a title a question."""
CALCULATIONS = N_("Calculations")
QUOTES = N_("Quotes behind the sentences")
RESTS = N_("Sources, sentence by sentence")
REST_CHARS = 90
"""Characters of a sentence by which it is known in the list of what each rests on."""
DRAFT = N_("Draft: this report is awaiting a reviewer's approval.")


@in_its_language
def document(report: Report, *, with_pictures: bool = True) -> Document:
    """Make the tree of the whole report. `with_pictures`: figures are drawn."""
    return _Page(report, with_pictures=with_pictures).document()


def _text(text: str, kind: TextKind = "plain") -> Iterator[Text]:
    if text:
        yield Text((Run(text),), kind)


def _says(text: str, other: str) -> bool:
    terms_of_other, terms_of_text = terms(other), set(terms(text))
    return sum(word in terms_of_text for word in terms_of_other) >= MIN_TOLD * max(len(terms_of_other), 1)


def _introducing(parts: Parts, claim: Claim) -> Parts:
    """Let sentences end with the colon of their writer before what they introduce."""
    places = [place for place, part in enumerate(parts) if isinstance(part, Sentence)]
    last = parts[places[-1]] if places and claim.body.endswith(COLONS) else None
    if not isinstance(last, Sentence) or not last.text.endswith(ENDS):
        return parts
    introducing = replace(last, text=f"{last.text[:-1]}{claim.body[-1]}")
    return (*parts[: places[-1]], introducing, *parts[places[-1] + 1 :])


class _Page:
    def __init__(self, report: Report, *, with_pictures: bool) -> None:
        self.report = report
        self.with_pictures = with_pictures
        self.quotes = Quotes(report)
        self.judged = report.written_by == "model"
        self.concludes = concludes(report)
        self.said = set[tuple[str, ...]]()
        """The sentences that are printed, as words."""
        self.anchored = set[str]()
        self.computed = set[str]()
        """The computations that are shown."""
        self.calculations: list[str] = []
        """Those that stand at the end."""
        self.listed: list[Claim] = []
        """The sentences and rows whose works are listed at the end, since no sign beside them names these."""
        self.disputed = {dispute.sentence for dispute in report.disputes}

    def document(self) -> Document:
        report = self.report
        answer = self._answer()
        title = _("Answer") if report.answer or self.concludes else _("Summary")
        has_answer, note = bool(answer), (*_text(general_note(report.sentences()), "note"),)
        explains = has_answer and any(claim.kind == "background" for claim in report.answer)
        answer += note if explains else ()
        body = [Chapter("answer", title, tuple(answer), "answer"), *self._body()]
        # no sign in a text on papers of the user's own leads to a reference
        has_signs = not self.quotes.are_papers(reference.number for reference in report.references)
        if not (explains or has_signs):
            last = max(place for place, chapter in enumerate(body) if chapter.blocks or not place)
            body[last] = replace(body[last], blocks=(*body[last].blocks, *note))
        body += self._checked()
        rests = tuple(self._rests())
        quoting = (*body, Chapter("rests", _(RESTS), rests))
        numbers = {quote.number for quote in quotes_in(quoting)} if report.length == "brief" else None
        references = tuple(refs.blocks(report, numbers))
        if has_signs:
            note = () if explains else note
            sources = [Chapter("references", _("References"), (*references, *note))]
            sources.append(Chapter("rests", _(RESTS), rests, "folded"))
        else:
            sources = [Chapter("references", _(RESTS), (*references, *rests), "folded")]
        kind: ChapterKind = "folded" if report.length == "full" else "screen"
        chapters = (
            *body,
            *sources,
            Chapter("calculations", _(CALCULATIONS), tuple(bullets(self.calculations)), "folded"),
            Chapter("quotes", _(QUOTES), tuple(self._quotes(quoting)), "folded"),
            Chapter("made", _("How this report was made"), tuple(self._made()), kind),
        )
        return Document(
            title=clean(report.title),
            kicker=words.kicker(report),
            head=tuple(self._head(has_answer=has_answer)),
            chapters=tuple(chapter for chapter in chapters if chapter.blocks),
            run_line=words.run_line(report),
            language=report.language,
            about={
                "question": clean(report.question),
                "profile": clean(report.profile),
                "at": report.generated_at,
                "made": words.made_with(report),
            },
        )

    def _quotes(self, chapters: Sequence[Chapter]) -> Iterator[Fields]:
        """List the quotes behind the sentences, as paper needs them: a screen has them at the sentences."""
        by_work: dict[str, list[Parts]] = {}
        for quote in sorted(listed_quotes(chapters), key=self.quotes.place):
            line = (Run(in_quotes(quote.text)), Run(quote.behind.strip()))
            lines = by_work.setdefault(f"[{quote.number}] {clean(quote.title)}".strip(), [])
            lines.append(tuple(run for run in line if run.text))
        if by_work:
            yield Fields(tuple((work, tuple(lines)) for work, lines in by_work.items()))

    def _head(self, *, has_answer: bool) -> Iterator[Block]:
        report = self.report
        if report.length == "full" and not _says(report.title, report.question):
            yield from _text(clean(report.question), "question")
        yield from _text(words.continues(report), "note")
        yield from _text(_(DRAFT) if report.draft else "", "notice")
        yield from _text(absent(report), "notice")
        yield from _text(notice(report), "notice")
        if not has_answer:
            yield from _text(words.sureness(report), "note")

    # what a reader gets first

    def _answer(self) -> list[Block]:
        """Show the answer, the works behind it, what each section found, and what was checked."""
        report = self.report
        blocks: list[Block] = []
        blocks += _text(unanswered(report))
        leads = {words_of(section.answer[0].text) for section in report.sections if section.answer}
        needs_title = len(report.sections) == 1 or any(
            words_of(claim.text) not in leads for claim in report.answer
        )
        claims = report.answer if needs_title else ()
        for part in parts_of(report) if not report.answer else ():
            blocks += part.lead(report, self.quotes)
        blocks += self._prose(("", claims), kind="answer")
        if not claims:
            lines = [line for section in report.sections if (line := self._line(section))]
            blocks += [Bullets(tuple(lines))] if lines else []
        blocks += _text(" ".join(limitations.basis(report)), "note")
        return blocks

    def _line(self, section: ReportSection) -> Parts:
        claims = self._fresh(section.answer[:1])
        link = Run(f"{words.heading(section)}:", "bold", anchor=self._anchor(section))
        return (link, *self._sentences(claims)) if claims else ()

    def _body(self) -> Iterator[Chapter]:
        report = self.report
        if report.length == "brief":
            title = _("Findings") if self.judged else _("Nearest passages")
            yield Chapter("first", title, tuple(self._first()))
            yield from self._texts()
            return
        yield Chapter("mechanism", _("Mechanism"), tuple(self._prose(("", report.mechanism))))
        for section in report.sections:
            anchor, title, blocks = self._anchor(section), words.heading(section), list[Block]()
            for number, block in enumerate(self._section(section)):
                if isinstance(block, Heading) and len(report.sections) == 1:
                    yield Chapter(anchor, title, tuple(blocks))
                    anchor, title, blocks = f"{self._anchor(section)}-{number}", block.text, []
                else:
                    blocks.append(block)
            yield Chapter(anchor, title, tuple(blocks))

    def _texts(self) -> Iterator[Chapter]:
        """Show the texts that leave the report, which are what a brief one was asked for."""
        for section in self.report.sections:
            for number, (heading, claims) in enumerate(blocks_of(section)):
                text = [claim for claim in claims if claim.letter]
                anchor, title = f"{self._anchor(section)}-{number}", heading or words.heading(section)
                yield Chapter(anchor, title, tuple(self._letter(text)) if text else ())

    def _first(self) -> Iterator[Block]:
        """Show the first passages or sentences, where a brief report has no answer."""
        if self.report.answer:
            return
        for section in self.report.sections:
            yield from map(self._passage, section.passages[:FIRST])
            if not section.passages:
                yield from self._prose(("", section.claims[:FIRST]))

    def _checked(self) -> Iterator[Chapter]:
        """Show the parts and works behind what is said, and what none shows."""
        report = self.report
        if report.length != "brief":
            for part in parts_of(report):
                yield from part.chapters(report, self.quotes, with_pictures=self.with_pictures)
            yield Chapter("works", _(report.words.title), tuple(works_table(report, self.quotes)))
        yield Chapter("open", _("What is not shown"), tuple(bullets(limitations.limits(report))))
        disputes = tuple(bullets(map(words.dispute_line, report.disputes)))
        yield Chapter("disputed", _("Disputed sentences"), disputes)

    # sentences

    def _fresh(self, claims: Iterable[Claim]) -> list[Claim]:
        """Return the sentences that are not printed yet, and those that another one leans on."""
        claims = [*claims]
        carrying = bases_of(claims)
        fresh = []
        for claim in claims:
            key = words_of(claim.text)
            if key not in self.said or claim.id in carrying or not claim.support or claim.letter:
                fresh.append(claim)
            if not claim.letter:
                self.said.add(key)
        return fresh

    def _sentence(self, claim: Claim) -> tuple[Sentence, ...]:
        is_first = claim.id not in self.anchored
        self.anchored.add(claim.id)
        if not claim.letter:
            self.calculations += calculations.steps([claim], self.computed)
        return self.quotes.sentence(claim, disputed=claim.id in self.disputed, first=is_first)

    def _sentences(self, claims: Iterable[Claim]) -> Iterator[Part]:
        claims = [*claims]
        for claim, claim_after in zip_longest(claims, claims[1:]):
            if lead := clean(claim.lead):
                yield Run(with_colon(lead), "bold", line=claim.line)
                claim = claim.replace(line=False)
            parts = self._sentence(claim)
            yield from parts if claim_after is None else _introducing(parts, claim)

    def _prose(self, *blocks: tuple[str, Iterable[Claim]], kind: TextKind = "plain") -> Iterator[Block]:
        """Print paragraphs, lists and tables, under their headings, of what is not printed yet."""
        parts = [
            ("" if place else heading, shape, group)
            for heading, claims in headed((heading, self._fresh(claims)) for heading, claims in blocks)
            for place, (shape, group) in enumerate(shapes(claims))
        ]
        for (heading, shape, group), next_part in zip_longest(parts, parts[1:]):
            if heading:
                yield Heading(heading)
            if shape == "letter":
                yield from self._letter(group)
            else:
                block = self._shaped(shape, group, kind)
                introduces = next_part and not next_part[0] and next_part[1] != "text"
                if introduces and isinstance(block, Text):
                    block = replace(block, parts=_introducing(block.parts, group[-1]))
                yield block

    def _shaped(self, shape: Shape, claims: list[Claim], kind: TextKind = "plain") -> Block:
        if shape == "table":
            return self._table(claims)
        if shape == "list":
            return self._list(items(claims))
        return Text(self._signed(claims), kind)

    def _list(self, rows: Sequence[tuple[int, list[Claim]]], level: int = 0) -> Bullets:
        """Show items with their levels, each with those within it."""
        places = [place for place, row in enumerate(rows) if row[0] == level]
        parts, numbers, below = list[Parts](), list[int](), list[Bullets | None]()
        for start, end in pairwise([*places, len(rows)]):
            item, within = rows[start][1], rows[start + 1 : end]
            words = self._signed(item)
            parts.append(_introducing(words, item[-1]) if within else words)
            numbers.append(item[0].number)
            below.append(self._list(within, level + 1) if within else None)
        return Bullets(tuple(parts), tuple(numbers) if any(numbers) else (), tuple(below))

    def _signed(self, claims: list[Claim]) -> Parts:
        """Show sentences with the signs of their works.

        Those on papers of the user's own, which they name, have none: each still opens its quotes, and is
        listed with its works at the end."""
        parts = tuple(self._sentences(claims))
        cites = [self.quotes.numbers(claim.support) for claim in claims if not claim.letter]
        if not self.quotes.are_papers(mark.number for cite in cites for mark in cite.marks):
            return with_works_once(parts)
        self.listed += (claim for claim in claims if claim.support)
        return tuple(part.without_sign() if isinstance(part, Sentence) else part for part in parts)

    def _letter(self, claims: list[Claim]) -> Iterator[Block]:
        """Show a text that leaves the report as it stands, and below it what its sender has to know."""
        self.listed += claims
        yield Group(tuple(self._shaped(*part) for part in shapes_within(claims)), "letter")
        if notes := [*words.of_letter(claims, self.report.statements)]:
            yield Heading(_("Before you send this text"))
            yield from bullets(notes)

    def _rests(self) -> Iterator[Bullets]:
        """List sentences and rows with their works, and of texts that leave the report with computations."""
        computed, rows = set[str](), list[Parts]()
        for claim in self.listed:
            sign = _(GENERAL) if claim.kind == "background" else ""
            steps = "; ".join(calculations.steps([claim], computed)) if claim.letter else ""
            # a sentence of the report opens its own quotes
            cite = self.quotes.cite(claim, claim.body) if claim.letter else self.quotes.numbers(claim.support)
            parts = (cite, Run(sign), Run(steps))
            if texts := tuple(part for part in parts if part.text or (isinstance(part, Cite) and part.marks)):
                text = claim.cells[0][1] if claim.is_row else claim.text
                rows.append((Run(in_quotes(shortened(clean(text), REST_CHARS))), *texts))
        if rows:
            yield Bullets(tuple(rows))

    def _table(self, claims: Iterable[Claim]) -> Table:
        """Show rows under their headings, each with the signs of its works behind its first field.

        A table on papers of the user's own shows none: its rows are listed with theirs at the end. Where all
        rows are general knowledge, the sign stands at the head of the table alone."""
        rows, head, claims = list[tuple[Cell, ...]](), tuple[str, ...](), [*claims]
        flags = [claim.kind == "background" and not claim.letter for claim in claims]
        cites = [Cite(()) if claim.letter else self.quotes.cite(claim, claim.text) for claim in claims]
        if self.quotes.are_papers(mark.number for cite in cites for mark in cite.marks):
            cites = [replace(cite, hidden=True) for cite in cites]
            self.listed += (claim for claim in claims if not claim.letter)
        for claim, cite, is_general in zip(claims, cites, flags, strict=True):
            head = tuple(clean(name) for name, _ in claim.cells)
            (sentence,) = self._sentence(claim)
            words = (
                Sentence(text, Cite(()), strong=claim.strong, emphasis=claim.emphasis_in(text, field=place))
                for place, text in enumerate(clean(field) for _, field in claim.cells)
            )
            label, *rest = words
            text = f"{label.text}{GENERAL_SIGN}" if is_general and not all(flags) else label.text
            label = replace(sentence, text=text, cite=cite, emphasis=label.emphasis)
            rows.append((Cell((label,)), *(Cell((field,) if field.text else ()) for field in rest)))
        head = (f"{head[0]}{GENERAL_SIGN}", *head[1:]) if all(flags) else head
        titles, fields = trim(head, rows)
        return Table(titles, fields, wide=len(titles) > WIDE)

    # sections

    @staticmethod
    def _anchor(section: ReportSection) -> str:
        return f"section-{anchor_of(section.id)}"

    def _section(self, section: ReportSection) -> Iterator[Block]:
        blocks = blocks_of(section) if not section.passages else []
        untold = [("", self._untold(section.answer))]
        untold += [(heading, self._untold(claims)) for heading, claims in blocks]
        prose = [*self._prose(*untold)]
        if not (prose or section.passages):
            yield from self._elsewhere(section)
            return
        yield from prose
        yield from map(self._passage, section.passages)

    def _elsewhere(self, section: ReportSection) -> Iterator[Text]:
        """Where the report says what was written for a section; nothing for one without claims."""
        if section.empty_because is None or section.empty_because.code != "section_stands_elsewhere":
            return
        titles = {
            section_of(item.statement.text("claim"))
            for item in self.report.verification.dropped
            if item.section == section.id and item.statement.code == "repeats_claim"
        }
        sections = (other for other in self.report.sections if other.id in titles and other.id != section.id)
        links = [Run(words.heading(other), anchor=self._anchor(other)) for other in sections]
        yield Text((Run(sentence(section.empty_because)), *links), "note")

    def _untold(self, claims: Iterable[Claim]) -> Iterator[Claim]:
        """Leave out sentences on which the answer rests and whose numbers and nearly all words it has."""
        claims = list(claims)
        carrying = bases_of(claims)
        answer = " ".join(lead.text for lead in self.report.answer)
        for claim in claims:
            resting = [lead.text for lead in self.report.answer if claim.id in lead.rests_on]
            is_needed = not resting or claim.is_row or claim.item or claim.letter or claim.id in carrying
            if is_needed or not _says(answer, claim.text) or any(missing_numbers(claim.text, resting)):
                yield claim

    def _passage(self, passage: QuotedPassage) -> Group:
        reference = self.quotes.references[passage.evidence_id]
        supports = [Support(evidence_id=passage.evidence_id, quote=quote) for quote in passage.quotes]
        quotes = tuple(replace(quote, same=True) for quote in self.quotes.quotes("", supports))
        is_warned = reference.standing in refs.WARNING_STANDINGS
        about = (
            words.about_work(reference, clean(refs.label_of(reference))),
            quotes[0].place if quotes else "",
            _(refs.STANDINGS[reference.standing]) if is_warned else "",
        )
        url = next((quote.url for quote in quotes if quote.url), None) or refs.best_url(reference)
        description = ", ".join(filter(None, about))
        around = [(Run(text, "around"),) if text else () for text in (passage.before, passage.after)]
        passage_text = quotes[0].text if quotes else ""
        for quote, other in pairwise(quotes):
            gap = " " if quote.after.startswith(" ") else ""
            follows = quote.after.startswith(gap + other.text[:FOLLOWS_CHARS])
            passage_text += (gap if follows else " \u2026 ") + other.text
        head = (Cite((Mark(passage.number, quotes),)), Run(clean(reference.title), url=url))
        remark = (Run(f"({description})"),) if description else ()
        quotation = (*around[0], Run(passage_text, "said"), *around[1])
        return Group((Text((*head, *remark)), Text(quotation, "quote")))

    # the run

    def _made(self) -> Iterator[Block]:
        """Say in a paragraph what was searched, read and checked; `full`: all of it, and what was spent."""
        report, method = self.report, self.report.methodology
        yield from _text(words.account(report))
        if report.length != "full":
            return
        yield from _text(words.flow_text(report))
        yield from _text(words.spent(report))
        yield from bullets((*limitations.of_run(report), *map(words.decision, method.approvals)))
        yield from self._rows()
        yield from _text(words.run_line(report), "note")

    def _rows(self) -> Iterator[Block]:
        report, method = self.report, self.report.methodology
        if report.words.graded:
            yield figures.flow_figure(figures.flow(report), with_pictures=self.with_pictures)
        reasons = {work.evidence_id: clean(work.reason) for work in report.judgements}
        works = [
            (w.title or w.evidence_id, w.evidence_id, words.unused(w, reasons.get(w.evidence_id, "")))
            for w in report.unused
        ]
        tables = (
            (_("Rounds"), USED_HEAD, words.used_rows(report) if method.model_calls else ()),
            (_("Searches"), SEARCH_HEAD, words.search_rows(method.searches)),
            (_("Text left out"), REFUSED_HEAD, words.refused_rows(report)),
            (_("Works not cited"), UNUSED_HEAD, works),
        )
        for title, head, rows in tables:
            if rows:
                yield Heading(title)
                yield table(head, rows)
