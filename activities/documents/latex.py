"""LaTeX as the text that it stands for: whole documents, and the values of a bibliography (pylatexenc)."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from activities.documents import tables
from activities.documents.blocks import script
from activities.documents.encodings import decode
from activities.documents.markup import plain
from activities.documents.text import Text, behind_extra, new_text

if TYPE_CHECKING:
    from pylatexenc.latexwalker import LatexWalker
    from pylatexenc.macrospec import LatexContextDb

_MACROS = {
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textminus": "\u2212",
    "micro": "µ",
    "pounds": "£",
    "copyright": "©",
    "textle": "≤",
    "textge": "≥",
    "EUR": "€",
    "euro": "€",
    "textunderscore": "_",
    "textquotedbl": '"',
}
"""Macros that exports write and the library does not know -> what they stand for."""
_BETWEEN_DOLLARS = re.compile(r"(?<!\\)\$(?=\S)((?:\\.|[^$\\])+)(?<!\s)\$", re.DOTALL)
_MACRO_OF_TEXT = re.compile(r"\\text(?!(?:rm|bf|it|sf|tt|normal)?\b)[a-z]")
"""A macro that no formula has."""
_WORD_OF_TEXT = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_BARE = re.compile(r"(?<!\\)((?:\\\\)*)([%$#&])")
"""A sign that LaTeX would take for its own, and that is text in data."""
_SUPERSCRIPT = re.compile(r"(?<=[\w)\]])\^(?:\{([^{}]*)\}|([-\u2212+]?\d+))")
_LETTERS = re.compile(r"(?:[^\W_]+[ ,.;:()]{0,2}(?!\s))+")
"""Letters that stand for themselves; no macro takes them for its argument."""
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand\*?[ \t]{0,9}\{?|def[ \t]{0,9})\\([A-Za-z]+)(?:\})?[ \t]{0,9}"
    r"(?:\[\d\][ \t]{0,9})?\{([^{}]{0,200})\}"
)
"""The definition of a command: its name, what it stands for."""
_COMMAND = re.compile(r"(?<!\\)\\([A-Za-z]+)(?:((?:\{[^{}]{1,200}\}){1,4})|\{\}|[ \t]*)")
_HEADINGS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "caption")
_LEFT_OUT = (
    *("title", "author", "date", "maketitle", "thanks", "label", "ref", "eqref", "pageref"),
    *("cite", "citep", "citet", "citealp", "citealt", "citeauthor", "citeyear"),
    *("autocite", "parencite", "textcite", "footcite", "footnotemark"),
    *("tiny", "scriptsize", "footnotesize", "small", "normalsize", "large", "Large", "LARGE", "huge", "Huge"),
)
"""Commands that a text goes on without: what stands elsewhere, and what only a run of LaTeX knows."""
_SCRIPTS = ("textsuperscript", "textsubscript")
_TABLES = ("tabular", "tabular*", "longtable", "array")
_RULES = ("hline", "toprule", "midrule", "bottomrule", "cline", "endhead")


def read_tex(data: bytes) -> Text:
    """Return the body of a LaTeX document, or the whole of a part of one; formulas as text shows them."""
    with behind_extra("LaTeX source", "office"):
        from pylatexenc.latexwalker import LatexEnvironmentNode, LatexMacroNode

        reader = _reader(of_value=False)
    walker, context = _walker()
    nodes, _, _ = walker(_expand_commands(decode(data)), latex_context=context).get_latex_nodes()
    environments = (n for n in nodes if isinstance(n, LatexEnvironmentNode))
    body = next((n.nodelist for n in environments if n.environmentname == "document"), nodes)
    fields: dict[str, str] = {}
    authors: list[str] = []
    for node in (*nodes, *body):
        if isinstance(node, LatexMacroNode) and node.macroname in ("title", "author", "date"):
            value = _argument(node, reader)
            if node.macroname == "author":
                authors += (" ".join(name.split()) for name in re.split(r"\\and\b|[,;]", value))
            else:
                fields.setdefault(node.macroname, " ".join(value.split()))
    text = re.sub(r"[ \t]+", " ", _with_superscripts(reader.nodelist_to_text(body)))
    return new_text("\n\n".join((text, *reader.notes)), fields.pop("title", ""), authors, fields)


def _reader(*, of_value: bool) -> Any:  # noqa: ANN401 - pylatexenc ships no types
    """Return what makes text of nodes; the footnotes that it meets are in `notes`."""
    from pylatexenc.latex2text import LatexNodes2Text

    reader = LatexNodes2Text(latex_context=_text_context(of_value=of_value), keep_comments=of_value)
    reader.notes = []
    return reader


@cache
def _text_context(*, of_value: bool) -> "LatexContextDb":
    """Return what macros and environments stand for: unknown ones of a value are text."""
    from pylatexenc.latex2text import EnvironmentTextSpec, MacroTextSpec, get_default_latex_context_db

    def note(node: Any, l2tobj: Any) -> str:  # noqa: ANN401 - as above
        l2tobj.notes.append(" ".join(_argument(node, l2tobj).split()))
        return ""

    def heading(node: Any, l2tobj: Any) -> str:  # noqa: ANN401 - as above
        return f"\n\n{' '.join(_argument(node, l2tobj).split())}\n\n"

    def script_text(node: Any, l2tobj: Any) -> str:  # noqa: ANN401 - as above
        return script(_argument(node, l2tobj), "sup" if node.macroname == "textsuperscript" else "sub")

    words: dict[str, Any] = {name: sign.replace("%", "%%") for name, sign in _signs().items()}
    words |= dict.fromkeys((*_LEFT_OUT, *_RULES), "") | dict.fromkeys(_HEADINGS, heading)
    words |= dict.fromkeys(_SCRIPTS, script_text)
    words |= {"and": "\\and ", "footnote": note, "footnotetext": note}
    context = get_default_latex_context_db()
    context.add_context_category(
        "determinator",
        macros=[MacroTextSpec(name, simplify_repl=text) for name, text in words.items()],
        environments=[
            *(EnvironmentTextSpec(name, simplify_repl=_table) for name in _TABLES),
            *(EnvironmentTextSpec(name, simplify_repl=_verbatim) for name in ("verbatim", "lstlisting")),
        ],
        prepend=True,
    )
    if of_value:
        context.set_unknown_macro_spec(MacroTextSpec("", simplify_repl=lambda node: f"\\{node.macroname} "))
    return context


def _signs() -> dict[str, str]:
    """Return the macros of single characters, also those that exports write and the library does not read."""
    from pylatexenc import latexencode

    macros = dict(_MACROS)
    for rules in ("defaults", "unicode-xml"):
        for rule in latexencode.get_builtin_conversion_rules(rules):
            for code, macro in rule.rule.items() if isinstance(rule.rule, dict) else ():
                if match := re.fullmatch(r"(?:\\ensuremath)?\{?\\([A-Za-z]+)\}?", macro):
                    macros.setdefault(match[1], chr(code))
    # `\\textalpha` is `\\alpha` outside a formula
    return {f"text{name}": sign for name, sign in macros.items()} | macros


def _argument(node: Any, reader: Any) -> str:  # noqa: ANN401 - as above
    arguments = [a for a in (node.nodeargd.argnlist if node.nodeargd else ()) if a is not None]
    return str(reader.nodelist_to_text(arguments[-1:]))


def _table(node: Any, l2tobj: Any) -> str:  # noqa: ANN401 - as above
    """Return a table as lines with its cells behind their headings."""
    rows: list[list[list[Any]]] = [[[]]]
    for part in node.nodelist:
        if getattr(part, "macroname", "") == "\\":
            rows.append([[]])
        elif getattr(part, "specials_chars", "") == "&":
            rows[-1].append([])
        else:
            rows[-1][-1].append(part)
    cells = ([l2tobj.nodelist_to_text(cell) for cell in row] for row in rows)
    return "\n\n{}\n\n".format("\n".join(tables.from_rows(cells).lines()))


def _verbatim(node: Any) -> str:  # noqa: ANN401 - as above
    body = node.latex_verbatim().partition("}")[2].rpartition("\\end")[0]
    return f"\n\n{body}\n\n"


def _expand_commands(source: str) -> str:
    """Return a source with what its own commands stand for (`\\newcommand{\\drug}{x}`)."""
    words = {match[1]: match[2] for match in _DEFINITION.finditer(source)}

    def expand(match: re.Match[str]) -> str:
        if match[1] not in words:
            return f"\\{match[1]}{_COMMAND.sub(expand, match[0][len(match[1]) + 1 :])}"
        text, arguments = words[match[1]], match[2]
        for number, argument in enumerate(arguments[1:-1].split("}{") if arguments else (), start=1):
            if f"#{number}" not in text:
                return f"{text}{arguments}"
            text = text.replace(f"#{number}", argument)
        return text

    return _COMMAND.sub(expand, _DEFINITION.sub("", source))


@cache
def _walker() -> "tuple[type[LatexWalker], LatexContextDb]":
    """Return a parser of LaTeX that takes words at once, and not letter by letter as the library does.

    And the macros with arguments that it knows."""
    from pylatexenc.latexwalker import LatexToken, LatexWalker, get_default_latex_context_db
    from pylatexenc.macrospec import MacroSpec

    class Walker(LatexWalker):  # type: ignore[misc]  # pylatexenc ships no types
        def get_token(
            self,
            pos: int,
            include_brace_chars: Sequence[tuple[str, str]] | None = None,
            environments: bool = True,
            **options: object,
        ) -> LatexToken:
            words = _LETTERS.match(self.s, pos) if environments and not include_brace_chars else None
            if words is not None:
                return LatexToken(tok="char", arg=words[0], pos=pos, len=len(words[0]), pre_space="")
            return super().get_token(pos, include_brace_chars, environments, **options)

    context = get_default_latex_context_db()
    macros = [MacroSpec(name, "{") for name in ("thanks", *_SCRIPTS)]
    macros += [MacroSpec("footnotemark", "["), MacroSpec("footnotetext", "[{")]
    context.add_context_category("documents", macros=macros, prepend=True)
    return Walker, context


def latex_text(value: str, *, with_notes: bool = False) -> str:
    """Return the text that a value in LaTeX stands for; what is no LaTeX or a known macro is text.

    `with_notes`: its footnotes follow it, each as a paragraph.
    """
    if not re.search(r"[\\{}$~^]|--|``|''|[<&]", value):
        return " ".join(value.split())
    value = re.sub(r"^~(?=\S)", r"{\\textasciitilde}", value)
    pieces, end = [], 0
    for start, stop in _formulas(value):
        pieces += [_escape(value[end:start]), _with_subscripts(value[start:stop])]
        end = stop
    source = "".join((*pieces, _escape(value[end:])))
    _, context = _walker()
    reader = _reader(of_value=True)
    nodes = reader.latex_to_text(source, tolerant_parsing=True, latex_context=context)
    texts = (" ".join(nodes.split()), *(reader.notes if with_notes else ()))
    return "\n\n".join(plain(_with_superscripts(text).replace("{", "").replace("}", "")) for text in texts)


def _escape(piece: str) -> str:
    """Return text outside formulas: a bare `%` and the like are escaped, and `~5` is about five."""
    piece = _BARE.sub(r"\1\\\2", piece)
    return re.sub(r"(?<=[\s(\[])~(?=\S)", r"{\\textasciitilde}", piece)


def _formulas(value: str) -> Iterator[tuple[int, int]]:
    """Yield where formulas stand between two dollars; `$5 and $6` has words or blanks at its ends."""
    place = 0
    while match := _BETWEEN_DOLLARS.search(value, place):
        body, next_sign = match[1], value[match.end() : match.end() + 1]
        has_signs = re.search(r"[\\^_{=<>]", body)
        is_formula = has_signs or not (re.search(r"\s", body) or next_sign.isdigit())
        has_words = _MACRO_OF_TEXT.search(body) or _WORD_OF_TEXT.search(re.sub(r"\{[^{}]*\}", "", body))
        if is_formula and not has_words:
            yield match.span()
        place = match.end() if is_formula and not has_words else match.end() - 1


def _with_superscripts(text: str) -> str:
    return _SUPERSCRIPT.sub(lambda match: script(match[1] or match[2], "sup"), text)


def _with_subscripts(formula: str) -> str:
    return re.sub(r"_(?:\{(\w+)\}|(\w))", lambda match: script(match[1] or match[2], "sub"), formula)
