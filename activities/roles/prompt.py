"""How a prompt is put together and how evidence is shown in it: labelled, fenced, and only as much as fits.

Invariants:

* everything that did not come from the user, the reviewer or code is inside a fence, and no text can close
  its own fence: the fence's name is a digest of what it holds, and what looks like a fence is blanked;
* a prompt never exceeds its limit; what had to be left out is reported.
"""

import hashlib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from activities.iterations import IterationRecord
from activities.models.tokens import BYTES_PER_TOKEN, estimate
from activities.roles.role import Prompt, prompt_file
from activities.steps import Role, StepContext
from activities.text.evidence_strength import WEIGHT
from activities.text.ranking import bag, rank
from activities.types import ANSWERED, Evidence, SearchRecord, Statement

KIND = 0.15
"""What the best kind of publication adds to a relevance of 0 to 1."""
ALIKE = 0.5
"""Penalty for similarity to an item already chosen."""
LEAST_ITEM = 240
"""Characters of an item below which showing it is useless."""
HEADING = 160
"""Characters of an item's title in a prompt."""
QUESTION = 2_000
BACKGROUND = 1_500
STEERING = 1_200
"""Characters of the reviewer's notes in each prompt, at most; the latest have priority."""

_FENCE = re.compile(r"<<<+|>>>+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*(?=\s)")
_WORD = re.compile(r"[^\W_]{3,}")


@dataclass(frozen=True, slots=True)
class Shown:
    """Evidence as it is shown in a prompt."""

    text: str = ""
    items: tuple[Evidence, ...] = ()

    @property
    def labels(self) -> dict[str, Evidence]:
        return {f"E{n}": item for n, item in enumerate(self.items, 1)}


def fenced(name: str, text: str) -> str:
    """Text that is data: between two marks it cannot contain."""
    safe = _FENCE.sub(" ", _CONTROL.sub(" ", text))
    mark = f"{name}-{hashlib.sha256(safe.encode()).hexdigest()[:12]}"
    return f"<<<{mark}\n{safe}\n{mark}>>>"


def compose(
    role: Role,
    step: StepContext,
    *,
    room: int,
    task: str,
    given: Sequence[str] = (),
    documents: Sequence[Evidence] | None = None,
    evidence: bool = False,
    per_item: int = 600,
    at_most: int = 30,
    best_first: bool = False,
) -> Prompt:
    """The prompt of a role: stable part first, then the question, what is `given`, the evidence, the task.

    `documents` None: the role sees no evidence, or (`evidence`) what it sees is among what is `given`. They
    are shown most informative first (`best_first`: they already have that order), each with at most
    `per_item` characters, at most `at_most` of them, and fewer or shorter when the prompt's limit is too
    small.
    """
    small = step.model.effort == "small"
    file = prompt_file(role, evidence=evidence or documents is not None, small=small)
    profile = [f"Profile: {step.profile.name}. {step.profile.guidance}".strip()]
    system = "\n\n".join([file.text, *profile])
    parts = [f"Question: {clip(step.question, QUESTION)}"]
    if step.background:
        parts.append("Background:\n" + fenced("background", clip(step.background, BACKGROUND)))
    if step.steering:
        said = "\n".join(f"- {clip(text, STEERING // 2)}" for text in step.steering)
        parts.append("The reviewer says (follow this):\n" + said[-STEERING:])
    parts += [part for part in given if part]
    if documents is None:
        return Prompt(system, fit("\n\n".join(parts), task, room - estimate(system)), file.version)
    frame = "\n\n".join([*parts, "Evidence:", task])
    ordered = documents if best_first else most_relevant(step.question, documents, at_most)
    shown = show(step.question, ordered, room - estimate(system, frame), per_item, at_most)
    parts.append("Evidence:\n" + fenced("evidence", shown.text))
    return Prompt(
        system,
        "\n\n".join([*parts, task]),
        file.version,
        shown.labels,
        notes=left_out(len(shown.items), len(documents)),
    )


def left_out(shown: int, found: int) -> tuple[Statement, ...]:
    """What the report must state when not all evidence was shown."""
    missing = found - shown
    if missing <= 0:
        return ()
    return (Statement(code="items_not_shown", values={"missing": missing, "of": found}),)


def show(question: str, documents: Sequence[Evidence], room: int, per_item: int, at_most: int) -> Shown:
    """As many of the documents as fit into `room` tokens, the first ones first."""
    ordered = list(documents[:at_most])
    characters = int(max(room, 0) * BYTES_PER_TOKEN) - 80
    headings = [heading(n, item) for n, item in enumerate(ordered, 1)]
    share = characters
    while ordered:
        share = (characters - sum(len(h.encode()) + 2 for h in headings)) // len(ordered)
        if share >= LEAST_ITEM or len(ordered) == 1:
            break
        ordered.pop()
        headings.pop()
    words = {word.casefold() for word in _WORD.findall(question)}
    blocks: list[str] = []
    left = characters
    for n, (top, item) in enumerate(zip(headings, ordered, strict=True)):
        # the unused share of a short item goes to those after it
        room_left = left - sum(len(h.encode()) + 2 for h in headings[n:])
        budget = min(per_item, room_left // (len(ordered) - n))
        text = excerpt(item.text, words, budget)
        block = f"{top}\n{text}"
        blocks.append(block)
        left -= len(block.encode()) + 1
    return Shown("\n".join(blocks), tuple(ordered))


def most_relevant(question: str, documents: Sequence[Evidence], limit: int) -> list[Evidence]:
    """The documents most relevant to the question, by maximal marginal relevance, so that five reports of one
    trial do not displace what contradicts it."""
    ranked = rank(question, documents)
    terms = [frozenset(bag(item.document)) for item in ranked]
    worth = [item.relevance + KIND * WEIGHT[item.document.evidence_type] for item in ranked]
    likeness = dict.fromkeys(range(len(ranked)), 0.0)
    chosen: list[Evidence] = []
    while likeness and len(chosen) < limit:
        best = max(likeness, key=lambda i: (worth[i] - ALIKE * likeness[i], -i))
        del likeness[best]
        chosen.append(ranked[best].document)
        for other in likeness:
            either = len(terms[best] | terms[other])
            alike = len(terms[best] & terms[other]) / either if either else 0.0
            likeness[other] = max(likeness[other], alike)
    return chosen


def heading(number: int, item: Evidence) -> str:
    """One line that says what an item is."""
    about = ", ".join(
        part
        for part in (
            str(item.year or ""),
            item.evidence_type.replace("_", " "),
            item.source,
            "" if item.standing in ("none", "unknown") else item.standing.upper(),
        )
        if part
    )
    return f"[E{number}] {clip(one_line(item.title), HEADING)} ({about})"


def excerpt(text: str, words: set[str], limit: int) -> str:
    """At most `limit` bytes of a text, in whole sentences where it can be: the start of a short text;
    of a long one the passages that share most words with the question, in order, with gaps marked `[...]`."""
    # on one line: no text can begin a line that looks like the heading of another item
    text = " ".join(text.split())
    if len(text.encode()) <= limit:
        return text
    if limit < 900 or len(text) < 3 * limit // 2:
        return _head(text, limit)
    size = 500
    cuts = [0]
    while cuts[-1] < len(text):
        piece = _head(text[cuts[-1] :], size)
        cuts.append(cuts[-1] + max(len(piece), 1))
    passages = [(start, text[start:end]) for start, end in itertools.pairwise(cuts)]
    best = sorted(
        passages[1:],
        key=lambda p: (-len(words & {w.casefold() for w in _WORD.findall(p[1])}), p[0]),
    )
    chosen = [passages[0]]
    used = len(passages[0][1].encode())
    for passage in best:
        cost = len(passage[1].encode()) + 7
        if used + cost <= limit:
            chosen.append(passage)
            used += cost
    chosen.sort()
    joined = chosen[0][1]
    for (before, earlier), (start, piece) in itertools.pairwise(chosen):
        joined += piece if before + len(earlier) == start else f" [...] {piece.lstrip()}"
    return joined.strip()


def _head(text: str, limit: int) -> str:
    """The start of a text, cut after a sentence, else after a word."""
    if len(text.encode()) <= limit:
        return text
    cut = text.encode()[: max(limit, 0)].decode(errors="ignore")
    ends = [m.end() for m in _SENTENCE_END.finditer(cut + " ") if m.end() <= len(cut)]
    if ends and ends[-1] >= len(cut) // 2:
        return cut[: ends[-1]]
    return cut.rsplit(None, 1)[0] if " " in cut.strip() else cut


def fit(text: str, task: str, room: int) -> str:
    """A prompt without evidence within its limit: its end is cut, never the task."""
    allowed = int((room - estimate(task)) * BYTES_PER_TOKEN) - 40
    if len(text.encode()) > allowed:
        text = text.encode()[: max(allowed, 0)].decode(errors="ignore") + " [cut]"
    return f"{text}\n\n{task}"


def clip(text: str, limit: int) -> str:
    """One text at most so long, with a mark where it was cut."""
    text = text.strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def listed(name: str, items: Sequence[str], limit: int = 12, each: int = 200) -> str:
    """A list of things earlier steps said, as data; empty without any."""
    if not items:
        return ""
    lines = "\n".join(f"- {clip(one_line(item), each)}" for item in items[:limit])
    return f"{name}:\n{fenced('list', lines)}"


def tried(searches: Sequence[SearchRecord], limit: int = 20) -> str:
    """The searches already made, the latest ones."""
    return listed(
        "Searches already made",
        [f"{s.source}: {s.asked or s.query} -> {s.status}, {s.kept} new" for s in searches[-limit:]],
        limit,
    )


def earlier(records: Sequence[IterationRecord], each: int = 420) -> str:
    """What earlier iterations were missing, searched, found and thought, as data; empty before the second."""
    return listed("Earlier iterations", [_iteration_line(record) for record in records], len(records), each)


def _iteration_line(record: IterationRecord) -> str:
    """An iteration in one line, the shortest parts first: the end is what is cut."""
    answered = sum(search.status in ANSWERED for search in record.searches)
    scores = ", ".join(f"{name} {score}" for name, score in record.scores.items())
    titles = "; ".join(clip(found.title, 60) for found in record.findings[:2])
    brought = f"{record.new_items} new items from {answered} answered searches of {len(record.searches)}"
    parts = (
        f"iteration {record.iteration}: {brought}",
        f"scores {scores}; confidence {record.confidence:.2f}" if record.judged else "",
        f"gaps: {'; '.join(clip(gap, 100) for gap in record.gaps)}" if record.gaps else "",
        f"on its searches: {clip(record.reflection, 140)}" if record.reflection else "",
        f"found: {titles}" if titles else "",
    )
    return ". ".join(part for part in parts if part)


def one_line(text: str) -> str:
    """A text without line breaks and control characters: it cannot begin a line of its own in a prompt."""
    return " ".join(_CONTROL.sub(" ", text).split())
