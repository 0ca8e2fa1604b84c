"""Persons whom a text names beside what they are or do: `Ada Ferris (chair)`, `Ada Ferris, our chair,`,
`chair: Ada Ferris`, `the chair, Ada Ferris`, `chaired by Ada Ferris`, `Ada Ferris chairs`.

Forms of English apposition and of labels; which role is meant is said by the question.
"""

import re
from collections.abc import Collection, Iterator

from activities.text import thesaurus
from activities.text.persons_and_places import named
from activities.text.tokens import fold, is_function, stem

_WORD = re.compile(r"[^\W\d_]+(?:[-'\u2019][^\W\d_]+)*")
_IN_BRACKETS = re.compile(r"\s?\((?P<role>[^()]{2,60})\)")
_APPOSITION = re.compile(
    r",\s(?:(?:the|our|its|his|her|their|my|an?)\s)?(?P<role>[^,;:.()]{2,60})(?=[,;.)]|$)"
)
_COPULA = re.compile(
    r"\s(?:(?:is|was|are|were|remains?|became|becomes?|acts? as|acted as|serves? as|served as|as|will be)\s)"
    r"(?:(?:the|our|its|his|her|their|my|an?)\s)?(?P<role>[^,;:.()]{2,60})"
)
_VERB = re.compile(r"\s(?:(?:will|has|had|also|now)\s)*(?P<role>[a-z]+)\b")
_LABEL = re.compile(r"(?:^|[.;,(\n]\s?|\s-\s)(?P<role>[^.;,:()\n]{2,60}):\s$")
_BEFORE = re.compile(
    r"\b(?:the|our|its|his|her|their|my)\s(?P<named>[^\W\d_]+(?:[ -][^\W\d_]+)?)(?:,| is| was)\s$"
    r"|(?P<title>\b[^\W\d_]+(?:-[^\W\d_]+)?)\s$",
    re.IGNORECASE,
)
_BY = re.compile(r"(?P<role>\b[a-z]+ed) by (?:(?:the|our)\s)?$")
_AGENT = re.compile(r"(?:or|er|ar|ress|ist|ent|ant)$")
_PERSONS = "18"
"""WordNet's file of nouns for persons."""
_WHO_IS = re.compile(
    r"^(?:and |so )?who(?: is|'s| was| are| were| will be| became| acts as| serves as)"
    r"(?: now| currently)? (?:the |our |its |my |your |their |an? )?(?P<role>[a-z][a-z -]{2,60}?)"
    r"(?: (?:of|in|at|for|on|to|by|with|from|when|during|now)\b|\s*\?|$)",
    re.IGNORECASE,
)


def asked_role(question: str) -> str:
    """The noun for a person in `who is the chair of the board?`, in lower case; empty for other questions."""
    found = _WHO_IS.match(" ".join(question.split()))
    head = fold(found["role"]).rsplit(" ", 1)[-1] if found else ""
    return head if _PERSONS in thesaurus.files(head) else ""


def persons_in_role(question: str, text: str) -> Iterator[tuple[str, int]]:
    """The named persons beside whom a text says a role that the question names, and where each begins."""
    role = asked_role(question)
    called = (role, *thesaurus.synonyms(role, frozenset({_PERSONS}))) if role else _words(question)
    wanted = {_root(word) for word in called}
    for name, start in named(text):
        before, after = text[:start], text[start + len(name) :]
        beside = (
            _IN_BRACKETS.match(after),
            _APPOSITION.match(after),
            _COPULA.match(after),
            _VERB.match(after),
        )
        ahead = (_LABEL.search(before), _BEFORE.search(before), _BY.search(before))
        said = (match[match.lastgroup or 0] for match in (*beside, *ahead) if match is not None)
        if any(wanted & {_root(word) for word in _words(role)} for role in said):
            yield name, start


def roles_said(text: str) -> bool:
    """Whether a text gives a role in brackets behind one of several names."""
    return any(_IN_BRACKETS.match(text[start + len(name) :]) for name, start in named(text))


def _words(text: str) -> Collection[str]:
    return [word for match in _WORD.finditer(text) if not is_function(word := fold(match.group()))]


def _root(word: str) -> str:
    """The stem of a word, and of the verb where it names who does something (supervisor, supervised)."""
    plain = fold(word)
    bare = _AGENT.sub("", plain)
    if bare != plain and len(bare) > 3 and "n" in thesaurus.parts_of_speech(plain):
        return stem(bare + "e") if "v" in thesaurus.parts_of_speech(bare + "e") else stem(bare)
    return stem(plain)
