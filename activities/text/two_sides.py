"""How a conclusion of several sentences weighs two sides, by the adverbs that order them.

`X did not help. However, it helped children.` says both: a denial with an affirmation set against it.
`However, the gain was small. Thus, X is not needed.` says one thing in the end: what is drawn as the
conclusion stands after what was weighed. Other orders decide nothing.
"""

import re
from collections.abc import Callable, Sequence
from typing import Literal

from activities.text import verdict_wording as wording

Way = Literal["yes", "no"]

_AGAINST = re.compile(
    r"^\W*(?:however|but|nevertheless|nonetheless|yet|on the other hand|in contrast|by contrast|conversely)\b"
    r"|^[^,;]*,\s*(?:however|nevertheless|nonetheless|by contrast|in contrast|on the other hand)\b",
    re.IGNORECASE,
)
"""A sentence that is set against the one before it."""
_CONDITION = re.compile(r"\b(?:if|unless|until|in (?:the )?future)\b", re.IGNORECASE)
_DRAWN = re.compile(
    r"^\W*(?:thus|therefore|hence|consequently|accordingly|overall|in (?:conclusion|summary|sum)"
    r"|to conclude|altogether"
    r"|taken together|we conclude|it is concluded)\b|\band (?:therefore|thus|hence|consequently)\b",
    re.IGNORECASE,
)
"""A sentence, or its last part, that is drawn as the conclusion."""


def weighed(
    findings: Sequence[str], read: Callable[[str], Way | None]
) -> tuple[Literal["yes", "no", "mixed"], tuple[str, ...]] | None:
    """The direction of findings of which some are set against others, with the sentences it rests on; None
    where their order decides nothing. `findings`: in the order of the work; `read`: the direction of one by
    itself."""
    ways = [read(text) for text in findings]
    for place, after in enumerate(findings[1:]):
        if ways[place] == "no" and _grants(after):
            return "mixed", (findings[place], after)
    decided = [place for place, way in enumerate(ways) if way is not None]
    against = [place for place, text in enumerate(findings) if wording.WEIGHS.search(text)]
    if len({ways[place] for place in decided}) != 1 or not against:
        return None
    way, last = ways[decided[-1]], decided[-1]
    drawn = last > max(against) and _DRAWN.search(findings[last])
    return (way, (findings[last],)) if way is not None and drawn else None


def _grants(sentence: str) -> bool:
    """Whether a sentence sets an affirmation against what was said before it."""
    affirmed = wording.AFFIRMS.search(wording.DENIED.sub(" ", wording.HARMLESS.sub(" ", sentence)))
    return bool(_AGAINST.search(sentence) and affirmed) and not _CONDITION.search(sentence)
