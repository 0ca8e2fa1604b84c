"""The phrases that may answer a question: causes, definitions, members of an enumeration, noun
phrases. Read by English grammar and by what the thesaurus says of parts of speech."""

import re
from collections.abc import Iterator

from activities.text import thesaurus
from activities.text.tokens import fold, is_function, terms, weak_stems

_LONGEST_NAME = 6
"""Words of a noun phrase at most."""
_LONGEST_SPAN = 22
"""Words of a cause or a definition at most."""
WORD = re.compile(r"[^\W_]+(?:[-'\u2019\u2010-\u2013/.][^\W_]+)*")
CAUSED = re.compile(
    r"\b(?:caused (?:in \w+ \w+ )?by|causes? (?:is|are|was)|due to|results? from|resulting from|because of"
    r"|attributed to|secondary to|induced by|associated with|linked to|leads? from)\s+(?P<what>[^;:]+)",
    re.IGNORECASE,
)
CAUSES = re.compile(
    r"(?P<what>[^;:,]+?)\s+(?:(?:can|may|could|is known to) )?(?:causes?|leads? to|results? in)\s",
    re.IGNORECASE,
)
DEFINED = re.compile(
    r"\b(?:is|are|was|were)\s+(?:defined as\s+)?(?P<what>(?:an?|the|one of)\s[^;:]+)"
    r"|\b(?:refers? to|defined as|known as|consists? of|characteri[sz]ed by)\s+(?P<more>[^;:]+)",
    re.IGNORECASE,
)
CALLED = re.compile(
    r"\b(?:called|named|known as|termed|referred to as|designated)\s+(?:the\s|an?\s)?(?P<what>[^,;:.()]+)",
    re.IGNORECASE,
)
_ENDS_SPAN = re.compile(
    r",\s|\s\((?=[^)]*$)|\s(?:which|that|and (?:is|are|was|has|leads?|causes?)|but|while|whereas|with"
    r"|resulting|leading|causing|(?:is|are|was|were|has|have|had)\s)",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(
    r"\s*(?:,|;)\s*(?:and |or |as well as )?|\s+(?:and|or|as well as)\s+|\s*\(?\b(?:\d|[ivx]{1,4})\)\s*"
)
_CUE = re.compile(
    r"\b(?:includ(?:e|es|ed|ing)|such as|namely|compris(?:e|es|ed|ing)|consist(?:s|ed|ing)? of"
    r"|characteri[sz]ed by|(?:is|are|were|was)(?: the)?|(?:caused|induced|produced) by|combination of|with|by"
    r"|of|for)\b:?|:",
    re.IGNORECASE,
)
_OPENS_A_LIST = re.compile(
    r"(?:includ|compris|consist|such as|namely|characteri[sz]ed).*|(?:is|are|were|was)(?: the)?:?|:"
    r"|combination of",
    re.IGNORECASE,
)
_OPENS = frozenset({"including", "include", "includes", "included", "such", "namely", "especially"})


_COUNTED = re.compile(r"\d[\d.,]*\s")
"""A number with what it counts, which is no name."""
_BEHIND_GERUND = re.compile(
    r"\s?[,.;:()]|$|\s(?:of|and|or|is|are|was|were|has|have|can|may|at|in)\b", re.IGNORECASE
)
_BEFORE_PARTICIPLE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|while|when|not|to)\s(?:\w+ly\s)?$|,\s$", re.IGNORECASE
)


def clause(text: str) -> str:
    """A phrase up to where its clause most likely ends."""
    cut = _ENDS_SPAN.search(text, 8)
    text = text[: cut.start()] if cut else text
    return " ".join(text.split()[:_LONGEST_SPAN]).strip(" ,.;:")


def last_words(text: str) -> str:
    return " ".join(text.split()[-_LONGEST_NAME:]).strip(" ,.;:")


def enumerated(text: str) -> Iterator[tuple[str, int, bool]]:
    """The members of enumerations of two or more: short phrases between commas and `and`, after the word that
    opens them; and whether that word says that a list follows (`include`, `such as`, a colon)."""
    start = 0
    parts: list[tuple[str, int]] = []
    for match in _SEPARATOR.finditer(text):
        parts.append((text[start : match.start()], start))
        start = match.end()
    parts.append((text[start:], start))
    run: list[tuple[str, int, bool]] = []
    opened = False
    for number, (part, at) in enumerate(parts):
        first, last = not run, number == len(parts) - 1
        if first:
            cues = list(_CUE.finditer(part))
            cut = cues[-1].end() if cues else 0
            opened = any(_OPENS_A_LIST.fullmatch(cue.group()) for cue in cues[-1:])
            phrases = list(noun_phrases(part[cut:]))
            cut += phrases[-1][1] if phrases else 0
            member, place = part[cut:], at + cut
        else:
            member, place = part, at
        name = member.strip(" ()[].:")
        offset = place + (len(member) - len(member.lstrip(" ()[].:")))
        stop = _ENDS_SPAN.search(name, 3)
        ends = stop is not None or last
        name = name[: stop.start()] if stop else name
        if 0 < len(name.split()) <= _LONGEST_NAME and any(c.isalpha() for c in name):
            run.append((_bare(name), offset, opened))
        else:
            ends = True
        if ends:
            if len(run) >= 2:
                yield from (member for member in run if is_name(member[0]))
            run = []


def _bare(name: str) -> str:
    """A name without articles and other function words at its ends."""
    words = name.split()
    while words and (is_function(words[0].strip("(),")) or fold(words[0]) in _OPENS):
        words = words[1:]
    while words and is_function(words[-1].strip("(),")):
        words = words[:-1]
    return " ".join(words).strip(" ,.;:()")


def is_name(name: str) -> bool:
    """Whether a phrase can name something: its last word is a noun or unknown to the dictionary, and it has a
    word that is not one of any study's."""
    last = fold(name.rsplit(" ", 1)[-1]) if name else ""
    kinds = thesaurus.parts_of_speech(last)
    noun = thesaurus.mostly_noun(last) or last.endswith("ing") if kinds else not last.endswith("ly")
    return (
        bool(last)
        and noun
        and not set(terms(name)) <= weak_stems()
        and not (last[0].isdigit() or _COUNTED.match(name))
    )


def _is_gerund(text: str, word: re.Match[str]) -> bool:
    """Whether a form in -ing names what is done (`splicing is a step`): a verb or the end of its phrase
    follows it, and no form of `to be` or conjunction of time stands before it."""
    if not word.group().endswith("ing"):
        return False
    return bool(_BEHIND_GERUND.match(text, word.end())) and not _BEFORE_PARTICIPLE.search(
        text[: word.start()]
    )


def noun_phrases(text: str) -> Iterator[tuple[str, int]]:
    """Runs of content words, without verbs and adverbs, as they stand."""
    run: list[re.Match[str]] = []
    last = 0

    def flush() -> Iterator[tuple[str, int]]:
        words = run[-_LONGEST_NAME:]
        while words and not is_name(words[-1].group()):
            words = words[:-1]
        if words:
            yield text[words[0].start() : words[-1].end()], words[0].start()

    for match in WORD.finditer(text):
        word = match.group()
        plain = fold(word)
        kinds = thesaurus.parts_of_speech(plain)
        gap = text[last : match.start()]
        last = match.end()
        if gap.strip(" "):
            yield from flush()
            run = []
        verb = "v" in kinds and not thesaurus.mostly_noun(plain) and (not run or "a" not in kinds)
        verb = verb and not _is_gerund(text, match)
        if is_function(word) or verb or kinds == {"r"} or plain.isdigit():
            yield from flush()
            run = []
            continue
        run.append(match)
    yield from flush()
