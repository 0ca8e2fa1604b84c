"""The form of a question."""

import re

_YES_OR_NO = re.compile(
    r"(?:^|[.:;?!]\s)\s*(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|had|may|must)\b",
    re.IGNORECASE,
)


def asks_yes_or_no(question: str) -> bool:
    """Whether a question begins as one which is answered by yes or no."""
    return _YES_OR_NO.search(question) is not None
