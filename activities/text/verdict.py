"""Which way a work answers a yes-or-no question, where its wording leaves no doubt.

Rules over the main clauses of the sentences in which a work states its findings (`concessions`): an
affirmation of the finding or the relation that is asked means yes; a denial of it means no, and so does a
quality with a denying prefix (`inadequate`), the opposite change (`opposites`), a counter-example to a
question about all, and what denies a cause, a use or an efficacy by a form of its own
(`verdict_relations`). Several sentences may decide where they agree. There is no verdict where the work
weighs two sides (`but`, `however`), where the question itself denies, where the finding is `only`,
`questionable` or `unclear`, where `no difference` answers a question that does not ask for one, and where
no sentence covers enough of the question. The conclusion of a work that covers the question need not repeat
all of it, and where its wording alone is not certain the tests that the work reports may bear it out
(`borne_out`), or a conclusion that affirms throughout (`affirmed_throughout`); what is said as possible only
(`hedges`) has no direction unless the tests bear it out, and what leaves a number, a frequency or a quality
unsaid (`unsaid`) affirms nothing. A wrong direction costs more than none: measured by
`benchmarks/directions.py`, which prints why there is none.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from activities.text import thesaurus
from activities.text import verdict_relations as relations
from activities.text import verdict_wording as wording
from activities.text.abbreviations import Abbreviations
from activities.text.affirmed_throughout import affirmed_throughout
from activities.text.borne_out import borne_out, reported_tests
from activities.text.concepts import Concepts
from activities.text.concessions import main_clauses
from activities.text.contraries import contrary_said
from activities.text.elided import completed
from activities.text.entities import resolve
from activities.text.harms import asks_safety, harm
from activities.text.hedges import unhedged
from activities.text.members import counted_among, said_to_be
from activities.text.opposites import change, changed, denies_opposite, undirected
from activities.text.predicate import Predicate, weights_of
from activities.text.question import compared, is_yes_or_no, stems
from activities.text.study_wording import PEOPLE
from activities.text.technical import TECHNICAL, technical
from activities.text.tokens import fold, is_function, stem, terms, weak_stems
from activities.text.two_sides import weighed
from activities.text.unsaid import unsaid

Way = Literal["yes", "no", "mixed"]
Undecided = Literal[
    "no yes-or-no question",
    "the question denies",
    "no sentence on the question",
    "one side of a comparison",
    "independent of something else",
    "a part of what is asked",
    "weighs two sides",
    "doubt",
    "sentences disagree",
    "hedged",
    "part unsaid",
    "tests",
    "wording",
]
"""Why a work has no direction; `hedged`: it says what is asked only as possible, and no tests bear it out;
`part unsaid`: it lacks a number, a frequency or a quality that is asked for; `tests`: it affirms with a hedge
somewhere, and its tests mostly found nothing."""
LEAST_COVERAGE = 0.6
"""Share of the question's weight in the decisive sentence at least."""
LEAST_OF_WORK, LEAST_CONCLUDING = 0.5, 0.15
"""The same of a conclusion whose work holds so much of the question."""
LEAST_NAMED = 0.3
"""Share from which a sentence need not name the first thing of the question to be borne out by tests, and
from which it affirms as part of a conclusion that affirms throughout or as `supports the hypothesis`."""
LEAST_OF_NEAREST = 0.6
"""Share of what the nearest sentence covers that another one must cover to be read."""
READ = 20_000
"""Characters of a work that are read for what it is about: its title, its abstract and more."""
_THAN = re.compile(r"\bthan\b|(?<=superior )to\b|(?<=inferior )to\b", re.IGNORECASE)
_WORDS = re.compile(r"[^\W_]+(?:[-'/][^\W_]+)*|[,;:.()]")
_OF_PEOPLE = re.compile(
    rf"\b(?:{PEOPLE}|populations?|cohorts?) (?:with|who have|having) (?:\w+ ){{0,2}}?\w+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A direction and the sentence it rests on."""

    way: Way
    sentence: str


def verdict(question: str, findings: Sequence[str], work: str = "") -> Verdict | None:
    """The direction of a work whose findings these sentences state; None where it is uncertain. `work`: its
    whole text, where the sentences are its conclusions."""
    found = weigh(question, findings, work)
    return found if isinstance(found, Verdict) else None


def weigh(question: str, findings: Sequence[str], work: str = "") -> Verdict | Undecided:
    """The direction, or why none is given."""
    question = question.strip() if question.rstrip().endswith("?") else f"{question.rstrip(' .!')}?"
    question = question if is_yes_or_no(question) else completed(question)
    if not is_yes_or_no(question):
        return "no yes-or-no question"
    if wording.ASKS_DENIED.search(question):
        return "the question denies"
    of_all = bool(relations.UNIVERSAL.search(question))
    whole = {text if of_all else main_clauses(text): text for text in findings}
    stated = [text for text in whole if text]
    known = Abbreviations((question, *findings, work[:READ]))
    near = _near(Concepts(question, known), stated, work)
    if not near:
        return "no sentence on the question"
    predicate = Predicate(question, known)
    if of_all:
        found = [_of_all(question, predicate, text) for text, _ in near]
    else:
        found = [_read(question, predicate, text, share, stated) for text, share in near]
    sure = [reading for reading in found if isinstance(reading, Verdict)]
    if len({reading.way for reading in sure}) > 1:
        return "sentences disagree"
    tests = reported_tests(work[:READ], findings)
    sure = [r for r in sure if r.way != "yes" or not unsaid(question, predicate, r.sentence)]
    if sure:
        if tests <= 0 and all(_hedged(question, predicate, reading) for reading in sure):
            return "hedged"
        hedged = sure[0].way == "yes" and wording.HEDGES.search(sure[0].sentence)
        return "tests" if hedged and tests < 0 else Verdict(sure[0].way, whole[sure[0].sentence])
    if isinstance(found[0], Verdict):
        return "part unsaid"
    if found[0] == "weighs two sides":
        shares = dict(near)

        def alone(text: str) -> Literal["yes", "no"] | None:
            reading = _read(question, predicate, text, shares[text], [text]) if text in shares else None
            return reading.way if isinstance(reading, Verdict) and reading.way != "mixed" else None

        two = weighed(stated, alone)
        return Verdict(two[0], _together([whole[text] for text in two[1]], work)) if two else found[0]
    if not of_all and found[0] in ("wording", "no sentence on the question"):
        named = [text for text, share in near if share >= LEAST_NAMED or predicate.names_first(text)]
        borne = borne_out(question, predicate, named, stated, tests)
        if borne and borne[0] == "yes" and unsaid(question, predicate, borne[1]):
            return "part unsaid"
        if borne:
            return Verdict(borne[0], whole[borne[1]])
        if not work:  # what is quoted of a work without conclusions need not be all that it says
            return found[0]
        covering = [
            text
            for (text, share), reading in zip(near, found, strict=True)
            if share >= LEAST_NAMED and reading in ("wording", "no sentence on the question")
        ]
        affirmed = affirmed_throughout(question, predicate, covering, stated, tests)
        if affirmed is None:
            return found[0]
        if unsaid(question, predicate, affirmed):
            return "part unsaid"
        if tests <= 0 and _hedged(question, predicate, Verdict("yes", affirmed)):
            return "hedged"
        return Verdict("yes", whole[affirmed])
    return found[0]


def _hedged(question: str, predicate: Predicate, reading: Verdict) -> bool:
    """Whether a sentence says what it is read for only as possible."""
    stated = unhedged(question, reading.sentence)
    if stated == " ".join(reading.sentence.split()) or reading.way == "mixed":
        return False
    if wording.SUPPORTED.search(stated):  # a hypothesis that is supported may be worded as one
        return False
    if reading.way == "no":
        denies = wording.DENIES.search(stated) or change(question, stated) == "opposite"
        return not (denies or contrary_said(question, stated))
    if predicate.loses(reading.sentence, stated):
        return True
    again = _way(question, predicate, stated, stated)
    return again != "yes" and not (wording.AFFIRMS.search(stated) and predicate.states(stated))


def _together(sentences: Sequence[str], work: str) -> str:
    """Neighbouring sentences as the one run that they are in a work; the first where they are none."""
    run = " ".join(sentences)
    return run if run in " ".join(work.split()) else sentences[0]


def _read(
    question: str, predicate: Predicate, sentence: str, share: float, findings: Sequence[str]
) -> Verdict | Undecided:
    """The direction of one sentence among a work's findings, or why it gives none."""
    sides = compared(question)
    if sides is not None and not stems(sentence) & sides[1]:
        return "one side of a comparison"
    if _reversed(question, sentence):
        return "one side of a comparison"
    if _beside(question, sentence):
        return "independent of something else"
    if _on_a_part(question, sentence):
        return "a part of what is asked"
    another = relations.beside(question, sentence) and predicate.in_text(sentence)
    if contrary_said(question, sentence) or (another and share >= LEAST_COVERAGE):
        return Verdict("no", sentence)
    undenied = wording.DENIED.sub(" ", sentence)
    said = relations.exists(question, undenied) or counted_among(predicate, undenied)
    if said and share >= LEAST_COVERAGE:
        return Verdict("yes", sentence)
    if any(wording.WEIGHS.search(relations.without_safety(question, text)) for text in findings):
        return "weighs two sides"
    whole = " ".join(findings)
    if wording.DOUBTS.search(whole):
        return "doubt"
    way = _way(question, predicate, sentence, whole)
    denied = " ".join(match.group() for match in wording.DENIED.finditer(sentence))
    opposite = not denied and change(question, sentence) == "opposite"
    sure = opposite or relations.denied(question, sentence) or predicate.is_denied(sentence)
    alike = wording.ALIKE.search(sentence) and wording.ASKS_DIFFERENT.search(question)
    sure = sure or bool(alike and share >= LEAST_COVERAGE)
    if way is None or (way == "no" and not sure):
        return "wording"
    if way == "no" and not opposite and denies_opposite(question, denied):
        return "wording"
    least = LEAST_NAMED if wording.SUPPORTED.search(sentence) else LEAST_COVERAGE
    if way == "yes" and share < least and not predicate.restated_briefly(sentence):
        return "no sentence on the question"
    return Verdict(way, sentence)


def _of_all(question: str, predicate: Predicate, sentence: str) -> Verdict | Undecided:
    """The same for a question about all of a kind (`are enhancers always active?`): one counter-example
    denies
    it, and only a statement on all affirms it."""
    exception = relations.NOT_ALL.search(sentence) and predicate.in_text(sentence)
    exception = exception or relations.not_all(question, sentence)
    denied = any(predicate.in_text(match.group()) for match in wording.DENIED.finditer(sentence))
    if exception or denied or predicate.contrary_in(sentence):
        return Verdict("no", sentence)
    if relations.UNIVERSAL.search(sentence) and predicate.restated(sentence):
        return Verdict("yes", sentence)
    return "wording"


def _reversed(question: str, sentence: str) -> bool:
    """Whether a sentence compares the two things of a question the other way round: `B was cheaper than A`
    does not answer `is A better than B?`."""
    sides = [_THAN.split(text, maxsplit=1) for text in (question, sentence)]
    if any(len(parts) < 2 for parts in sides):
        return False
    (one, other), (first, second) = ([{*terms(part)} for part in parts] for parts in sides)
    one, other, first, second = one - other, other - one, first - second, second - first
    degree = {term for before, _ in sides for term in terms(before.split()[-1] if before.split() else "")}
    return bool(other & first and one & second) and not one & first - degree


def _beside(question: str, sentence: str) -> bool:
    """Whether a sentence calls a finding independent of something that is not asked about: `regardless of
    size` denies an influence of size only."""
    found = wording.INDEPENDENT.search(sentence)
    return found is not None and not set(terms(sentence[found.end() :])) & set(terms(question))


def _on_a_part(question: str, sentence: str) -> bool:
    """Whether a sentence speaks of a thing that the question asks about only as of what something else is of:
    `obesity and asthma control` is not on asthma. Whom a study was made on (`patients with asthma`) does not
    count."""
    asked = _WORDS.findall(fold(question))
    said = _WORDS.findall(fold(_OF_PEOPLE.sub(" ", sentence)))
    own = {stem(word) for word in asked}
    for place, word in enumerate(asked):
        following = asked[place + 1] if place + 1 < len(asked) else ""
        if technical(word) < TECHNICAL or (following and not is_function(following)):
            continue
        behind = [said[n : n + 2] for n, other in enumerate(said) if stem(other) == stem(word)]
        if behind and all(len(pair) > 1 and _is_another(pair[0], pair[1], own) for pair in behind):
            return True
    return False


def _is_another(before: str, word: str, own: Collection[str]) -> bool:
    """Whether a word is a noun for something that neither the question names nor any study has, and no part
    of a name with the word before it (`depressive disorder`)."""
    if resolve(f"{before} {word}") is not None:
        return False
    known = stem(word) in own or stem(word) in weak_stems()
    return thesaurus.mostly_noun(word) and not known and not is_function(word)


def _shares(concepts: Concepts, texts: Sequence[str]) -> list[float]:
    """How much of the question each text holds, 0 to 1."""
    weights = weights_of(concepts)
    total = sum(weights)
    spoken = concepts.read([terms(text) for text in texts], texts)
    return [sum(weights[p] for p in places) / total if total else 0.0 for places in spoken]


def _near(concepts: Concepts, findings: Sequence[str], work: str) -> list[tuple[str, float]]:
    """The sentences that cover enough of the question with what they cover, the nearest first. The conclusion
    of a work that covers the question need not repeat it."""
    if not findings:
        return []
    *shares, whole = _shares(concepts, (*findings, work[:READ]))
    least = LEAST_CONCLUDING if whole >= LEAST_OF_WORK else LEAST_COVERAGE
    least = max(least, LEAST_OF_NEAREST * max(shares))
    order = sorted(range(len(findings)), key=lambda n: (-shares[n], n))
    return [(findings[n], shares[n]) for n in order if shares[n] >= least]


def _way(question: str, predicate: Predicate, quoted: str, findings: str) -> Way | None:
    """The direction of a sentence (`quoted`), the nearest to the question among a work's findings."""
    quoted = relations.without_safety(question, quoted)
    if asks_safety(question) and (found := harm(quoted)) != "none":
        return "yes" if found == "denied" else None
    sentence, whole = predicate.without_harmless(quoted), predicate.without_harmless(findings)
    runs = [match.group() for match in wording.DENIED.finditer(sentence)]
    bare = wording.DENIED.sub(" ", sentence)
    if wording.ALIKE.search(quoted):
        alike, different = (
            bool(wording.ASKS_ALIKE.search(question)),
            bool(wording.ASKS_DIFFERENT.search(question)),
        )
        if alike != different:
            return "yes" if alike else "no"
        bare = wording.ALIKE.sub(" ", bare)
    if predicate.contrary_in(sentence):
        return None if wording.DIRECTLY_DENIED.search(sentence) else "no"
    if any(predicate.in_text(match.group()) for match in wording.DIRECTLY_DENIED.finditer(sentence)):
        return "no"
    if predicate.class_denied(sentence):
        return "no"
    if wording.NOT_SUPPORTED.search(sentence) or relations.denied(question, sentence):
        return "no"
    missing = wording.NO_FINDING.search(sentence) if predicate.asks_finding else None
    if missing and not wording.AFFIRMS.search(sentence[: missing.start()]):
        return "no"
    if runs and not wording.AFFIRMS.search(bare):
        return "no" if any(predicate.denied_by(run) for run in runs) else None
    return _affirmed(question, predicate, quoted, whole)


def _affirmed(question: str, predicate: Predicate, quoted: str, whole: str) -> Way | None:
    """The direction of a sentence that does not deny what is asked: yes where it states the finding, the
    relation or the very thing that is asked, no where it states the opposite change."""
    sentence = predicate.without_harmless(quoted)
    bare = wording.ALIKE.sub(" ", wording.DENIED.sub(" ", sentence))
    denies = bool(wording.DENIED.search(sentence))
    duty = relations.to_be_done(question, bare) and predicate.may_be_said_by(bare)
    plain, stating = wording.COMPOUND.sub("", question), wording.COMPOUND.sub("", bare)
    asked = [says for asks, says in relations.RELATIONS if asks.search(plain)]
    related = any(says.search(stating) for says in asked) or relations.works(question, bare)
    found = wording.AFFIRMS.search(bare) and (predicate.asks_finding or predicate.in_text(bare))
    if relations.ASKS_DUTY.search(question) and not predicate.may_be_said_by(bare):
        found = None
    restates = not denies and (related or not asked) and not predicate.evaluates
    if wording.ALIKE.search(quoted) and not wording.ASKS_ALIKE.search(question):
        restates = False
    if predicate.asks_class and restates:
        restates = said_to_be(predicate, quoted)
    if relations.EXISTENCE.search(question):  # naming a thing does not say that it is there
        restates = False
    supported = wording.SUPPORTED.search(bare) and (predicate.in_text(bare) or predicate.names_first(bare))
    stated = change(question, sentence)
    changes = stated == "as asked" and not denies
    if not (duty or related or found or supported or changes or (restates and predicate.restated(quoted))):
        return None
    if wording.DENIES.search(whole) or relations.pending(question, sentence):
        return None
    if predicate.denied_by_prefix(sentence):
        return None
    if not predicate.mentions(changed(question), sentence):
        return None
    if undirected(question, sentence):
        return None
    if stated in ("opposite", "uncertain"):
        return "no" if stated == "opposite" and not denies else None
    if wording.QUANTIFIED.search(question) and not duty and not predicate.quantified(quoted):
        return None
    partly = wording.PARTLY.search(quoted)
    less = wording.LESS.search(wording.LESS_HARM.sub(" ", quoted)) and not (
        wording.ASKS_LESS.search(question) or wording.ASKS_EITHER_WAY.search(question)
    )
    return None if partly or less else "yes"
