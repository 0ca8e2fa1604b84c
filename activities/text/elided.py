"""A yes-or-no question in a title without its verb.

`Malnutrition, a new inducer of calcification?` asks whether malnutrition is one, and `Kell antibodies in
pregnancy: associated with anaemia?` whether they are. By English grammar alone: what stands behind a colon, a
dash, or a comma and an article, up to the question mark, is said of what stands before it, where it has no
question word and names no alternatives.
"""

import re

_APART = re.compile(
    r"(?P<topic>.+?)(?:\s*(?::|\u2013|\s-)\s+|\s*(?:--|\u2014)\s*|,\s+(?=(?:an?|the)\s))"
    r"(?P<said>[^:?]+)\?\s*$",
    re.DOTALL,
)
_OPEN = re.compile(
    r"\b(?:what|which|who|whom|whose|why|how|when|where|whether|or|versus|vs)\b", re.IGNORECASE
)
"""Words of a question that yes or no does not answer."""


def completed(question: str) -> str:
    """The question with the verb that its title leaves out; as it stands where it leaves none out."""
    found = _APART.match(question.strip())
    if found is None or _OPEN.search(found["said"]):
        return question
    return f"Is {found['topic'].strip()} {found['said'].strip()}?"
