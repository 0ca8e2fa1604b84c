"""Which text of a document is quoted.

Its parts by their labels; no title, no citation line, no line of references or of copyright."""

import re

from activities.contracts.evidence import Statement
from activities.text.normal_form import min_chars, normalise

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

NEVER_QUOTED = re.compile(
    r"referenc|bibliograph|acknowledg|funding|registration|conflict|disclosure|keyword|abbreviat|author|supplement"
)
"""Parts of a work that are not quoted, by their labels in small letters."""
_FINDINGS = re.compile(
    r"limitation|conclu|interpret|implication|discussion|summary|comment|significance|relevance|result|finding"
    r"|observation"
)
_BEFORE_FINDINGS = re.compile(
    r"objective|aim|purpose|hypothes|question|goal|background|introduc|context|rationale|importance|method|design"
    r"|setting|patient|participant|subject|material|intervention|measure|procedure|population|sample|outcome"
    r"|statistic|data|exposure|eligib|selection"
)
_VOLUME_AND_PAGES = re.compile(
    r"\b(?:19|20)\d\d\b[^.;:]{0,12};\s*\d+\s*(?:\([^)]{1,12}\))?\s*:\s*[A-Za-z]?\d+"
    r"|\b\d+\s*\(\d+\)\s*[:,]\s*[A-Za-z]?\d+\s*-\s*\d+"
    r"|\bvol\.?\s*\d+\b.{0,20}\bpp?\.\s*\d+",
    re.IGNORECASE,
)
_LOCATOR = re.compile(r"\bdoi\b\s*:|\b10\.\d{4,9}/\S|\bPMI?D\s*:|\bPMCID\s*:|\bISSN\b", re.IGNORECASE)
_AUTHOR = r"[A-Z][\w'-]+ [A-Z]{1,3}"
_AUTHORS = re.compile(
    rf"^\W*(?:\d{{1,3}}[\].)]?\s*)?{_AUTHOR}"
    rf"(?:(?:, {_AUTHOR})+(?:,? (?:et al|and {_AUTHOR}))?|,? (?:et al|and {_AUTHOR}))\.(?:\s|$)"
)
"""Two authors at least: `Mrs H. Field` begins a sentence."""
_AUTHORS_APA = re.compile(r"^\W*[A-Z][\w'-]+, (?:[A-Z]\. ?)++.*\((?:19|20)\d\d[a-z]?\)")
_COPYRIGHT = re.compile(r"^\W*(?:\u00a9|\(c\)|copyright\b)|\ball rights reserved\b", re.IGNORECASE)


def quote_fault(quote: str, title: str) -> Statement | None:
    """Tell why a quote under a title (`heading_of`) supports nothing: it is title, citation, reference."""
    plain, min_length = quote.casefold().strip(" ."), min_chars(title)
    is_longer = len(title) >= min_length > len(plain) - len(title) and title in plain
    if is_longer or (title and plain in title):
        return Statement.of("quote_is_title")
    if _COPYRIGHT.search(quote):
        return Statement.of("quote_is_copyright")
    if _VOLUME_AND_PAGES.search(quote) or _LOCATOR.search(quote):
        return Statement.of("quote_is_citation")
    if _AUTHORS.search(quote) or _AUTHORS_APA.search(quote):
        return Statement.of("quote_is_reference")
    return None


def heading_of(title: str, text: str) -> str:
    """Return the title of a text, for comparing.

    Empty where it is none: a record without a title is listed by the start of its text, which ends in an
    ellipsis unless it is the whole text."""
    title = normalise(title).casefold()
    start = normalise(text[: 2 * len(title) + 200]).casefold()
    is_start = title.endswith("...") and start.startswith(title.rstrip(" ."))
    return "" if is_start or start == title else title.strip(" .")


def holds_findings(label: str) -> bool:
    """Tell whether a part of a study may hold findings, which aim, background and methods do not."""
    name = label.casefold()
    return bool(_FINDINGS.search(name)) or not _BEFORE_FINDINGS.search(name)
