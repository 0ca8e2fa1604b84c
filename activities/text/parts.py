"""Which part of a work a sentence is from, by the label or heading it stands under."""

import re

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

_NEVER_QUOTED = re.compile(
    r"referenc|bibliograph|acknowledg|funding|registration|conflict|disclosure|keyword|abbreviat|author|supplement"
)
_FINDINGS = re.compile(
    r"limitation|conclu|interpret|implication|discussion|summary|comment|significance|relevance|result|finding"
    r"|observation"
)
_BEFORE_FINDINGS = re.compile(
    r"objective|aim|purpose|hypothes|question|goal|background|introduc|context|rationale|importance|method|design"
    r"|setting|patient|participant|subject|material|intervention|measure|procedure|population|sample|outcome"
    r"|statistic|data|exposure|eligib|selection"
)


def is_quoted(label: str) -> bool:
    """Tell whether a part of a work may be quoted, by its label or heading; references may not."""
    return not _NEVER_QUOTED.search(label.casefold())


def holds_findings(label: str) -> bool:
    """Tell whether a part of a study may hold findings, which aim, background and methods do not."""
    name = label.casefold()
    return bool(_FINDINGS.search(name)) or not _BEFORE_FINDINGS.search(name)
