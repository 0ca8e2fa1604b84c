"""Untrusted text made safe to print.

Titles, quotes and claims come from the internet or from a model: nothing in them may become a link, an
image, a heading or markup of the report.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from urllib.parse import quote, urlsplit

from activities.contracts.evidence import Emphasis, Identifiers, Stress
from activities.messages import _
from activities.text.layout import COLONS, ENDS

_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn")
_EVERYWHERE = re.compile(
    r"([\\`*\[\]|$])|(?<![^\W_])(_)|(_)(?![^\W_])|(~)(?=~)|(<)(?=[A-Za-z/!?])|(&)(?=#?\w+;)"
)
_AUTOLINK = re.compile(r"(?<=\w)(:)(?=//)|(?<=\bwww)(\.)", re.IGNORECASE)
_BLOCK_START = re.compile(r"^(\d{1,9})([.)])(?=\s|$)|^()([#>+=~-])")

_RESOLVERS = {
    "pmid": ("PMID", "https://pubmed.ncbi.nlm.nih.gov/{}/"),
    "pmcid": ("PMCID", "https://pmc.ncbi.nlm.nih.gov/articles/{}/"),
    "doi": ("DOI", "https://doi.org/{}"),
    "nct": ("ClinicalTrials.gov", "https://clinicaltrials.gov/study/{}"),
    "arxiv": ("arXiv", "https://arxiv.org/abs/{}"),
    "openalex": ("OpenAlex", "https://openalex.org/{}"),
    "s2": ("Semantic Scholar", "https://www.semanticscholar.org/paper/{}"),
}


def clean(text: str) -> str:
    """One line without control, formatting (zero-width, right-to-left override) or unassigned characters."""
    if text.isprintable():  # what has none of these is spared a look at each
        return " ".join(text.split())
    spaced = "".join(" " if c in "\n\r\t\v\f\x85" else c for c in text)
    visible = "".join(c for c in spaced if unicodedata.category(c) not in _INVISIBLE)
    return " ".join(visible.split())


_SIGNS = ("P", "S")
MAX_AUTHORS = 6
INDENT = " " * 4
"""Before an item within another one, in Markdown: as wide as the widest marker."""
LINE = "  \n"
"""Between lines that stay apart, in Markdown."""
_STRESSES: Mapping[Stress, str] = {"strong": "**", "em": "*"}


def stressed_markdown(text: str, emphasis: Sequence[Emphasis], *, inline: bool = False) -> str:
    """Write a text as `escape_markdown` does, with what is stressed in it as far as Markdown can say that."""
    if not emphasis or text != clean(text):
        return escape_markdown(text, inline=inline)
    opening, closing, codes = dict[int, str](), dict[int, str](), dict[int, int]()
    for span in sorted(emphasis, key=lambda e: (e.at, -e.end)):
        if span.style == "code":
            codes |= {span.at: span.end} if {"`", "|"}.isdisjoint(span.words) else {}
        elif _may_stand(text, span.at) and _may_stand(text[::-1], len(text) - span.end):
            opening[span.at] = opening.get(span.at, "") + _STRESSES[span.style]
            closing[span.end] = _STRESSES[span.style] + closing.get(span.end, "")
    written = ""
    for start, end in pairwise(sorted({0, len(text), *opening, *closing, *codes, *codes.values()})):
        part = text[start:end]
        part = f"`{part}`" if start in codes else _escaped(part, inline=inline or start > 0)
        written += f"{closing.get(start, '')}{opening.get(start, '')}{part}"
    return written + closing.get(len(text), "")


def _may_stand(text: str, at: int) -> bool:
    """Tell whether a mark of emphasis may begin before a character: not between a letter and a sign."""
    before = text[at - 1] if at else " "
    return (
        before.isspace()
        or not unicodedata.category(text[at]).startswith(_SIGNS)
        or (unicodedata.category(before).startswith(_SIGNS))
    )


def escape_markdown(text: str, *, linked: bool = False, inline: bool = False) -> str:
    """Write a text as one line of CommonMark that shows it literally and does nothing else.

    `linked`: it stands inside a link, where an address in it becomes no link of its own. `inline`: it
    does not begin a line, so that it can begin no list and no heading.
    """
    return _escaped(clean(text), linked=linked, inline=inline)


def _escaped(line: str, *, linked: bool = False, inline: bool = False) -> str:
    line = _EVERYWHERE.sub(lambda m: "\\" + m.group(), line)
    if not linked:
        line = _AUTOLINK.sub(lambda m: "\\" + m.group(), line)
    if inline:
        return line
    return _BLOCK_START.sub(lambda m: f"{m[1] or ''}\\{m[2] or m[4]}", line)


def pipe_table(head: Iterable[str], rows: Iterable[Iterable[str]], numbers: Collection[int] = ()) -> str:
    """Write a table in Markdown, with fields that are escaped already. `numbers`: columns of figures."""
    lines = [[escape_markdown(name) for name in head]]
    rules = ["---:" if place in numbers else "---" for place in range(len(lines[0]))]
    lines += [rules, *([*row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def safe_url(url: str | None) -> str | None:
    """Return an address that is plain http or https, with everything encoded that could end a link."""
    if not url or any(c.isspace() or unicodedata.category(c) in _INVISIBLE for c in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        return None
    return quote(url, safe=":/?#@!$&*+,;=%-._~[]").replace("[", "%5B").replace("]", "%5D")


def sent_url(url: str | None) -> str | None:
    """Return an address that opens elsewhere too: that of a file of this machine does not."""
    return None if (url or "").startswith("file:") else url


def identifier_links(identifiers: Identifiers) -> list[tuple[str, str, str | None]]:
    """Label, value and address of each identifier, the best first; a plain address is left to the caller."""
    links: list[tuple[str, str, str | None]] = []
    for name, value in identifiers.items_in_order():
        if name in _RESOLVERS:
            label, pattern = _RESOLVERS[name]
            links.append((label, value, pattern.format(quote(value, safe="/:;.-_"))))
        elif name == "fda":
            links.append(("FDA", value, None))
    return links


def authors_line(authors: Iterable[str]) -> str:
    """Write `A, B, C, et al.` from at most `MAX_AUTHORS` names."""
    names = [clean(name) for name in authors if clean(name)]
    return ", ".join(names[:MAX_AUTHORS]) + (_(", et al.") if len(names) > MAX_AUTHORS else "")


def shortened(text: str, chars: int) -> str:
    """Cut a text at a blank, with a sign that it goes on."""
    return text if len(text) <= chars else text[: chars + 1].rsplit(" ", 1)[0] + " \u2026"


def in_quotes(text: str) -> str:
    """Put a text in the quotation marks of the report's language."""
    return _("“{text}”").format(text=text)


_CLOSING_QUOTES = '"\u201c\u201d\u2019\u00bb\u00a0\u300d\u300f'
"""They may stand behind the sign that ends a sentence."""


def quoted_markdown(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.splitlines())


def full_stop(text: str) -> str:
    """Return the full stop of the script in which a text ends."""
    last = next(filter(str.isalnum, reversed(text)), "")
    if "\u0900" <= last <= "\u09ff":  # Devanagari and Bengali
        return "\u0964"
    return "\u3002" if "\u3040" <= last <= "\u9fff" else "."


def with_full_stop(text: str) -> str:
    """Add a full stop, unless the text ends a sentence already."""
    is_in_brackets = text[:1] in ("(", "\uff08") and text[-1:] in (")", "\uff09")
    has_ended = not text or text.rstrip(_CLOSING_QUOTES).endswith(ENDS)
    has_ended |= is_in_brackets and text[:-1].endswith(ENDS)
    return text if has_ended else f"{text.rstrip(',;: ')}{full_stop(text)}"


def capitalized(text: str) -> str:
    """Begin with a capital letter, unless the first word has one of its own (`mRNA`, `pH`)."""
    first = text.partition(" ")[0]
    return text if first[1:] != first[1:].lower() else text[:1].upper() + text[1:]


def with_colon(lead: str) -> str:
    """End words that lead a sentence, unless they are a sentence."""
    colon = COLONS[full_stop(lead) == "\u3002"]
    return lead if lead.endswith(ENDS) else f"{lead}{colon}"


def marker(number: int | None) -> str:
    """Begin an item of a list, in Markdown."""
    return f"{number}." if number else "-"


def with_citation(text: str, mark: str) -> str:
    """Put the citation before the full stop of a sentence."""
    if not mark:
        return text
    stem = text.rstrip()
    inner = stem.rstrip(_CLOSING_QUOTES)
    if inner != stem and inner.endswith(ENDS):  # a whole sentence in quotation marks
        return f"{stem} {mark}"
    end = stem[-1:] if stem[-1:] in (*ENDS, *COLONS) and not stem.endswith("..") else ""
    stem = stem.removesuffix(end) if end else stem
    if stem.endswith(")") and stem.count(")") > stem.count("("):  # a bracket that an earlier part opens
        stem, end = stem.removesuffix(")"), f"){end or '.'}"
    return f"{stem} {mark}{end or '.'}"


def spreadsheet_cell(text: str) -> str:
    """Put an apostrophe before what a spreadsheet would read as a formula, as OWASP advises."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
