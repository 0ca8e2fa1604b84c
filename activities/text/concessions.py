"""What a sentence grants before or beside what it states: `although costs rose, survival improved`.

A concession and a call for further studies are no finding; the statement beside them is. Forms of English
grammar, no words of any subject.
"""

import re

_BEFORE = re.compile(
    r"(?P<start>^|[;:]\s|\bthat,?\s|\bindicates?,?\s|,?\s(?:and|or)\s)"
    r"(?:although|though|even (?:though|if)|despite|in spite of|notwithstanding|while)\b[^,;]*(?:,|;|$)\s*",
    re.IGNORECASE,
)
"""A concession that opens a clause, up to its comma."""
_BEHIND = re.compile(
    r"(?:,\s?|\s)(?:although|though|even though|albeit)\b[^;]*$"
    r"|(?:,\s?|\s)(?:despite|in spite of|notwithstanding)\b[^,;]*",
    re.IGNORECASE,
)
"""One that follows its main clause: to the end, or to the next comma where it is a noun phrase."""
_RESEARCH = (
    r"(?:stud(?:y|ies)|trials?|research|investigations?|data|work|analys[ei]s|evaluations?|understanding"
    r"|samples?)"
)
_MORE = (
    r"(?:further|more|larger?|additional|future|prospective|randomi[sz]ed|longer|controlled|independent|other"
    r"|confirmatory|multi-?cent(?:er|re))"
)
_WANTED = (
    r"(?:need(?:s|ed)?|required?|necessary|warranted|desirable|should|must|awaited|recommended|justified)"
)
FURTHER_STUDIES = re.compile(
    rf"\b{_MORE}\b[^.;]{{0,60}}?\b{_RESEARCH}\b[^.;]*?\b{_WANTED}\b"
    rf"|\b{_WANTED}\b[^.;]{{0,40}}?\b{_MORE}\b[^.;]{{0,40}}?\b{_RESEARCH}\b",
    re.IGNORECASE,
)
"""A call for further studies."""


def main_clauses(sentence: str) -> str:
    """A sentence without its concessions and the clauses that call for further studies."""
    kept = [part for part in re.split(r"(?<=;)\s", sentence) if not FURTHER_STUDIES.search(part)]
    stated = _BEFORE.sub(r"\g<start>", " ".join(kept))
    return _BEHIND.sub(" ", stated).strip()
