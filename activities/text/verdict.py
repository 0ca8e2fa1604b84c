"""Which way a work answers a yes-or-no question, where its wording leaves no doubt.

Rules over the sentences in which a work states its findings: an affirmation without a denial beside it means
yes, a denial without an affirmation means no. There is no verdict where the work weighs two sides
(`although`, `however`), where the question itself denies, where the finding is `only`, `questionable` or
`unclear`, where `no difference` answers a question that does not ask for one, and where no sentence covers
enough of the question. A wrong direction costs more than none: measured by `benchmarks/relevance.py`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from activities.text import thesaurus
from activities.text.concepts import Concepts
from activities.text.negation import NO_DENIAL, denied
from activities.text.question import compared, is_yes_or_no, stems
from activities.text.technical import TECHNICAL
from activities.text.tokens import terms

Way = Literal["yes", "no"]
LEAST_COVERAGE = 0.6
"""Share of the question's weight in the decisive sentence at least."""
_WORD_WEIGHT = 0.35
_WEAK_WEIGHT = 0.2

_DEPRECATES = (
    r"\bquestionable\b|\binappropriate\b|\bpoor(?:ly)?\b|\brather than\b|\bindependent of\b"
    r"|\bregardless of\b|\bless useful\b|\bunreliable\b|\bfew\b"
    r"|\blimited (?:value|role|use|benefit|evidence|impact|effect|utility|ability|place)"
)
"""Judgements that deny what was asked, beside the negations of every text."""
_INDEPENDENT = re.compile(r"\b(?:independent|regardless|irrespective) of\b", re.IGNORECASE)
_DENIES = denied(0, _DEPRECATES)
_DENIED = denied(6, _DEPRECATES)
_HARMLESS = re.compile(
    rf"{NO_DENIAL.pattern}|\bno (?:major |serious |additional |increased )?(?:adverse|complication|mortality"
    r"|side effects?|toxicity)\w*"
    r"|\bwithout (?:\w+ ){0,3}(?:complication|increas|adverse|fear|compromis|affecting)\w*",
    re.IGNORECASE,
)
_AFFIRMS = re.compile(
    r"\b(?:(?:is|are|was|were|been|be) (?:\w+ ){0,2}(?:associated|correlated|related|linked)|associated with"
    r"|correlates?|predict(?:s|or|ors|ive|ed)?|risk factors?)\b"
    r"|\b(?:improv(?:e|es|ed|ing)|reduc(?:e|es|ed|ing|tion)|increas(?:e|es|ed|ing)|decreas(?:e|es|ed|ing)"
    r"|lower(?:s|ed)?|higher|greater|better|worse|prevent(?:s|ed)?|affect(?:s|ed)?|influenc(?:e|es|ed)"
    r"|enhanc(?:e|es|ed)|contribut(?:e|es|ed)|impact(?:s|ed)?|protect\w*|promot\w+|alter(?:s|ed)?|change[sd]?"
    r"|induc\w+|lead(?:s|ing)? to|result(?:s|ed)? in)\b"
    r"|\b(?:effective(?:ly)?|efficacious|safe(?:ly)?|feasible|useful|reliable|valid|accurate(?:ly)?|valuable"
    r"|beneficial|acceptable|successful(?:ly)?|adequate|appropriate|helpful|promising|good|excellent"
    r"|favou?rable|superior|viable|justified|important|essential|necessary|possible|recommended|advantage\w*)\b"
    r"|\bsignificant(?:ly)?\b",
    re.IGNORECASE,
)
_WEIGHS = re.compile(
    r"\b(?:but|however|although|though|despite|nevertheless|nonetheless|while|whereas|yet|on the other hand"
    r"|in contrast)\b",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"\bquestion(?:able|ed)\b|\bunclear\b|\buncertain\w*\b|\bunknown\b|\bcontroversial\b|\bdifficult\b"
    r""
    r"|\brais\w+ (?:the |a )?questions?\b|\bmay or may not\b"
    r"|\bremain\w*\b|\bbelie(?:f|fs|ve[sd]?)\b|\b(?:aim|objective|hypothes[ie]s)\b"
    r"|\b(?:little|no|insufficient|limited|weak|conflicting) (?:\w+ )?(?:evidence|data)\b",
    re.IGNORECASE,
)
_ALIKE = re.compile(
    r"\bno (?:\w+ ){0,3}differen|\bnot (?:\w+ ){0,3}differ|\bsimilar\b|\bcomparable\b|\bequivalent\b"
    r"|\bequal(?:ly)?\b|\bidentical\b|\bas (?:\w+ ){1,2}as\b|\bno better\b|\bnot inferior|\bnon-?inferior",
    re.IGNORECASE,
)
_PARTLY = re.compile(
    r"\b(?:only|merely|modest(?:ly)?|weak(?:ly)?|small|limited|minimal|partial(?:ly)?|some|certain|subset"
    r"|depend\w*)\b",
    re.IGNORECASE,
)
_LESS = re.compile(r"\bless\b|\blow(?:er)?\b|\bfewer\b|\bsmaller\b|\bpoorer\b", re.IGNORECASE)
_ASKS_LESS = re.compile(r"reduc|less|low|decreas|prevent", re.IGNORECASE)
_ASKS_ALIKE = re.compile(
    r"\bas (?:\w+ ){1,3}as\b|\bsimilar|\bequivalent|\bsame\b|\bcomparable|\balternative|\breplac|\bsubstitut"
    r"|\breflect|\brepresent|\bequal",
    re.IGNORECASE,
)
_ASKS_DIFFERENT = re.compile(
    r"\bdiffer\w*|\bbetter\b|\bsuperior\b|\bcompar\w+|\bmore \w+|\bworse\b|\bdiscordance|\bvariation",
    re.IGNORECASE,
)
_ASKS_DENIED = re.compile(r"\b(?:not|no|without|never)\b", re.IGNORECASE)
_QUANTIFIED = re.compile(
    r"\b(?:have to|has to|had to|must|requir\w+|needs?|needed|necessary|always|all|every|only|other"
    r"|except)\b",
    re.IGNORECASE,
)
"""Words for necessity and for all or none: a sentence without any answers no question that has one."""
_COPULAR = re.compile(r"(?:is|are|was|were)\b", re.IGNORECASE)
_CHANGE = "30"
"""WordNet's file of the verbs of change (`slow`, `shorten`)."""
_FIRST_SENSES = 3
_FINDING = re.compile(
    r"\b(?:effects?|role|risks?|influence|impact|associat\w+|correlat\w+|relat(?:ed|ion|ionship)\w*|links?|linked"
    r"|benefi(?:t|ts|cial)|differen\w+|improvements?|reductions?|increases?|decreases?|changes?|evidence|needs?"
    r"|needed|value|predict\w*|required?|advantages?|indicat(?:ed|ion|or)s?|worthwhile|accura\w+|reliab\w+"
    r"|adequate\w*|safety|efficacy|support(?:s|ed)?)\b",
    re.IGNORECASE,
)
"""The nouns and forms, beside `_AFFIRMS`, by which studies of any subject say what they found."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A direction and the sentence it rests on."""

    way: Way
    sentence: str


def verdict(question: str, findings: Sequence[str]) -> Verdict | None:
    """The direction of a work whose findings these sentences state; None where it is uncertain."""
    if not findings or not is_yes_or_no(question) or _ASKS_DENIED.search(question):
        return None
    decisive = _nearest(question, findings)
    sides = compared(question)
    if decisive is not None and sides is not None and not stems(decisive) & sides[1]:
        return None  # what it says of one side alone compares nothing
    if decisive is not None and _beside(question, decisive):
        return None
    if decisive is not None and _QUANTIFIED.search(question) and not _QUANTIFIED.search(decisive):
        return None
    whole = " ".join(findings)
    if decisive is None or _WEIGHS.search(whole) or _DOUBTS.search(whole):
        return None
    way = _way(question, _Predicate(question), decisive, whole)
    return Verdict(way, decisive) if way else None


class _Predicate:
    """What a question asks of its subject: the words that say it, and whether it asks for an effect, a
    relation or a value, which studies state in words that any question may have."""

    def __init__(self, question: str) -> None:
        self._concepts = Concepts(question)
        words = self._concepts.words
        self._places = {
            place
            for place, word in enumerate(words)
            if not (word.noun or word.entity) and word.technical < TECHNICAL
        }
        last = len(words) - 1
        self._is_a_quality = bool(_COPULAR.match(question)) and last in self._places
        if self._is_a_quality:
            self._places = {last}
        asked = words[last].shown if self._is_a_quality else question
        changes = any(
            _CHANGE in thesaurus.files(words[place].shown)[:_FIRST_SENSES] for place in self._places
        )
        self.asks_finding = changes or bool(_AFFIRMS.search(asked) or _FINDING.search(asked))

    def in_text(self, text: str) -> bool:
        """Whether a text has a word of the predicate, in any form or by a synonym."""
        return bool(self._places & self._mentioned(text))

    def denied_by(self, text: str) -> bool:
        """Whether a run of words that is denied is what the question asks: `without recurrence` denies
        nothing to a question that asks whether a treatment is sufficient."""
        if self.asks_finding and (_AFFIRMS.search(text) or _FINDING.search(text)):
            return True
        mentioned = self._mentioned(text)
        return bool(mentioned & self._places if self._is_a_quality else mentioned)

    def _mentioned(self, text: str) -> frozenset[int]:
        return self._concepts.read([terms(text)], [text])[0]


def _beside(question: str, sentence: str) -> bool:
    """Whether a sentence calls a finding independent of something that is not asked about: `regardless of
    size` denies an influence of size only."""
    found = _INDEPENDENT.search(sentence)
    return found is not None and not set(terms(sentence[found.end() :])) & set(terms(question))


def _nearest(question: str, findings: Sequence[str]) -> str | None:
    """The sentence that covers most of the question; None when none covers enough."""
    concepts = Concepts(question)
    weights = [w.technical + _WORD_WEIGHT if w.technical else _WEAK_WEIGHT for w in concepts.words]
    total = sum(weights)
    spoken = concepts.read([terms(text) for text in findings], findings)
    shares = [sum(weights[p] for p in places) / total if total else 0.0 for places in spoken]
    best = max(range(len(findings)), key=lambda n: shares[n])
    return findings[best] if shares[best] >= LEAST_COVERAGE else None


def _way(question: str, predicate: _Predicate, quoted: str, findings: str) -> Way | None:
    """The direction of a sentence (`quoted`), the nearest to the question among a work's findings."""
    sentence, whole = _HARMLESS.sub(" ", quoted), _HARMLESS.sub(" ", findings)
    runs = [match.group() for match in _DENIED.finditer(sentence)]
    bare = _DENIED.sub(" ", sentence)
    affirms = bool(_AFFIRMS.search(bare)) and (predicate.asks_finding or predicate.in_text(bare))
    if _ALIKE.search(quoted):
        alike, different = bool(_ASKS_ALIKE.search(question)), bool(_ASKS_DIFFERENT.search(question))
        if alike != different:
            return "yes" if alike else "no"
        if not runs:
            return None
    if runs and not _AFFIRMS.search(bare):
        return "no" if any(predicate.denied_by(run) for run in runs) else None
    if affirms and not _DENIES.search(whole):
        partly = _PARTLY.search(quoted) or (_LESS.search(quoted) and not _ASKS_LESS.search(question))
        return None if partly else "yes"
    return None
