"""The wording of what a report says where no item answers."""

from collections.abc import Sequence

from activities.types import Statement


def no_item_answers(s: Statement) -> str:
    count = s.number("items")
    if count == 1:
        said = "the only item found does not answer it"
    else:
        said = f"none of the {count} items found answers it" if count else "nothing found answers it"
    if named := s.texts("not_mentioned"):
        said += f", and {'it does not mention' if count == 1 else 'none mentions'} {_either(named)}"
    return f"{said}. Nearest to it: {'; '.join(near)}" if (near := _nearest(s)) else said


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
