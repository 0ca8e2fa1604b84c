"""Forms of a question that ask for an aspect of a subject, and what such a question asks for as a phrase."""

import re

from activities.text.pico import Parts
from activities.text.tokens import terms, weak_stems

_TREATMENT = r"(?:treatments?|therap(?:y|ies)|drugs?|medications?|medicines?|interventions?)"
_MAY = r"(?:(?:can|could|may|might|should|would|are|is) )?(?:\w+ly )?(?:be )?"
_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), phrase)
    for pattern, phrase in (
        (
            (
                r"^(?:what|which)(?: (?:\w+ )?(?:things?|factors?|variables?|characteristics))?"
                r" (?:influences?|affects?|determines?|predicts?|drives?|(?:leads?|contributes?) to"
                r"|(?:increases?|raises?|changes?) the (?:risk|chances?|likelihood) of"
                r"|(?:is|are) (?:associated|linked|correlated) with)\s+(?:the )?(?P<what>.+)$"
            ),
            "factors associated with {what}",
        ),
        (r"^what causes (?:an? |the )?(?P<what>.+)$", "causes of {what}"),
        (r"^how (?:is|are) (?P<what>.+?) diagnosed(?P<rest> .+)?$", "diagnosis of {what}{rest}"),
        (r"^how (?:is|are) (?P<what>.+?) (?:treated|managed)(?P<rest> .+)?$", "treatment of {what}{rest}"),
        (r"^how (?:is|are) (?P<what>.+?) inherited$", "inheritance of {what}"),
        (
            (
                r"^what (?:helps?|works?|can be done|is (?:effective|recommended)) (?:against|for|with)"
                r" (?P<what>.+)$"
            ),
            "treatments for {what}",
        ),
        (
            (
                rf"^(?:what|which) (?P<kind>(?:\w+ ){{0,2}}?{_TREATMENT}) {_MAY}"
                r"(?:(?:slow|stop|halt|prevent|treat|reduce|relieve|improve|delay|cure|ease|control|lower)(?:s|es)?"
                r"|(?:help|work)s? (?:in|for|against|with)"
                r"|(?:used|given|effective|recommended|approved) (?:in|for|against|to treat))"
                r"(?: the)?(?: (?:progression|course|development|symptoms|burden|risk) of(?: the)?)?"
                r" (?P<what>(?!(?:mortality|survival|life expectancy|deaths?)\b).+)$"
            ),
            "{kind} for {what}",
        ),
    )
)
"""Forms of questions that ask for an aspect, each with the phrase that asks for the same."""

_ASKS = re.compile(r"\b(?:what|which|who|why|how|when|where|whether)\b", re.IGNORECASE)
_NAMED_BEHIND = re.compile(
    r"\b(?:it|they|them|this|these)\b(?P<rest>[^()]*) \((?P<name>[^(),]+)\)$", re.IGNORECASE
)
"""A pronoun with what it stands for behind the clause, as the clauses of a question are written."""


def as_phrase(question: str) -> tuple[str, str] | None:
    """What a question asks for as a noun phrase, and its subject: `How is gout diagnosed?` asks for the
    diagnosis of gout, which is about gout. None for a question of another form or of several clauses."""
    for form, phrase in _PHRASES:
        found = form.match(_NAMED_BEHIND.sub(r"\g<name>\g<rest>", question))
        if found and not _ASKS.search(found.string, found.start("what")):
            words = {name: text or "" for name, text in found.groupdict().items()}
            return phrase.format(**words), words["what"] + words.get("rest", "")
    return None


def of_a_kind(parts: Parts) -> tuple[str, str] | None:
    """What a question for things of a kind asks for as a noun phrase: `Which drugs lower mortality in gout?`
    asks for drugs for gout, among other things, and is about gout. None for a question that names the thing
    itself."""
    if parts.population and parts.intervention and set(terms(parts.intervention)) <= weak_stems():
        return f"{parts.intervention} for {parts.population}", parts.population
    return None


def joined(parts: Parts) -> str:
    """The parts of a question as one subject: `coffee and liver cancer in older adults`. Empty where there is
    no intervention or nothing else."""
    others = [part for part in (parts.outcome, parts.comparison) if part]
    if not parts.intervention or not (others or parts.population):
        return ""
    things = [parts.intervention, *others]
    text = " and ".join(filter(None, [", ".join(things[:-1]), things[-1]]))
    return f"{text} in {parts.population}" if parts.population else text
