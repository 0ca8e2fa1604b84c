"""Reading a question: its mode, its profile, the names in it and the questions it is made of."""

import re
from collections.abc import Iterator
from itertools import pairwise

import nupunkt

from activities.extractive.sources import choose_sources
from activities.steps import ParsedQuery, ParseQueryInput
from activities.text.drugs import names_a_treatment
from activities.text.tokens import biomedical_cues, fold, is_function, phrases, terms, weak_stems
from activities.types import Mode

_SPACE = re.compile(r"\s+")
_OVERVIEW = re.compile(
    r"\b(compare|comparison|overview|review of|survey of|landscape|state of the art|"
    r"state of knowledge|what is (?:currently )?known|what do we know|everything about|in depth|in-depth|"
    r"comprehensive(?:ly)?|pros and cons|advantages and disadvantages|the history of|"
    r"report on|deep dive|evidence for and against|options for|approaches to)\b",
    re.IGNORECASE,
)
_REPURPOSING = re.compile(
    r"\b(re-?purpos\w+|re-?position\w+|off-label|existing drugs?|approved drugs?|old drugs?|drug candidates?|"
    r"candidate drugs?|(?:which|what) (?:\w+ ){0,3}(?:drugs?|medications?|medicines?|compounds?|agents?)"
    r"(?: \w+){0,4} (?:treat|help|work|slow|be used|against|for)|new (?:use|uses|indications?) (?:for|of))\b",
    re.IGNORECASE,
)
_BOUNDARY = re.compile(
    r"\s*[;?]\s+(?=\w)"
    r"|\s*[,;]?\s+(?:and|or|but)\s+(?=(?:how|what|which|why|when|where|who|whether|does|do|did|is|are|was|were"
    r"|can|could|should|would|will|has|have|in which|by which|to what extent)\b)"
    r"|\s*,\s+(?=(?:how|what|which|why|whether|to what extent)\b)",
    re.IGNORECASE,
)
_JOINT = re.compile(r"(?:and|or|but|also),?\s+", re.IGNORECASE)
_ASKS = re.compile(
    r"(?:how|what|which|why|when|where|who|whether|does|do|did|is|are|was|were|can|could|should|would|will|has"
    r"|have|may|might|must|in which|by which|to what extent)\b",
    re.IGNORECASE,
)
_ITEM = r"[^\s,;?()]+(?:[ \u00a0][^\s,;?()]+){0,3}?"
_LIST = re.compile(
    rf"(?P<first>{_ITEM}),\s+(?P<middle>(?:{_ITEM},\s+)*)(?P<before>{_ITEM}),?\s+(?:and|or)\s+(?P<last>[^\s,;?()]+)"
)
_OPENING = re.compile(
    r"^(?:please\s+)?(?:tell me|explain|describe|summari[sz]e|compare|review|give (?:me )?an overview of|"
    r"an overview of|overview of|i would like to know|i want to know|find out|what is (?:currently )?known "
    r"about|what do we know about|write a report (?:on|about)|report on|discuss)\s+(?:about\s+)?",
    re.IGNORECASE,
)

_FACT = re.compile(
    r"(?:who|when|where|how (?:many|much|old|long|often|large|common)|in which year|what (?:dose|year|share)"
    r"|what (?:is|are|was|were) the (?:\w+ )?(?:dose|prevalence|incidence|rate|frequency|half-life|name|cause"
    r"|number|age|date))\b",
    re.IGNORECASE,
)
"""Openings of questions that ask for one fact: who, when, how many."""
_AGAINST = re.compile(r"\b(?:versus|vs|compar\w+)\b", re.IGNORECASE)
_OF_IT = re.compile(r"^(?:its|their|the)\s+", re.IGNORECASE)
_POINTS_BACK = re.compile(r"\b(?:it|its|they|them|their|this|these|that)\b", re.IGNORECASE)
_OPEN_END = re.compile(r"\b(?:helps?|works?|matters?|differs?|changes?|suffices?)\W*$", re.IGNORECASE)
"""Verbs that leave open what they are about: `does early surgery help?`"""

SHORT_COMPARISON = 12
"""Words up to which a comparison is split; a longer one has too much between its terms."""
OFFERED_BY_DEFAULT = ("iterative", "deep")
MANY_ALTERNATIVES = 3
"""Things compared from which each is given to a team of its own."""
SHORT_QUESTION = 10
"""Words up to which a question for a fact needs one line of searches."""
LONG_QUESTION = 28
"""Words from which a question is held to need sections of its own."""
MOST_QUESTIONS = 6
MOST_JOINING = 3
"""Function words between two names that are one topic at most."""
MOST_ENTITIES = 10


def parse_query(step: ParseQueryInput) -> ParsedQuery:
    """Choose mode, profile and sources, and split the question into its clauses and names."""
    question = _SPACE.sub(" ", step.question).strip()
    names = phrases(question)[:MOST_ENTITIES]
    clauses = split_clauses(question)
    mode, why_mode = (
        (step.mode, "you asked for it") if step.mode else choose_mode(question, clauses, tuple(step.modes))
    )
    profile, why_profile = choose_profile(question, step.profiles, step.profile.name)
    return ParsedQuery(
        original_query=step.question,
        improved_query=question,
        research_mode=mode,
        profile=profile,
        sources=choose_sources(question, step.sources, step.preferred(profile)),
        key_entities=names,
        research_questions=clauses,
        rationale=f"Mode {mode} because {why_mode}; profile {profile} because {why_profile}.",
    )


def choose_mode(question: str, clauses: tuple[str, ...], modes: tuple[str, ...] = ()) -> tuple[Mode, str]:
    """The mode among those that are offered (none stands for `iterative` and `deep`), and the reason."""
    fitting = list(_fitting_modes(question, clauses))
    allowed = modes or OFFERED_BY_DEFAULT
    mode, reason = next((one for one in fitting if one[0] in allowed), fitting[-1])
    if mode == fitting[0][0] or not modes:
        return mode, reason
    return mode, f"{reason}, and {fitting[0][0]} is not available here"


def _fitting_modes(question: str, clauses: tuple[str, ...]) -> Iterator[tuple[Mode, str]]:
    """The modes that fit a question, the best first, each with the reason. The last one fits any question."""
    cue = _OVERVIEW.search(question)
    words = len(question.split())
    if len(clauses) >= MANY_ALTERNATIVES and (cue or _AGAINST.search(question)):
        yield "hierarchical", f"it compares {len(clauses)} things"
    if drugs := _REPURPOSING.search(question):
        yield "team", f'"{drugs.group()}" asks for candidates'
    if cue:
        yield "deep", f'"{cue.group()}" asks for a broad answer'
    elif len(clauses) > 1:
        yield "deep", f"the question has {len(clauses)} parts"
    elif words >= LONG_QUESTION:
        yield "deep", f"the question is long ({words} words)"
    elif words <= SHORT_QUESTION and _FACT.match(question):
        yield "simple", "it asks for a single fact"
    yield "iterative", "it is a single question"


def choose_profile(question: str, profiles: dict[str, str], given: str) -> tuple[str, str]:
    """A profile among those on offer (`given` where none are), and the reason in plain words."""
    if not profiles:
        return given, "you asked for it"
    cue = _REPURPOSING.search(question)
    if cue and "drug_repurposing" in profiles:
        return "drug_repurposing", f'"{cue.group()}" asks for drugs to repurpose'
    cues = biomedical_cues(question)
    if (cues or names_a_treatment(question)) and "biomedical" in profiles:
        return "biomedical", "its vocabulary is biomedical"
    own = _best_described(question, profiles)
    if own:
        return own, "its description fits the question best"
    if "general" in profiles:
        return "general", "nothing in it points to a special field"
    return (given if given in profiles else min(profiles)), "nothing in it points to another"


def _best_described(question: str, profiles: dict[str, str]) -> str:
    """A profile of the user's own whose description shares at least two words with the question."""
    asked = set(terms(question)) - weak_stems()
    shared = {
        name: len(asked & set(terms(text)))
        for name, text in sorted(profiles.items())
        if name not in ("general", "biomedical", "drug_repurposing")
    }
    best = max(shared, key=lambda n: shared[n], default="")
    return best if best and shared[best] >= 2 else ""


def split_clauses(question: str) -> tuple[str, ...]:
    """The questions a question is made of, each able to stand alone.

    Parts that each ask for something are split; the names of the first are added to a later one that only
    points back (`it`, `they`). Two or more things compared become one question each.
    """
    clauses = _parts(question)
    if not clauses:
        return (question,) if question else ()
    whole: list[str] = []
    topic = ", ".join(phrases(clauses[0])[:3])
    for number, clause in enumerate(clauses):
        back = _POINTS_BACK.search(clause) or _OPEN_END.search(clause) or not phrases(clause)
        named = f"{clause.rstrip('?')} ({topic})" if number and topic and back else clause
        whole.extend(_alternatives(named))
    tidy = [c if c.endswith("?") or not _ASKS.match(c) else f"{c}?" for c in whole]
    tidy = [c[:1].upper() + c[1:] if _ASKS.match(c) else c for c in tidy]
    return tuple(dict.fromkeys(tidy))[:MOST_QUESTIONS]


def _parts(question: str) -> list[str]:
    """The question cut where both sides ask for something: a heading before a question stays with it."""
    cuts = [(m.start(), m.end()) for m in _BOUNDARY.finditer(question)]
    for (_, end), (start, _) in pairwise(nupunkt.sent_spans(question)):
        joint = _JOINT.match(question, start)
        cuts.append((end, joint.end() if joint else start))
    parts: list[str] = []
    begun = 0
    for end, start in sorted(set(cuts)):
        if end <= begun:
            continue
        left, right = question[begun:end], question[start:]
        if (_ASKS.match(left) or _OPENING.match(left)) and (_ASKS.match(right) or _OPENING.match(right)):
            parts.append(left)
            begun = start
    parts.append(question[begun:])
    return [p.strip(" ,;.") for p in parts if len(p.split()) >= 2]


def _alternatives(clause: str) -> list[str]:
    """`Compare A, B and C for D` -> one question for each of A, B and C; otherwise the clause itself."""
    if not _OVERVIEW.search(clause) and not _AGAINST.search(clause):
        return [clause]
    body = _OPENING.sub("", clause).strip(" ?.")
    if len(body.split()) > SHORT_COMPARISON or ":" in body:
        return [clause]
    match = _LIST.search(body)
    if match:
        middle = [m.strip() for m in match["middle"].split(",") if m.strip()]
        items = [match["first"], *middle, match["before"], match["last"]]
        items = [_OF_IT.sub("", item) for item in items]
    else:
        pair = re.search(
            r"(?P<a>[^\s,;?()]+)\s+(?:versus|vs\.?|and)\s+(?P<b>[^\s,;?()]+)", body, re.IGNORECASE
        )
        if not pair or not _AGAINST.search(clause):
            return [body if body and body != clause.strip(" ?.") else clause]
        match, items = pair, [pair["a"], pair["b"]]
    before, after = body[: match.start()].strip(), body[match.end() :].strip()
    parts = [_SPACE.sub(" ", f"{before} {item} {after}").strip() for item in items if fold(item) != "placebo"]
    return parts or [clause]


def topic_of(question: str, entities: tuple[str, ...] = ()) -> str:
    """What a question is about, in a few words as typed."""
    named = entities or phrases(question)
    # `surgery` beside `laparoscopic surgery` says nothing more
    names = tuple(n for n in named if not any(fold(o).endswith(f" {fold(n)}") for o in named))
    if not names:
        return question.strip(" ?.")[:80]
    first = names[:3]
    between = [_between(question, one, other) for one, other in pairwise(first)]
    if all(between):
        return first[0] + "".join(f"{gap}{name}" for gap, name in zip(between, first[1:], strict=True))
    return " and ".join(filter(None, [", ".join(first[:-1]), first[-1]]))


def _between(question: str, one: str, other: str) -> str:
    """What joins two names in the question where it is only function words (`survival in lung cancer`)."""
    start = question.find(one)
    end = question.find(other, start + len(one)) if start >= 0 else -1
    gap = question[start + len(one) : end] if end >= 0 else ""
    words = gap.split()
    joined = bool(words) and len(words) <= MOST_JOINING and gap[:1] == gap[-1:] == " "
    return gap if joined and all(word.isalpha() and is_function(word) for word in words) else ""
