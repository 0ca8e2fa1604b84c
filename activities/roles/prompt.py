"""How a prompt is put together: stable part first, then the question, what is given, the works, the task.

Invariants:

* everything that did not come from the user, the reviewer or code is inside a fence, and no text can close
  its own fence: the fence's name is a digest of what it holds, and what looks like a fence is blanked;
* a reader of whole works gets the works first and what it is to do after them, so that the prompts of writer
  and second reader begin alike and a provider's cache serves both;
* a prompt never exceeds its limit; what had to be left out is reported.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from activities.contracts.evidence import ANSWERED, Evidence, SearchRecord, Statement
from activities.contracts.iterations import IterationRecord
from activities.contracts.judge import WorkJudgement
from activities.contracts.step import Role, StepContext
from activities.messages import count_of, english_name
from activities.models.base import BYTES_PER_TOKEN, estimate
from activities.roles.role import EVIDENCE_RULES, Prompt, prompt_file, prompt_text
from activities.text.sentences import Sentence

MAX_QUESTION_CHARS = 2_000
MAX_BACKGROUND_CHARS = 800
MAX_STEERING_CHARS = 1_200
"""Characters of the reviewer's notes in each prompt; the latest have priority."""

_FENCE = re.compile(r"<<<+|>>>+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def fence(name: str, text: str) -> str:
    """Fence text that is data between two marks it cannot contain."""
    safe = _FENCE.sub(" ", _CONTROL.sub(" ", text))
    mark = f"{name}-{hashlib.sha256(safe.encode()).hexdigest()[:12]}"
    return f"<<<{mark}\n{safe}\n{mark}>>>"


@dataclass(frozen=True, slots=True)
class Works:
    """Works as they are shown in a prompt."""

    text: str = ""
    sentences: dict[str, Sentence] = field(default_factory=dict)
    """Label (`S1`) -> sentence, in the order shown."""
    items: dict[str, Evidence] = field(default_factory=dict)
    """Label (`E1`) -> work."""


def compose(
    role: Role,
    step: StepContext,
    *,
    room: int,
    task: str,
    inputs: Sequence[str] = (),
    works: Callable[[int], Works] | None = None,
    max_tokens: int = 0,
) -> Prompt:
    """Put the prompt of a role together.

    `works`: the works that it reads, laid out in the tokens that are left, in at most `max_tokens` where that
    is not 0; None for a role that reads none.
    """
    file = prompt_file(role, step.prompt, evidence=works is not None)
    is_chosen = role not in BEFORE_PROFILE
    guidance = f"Profile: {step.profile.name}. {step.profile.guidance}".strip() if is_chosen else ""
    system, before = f"{file.text}\n\n{guidance}".strip(), [*_question_parts(step), *filter(None, inputs)]
    if works is None:
        # its end is cut, never the task
        max_bytes = int((room - estimate(system) - estimate(task)) * BYTES_PER_TOKEN) - 40
        text = _cut("\n\n".join(before), max_bytes)
        user = f"{text}\n\n{task}"
        return Prompt(system, user, file.version, question=step.question)
    after: list[str] = []
    if role in WORKS_FIRST:
        rules = prompt_text(EVIDENCE_RULES)
        system, before = f"{rules}\n\n{guidance}", _question_parts(step)
        after = [file.text.removesuffix(rules).strip(), *filter(None, inputs)]

    def user_with(text: str) -> str:
        return "\n\n".join([*before, "Works:\n" + fence("evidence", text), *after, task])

    works_room = room - estimate(system, user_with(""))
    works_room = min(works_room, max_tokens) if max_tokens else works_room
    laid_out = works(works_room)
    return Prompt(
        system,
        user_with(laid_out.text),
        file.version,
        question=step.question,
        works=laid_out.items,
        sentences=laid_out.sentences,
        choices={"SentenceLabel": tuple(laid_out.sentences), "WorkLabel": tuple(laid_out.items)},
        works_room=works_room,
    )


def _cut(text: str, max_bytes: int) -> str:
    """Cut a text to so many bytes and say how many of its lines were left out."""
    if len(text.encode()) <= max_bytes:
        return text
    start = text.encode()[: max(max_bytes, 0)].decode(errors="ignore")
    missing = sum(bool(line.strip()) for line in text[len(start) :].split("\n"))
    return f"{start} {CUT} {count_of(missing, 'line')} left out]"


CUT = "[cut:"
"""What stands where the end of a prompt was left out, before how much."""
BEFORE_PROFILE: frozenset[Role] = frozenset({"clarifier", "query_parser"})
"""Roles that are asked before the profile is chosen, by what the question asks."""
WORKS_FIRST: frozenset[Role] = frozenset({"writer", "verifier"})
"""Roles whose prompts begin alike."""


def _question_parts(step: StepContext) -> list[str]:
    """Return the question of a step and what a person or an earlier step says of it."""
    parts = [f"Question: {clip(step.question, MAX_QUESTION_CHARS)}"]
    if language_note := _languages(step):
        parts.append(language_note)
    if step.run_question:
        parts.append(f"It is a part of this one: {clip(step.run_question, MAX_QUESTION_CHARS)}")
    if step.background:
        parts.append("Background:\n" + fence("background", clip(step.background, MAX_BACKGROUND_CHARS)))
    if step.instruction:
        instruction = clip(step.instruction, MAX_STEERING_CHARS // 2)
        parts.append("The manager of the team asks of this step:\n" + fence("instruction", instruction))
    if step.readings:
        parts.append(
            listing("How the question is meant", [reading.text for reading in step.readings], max_chars=400)
        )
    if step.steering:
        steering = "\n".join(f"- {clip(text, MAX_STEERING_CHARS // 2)}" for text in step.steering)
        parts.append("The reviewer says (follow this):\n" + steering[-MAX_STEERING_CHARS:])
    return parts


def _languages(step: StepContext) -> str:
    """Name the language of the answer and that of searches in one line; empty where all is in English."""
    parts = []
    if step.is_foreign:
        name = english_name(step.language)
        parts.append(
            f"Write every text of your answer in {name}; labels, ids, what is copied from a work and the "
            "names that are to be chosen from stay as they are."
        )
    if step.searches_in:
        names = " and ".join(map(english_name, step.searches_in))
        parts.append(f"Write what is to be searched for (queries, research questions) in {names}.")
    return " ".join(parts)


def notes_on_missing(count: int, total: int) -> tuple[Statement, ...]:
    """State that not all evidence was shown."""
    return (Statement.of("items_not_shown", missing=total - count, of=total),) if count < total else ()


def findings(
    judgements: Sequence[WorkJudgement], titles: Mapping[str, str], max_items: int = 20, max_chars: int = 320
) -> str:
    """List what was judged of the works, those that answer best first, without those on another subject.

    Titles of works that no one has judged follow, few where others were. Empty without any.
    """
    in_order = sorted((j for j in judgements if j.answers), key=lambda j: -j.answers)
    rows = [
        f"{clip(one_line(titles.get(j.evidence_id, j.evidence_id)), 90)} "
        f"({GRADES[j.answers]}{'' if j.direction == 'not_asked' else ', ' + j.direction}): "
        f"{j.finding or j.reason}"
        for j in in_order
    ]
    judged_ids = {j.evidence_id for j in judgements}
    unjudged = [title for name, title in titles.items() if name not in judged_ids]
    parts = (
        listing("Works judged so far", rows, max_items, max_chars),
        listing("Works found and not judged", unjudged, MAX_UNJUDGED if judged_ids else max_items, 120),
    )
    return "\n\n".join(filter(None, parts))


MAX_UNJUDGED = 5
"""Titles of works that were found and not judged, beside those that were."""
GRADES = ("another subject", "related", "answers in part", "answers")
"""What a judgement says of how a work answers, 0 to 3."""


def clip(text: str, limit: int) -> str:
    """Cut a text to a length, with a mark where it was cut."""
    text = text.strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def listing(name: str, items: Sequence[str], max_items: int = 12, max_chars: int = 200) -> str:
    """List things that earlier steps said, as data, with how many were left out; empty without any."""
    if not items:
        return ""
    lines = "\n".join(f"- {clip(one_line(item), max_chars)}" for item in items[:max_items])
    if len(items) > max_items:
        lines += f"\n- and {len(items) - max_items:,} more, left out here"
    return f"{name}:\n{fence('list', lines)}"


def search_listing(searches: Sequence[SearchRecord], max_items: int = 20) -> str:
    """List the searches already made, the latest first."""
    return listing(
        "Searches already made",
        [f"{s.source}: {s.asked or s.query} -> {s.status}, {s.kept} new" for s in reversed(searches)],
        max_items,
    )


def iteration_listing(records: Sequence[IterationRecord]) -> str:
    """List what earlier iterations were missing, searched and found, as data; empty before the second."""
    return listing("Earlier iterations", [*map(_iteration_line, records)], len(records), 420)


def _iteration_line(record: IterationRecord) -> str:
    """Describe an iteration in one line, the shortest parts first: the end is what is cut."""
    count = sum(search.status in ANSWERED for search in record.searches)
    scores = ", ".join(f"{name} {score}" for name, score in record.scores.items())
    titles = "; ".join(clip(work.title, 60) for work in record.findings[:2])
    summary = f"{record.new_items} new items from {count} answered searches of {len(record.searches)}"
    parts = (
        f"iteration {record.iteration}: {summary}",
        f"scores {scores}; confidence {record.confidence:.2f}" if record.judged else "",
        f"gaps: {'; '.join(clip(gap, 100) for gap in record.gaps)}" if record.gaps else "",
        f"on its searches: {clip(record.reflection, 140)}" if record.reflection else "",
        f"found: {titles}" if titles else "",
    )
    return ". ".join(filter(None, parts))


def one_line(text: str) -> str:
    """Strip line breaks and control characters: a text cannot begin a line of its own in a prompt."""
    return " ".join(_CONTROL.sub(" ", text).split())
