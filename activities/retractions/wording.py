"""How publishers word it: the title and first sentence of a retracted work, and those of a notice.

Wordings follow the publishers' templates and COPE's guidance
(https://publicationethics.org/guidance/guideline/retraction-guidelines).
"""

import re

NoticeKind = str
"""`retraction notice`, `correction notice` or `expression of concern` (`publication.notice_itself`)."""

RETRACTION, CORRECTION, CONCERN = "retraction notice", "correction notice", "expression of concern"

_WORK = r"(?:article|paper|publication|chapter|manuscript|study|preprint|review|report|submission|work)"
_END = r"\s*(?:[:.\]\)*\u2010-\u2015-]|$)"
_TITLES = (
    # RETRACTED: ..., [Retracted article] ..., Withdrawn - ..., This article has been retracted: ...
    re.compile(
        rf"^\W*(?:this {_WORK} (?:has been|was|is) )?(retracted|withdrawn|removed|temporary removal)"
        rf"(?: {_WORK})?{_END}",
        re.IGNORECASE,
    ),
    re.compile(rf"^\W*(RETRACTED|WITHDRAWN) {_WORK.upper()}\b"),
    # ... (Retracted article. See vol. 3), ... [RETRACTED]
    re.compile(rf"[\(\[]\s*(retracted|withdrawn)(?: {_WORK})?\b[^()\[\]]*[\)\]]\W*$", re.IGNORECASE),
    # ... - RETRACTED
    re.compile(rf"[:.\u2010-\u2015-]\s*(RETRACTED|WITHDRAWN)(?: {_WORK.upper()})?\W*$"),
)
_OPENING = 600
"""Characters of a text in which its first sentence is looked for."""
_SAID = re.compile(
    rf"(?:\bthis|\bthe (?:above|following)) {_WORK}"
    r"(?:,? (?:first )?published\b[^.]{0,150}?,?|,? by [^.]{1,80}?,?"
    r"|,? [\"\u201c'][^\"\u201d]{1,250}[\"\u201d'],?)?"
    r" (?:has|have|had|was|is) (?:now )?(?:been )?(?:\w+ly )?(retracted|withdrawn|removed)\b",
    re.IGNORECASE,
)
_WITHDRAWN_STUDY = re.compile(r"\bstudy (?:has been|was|is) (?:\w+ly )?(?:withdrawn|removed)", re.IGNORECASE)
"""A trial that was withdrawn never began: nothing is said of a publication."""
_BANNER = re.compile(rf"^\W*(?:(?:RETRACTED|WITHDRAWN)(?: {_WORK.upper()})?\b|(?:Retracted|Withdrawn):)")
"""What a text begins with when the mark was printed over the page."""
_RETRACTION_TITLE = re.compile(
    r"^\W*(?:(?:notice|statement|note) of (?:retraction|withdrawal)\b"
    r"|(?:partial )?(?:retraction|withdrawal) (?:notice|note|statement|announcement)\b"
    r"|(?:partial )?retraction(?: (?:to|of|for|in))?\s*(?:[:\"\u201c\u2010-\u2015-]|$)"
    r"|retraction (?:to|of|for) ['\u2018])",
    re.IGNORECASE,
)
_CONCERN_TITLE = re.compile(
    r"^\W*(?:editorial )?(?:expression|notice|statement|note) of (?:editorial )?concern\b", re.IGNORECASE
)
_CORRECTION_TITLE = re.compile(
    r"^\W*(?:(?:author|publisher|editorial)'?s? )?(?:"
    r"(?:erratum|errata|corrigendum|corrigenda|addendum)"
    r"(?: (?:to|for|in|on)\b|\s*[:.\"\u201c\u2010-\u2015-]|$)"
    r"|corrections?(?: (?:to|for|in))?\s*(?:[:\"\u201c]| [\u2010-\u2015-] |$))",
    re.IGNORECASE,
)
_NOTICE_TITLES: tuple[tuple[NoticeKind, re.Pattern[str]], ...] = (
    (RETRACTION, _RETRACTION_TITLE),
    (CONCERN, _CONCERN_TITLE),
    (CORRECTION, _CORRECTION_TITLE),
)
_NOTICE_TEXTS: tuple[tuple[NoticeKind, re.Pattern[str]], ...] = (
    (RETRACTION, re.compile(rf"^\W*this (?:notice |statement )?retracts the {_WORK}\b", re.IGNORECASE)),
    (CORRECTION, re.compile(rf"^\W*this (?:notice )?corrects the {_WORK}\b", re.IGNORECASE)),
)


_OFF = r"(?:withdrawn|retracted)"
_PREPRINT = (
    r"(?:articles?|papers?|publication|chapter|manuscript|preprint|e-?print|review|report|submission|work|draft"
    r"|version|note|letter|thesis|entry|contribution)"
)
_NO_WITHDRAWAL = re.compile(
    r"\b(?:earlier|previous|prior|older|other|first|original) (?:\w+ ){0,3}"
    rf"(?:was|were|is|has been|have been) (?:\w+ )?{_OFF}"
    rf"|\b(?:not|never|no longer) (?:been |being )?{_OFF}|\bun-?{_OFF}|\breinstate|\bresubmi"
    rf"|\breplac(?:es|ing|ement)\b[^.]{{0,60}}{_OFF}",
    re.IGNORECASE,
)
"""What speaks of another version, or denies it."""
_WITHDRAWN_COMMENT = re.compile(
    rf"\b{_OFF}\b|\bwithdraw(?:s|ing)?\b[^.]{{0,40}}\b{_PREPRINT}\b|^\W*(?:withdrawal|retraction)\b",
    re.IGNORECASE,
)
_WITHDRAWN_ABSTRACT = re.compile(
    rf"\b(?:this|the|our)(?: (?:present|current|arxiv|above))? {_PREPRINT}\b[^.]{{0,80}}?"
    rf"\b(?:has|have|had|is|was|are|been|being|be)\b[^.]{{0,30}}\b{_OFF}\b"
    r"|\b(?:we|i|authors?|administrators?)"
    r"(?: (?:have|has|had|hereby|now|therefore|thus|must|wish to|decided to))*"
    rf" (?:withdr[ae]w|retract)(?:n|s|ed)?\b[^.]{{0,30}}\b(?:this|the|our) {_PREPRINT}\b"
    rf"|(?:^|[.!?]\s+)\W*(?:(?:this |the )?{_PREPRINT} )?{_OFF}"
    r"(?:\W*$|\W*[.:;,\])]| (?:by|due|because|for|pending|at|as|since|from|after|until|in favou?r)\b)",
    re.IGNORECASE,
)


def says_preprint_withdrawn(comment: str, abstract: str) -> bool:
    """Tell whether comment or abstract of a preprint say that it is withdrawn."""
    if _WITHDRAWN_COMMENT.search(comment) and not _NO_WITHDRAWAL.search(comment):
        return True
    sentences = re.split(r"(?<=[.!?\])])\s+", " ".join(abstract.split()))
    return any(
        _WITHDRAWN_ABSTRACT.search(sentence) and not _NO_WITHDRAWAL.search(sentence) for sentence in sentences
    )


def title_mark(title: str) -> str:
    """Return the word by which a title marks its work, such as `retracted`; empty without any."""
    title = " ".join(title.split())
    return next((m.group(1).casefold() for p in _TITLES if (m := p.search(title))), "")


def says_retracted(text: str) -> bool:
    """Tell whether a text begins by saying that it is retracted, withdrawn or removed."""
    text = " ".join(text[:_OPENING].split())
    if _BANNER.match(text):
        return True
    first = re.split(r"(?<=[a-z)\]\"\u201d][.!?]) (?=[A-Z\[\"\u201c])", text, maxsplit=1)[0]
    return bool(_SAID.search(first)) and not _WITHDRAWN_STUDY.search(first)


def notice_kind(title: str, text: str) -> NoticeKind:
    """Name what a record is when its wording is that of a notice on another work; empty for a work."""
    title = " ".join(title.split())
    for kind, pattern in _NOTICE_TITLES:
        if pattern.search(title):
            return kind
    return next((kind for kind, pattern in _NOTICE_TEXTS if pattern.search(text[:_OPENING])), "")
