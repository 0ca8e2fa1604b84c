"""The wording of what a report says where no item answers."""

from collections.abc import Sequence

from activities.report.formats.candidate_words import source_title
from activities.report.formats.grammar import counted
from activities.types import Statement

NEXT = (
    "ask by another name of the same thing, ask of one thing at a time, or add a source (--source) or a"
    " folder of documents (--library)"
)
"""What a person can do about a question to which nothing comes near."""


def no_item_answers(s: Statement) -> str:
    count = s.number("items")
    if count == 1:
        said = "the only item found does not answer it"
    else:
        said = f"none of the {count} items found answers it" if count else "nothing found answers it"
    if named := s.texts("not_mentioned"):
        said += f", and {'it does not mention' if count == 1 else 'none mentions'} {_either(named)}"
    return f"{said}. Nearest to it: {'; '.join(near)}" if (near := _nearest(s)) else said + was_asked(s)


def was_asked(s: Statement) -> str:
    """What was asked of which source and what to do next, as further sentences; empty where not known."""
    rows = zip(s.texts("sources"), s.texts("queries"), s.texts("gave"), strict=True)
    asked = [f"{source_title(source)} \u201c{query}\u201d ({_gave(gave)})" for source, query, gave in rows]
    if not asked:
        return ""
    return f". Asked: {'; '.join(asked)}. Next: {NEXT}"


def _gave(gave: str) -> str:
    if not gave.isdigit():
        return f"no answer: {gave.replace('_', ' ')}"
    return counted(int(gave), "record") if int(gave) else "no record"


def _either(names: Sequence[str]) -> str:
    quoted = [f"\u201c{name}\u201d" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _nearest(s: Statement) -> list[str]:
    """Works as reports named them before they quoted passages."""
    said_by = s.texts("said") or ("",) * len(s.texts("nearest"))
    return [
        f"\u201c{title}\u201d"
        + (f" (\u201c{sentence}\u201d)" if sentence else "")
        + (f", which does not mention {missing}" if missing else "")
        for title, missing, sentence in zip(s.texts("nearest"), s.texts("missing"), said_by, strict=True)
    ]


def not_mentioned(s: Statement) -> str:
    return f"No work that was found mentions {_either(s.texts('not_mentioned'))}, for: {s.text('question')}"
