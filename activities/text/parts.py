"""Which part of a work a sentence is from: by its label or heading, else by cue phrases."""

import re
from typing import Literal

Part = Literal["conclusion", "results", "plain", "background", "methods", "limitations", "aim"]

LABEL = re.compile(
    r"(?:^|\n|(?<=[.!?)]\s)|(?<=[a-z][.!?])(?=[A-Z]{3,}[A-Z /&-]*:))[ \t]*"
    r"(?:#+[ \t]*|\*\*)?"
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

_BY_LABEL: tuple[tuple[str, Part | None], ...] = (
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

_CONCLUDES = re.compile(
    r"\b(in conclusion|in summary|to conclude|we conclude|conclude[sd]? that|taken together"
    r"|(?:these|our|the|this|present) (?:\w+ ){0,2}"
    r"(?:results?|findings?|data|study|studies|evidence|analysis|observations?) (?:\w+ )?"
    r"(?:suggests?|indicates?|shows?|demonstrates?|supports?|confirms?|provides?|reveals?)"
    r"|should be (?:considered|recommended|used)|overall,)",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"(\bp\s*[<=>\u2264]\s*0?\.\d|\b95\s?%\s?(?:ci|confidence)|\bodds ratio|\bhazard ratio|\brelative risk"
    r"|\d+(?:\.\d+)?\s?%|\bsignificant(?:ly)?\b|\b(?:was|were) (?:\w+ )?(?:associated|correlated)"
    r"|\bcorrelat\w+|\bwe found\b)",
    re.IGNORECASE,
)
_INTENDS = re.compile(
    r"(^to (?:determine|evaluate|assess|investigate|examine|compare|study|analy[sz]e|describe|test|explore"
    r"|identify|report|review|estimate|consider|find|establish|measure|clarify|quantify|present)\b"
    r"|\b(?:aim|purpose|objective|goal)s? (?:of|was|were|is)\b"
    r"|\bwe (?:aimed|sought|hypothesi[sz]ed|investigate[sd]?|examine[sd]?|evaluate[sd]?|assesse?[sd]?|wanted"
    r"|set out|asked|tested|undertook)\b"
    r"|\b(?:was|were|is) hypothesi[sz]ed\b"
    r"|(?<!needed )(?<!required )(?<!warranted )(?<!necessary )"
    r"\bto (?:determine|assess|evaluate|establish|investigate|see|find out|examine|test) (?:if|whether)\b"
    r"|\b(?:this|the (?:current|present)) (?:\w+ ){0,2}(?:study|paper|article|review|trial|analysis)"
    r" (?:aim(?:s|ed)|sought|summari[sz]es|discusses|reviews|outlines|focus(?:es|ed) on"
    r"|investigate[sd]?|examine[sd]?|evaluate[sd]?|describes?|assesse[sd]|compare[sd]|explore[sd]?"
    r"|was (?:designed|undertaken|conducted|performed)|presents)|\bwe (?:report|describe|present)\b"
    r"|\bwe (?:(?:will|here|also|then|briefly|first) )?(?:summari[sz]e|discuss|review|outline"
    r"|provide an? (?:\w+ )?(?:overview|summary|review))\b)",
    re.IGNORECASE,
)
_PROCEEDS = re.compile(
    r"\b(underwent|were (?:randomi[sz]ed|randomly|recruited|enrolled|assigned|selected|collected|measured"
    r"|recorded"
    r"|reviewed|invited|interviewed|obtained|performed|analy[sz]ed|included in|evaluated|assessed|compared"
    r"|divided|searched|screened|extracted|used as|studied|examined|investigated|followed"
    r"|asked|treated with|constructed"
    r"|calculated)"
    r"|(?:series|cohort|sample|total) of .{3,250}\b(?:was|were) (?:analy[sz]ed|included|studied|reviewed)"
    r"|was (?:performed|used to|measured|conducted|carried out|collected|assessed|delivered|administered)"
    r"|(?:primary |secondary |main )?(?:outcomes?|end-?points?)(?: measures?)? (?:was|were)\b"
    r"|we (?:searched|recruited|enrolled|collected|measured|retrospectively|used|performed|reviewed|included)"
    r"|questionnaires? (?:was|were)|(?:variables?|covariates?) (?:were|was|included)"
    r"|retrospective(?:ly)? (?:review|analysis))",
    re.IGNORECASE,
)

_COMPARABLE = re.compile(
    r"\b(?:no|not|nor|without|neither) (?:\w+ ){0,4}?differ\w*\b[^.;]{0,60}"
    r"\b(?:background|baseline|demographics?|preoperative (?:characteristics|data|variables|parameters))\b"
    r"|\b(?:baseline|background|demographics?|patients?) (?:\w+ ){0,4}?"
    r"(?:characteristics|demographics|data|variables|parameters|features)\b[^.;]{0,60}"
    r"\b(?:similar|comparable|balanced|matched|equal|not (?:\w+ )?differ\w*)\b"
    r"|\b(?:similar|comparable|balanced|well matched)\b[^.;]{0,60}"
    r"\b(?:at baseline|baseline (?:characteristics|data|variables)|demographics?)\b",
    re.IGNORECASE,
)
"""That the groups were alike before what is studied: the baseline data of a trial (CONSORT 2010, item 15)."""
_CALLS = re.compile(
    r"\b(?:further|future|more|additional) (?:\w+ ){0,3}(?:research|stud(?:y|ies)|trials?"
    r"|investigations?|work)\b|\b(?:recommend|need for|warrant\w*|needed)\b.{1,60}\b(?:trial|stud(?:y|ies))\b"
    r"|\bneeds? to be (?:studied|confirmed|investigated)"
    r"|\b(?:trials?|stud(?:y|ies)|research) (?:is|are) (?:mandatory|needed|required|warranted|necessary)\b",
    re.IGNORECASE,
)
"""Calls for research say nothing about the question, except where open questions are asked for."""


def part_of_label(label: str) -> Part | None:
    """The part a label or heading opens; None for parts that are never quoted, such as references."""
    name = label.casefold()
    for pattern, part in _BY_LABEL:
        if re.search(pattern, name):
            return part
    return "plain"


def part_of_sentence(text: str, label: Part, *, last: bool) -> Part:
    """The part of one sentence under a label (`plain` where there is none).

    Aims stand under any label but results and conclusions. That the groups were alike says how they were
    made, wherever it stands. A sentence without cues that closes an abstract without labels most likely
    concludes.
    """
    if label == "limitations" or (label == "conclusion" and _CONCLUDES.search(text)):
        return label
    if _COMPARABLE.search(text):
        return "methods"
    if label == "results":
        return "methods" if _PROCEEDS.search(text) and not _REPORTS.search(text) else "results"
    if _INTENDS.search(text) and not _REPORTS.search(text):
        return "aim"
    if label != "plain":
        return label
    if _CONCLUDES.search(text):
        return "conclusion"
    if _REPORTS.search(text):
        return "results"
    if _PROCEEDS.search(text):
        return "methods"
    return "conclusion" if last else "plain"


def calls_for_research(text: str) -> bool:
    """True for a call for more research."""
    return bool(_CALLS.search(text))
