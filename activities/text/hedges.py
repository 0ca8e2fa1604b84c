"""What a sentence says only as possible: `X may reduce pain` states no effect.

A modal verb or another hedge governs what follows it in its clause. What stands outside is stated (`X reduced
pain and may shorten the stay` states the first). `Could not` and `is possible` say what was or can be done; a
hedge that the question has itself (`suspected appendicitis`) belongs to a name. Forms of English grammar.
"""

import re

_WORDS = (
    r"may|might|could(?! not\b|n't)|possibly|possibility|perhaps|potential(?:ly)?|suspected|proposed"
    r"|hypothesi[sz]ed|putative|conceivabl[ey]|(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )possible"
)
_HEDGED = re.compile(
    rf"\b(?P<hedge>{_WORDS})\b(?:(?!,? (?:and|but|or) (?:\w+ly )?(?:is|are|was|were|has|have|had|did|does|do"
    r"|\w+ed|we|it|they)\b)(?!,? (?:although|whereas|while|because|since)\b)[^;:.])*",
    re.IGNORECASE,
)
"""A hedge with the rest of its clause."""
_CAN = re.compile(r"\b(?:can|could)\b", re.IGNORECASE)


def unhedged(question: str, sentence: str) -> str:
    """A sentence without what it says as possible only. `Could` states an ability where the question asks for
    one."""
    ability = _CAN.search(question) is not None

    def kept(match: re.Match[str]) -> str:
        hedge = match["hedge"].casefold()
        stated = re.search(rf"\b{re.escape(hedge)}\b", question, re.IGNORECASE) and hedge not in _MODALS
        return match.group() if stated or (ability and hedge == "could") else " "

    return " ".join(_HEDGED.sub(kept, sentence).split())


_MODALS = ("may", "might", "could")
