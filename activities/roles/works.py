"""How works are shown in a prompt: whole, the title first, every quotable sentence with a label of its own.

A model that names a label cannot miscopy a quote. Of a text that is longer than `MAX_WORK_CHARS` the passages
nearest to the question are shown; each gap says the page and the heading that the text goes on at.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log

from activities.judgements import WorkJudgement
from activities.models.tokens import BYTES_PER_TOKEN
from activities.roles.allowances import MAX_WORK_CHARS
from activities.roles.assessment import MIN_ANSWERS
from activities.roles.prompt import clip, compose, left_out, one_line, room_for_works
from activities.roles.role import Prompt
from activities.steps import Role, StepContext
from activities.text.sentences import Sentence, quotable, readable, sentences
from activities.text.tokens import terms
from activities.types import Evidence

MAX_TITLE_CHARS = 240
MAX_SENTENCE_CHARS = 600
"""Of what is shown of a sentence; what it is quoted by stays whole."""
MIN_GAP_CHARS = 12
"""Of text between two sentences that is shown without a label: a heading, a short remark."""
MAX_HEADING_CHARS = 80
MIN_WORK_BYTES = 300
"""Room below which no further work is shown."""

_SHORT = re.compile(r"[ \t]*(?:\n[ \t]*)?[A-Z0-9](?=[^:\n.!?]*[^\W\d_]{2})(?:[^:\n.!?]|[.](?=\d))*[.!]\s*")
"""A sentence right after another one, without a heading."""
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Works:
    """Works as they are shown in a prompt."""

    text: str = ""
    sentences: dict[str, Sentence] = field(default_factory=dict)
    """Label (`S1`) -> sentence, in the order shown."""
    items: dict[str, Evidence] = field(default_factory=dict)
    """Label (`E1`) -> work."""


def compose_works(
    role: Role,
    step: StepContext,
    documents: Sequence[Evidence],
    *,
    room: int,
    task: str,
    given: Sequence[str] = (),
    about: Mapping[str, str] | None = None,
    chars: int = MAX_WORK_CHARS,
    passages: int | None = None,
    most: int = 0,
) -> Prompt:
    """The prompt of a role that reads works; retracted ones are not shown. What did not fit is in its
    notes. `chars`: of each work; of a longer one so many of `passages`, by default as many. `most`: tokens
    that the works may have at most; 0 for all that are left."""
    sound = [document for document in documents if document.standing != "retracted"]
    left = room_for_works(role, step, room=room, task=task, given=given)
    left = min(left, most) if most else left
    works = show(step.question, sound, left, about=about, chars=chars, passages=passages)
    prompt = compose(role, step, room=room, task=task, given=given, works=works.text)
    return replace(
        prompt,
        shown=works.items,
        sentences=works.sentences,
        choices={"SentenceLabel": tuple(works.sentences), "WorkLabel": tuple(works.items)},
        works_room=left,
        notes=left_out(len(works.items), len(sound)),
    )


def show(
    question: str,
    documents: Sequence[Evidence],
    room: int,
    *,
    about: Mapping[str, str] | None = None,
    chars: int = MAX_WORK_CHARS,
    passages: int | None = None,
    labelled: bool = True,
) -> Works:
    """As many of the documents as fit into `room` tokens, the first ones first. `about`: evidence id -> what
    stands under the title of a work."""
    left = int(max(room, 0) * BYTES_PER_TOKEN)
    blocks: list[str] = []
    labels: dict[str, Sentence] = {}
    items: dict[str, Evidence] = {}
    for document in documents:
        name = f"E{len(items) + 1}"
        head = heading(name, document)
        if said := (about or {}).get(document.evidence_id, ""):
            head = f"{head}\n({one_line(said)})"
        most = chars if len(document.text) <= chars else passages or chars
        limit = min(most, left - len(head.encode()) - 2)
        if items and limit < min(MIN_WORK_BYTES, len(document.text)):
            break
        lines, own = _lines(question, document, limit, len(labels) + 1 if labelled else 0)
        block = "\n".join([head, *lines])
        if (left := left - len(block.encode()) - 2) < 0:
            break
        blocks.append(block)
        labels.update(own)
        items[name] = document
    return Works("\n\n".join(blocks), labels, items)


def heading(label: str, document: Evidence) -> str:
    """One line that says what a work is."""
    standing = "" if document.standing in ("none", "unknown") else document.standing.upper()
    about = (str(document.year or ""), document.evidence_type.replace("_", " "), standing)
    shown = ", ".join(part for part in about if part)
    return f"[{label}] {clip(one_line(document.title), MAX_TITLE_CHARS)} ({shown})"


def _lines(
    question: str, document: Evidence, limit: int, first: int
) -> tuple[list[str], dict[str, Sentence]]:
    """The text of a work as lines, its quotable sentences labelled from `S<first>` on (0: without labels)."""
    rows: list[str] = []
    own: dict[str, Sentence] = {}
    at = 0
    parts: list[tuple[str, Sentence | None]] = []
    for found in sentences(document, short=True):
        start = document.text.find(found.quote, at)
        if start < 0:
            continue
        parts.append((document.text[at:start], None))
        parts.append((found.quote, found))
        at = start + len(found.quote)
    parts.append((document.text[at:], None))
    kept = _within(question, parts, limit)
    gap, end, heading = False, 0, ""
    for place, (text, sentence) in enumerate(parts):
        start, end = end, end + len(text)
        shown = one_line(text)
        if sentence is None:
            heading = _heading(text) or heading
        if sentence is None and place in kept and place:
            sentence = _short(text, parts[place - 1][1], document)
        if sentence is None and (len(shown) < MIN_GAP_CHARS or not _LETTER.search(shown)):
            continue
        if place not in kept:
            gap = True
            continue
        if gap:
            rows.append(_gap(document, start, heading))
            gap = False
        shown = shown if len(shown) <= MAX_SENTENCE_CHARS else f"{shown[:MAX_SENTENCE_CHARS]} (...)"
        if sentence is None or not first:
            rows.append(f"- {shown}")  # no text can begin a line that looks like a label
        else:
            label = f"S{first + len(own)}"
            own[label] = sentence
            rows.append(f"{label}: {shown}")
    return rows, own


def _heading(text: str) -> str:
    """The last line between two sentences, where it is a heading: short, and no sentence."""
    line = one_line(next((line for line in reversed(text.splitlines()) if line.strip()), ""))
    fits = _LETTER.search(line) and len(line) <= MAX_HEADING_CHARS and not line.endswith((".", ";", ","))
    return line.rstrip(":") if fits else ""


def _gap(document: Evidence, start: int, heading: str) -> str:
    """`[... page 4, Methods]`: where the text goes on after something that is not shown."""
    page = 0 if document.times else bisect_right(document.pages, start)
    where = ", ".join(filter(None, (f"page {page}" if page else "", heading)))
    return f"[... {where}]" if where else "[...]"


def _short(text: str, before: Sentence | None, document: Evidence) -> Sentence | None:
    """A sentence too short to be quoted alone (`Mortality was 0%.`): its quote has the one before it."""
    if before is None or not _SHORT.fullmatch(text):
        return None
    quote = f"{before.quote}{text.rstrip()}"
    fits = quote in document.text and quotable(quote)
    return replace(before, quote=quote, text=readable(quote)) if fits else None


def _within(question: str, parts: Sequence[tuple[str, Sentence | None]], limit: int) -> set[int]:
    """Places of the parts that are shown: all where they fit, else passages: the quotable sentences nearest
    to the question, the first and the last of a text before others that are as near, each with those around
    it."""
    costs = [min(len(text.encode()), MAX_SENTENCE_CHARS) + 8 for text, _ in parts]
    if sum(costs) <= limit:
        return set(range(len(parts)))
    wanted = set(terms(question))
    counts = Counter(term for _, sentence in parts if sentence for term in set(sentence.terms))
    total = sum(sentence is not None for _, sentence in parts) or 1
    weight = {term: log(1 + total / counts[term]) for term in wanted if counts[term]}
    last = len(parts) - 1

    def nearness(place: int) -> tuple[float, int]:
        sentence = parts[place][1]
        own = sum(weight.get(term, 0.0) for term in set(sentence.terms)) if sentence else -1.0
        return (-own, min(place, last - place))

    kept: set[int] = set()
    used = 0
    for nearest in sorted(range(len(parts)), key=nearness):
        for place in (nearest, nearest + 2, nearest - 2) if parts[nearest][1] is not None else ():
            fits = 0 <= place <= last and parts[place][1] is not None and used + costs[place] <= limit
            if fits and place not in kept:
                kept.add(place)
                used += costs[place]
    return kept


def readable_works(documents: Sequence[Evidence], judged: Mapping[str, WorkJudgement]) -> list[Evidence]:
    """The works that a writer and its second reader read, those that answer best first. Related ones only
    where none answers, and those on another subject only where none is related."""

    def grade(document: Evidence) -> int:
        judgement = judged.get(document.evidence_id)
        return judgement.answers if judgement else (1 if judged else 2)

    best = max(map(grade, documents), default=0)
    least = min(best, MIN_ANSWERS)
    return sorted((one for one in documents if grade(one) >= least), key=lambda document: -grade(document))


def about_works(judged: Mapping[str, WorkJudgement]) -> dict[str, str]:
    """What was judged of each work, in a few words."""
    return {name: _about(judgement) for name, judgement in judged.items()}


def _about(judgement: WorkJudgement) -> str:
    answers = ("another subject", "related", "answers in part", "answers")[judgement.answers]
    parts = (
        f"judged: {answers}",
        "" if judgement.direction == "not_asked" else f"supports {judgement.direction}",
        f"n = {judgement.participants}" if judgement.participants else "",
        f"compared with {judgement.comparator}" if judgement.comparator else "",
    )
    return "; ".join(part for part in parts if part)
