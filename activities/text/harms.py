"""Whether a sentence denies or states a harm, for a question whether something is safe.

`It did not increase complications` denies something and answers `is it safe?` with yes; `it may increase the
risk of stroke` affirms something and does not.
"""

import re
from typing import Literal

from activities.text.entities import link
from activities.text.negation import denied
from activities.text.opposites import HARM

_DENIED = denied(9)
_SAFE = re.compile(r"\bsafe(?:ly|ty)?\b|\bwell[- ]tolerated\b|\bharmless\b", re.IGNORECASE)
_WORKS = re.compile(r"\beffective|\befficac|\buseful|\bbenefi", re.IGNORECASE)
_MORE = re.compile(
    r"\b(?:increas\w+|higher|greater|more|rais\w+|associated|linked|lead(?:s|ing)?|led|caus\w+|result\w*|worse\w*"
    r"|impair\w*|compromis\w+|affect\w*|adverse\w*|rates?|risks?)\b",
    re.IGNORECASE,
)


def asks_safety(question: str) -> bool:
    """Whether a question asks for safety and for nothing else."""
    return bool(_SAFE.search(question)) and not _WORKS.search(question)


def harm(sentence: str) -> Literal["denied", "stated", "none"]:
    """Whether a sentence denies that a harm was more frequent, states that it was, or speaks of none."""
    runs = [match.group() for match in _DENIED.finditer(sentence)]
    if _is_harm(_DENIED.sub(" ", sentence)):
        return "stated"
    return "denied" if any(_is_harm(run) for run in runs) else "none"


def _is_harm(text: str) -> bool:
    named = HARM.search(text) or any(entity.kind in ("disease", "phenotype") for entity in link(text))
    return bool(named and _MORE.search(text))
