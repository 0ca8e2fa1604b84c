"""LaTeX source as quotable text, without its markup."""

import re

from activities.documents.read import Text, decode, from_pages

_MARKS = re.compile(r"(?:(?<!\s)\s+)?<(?:cit\.|ref)>")
"""What the library puts in place of citations and references."""


def read_tex(data: bytes) -> Text:
    """The body of a LaTeX document, or the whole of a part of one; formulas as far as text can show them."""
    from pylatexenc.latex2text import LatexNodes2Text
    from pylatexenc.latexwalker import LatexEnvironmentNode, LatexMacroNode, LatexWalker

    nodes, _, _ = LatexWalker(decode(data)).get_latex_nodes()
    words = LatexNodes2Text(keep_comments=False)
    body = next(
        (
            n.nodelist
            for n in nodes
            if isinstance(n, LatexEnvironmentNode) and n.environmentname == "document"
        ),
        nodes,
    )
    said: dict[str, str] = {}
    authors: list[str] = []
    for node in (*nodes, *body):
        if isinstance(node, LatexMacroNode) and node.macroname in ("title", "author", "date"):
            arguments = [a for a in (node.nodeargd.argnlist if node.nodeargd else ()) if a is not None]
            if arguments and node.macroname == "author":
                whole = arguments[-1].latex_verbatim().removeprefix("{").removesuffix("}")
                authors += [words.latex_to_text(name) for name in re.split(r"\\and\b|,|;", whole)]
            elif arguments:
                said.setdefault(node.macroname, " ".join(words.nodelist_to_text(arguments[-1:]).split()))
    plain = [
        n
        for n in body
        if not (isinstance(n, LatexMacroNode) and n.macroname in ("title", "author", "maketitle"))
    ]
    text = _MARKS.sub("", words.nodelist_to_text(plain))
    return from_pages(
        [re.sub(r"[ \t]+", " ", text)],
        title=said.get("title", ""),
        authors=tuple(folded for name in authors if (folded := " ".join(name.split()))),
        meta={"date": said["date"]} if said.get("date") else {},
        paged=False,
    )
