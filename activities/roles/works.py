"""How works are shown in a prompt: whole, the title first, every quotable sentence with a label of its own.

A model that names a label cannot miscopy a quote. Of a text for which there is no room the passages nearest
to the question are shown; each gap says the page and the heading that the text goes on at. Sentences that
were named before, by a judge, come first: whole, with their neighbours, those of every work before the rest
of any.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from math import log

from activities.contracts.evidence import Evidence
from activities.contracts.judge import WorkJudgement
from activities.contracts.step import Role, StepContext
from activities.models.base import BYTES_PER_TOKEN
from activities.roles.allowances import MAX_WORK_CHARS, max_chars_each
from activities.roles.assessment import MIN_ANSWERS
from activities.roles.prompt import Works, clip, compose, notes_on_missing, one_line
from activities.roles.role import Prompt
from activities.text.normal_form import min_chars, normalise
from activities.text.quotability import heading_of, quote_fault
from activities.text.sentences import MAX_SENTENCE, OF_THE_USER, Sentence, quotable, sentences
from activities.text.tokens import terms

MAX_TITLE_CHARS = 240
MAX_AUTHORS = 4
MAX_RELATED = 4
"""Works judged to be only related which are read behind those that answer, whose answer they may limit."""
MAX_SENTENCE_CHARS = 900
"""Characters of what is shown of a sentence; what it is quoted by stays whole."""
MIN_GAP_CHARS = 12
"""Characters of text between two sentences that is shown without a label: a heading, a short remark."""
MAX_HEADING_CHARS = 80
LABEL_BYTES = 7
"""Bytes of a sentence's label and of the end of its line."""
MIN_WORK_BYTES = 300
"""Room below which no further work is shown."""
MAX_GAP_BYTES = 110
"""Bytes of the line that says where a text goes on."""

_SHORT = re.compile(r"[ \t]*(?:\n[ \t]*)?[A-Z0-9](?=[^:\n.!?]*[^\W\d_]{2})(?:[^:\n.!?]|[.](?=\d))*[.!]\s*")
"""A sentence right after another one, without a heading."""
_LETTER = re.compile(r"[^\W\d_]")
_NO_BRACKETS = str.maketrans("()", "  ")


def compose_works(
    role: Role,
    step: StepContext,
    documents: Sequence[Evidence],
    *,
    room: int,
    task: str,
    inputs: Sequence[str] = (),
    judgements: Sequence[WorkJudgement] | None = None,
    quotes: Mapping[str, Sequence[str]] | None = None,
    chars: int = MAX_WORK_CHARS,
    passages: int | None = None,
    together: int = 0,
    max_tokens: int = 0,
) -> Prompt:
    """Put together the prompt of a role that reads works, with what did not fit in its notes.

    Retracted works are not shown. `judgements`: of a writer and its second reader, who read the works that
    answer, with the sentences named. `quotes`: see `lay_out`. `chars`: of each work; of a longer one so many
    of `passages`, by default as many. `together`: of all works, which are read whole where they have no more.
    `max_tokens`: of the works.
    """
    usable = [document for document in documents if document.standing != "retracted"]
    if judgements is not None:
        by_id = {judgement.evidence_id: judgement for judgement in judgements}
        usable = readable_works(usable, by_id)
        quotes = {name: [support.quote for support in judgement.support] for name, judgement in by_id.items()}
    works = partial(
        lay_out, step.question, usable, quotes=quotes, chars=chars, passages=passages, together=together
    )
    prompt = compose(role, step, room=room, task=task, inputs=inputs, works=works, max_tokens=max_tokens)
    return replace(prompt, notes=notes_on_missing(len(prompt.works), len(usable)))


def lay_out(
    question: str,
    documents: Sequence[Evidence],
    room: int,
    *,
    quotes: Mapping[str, Sequence[str]] | None = None,
    chars: int = MAX_WORK_CHARS,
    passages: int | None = None,
    together: int = 0,
    with_labels: bool = True,
) -> Works:
    """Show the documents that fit into `room` tokens, the first ones first.

    `quotes`: evidence id -> quotes that are shown before all else. `together`: see `compose_works`.
    """
    remaining = int(max(room, 0) * BYTES_PER_TOKEN)
    layouts = [
        _Layout.of(f"E{n}", work, (quotes or {}).get(work.evidence_id)) for n, work in enumerate(documents, 1)
    ]
    heads = sum(len(layout.head.encode()) + 2 for layout in layouts)
    together = max(together, MAX_WORK_CHARS * len(layouts)) if together else 0
    longest = max_chars_each([layout.bytes_of_all for layout in layouts], min(together, remaining - heads))
    reserved = _reserved_bytes(layouts, remaining) if quotes else [0] * len(layouts)
    reserved_later = sum(reserved)
    blocks: list[str] = []
    labels: dict[str, Sentence] = {}
    items: dict[str, Evidence] = {}
    for layout, reserve in zip(layouts, reserved, strict=True):
        document = layout.document
        reserved_later -= reserve
        size = layout.bytes_of_all
        if together:
            size = min(size, longest)
        elif len(document.text) > chars:
            size = passages or chars
        size = max(size, reserve)
        max_bytes = remaining - reserved_later - len(layout.head.encode()) - 2
        limit = min(size, max_bytes)
        if items and limit < min(MIN_WORK_BYTES, len(document.text)):
            break
        # passages, and the lines of a work that is shown whole, may cost more than they were counted for
        if limit < layout.bytes_of_all and (together or layout.quoted):
            max_bytes = limit
        block, labelled_rows = layout.block(question, limit, max_bytes, len(labels) + 1 if with_labels else 0)
        if (remaining := remaining - len(block.encode()) - 2) < 0:
            break
        blocks.append(block)
        labels.update(labelled_rows)
        items[layout.label] = document
    return Works("\n\n".join(blocks), labels, items)


def _reserved_bytes(layouts: Sequence["_Layout"], room: int) -> list[int]:
    """Keep bytes for what was named of each work, with its neighbours where that fits for all.

    The last works have none where not even what was named fits.
    """
    sizes = [layout.min_bytes(with_neighbours=True) for layout in layouts]
    if sum(sizes) > room:
        sizes = [layout.min_bytes(with_neighbours=False) for layout in layouts]
    return [
        needed_bytes if total <= room else 0
        for needed_bytes, total in zip(sizes, accumulate(sizes), strict=True)
    ]


def heading(label: str, document: Evidence) -> str:
    """Say in one line what a work is; of a text of the user also who wrote or sent it, and when."""
    standing = "" if document.standing in ("none", "unknown") else document.standing.upper()
    is_users = document.evidence_type in OF_THE_USER
    date = (is_users and document.facts.get("date")) or str(document.year or "")
    people = ", ".join(document.authors[:MAX_AUTHORS]) if is_users else ""
    parts = (people and f"by {people}", date, document.evidence_type.replace("_", " "), standing)
    facts = one_line(", ".join(part for part in parts if part).translate(_NO_BRACKETS))
    return f"[{label}] {clip(one_line(document.title), MAX_TITLE_CHARS)} ({facts})"


@dataclass(frozen=True, slots=True)
class _Layout:
    """One work before it is decided how much of it is shown."""

    label: str
    document: Evidence
    head: str
    parts: list[tuple[str, Sentence | None]]
    """Its text in order: sentences, and what stands between them."""
    quoted: frozenset[int]
    """Places of the parts that hold what was named."""

    @classmethod
    def of(cls, label: str, document: Evidence, quotes: Sequence[str] | None) -> "_Layout":
        head = heading(label, document)
        parts: list[tuple[str, Sentence | None]] = []
        at = 0
        for sentence in sentences(document, short=True):
            start = document.text.find(sentence.quote, at)
            if start < 0:
                continue
            parts.append((document.text[at:start], None))
            parts.append((sentence.quote, sentence))
            at = start + len(sentence.quote)
        parts.append((document.text[at:], None))
        quoted = frozenset(_places(document.text, parts, quotes or ()))
        return cls(label, document, head, parts, quoted)

    @property
    def bytes_of_all(self) -> int:
        """Return the bytes that the whole text needs, with the labels of its sentences."""
        return sum(self._costs())

    def min_bytes(self, *, with_neighbours: bool) -> int:
        """Return the bytes that the named sentences of the work need, and their neighbours if asked for."""
        costs = self._costs()
        places = [*self.quoted, *(self._neighbours() if with_neighbours else ())]
        size = sum(costs[place] for place in places) + MAX_GAP_BYTES * len(self.quoted)
        needed_bytes = min(sum(costs), size or MIN_WORK_BYTES)
        return len(self.head.encode()) + needed_bytes + 2

    def block(self, question: str, limit: int, max_bytes: int, first: int) -> tuple[str, dict[str, Sentence]]:
        """Show the work, its quotable sentences labelled from `S<first>` on (0: without labels).

        The lines that say where a text goes on may cost more than `limit` leaves: of what is then longer than
        `max_bytes` less is shown.
        """
        rows, row_labels = self._lines(question, limit, first)
        while rows and limit > 0 and (excess := sum(len(row.encode()) + 1 for row in rows) - max_bytes) > 0:
            limit -= excess
            rows, row_labels = self._lines(question, limit, first)
        return "\n".join([self.head, *rows]), row_labels

    def _lines(self, question: str, limit: int, first: int) -> tuple[list[str], dict[str, Sentence]]:
        rows: list[str] = []
        labels: dict[str, Sentence] = {}
        places = self._within(question, limit)
        gap, end, heading = False, 0, ""
        title = terms(self.document.title)
        is_users = bool(first) and self.document.evidence_type in OF_THE_USER
        for place, (text, sentence) in enumerate(self.parts):
            start, end = end, end + len(text)
            line = one_line(text)
            if sentence is None:
                heading = _heading(text) or heading
                if place in places and place:
                    before = self.parts[place - 1][1]
                    sentence = _short_sentence(text, before, self.document) or _long_sentence(text, before)
            if len(line) > MAX_SENTENCE_CHARS and place not in self.quoted:
                line = f"{line[:MAX_SENTENCE_CHARS]} (...)"
            lines: Iterable[tuple[str, Sentence | None]] = [(line, sentence)]
            if sentence is None and is_users and place in places:
                lines = _lines_of_user(self.document, start, end, title)
            elif sentence is None and not _is_worth_showing(text, title):
                continue
            elif place not in places:
                gap = True
                continue
            if gap:
                rows.append(_gap(self.document, start, heading))
                gap = False
            for row, row_sentence in lines:
                label = f"S{first + len(labels)}: " if row_sentence and first else "- "
                rows.append(f"{label}{row}")  # no text can begin a line that looks like a label
                if row_sentence and first:
                    labels[label.removesuffix(": ")] = row_sentence
        return rows, labels

    def _costs(self) -> list[int]:
        """Bytes of each part as it is shown; none of the space between sentences."""
        sizes = (len(text.encode()) if text.strip() else -LABEL_BYTES for text, _ in self.parts)
        return [
            (size if place in self.quoted else min(size, MAX_SENTENCE_CHARS)) + LABEL_BYTES
            for place, size in enumerate(sizes)
        ]

    def _neighbours(self) -> list[int]:
        """Places of the sentences beside what was named, those after it first."""
        places = [place + step for step in (2, 1, -2, -1) for place in sorted(self.quoted)]
        return [
            place
            for place in dict.fromkeys(places)
            if 0 <= place < len(self.parts) and self.parts[place][1] is not None and place not in self.quoted
        ]

    def _within(self, question: str, limit: int) -> set[int]:
        """Choose what is shown: all where it fits, else what was named, its neighbours, and passages.

        Passages are the quotable sentences nearest to the question, each with those around it; of equally
        near ones those at the beginning and the end of a text come first.
        """
        parts, costs = self.parts, self._costs()
        if sum(costs) <= limit:
            return set(range(len(parts)))
        terms_of_sentences = [sentence.terms for _, sentence in parts if sentence]
        counts = {
            term: sum(term in terms_of_sentence for terms_of_sentence in terms_of_sentences)
            for term in dict.fromkeys(terms(question))
        }
        weight = {term: log(1 + len(terms_of_sentences) / count) for term, count in counts.items() if count}
        last = len(parts) - 1

        def nearness(place: int) -> tuple[float, int]:
            sentence = parts[place][1]
            nearness_weight = (
                sum(w for term, w in weight.items() if term in sentence.terms) if sentence else -1.0
            )
            return (-nearness_weight, min(place, last - place))

        places: set[int] = set()
        size = 0
        nearest_first = (
            place
            for nearest in sorted(range(len(parts)), key=nearness)
            if parts[nearest][1] is not None
            for place in (nearest, nearest + 2, nearest - 2)
            if 0 <= place <= last and parts[place][1] is not None
        )
        for place in (*sorted(self.quoted), *self._neighbours(), *nearest_first):
            if place not in places and size + costs[place] <= limit:
                places.add(place)
                size += costs[place]
        return places


def _places(text: str, parts: Sequence[tuple[str, Sentence | None]], quotes: Sequence[str]) -> Iterator[int]:
    """Places of the parts that hold letters of one of the quotes."""
    starts = [(start, start + len(quote)) for quote in quotes if quote and (start := text.find(quote)) >= 0]
    end = 0
    for place, (part, _) in enumerate(parts):
        begin, end = end, end + len(part)
        if any(_LETTER.search(text[max(begin, start) : min(end, stop)]) for start, stop in starts):
            yield place


def _is_worth_showing(text: str, title: Sequence[str]) -> bool:
    """Tell whether text between two sentences is shown: a line by itself, or one that is not short.

    Signs are not, and the title, which stands above."""
    line = one_line(text)
    first, *lines = (bool(part.strip()) for part in text.split("\n"))
    is_own_line = bool(lines) and not first and not lines[-1] and sum(lines) == 1
    is_shown = is_own_line or len(line) >= MIN_GAP_CHARS
    return is_shown and bool(_LETTER.search(line)) and terms(line) != title


def _heading(text: str) -> str:
    """Return the last line between two sentences, where it is a heading: short, and no sentence."""
    line = one_line(next((line for line in reversed(text.splitlines()) if line.strip()), ""))
    fits = _LETTER.search(line) and len(line) <= MAX_HEADING_CHARS and not line.endswith((".", ";", ","))
    return line.rstrip(":") if fits else ""


def _gap(document: Evidence, start: int, heading: str) -> str:
    """`[... page 4, Methods]`: where the text goes on after something that is not shown."""
    page = 0 if document.times else bisect_right(document.pages, start)
    where = ", ".join(filter(None, (f"page {page}" if page else "", heading)))
    return f"[... {where}]" if where else "[...]"


def _short_sentence(text: str, before: Sentence | None, document: Evidence) -> Sentence | None:
    """Quote a sentence too short to stand alone (`Mortality was 0%.`) with the one before it."""
    if before is None or not _SHORT.fullmatch(text):
        return None
    quote = f"{before.quote}{text.rstrip()}"
    fits = quote in document.text and quotable(normalise(quote))
    return replace(before, quote=quote) if fits else None


def _lines_of_user(
    document: Evidence, start: int, end: int, title: Sequence[str]
) -> Iterator[tuple[str, Sentence | None]]:
    """Lines of a person's own text that are no sentences, each with how it may be quoted.

    A short one is quoted with what stands before it, the first of a text with what follows.
    """
    text, at = document.text, start
    heading = heading_of(document.title, text)
    for line in text[start:end].splitlines(keepends=True):
        first, last = at, at + len(line)
        at, plain = last, one_line(line)
        if not any(map(str.isalnum, plain)) or terms(plain) == title:
            continue
        if plain.startswith("#") and len(plain) <= MAX_HEADING_CHARS:
            yield plain, None
            continue
        while _is_short(text[first:last]) and (first or last < len(text)):
            if first:
                first = text.rfind("\n", 0, first - 1) + 1
            else:
                last = text.find("\n", last + 1) % (len(text) + 1)
        quote = text[first:last].strip()
        is_quotable = len(quote) <= MAX_SENTENCE and not (_is_short(quote) or quote_fault(quote, heading))
        yield (
            plain[:MAX_SENTENCE_CHARS],
            Sentence(document.evidence_id, quote, start / len(text), is_row=True) if is_quotable else None,
        )


def _is_short(text: str) -> bool:
    plain = normalise(text)
    return len(plain) < min_chars(plain)


def _long_sentence(text: str, before: Sentence | None) -> Sentence | None:
    """Quote a sentence longer than those that are split off a text: results of several outcomes in one."""
    quote = text.strip()
    is_prose = MAX_SENTENCE < len(quote) <= MAX_SENTENCE_CHARS and quote.endswith(".") and "\n" not in quote
    return replace(before, quote=quote) if before and is_prose else None


def readable_works(documents: Sequence[Evidence], judgements: Mapping[str, WorkJudgement]) -> list[Evidence]:
    """Return the works that a writer and its second reader read, those that answer best first.

    Of related ones a few, all where none answers; those on another subject only where none is related.
    """

    def grade(document: Evidence) -> int:
        judgement = judgements.get(document.evidence_id)
        return judgement.answers if judgement else (1 if judgements else 2)

    ordered = sorted(documents, key=lambda document: -grade(document))
    min_grade = min(grade(ordered[0]) if ordered else 0, MIN_ANSWERS)
    main = [document for document in ordered if grade(document) >= min_grade]
    related = [d for d in ordered if d.evidence_id in judgements and 0 < grade(d) < min_grade]
    return main + related[:MAX_RELATED]
