"""Which part of a work a sentence is from, by the label or heading it stands under."""

import re
from typing import Literal

Part = Literal["conclusion", "results", "plain", "background", "methods", "limitations", "aim"]

LABEL = re.compile(
    r"(?:^|\n|(?<=[.!?)]\s)|(?<=[^\s.][.!?])(?=[A-Z]{3,}[A-Z /&-]*:)"
    # glued to the sentence before it
    r"|(?<=[)\]%])(?=[A-Z]{7,}[A-Z /&-]*:)"
    r"|(?<=[\w)\]%][.!?])(?=(?:Background|Objectives?|Methods?|Results?|Findings|Conclusions?|Discussion"
    r"|Interpretation):))[ \t]*"
    r"(?:#+[ \t]*|\*\*)?(?:\d{1,2}\.?[ \t]+)?"
    r"(?P<label>[A-Z][A-Z][A-Z /&,()'-]{2,60}"
    r"|(?:Background|AIMS?|Introduction|Context|Rationale|Objectives?|Aims?|Purpose|Hypothesis"
    r"|(?:Study )?[Dd]esign"
    r"|Methods?|Materials? and methods|Patients and methods|Methods and results|Setting|Participants|Patients"
    r"|Interventions?|Main outcome measures?|Measurements|(?:Main )?[Rr]esults?|(?:Main |Key )?[Ff]indings"
    r"|Conclusions?|Discussion|Interpretation|Limitations|Abstract|Summary|Case presentation|Case report"
    r"|References|Bibliography|Funding|Trial registration|Acknowledge?ments|Conflicts? of interest"
    r"|Supplementary materials?))"
    r"(?:\*\*)?(?:[ \t]*:[ \t]*|[ \t]*(?=\n))"
)
"""A structured abstract's label (`RESULTS: `) or a heading on a line of its own."""

_WORDS: tuple[tuple[str, Part | None], ...] = (
    (
        (
            r"referenc|bibliograph|acknowledg|funding|registration|conflict|disclosure|keyword|abbreviat"
            r"|author|supplement"
        ),
        None,
    ),
    (r"limitation", "limitations"),
    (r"conclu|interpret|implication|discussion|summary|comment|significance|relevance", "conclusion"),
    (r"result|finding|observation", "results"),
    (r"objective|aim|purpose|hypothes|question|goal", "aim"),
    (r"background|introduc|context|rationale|importance", "background"),
    (
        (
            r"method|design|setting|patient|participant|subject|material|intervention|measure|procedure"
            r"|population|sample|outcome|statistic|data|exposure|eligib|selection"
        ),
        "methods",
    ),
)
_BY_LABEL = tuple((re.compile(words), part) for words, part in _WORDS)


def part_of_label(label: str) -> Part | None:
    """Return the part a label or heading opens; None for parts that are never quoted, such as references."""
    name = label.casefold()
    return next((part for pattern, part in _BY_LABEL if pattern.search(name)), "plain")
