"""Names of letters and digits, which texts write with and without spaces and marks: CA19-9, CA 19-9."""

import re

from activities.text.tokens import fold


def pattern(name: str) -> re.Pattern[str] | None:
    """A name as it stands in a `compact` text; None for one without letters and digits, or too short."""
    bare = re.sub(r"[^a-z0-9]", "", fold(name)).replace("ae", "e")
    if len(bare) < 3 or not re.search(r"[a-z]", bare) or not re.search(r"\d", bare):
        return None
    return re.compile(rf"(?<![a-z0-9]){re.escape(bare)}(?![0-9])")


def compact(text: str) -> str:
    """A text in which names of letters and digits stand without spaces and marks."""
    return re.sub(r"(?<=[a-z0-9])[\s().,/-]+(?=\d)|(?<=\d)[-/.,](?=[a-z0-9])", "", fold(text))
