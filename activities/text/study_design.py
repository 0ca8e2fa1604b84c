"""Which design a study has, by what its title and its own sentences say was done.

A design that the work names of itself goes first; else how people were assigned, found and followed, in the
terms of CONSORT 2010 (items 3a, 8a and 13: assignment, flow), STROBE (items 4 to 6: design, setting,
participants) and PRISMA 2020 (item 7: search). Introductions and sentences about other studies say nothing of
this one. Without a cue there is no answer. Measured by `benchmarks/study_designs.py`.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from activities.text.numerals import COUNT
from activities.text.parts import LABEL, Part, part_of_label, part_of_sentence
from activities.types import EvidenceType

Design = Literal[
    "randomized trial",
    "non-randomized trial",
    "cohort study",
    "case-control study",
    "cross-sectional study",
    "observational study",
    "case report",
    "review",
    "animal study",
    "laboratory study",
]

EVIDENCE: dict[Design, EvidenceType] = {
    "randomized trial": "randomized_trial",
    "non-randomized trial": "clinical_trial",
    "cohort study": "observational",
    "case-control study": "observational",
    "cross-sectional study": "observational",
    "observational study": "observational",
    "case report": "case_report",
    "review": "review",
    "animal study": "preclinical",
    "laboratory study": "preclinical",
}
"""The type of evidence that a study of each design is."""
BY_TERM: tuple[tuple[str, Design | Literal["retrospective study", "prospective study"]], ...] = (
    ("case-control studies", "case-control study"),
    ("cross-sectional studies", "cross-sectional study"),
    ("cohort studies", "cohort study"),
    ("longitudinal studies", "cohort study"),
    ("retrospective studies", "retrospective study"),
    ("prospective studies", "prospective study"),
)
"""MeSH terms of study designs (https://meshb.nlm.nih.gov, E05.318.372.500), those that say most first."""
SPECIFIC: tuple[Design, ...] = ("case-control study", "cross-sectional study", "cohort study")
"""Kinds of observational study (STROBE has a checklist for each)."""
READ = 6_000
"""Characters that are read: the abstract of a paper; later text is often about other people's work."""


class Stated(NamedTuple):
    """A design and the words that say so."""

    design: Design
    words: str


def _ignoring_case(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_WHO = (
    r"(?:patients?|participants?|subjects|adults|adolescents|children|infants|neonates|newborns|women|men"
    r"|boys"
    r"|girls|males|females|individuals|people|persons|volunteers|students|residents|couples|mothers|families"
    r"|households|recipients|survivors|respondents|employees|workers|physicians|surgeons|nurses|veterans)"
)
_ANIMAL = (
    r"(?:rats?|mice|mouse|rabbits?|(?:guinea[- ])?pigs?|piglets?|dogs?|sheep|lambs?|hamsters?|monkeys?"
    r"|zebrafish"
    r"|animals)"
)
_WORD = r"[\w/'+-]+"
_RANDOM_VERB = r"(?:randomi[sz]ed|randomly (?:assigned|allocated|divided|distributed|grouped))"
_TRIAL = rf"randomi[sz]ed(?:,? {_WORD}){{0,6}}? (?:trial|study)"

_OTHERS = _ignoring_case(
    r"\b(?:previous|earlier|prior|recent|other|several|many|most|few|published|future|further|additional"
    r"|larger)"
    r"(?: [\w-]+){0,4} (?:stud(?:y|ies)|trials?|reports?|research|investigations?|authors|series"
    r"|meta-analys[ei]s)"
    r"|\b(?:literature|et al)\b|\b(?:stud(?:y|ies)|trials?) (?:is|are) (?:needed|necessary|required"
    r"|warranted)"
    r"|\bneed(?:ed)? for\b"
)
"""What a sentence about other studies, or about those that are called for, says."""
_PERFORMED = _ignoring_case(
    r"\bwe (?:[a-z]+ )?(?:performed|conducted|undertook|carried out|did)\b|\bstudy was (?:done|performed"
    r"|conducted)\b"
)
"""An introduction that ends with what was done."""
_PROTOCOL = _ignoring_case(r"\b(?:study|trial|review) protocol\b|\bprotocol (?:for|of) (?:an?|the) ")
_NOT_RANDOM = _ignoring_case(r"\b(?:non-?|not |quasi-?|un)randomi[sz]|\b(?:not|non-?) ?randomly\b")
_SPLIT = _ignoring_case(r"\b(?:training|validation|derivation|development|test) (?:set|sample|cohort|group)")
"""Random division of data is no random assignment of people."""

_REVIEW = _ignoring_case(
    r"\b(?:we|this (?:article|paper|review)|the authors?) (?:[a-z]+ )?(?:reviews?|summari[sz]es?"
    r"|discuss(?:es)?)"
    r" (?:the |current |available |recent |published )*(?:literature|evidence|knowledge|data on|stud)"
    r"|\b(?:narrative|literature|scoping|integrative) review\b"
    r"|\b(?:medline|pubmed|embase|cinahl|psycinfo|scopus|cochrane (?:library|central|database)"
    r"|web of science)\b"
    r"[^.]{0,120}\bsearch|\bsearch(?:e[sd])?\b[^.]{0,120}\b(?:medline|pubmed|embase|cinahl|psycinfo|scopus"
    r"|cochrane|web of science)\b"
)
_CASES = _ignoring_case(
    rf"\b(?:we|to|this (?:article|paper|report)) (?:report|describe|present)s?(?: on)? (?:a|an|the|{COUNT})"
    rf"(?: {_WORD}){{0,4}}? (?:cases?|patients?)\b(?! (?:series of \d{{2}}))"
    rf"|\b(?:single[- ])?case reports?\b"
)
_CASE_LABEL = _ignoring_case(r"^(?:case|clinical) (?:report|presentation|description)")

_RANDOM = (
    _ignoring_case(rf"\bwe (?:then )?{_RANDOM_VERB}\b"),
    _ignoring_case(
        rf"\b(?:was|were|are|been|being)(?: [\w-]+){{0,3}}? {_RANDOM_VERB}\b(?=[^.]*\b(?:to|into|in"
        rf"|between|either|by"
        rf"|for|at|using)\b)"
    ),
    _ignoring_case(rf"\b{_WHO} {_RANDOM_VERB} (?:to|into|between)\b"),
    _ignoring_case(
        rf"\b(?:in|was|is|as|conducted|performed|undertook|carried out|report(?:s"
        rf"|ed)?) an? (?:{_WORD},? ){{0,6}}?{_TRIAL}\b"
    ),
    _ignoring_case(
        rf"\b(?:post[- ]?hoc|secondary|sub-?group|exploratory|ancillary) (?:\w+ )?(?:analys[ei]s|study)"
        rf" (?:of|within|from)(?: {_WORD}){{0,6}}? (?:RCTs?\b|{_TRIAL}\b)"
    ),
    _ignoring_case(rf"\b(?:this|our|the (?:present|current)) (?:{_WORD},? ){{0,6}}?{_TRIAL}\b"),
    _ignoring_case(rf"\brandomly (?:dividing|assigning|allocating) (?:{_WORD} )?(?:{_WHO}|them)\b"),
    _ignoring_case(r"\b(?:block|central|computer-generated|stratified) randomi[sz]ation\b"),
)
_RANDOM_TITLE = _ignoring_case(r"\brandomi[sz]ed\b[\w\s,-]{0,60}\b(?:trial|study)\b|\bdouble-blind\b")
_RANDOM_LABEL = _ignoring_case(r"^[^.]{0,120}\brandomi[sz]ed\b")

_NAMED: tuple[tuple[Design, re.Pattern[str]], ...] = (
    ("case-control study", _ignoring_case(r"\bcase[- ](?:control|referent|crossover)\b")),
    (
        "cross-sectional study",
        _ignoring_case(
            r"\bcross-?sectional (?:[\w-]+ ){0,3}?(?:stud|survey|design|analys|data|investigation|household)"
            r"|\b(?:postal|mailed|questionnaire|telephone|population|web-based|online|national)"
            r" (?-i:survey)\b"
        ),
    ),
    (
        "cohort study",
        _ignoring_case(
            r"\bcohort (?:stud|analys|design)|\b(?:prospective|retrospective|birth|inception"
            r"|population-based) cohort\b"
            r"|\blongitudinal (?:[\w-]+ ){0,2}?(?:stud|design|analys|survey|data)|\bfollow-?up (?:stud"
            r"|survey)"
        ),
    ),
    (
        "non-randomized trial",
        _ignoring_case(
            r"\b(?:non-?|not |quasi-?)randomi[sz]ed|\bquasi-experiment|\bsingle-arm\b"
            r"|\bbefore-(?:and-)?after (?:stud|trial)"
            r"|\bphase (?:[I1-4]|II|III|IV)(?:[/-]?(?:II|III|IV|[2-4]|[ab]))?(?: [\w-]+){0,3}? (?:trial"
            r"|study)\b"
            r"|\bopen-label (?:[\w-]+ ){0,3}?(?:trial|study)\b"
        ),
    ),
    (
        "observational study",
        _ignoring_case(
            r"\b(?:retrospective|prospective|observational|population-based|registry-based|case)"
            r" (?:[\w-]+,? ){0,4}?(?:stud(?:y|ies)|analys[ei]s|series|review|survey|audit|evaluation"
            r"|database)\b"
        ),
    ),
)
"""Designs by name, in the order in which a work that names two of them has them."""
_HEALTHY = r"(?:healthy|normal|matched|unaffected|asymptomatic|non-?diseased)"
_CASES_AND_CONTROLS = _ignoring_case(
    r"\bcases and controls\b|\b(?:served|used|selected) as (?:[\w-]+ ){0,2}?controls\b"
    rf"|\b(?:{COUNT})(?: {_WORD}){{0,12}}? (?:and|with|to) (?:{COUNT})?(?: ?{_WORD}){{0,3}}?[- ]?{_HEALTHY}"
    rf"(?:[- ]{_WORD}){{0,3}}? (?:controls?|{_WHO})\b"
)
_DONE: tuple[tuple[Design, re.Pattern[str]], ...] = (
    ("case-control study", _CASES_AND_CONTROLS),
    (
        "observational study",
        _ignoring_case(
            r"\b(?:retrospectively|prospectively) (?!randomi[sz]|assigned)[a-z]{4,}\b|\b(?:reviewed"
            r"|analy[sz]ed)"
            r" retrospectively\b|\breviewed retrospectively\b"
            r"|\b(?:medical|hospital|clinical|patient|case|health|blood bank|office)? ?(?:records|charts"
            r"|notes|registry|registries"
            r"|databases?|claims data)\b"
            rf"|\b(?:{_WHO}|cases|procedures|operations) (?:[^.]{{0,80}}? )?(?:were|was) (?:\w+ )?reviewed\b"
        ),
    ),
    (
        "cross-sectional study",
        _ignoring_case(
            r"\b(?:self-administered |structured |anonymous |postal |mailed )?(?:questionnaires?"
            r"|surveys?) (?:was|were)"
            r" (?:\w+ )?(?:sent|mailed|distributed|completed|administered|conducted|performed)"
            r"|\bwe (?:surveyed|interviewed)\b|\bwere (?:surveyed|interviewed)\b"
        ),
    ),
    (
        "cohort study",
        _ignoring_case(
            r"\b(?:were|was) (?:then |prospectively )?followed\b(?! by\b)|\bfollow-?up (?:period |time "
            r"|duration )?(?:was|of|ranged)"
            r"|\b(?:median|mean|minimum) follow-?up\b|\bcox (?:proportional|regression|model)"
            r"|\bkaplan-meier\b"
            r"|\bconsecutive(?:ly)? "
        ),
    ),
)
"""Designs by what was done, for works that name none."""
_COUNTED = _ignoring_case(
    rf"(?<![\w.,-])(?:{COUNT})\s+(?:\(\d[^)]*\)\s+)?(?:{_WORD}\s+){{0,5}}?{_WHO}\b|\b{_WHO}\s*\(n\s*=\s*\d"
)
_COUNTED_ANIMALS = _ignoring_case(
    rf"(?<![\w.,-])(?:{COUNT})\s+(?:{_WORD}\s+){{0,3}}?{_ANIMAL}\b"
    rf"|\b(?:in|with|using) (?:{_WORD} ){{0,3}}?(?<!in )(?:rats|mice|rabbits|(?:guinea[- ])?pigs"
    rf"|piglets|dogs|sheep|hamsters|monkeys)\b"
    r"|\b(?:porcine|murine|rat|mouse|canine|ovine|rabbit|animal) model\b"
)
_IN_VITRO = _ignoring_case(
    r"\bin[- ]vitro\b|\bcell lines?\b|\bcultured\b|\bspecimens? (?:of|from)\b|\bcadaver"
)


@lru_cache(maxsize=512)
def own_design(title: str, text: str, *, named_only: bool = False) -> Stated | None:
    """The design of the work with this title and abstract; None where neither says enough, and for the
    protocol of a study, which has no results. `named_only`: what was done is no cue, as in a text that need
    not be a study."""
    if _PROTOCOL.search(title):
        return None
    read = list(_own(text[:READ]))
    said = [sentence for _, _, sentence in read]
    methods = [sentence for _, part, sentence in read if part != "conclusion"]
    if not _NOT_RANDOM.search(f"{title} {text[:READ]}") and (found := _randomized(title, read)):
        people = any(_COUNTED.search(s) for s in methods)
        animals = not people and any(_COUNTED_ANIMALS.search(s) for s in (title, *methods))
        return Stated("animal study", found) if animals else Stated("randomized trial", found)
    for label, _, sentence in () if named_only else read:
        if _CASE_LABEL.search(label):
            return Stated("case report", label)
        if cases := _CASES.search(sentence):
            return Stated("case report", _short(cases))
    for design, pattern in _NAMED:
        if named := _first(pattern, (title, *said)):
            # a retrospective review of cases and controls
            if design == "observational study" and (both := _first(_CASES_AND_CONTROLS, methods)):
                return Stated("case-control study", both)
            return Stated(design, named)
    if named_only:
        return None
    if review := _first(_REVIEW, (title, *methods)):
        return Stated("review", review)
    people = any(_COUNTED.search(s) for s in methods)
    if not people and (animals_in := _first(_COUNTED_ANIMALS, (title, *methods))):
        return Stated("animal study", animals_in)
    for design, pattern in _DONE:
        if done := _first(pattern, methods):
            return Stated(design, done)
    if people and (counted := _first(_COUNTED, methods)):
        return Stated("observational study", counted)
    if not people and (in_vitro := _first(_IN_VITRO, (title, *methods))):
        return Stated("laboratory study", in_vitro)
    return None


def observed_how(title: str, text: str, terms: str) -> str:
    """The kind of an observational study, by its own words, else by its indexing terms (joined by `; `);
    empty where neither says."""
    own = own_design(title, text)
    if own is not None and own.design in SPECIFIC:
        return own.design
    known = {term.strip().casefold() for term in terms.split(";")}
    return next((design for term, design in BY_TERM if term in known), "")


def _randomized(title: str, read: list[tuple[str, Part, str]]) -> str:
    if match := _RANDOM_TITLE.search(title):
        return _short(match)
    for label, part, sentence in read:
        if "design" in label.casefold() and (match := _RANDOM_LABEL.search(sentence)):
            return _short(match)
        if _SPLIT.search(sentence) or part == "conclusion":
            continue
        for pattern in _RANDOM:
            if match := pattern.search(sentence):
                return _short(match)
    return ""


def _own(text: str) -> Iterator[tuple[str, Part, str]]:
    """Label, part and words of the sentences about the work itself: no introduction, nothing on others."""
    for label, run in _runs(text):
        part = part_of_label(label) if label else "plain"
        if part is None:
            continue
        for sentence in re.split(r"(?<=[a-z0-9)\]%][.!?])\s+(?=[A-Z0-9(])|\n{2,}", run):
            own = part_of_sentence(sentence, part, last=False)
            if own == "background" and _PERFORMED.search(sentence):
                own = "aim"
            if sentence.strip() and own != "background" and not _OTHERS.search(sentence):
                yield label, own, " ".join(sentence.split())


def _runs(text: str) -> Iterator[tuple[str, str]]:
    start, label = 0, ""
    for match in LABEL.finditer(text):
        yield label, text[start : match.start()]
        start, label = match.end(), match.group("label")
    yield label, text[start:]


def _first(pattern: re.Pattern[str], texts: list[str] | tuple[str, ...]) -> str:
    return next((_short(match) for text in texts if (match := pattern.search(text))), "")


def _short(match: re.Match[str]) -> str:
    return " ".join(match.group().split())[:80]
