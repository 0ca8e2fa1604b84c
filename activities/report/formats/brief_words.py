"""The wording of the short answer that code makes of verified facts."""

import re

from activities.report.formats.grammar import (
    counted,
    in_sentence_case,
    in_words,
    listed,
    plural,
    with_article,
)
from activities.text.numerals import COUNT
from activities.types import Statement


def brief_works(s: Statement) -> str:
    named = [kind.partition(" ") for kind in s.texts("kinds")]
    forms = [
        f"{in_words(int(count))} {kind if count == '1' else plural(kind)}"
        for count, _, kind in named
        if kind and count.isdigit()
    ]
    typed = sum(int(count) for count, _, kind in named if kind and count.isdigit())
    works, first, last = s.number("works"), s.number("first"), s.number("last")
    everything = f"{in_words(works)} works"
    who = (
        listed(forms)
        if typed == works
        else f"{everything}, among them {listed(forms)},"
        if forms
        else everything
    )
    text = f"{who[:1].upper()}{who[1:]} help with this question"
    if last:
        text += f"; they appeared in {first}" if first == last else f"; they appeared from {first} to {last}"
    least, most, sized = s.number("least"), s.number("most"), s.number("sized")
    if most:
        size = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        told = "" if sized == works else f", where they give the number ({sized} of {works})"
        text += f", with {size} participants{told}"
    if s.number("studies") and s.number("studies") < works:
        text += f"; some report the same study, so that there are {in_words(s.number('studies'))} studies"
    return f"{text} {s.text('mark')}".rstrip() + "."


def brief_direction(s: Statement) -> str:
    sides = [(name, s.text(name)) for name in ("affirms", "denies", "mixed") if s.text(name)]
    words = {"affirms": "affirmed by", "denies": "denied by", "mixed": "both affirmed and denied by"}
    said = listed(f"{words[name]} {mark}" for name, mark in sides)
    told = sum(mark.count(",") + 1 for _, mark in sides)
    rest = s.number("of") - told
    other = f"; the wording of {counted(rest, 'other work')} does not say either with certainty"
    return f"What is asked is {said}{other if rest > 0 else ''}."


def brief_finding(s: Statement) -> str:
    kind, people, n = s.text("kind"), in_sentence_case(s.text("population")), s.number("n")
    if s.number("again"):
        lead = "Against this, " if s.code == "brief_against" else "In figures, "
        again = s.text("quote").strip().rstrip(".")
        return f"{lead}the same work reports: \u201c{again}\u201d {s.text('mark')}."
    who = with_article(kind) if kind else "One work"
    year = f" of {s.number('year')}" if s.number("year") else ""
    if people:
        size = f" (n = {n:,})" if n and not re.match(rf"(?:{COUNT})\b", people, re.IGNORECASE) else ""
        about = f" in {people if people[1:2].isupper() else people[:1].lower() + people[1:]}{size}"
    else:
        about = f" with {n:,} participants" if n else ""
    lead = {"brief_against": "Against this, ", "brief_figures": "In figures, "}.get(s.code, "")
    if lead:
        who = who[:1].lower() + who[1:]
    quote = s.text("quote").strip().rstrip(".")
    return f"{lead}{who}{year}{about} reports: \u201c{quote}\u201d {s.text('mark')}".rstrip() + "."
