"""A direction that the tests of a work bear out, where the wording of its conclusion alone is not certain.

The conclusion must be of one piece: it affirms, and denies, doubts, weighs and demands nothing anywhere
(yes), or it denies and affirms nothing in the sentence nearest to the question (no); and the tests that the
rest of the work reports (`significance`) found something more often than nothing, or nothing more often.
Neither suffices alone.
"""

from collections.abc import Sequence
from typing import Literal

from activities.text import verdict_wording as wording
from activities.text.opposites import change, undirected
from activities.text.predicate import Predicate
from activities.text.significance import balance


def reported_tests(work: str, findings: Sequence[str]) -> int:
    """The balance of the tests that a work reports outside its conclusions."""
    results = work
    for finding in findings:
        results = results.replace(finding, " ")
    return balance(results)


def borne_out(
    question: str, predicate: Predicate, near: Sequence[str], findings: Sequence[str], tests: int
) -> tuple[Literal["yes", "no"], str] | None:
    """The direction with the sentence that says it. `near`: the sentences that are near to the question, the
    nearest first; `findings`: all of the conclusion; `tests`: the balance of the work's tests."""
    whole = wording.HARMLESS.sub(" ", " ".join(findings))
    if not tests or wording.DOUBTS.search(whole) or wording.WEIGHS.search(whole):
        return None
    if wording.QUANTIFIED.search(question) or wording.ASKS_DENIED_WITHIN.search(question):
        return None
    if tests > 0 and not wording.DENIES.search(whole):
        return next((("yes", text) for text in near if _affirms(question, predicate, text)), None)
    if tests < 0 and near and _denies(predicate, near[0]):
        return "no", near[0]
    return None


def _affirms(question: str, predicate: Predicate, sentence: str) -> bool:
    """Whether a sentence states a finding of the kind asked about, and not what is to be done."""
    if not wording.AFFIRMS.search(sentence) or wording.DEMANDS.search(sentence):
        return False
    if wording.ALIKE.search(sentence) and not wording.ASKS_ALIKE.search(question):
        return False
    on_it = predicate.asks_finding or predicate.in_text(sentence)
    return on_it and not undirected(question, sentence) and change(question, sentence) != "opposite"


def _denies(predicate: Predicate, sentence: str) -> bool:
    """Whether a sentence denies what is asked and affirms nothing."""
    bare = wording.DENIED.sub(" ", wording.HARMLESS.sub(" ", sentence))
    runs = (match.group() for match in wording.DENIED.finditer(wording.HARMLESS.sub(" ", sentence)))
    return not wording.AFFIRMS.search(bare) and any(predicate.denied_by(run) for run in runs)
