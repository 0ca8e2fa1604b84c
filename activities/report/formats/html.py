"""The report as one HTML file: no script, no outside asset, quotes folded beneath their claims.

Elements are built with `lxml`, so that text cannot become markup. The content security policy is the second
belt: nothing is loaded and nothing runs, whatever a reader's browser would otherwise do.
"""

from collections.abc import Iterable, Mapping, Sequence

from lxml import etree
from lxml.html import tostring

from activities.report.formats import words
from activities.report.formats.text import (
    authors_line,
    badges,
    best_url,
    clean,
    ended,
    identifier_links,
    numbers_of,
)
from activities.report.schema import Reference, Report, ReportSection
from activities.types import Candidate, Claim, Support

Element = etree._Element  # noqa: SLF001 - lxml has no public name for the type of its elements
Node = Element | str

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
STYLE = """
:root{color-scheme:light dark}
body{font:1.05rem/1.6 Georgia,'Times New Roman',serif;max-width:46rem;margin:2rem auto;padding:0 1rem}
h1{line-height:1.25}h1,h2{font-family:system-ui,sans-serif}h2{margin-top:2.2rem}
.question,.note{font-style:italic}.claim{margin:.9rem 0}.claim p{margin:0}
details{margin:.2rem 0 0 1rem;font-size:.92em}summary{cursor:pointer;opacity:.75}
blockquote{margin:.4rem 0;padding-left:.8rem;border-left:3px solid #8a8}
.badge{font:.72rem system-ui,sans-serif;border:1px solid;border-radius:.6rem;padding:0 .45rem;
margin-right:.3rem;white-space:nowrap}.alert{color:#b00020;font-weight:bold}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem}
th,td{border:1px solid #999;padding:.25rem .5rem;text-align:left;vertical-align:top}
a:target,li:target{background:#ffe9a8;color:#000}
@media print{body{max-width:none;margin:0;font-size:10.5pt}a{color:inherit;text-decoration:none}
h2{break-after:avoid}.claim,li,tr{break-inside:avoid}summary{list-style:none}}
"""


def html(report: Report) -> bytes:
    """A whole page that can be mailed, archived and printed."""
    numbers = words.numbers_by_id(report)
    titles = {r.number: r.title for r in report.references}
    claims = {claim.id: claim for section in report.sections for claim in section.claims}
    body: list[Node] = [
        _tag("h1", clean(report.title)),
        *(_tag("p", {"class": "question"}, asked) for asked in words.questions(report)),
        *_heading("summary", "Summary", _summary(report, numbers)),
    ]
    for section in words.told(report):
        body += _section(report, section, numbers, titles, claims)
    if words.untold(report):
        body += _heading("empty", words.EMPTY, [_list(words.untold(report))])
    if report.candidates:
        body += _heading("candidates", "Candidates", _candidates(report.candidates, numbers))
    if report.limitations:
        body += _heading("limitations", "Limitations", [_list(report.limitations)])
    if report.references:
        listed = _tag("ol", *[_reference(r) for r in report.references])
        body += _heading("references", "References", [listed])
    body += _heading("method", "Method", _method(report))
    if report.verification.dropped:
        body += _heading("left-out", "Left out", [_tag("p", words.LEFT_OUT), _list(words.left_out(report))])
    page = _tag(
        "html",
        {"lang": "en"},
        _tag(
            "head",
            _tag("meta", {"charset": "utf-8"}),
            _tag("meta", {"http-equiv": "Content-Security-Policy", "content": POLICY}),
            _tag("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
            _tag("meta", {"name": "referrer", "content": "no-referrer"}),
            _tag("title", clean(report.title)),
            _tag("style", STYLE),
        ),
        _tag("body", _tag("main", *body)),
    )
    return bytes(tostring(page, encoding="utf-8", doctype="<!DOCTYPE html>"))


def _tag(name: str, *content: Node | Mapping[str, str]) -> Element:
    """An element with attributes (mappings), children and text, in order."""
    element = etree.Element(name)
    for part in content:
        if isinstance(part, str):
            if len(element):
                element[-1].tail = (element[-1].tail or "") + part
            else:
                element.text = (element.text or "") + part
        elif isinstance(part, Mapping):
            for key, value in part.items():
                element.set(key, value)
        else:
            element.append(part)
    return element


def _heading(identity: str, title: str, content: Iterable[Node]) -> list[Node]:
    return [_tag("section", {"aria-labelledby": identity}, _tag("h2", {"id": identity}, title), *content)]


def _list(texts: Iterable[str]) -> Element:
    return _tag("ul", *[_tag("li", clean(text)) for text in texts])


def _cite(supports: Iterable[Support], numbers: Mapping[str, int]) -> list[Node]:
    """` [1, 3]` with a link for each number."""
    nodes: list[Node] = []
    for number in numbers_of(supports, numbers):
        nodes += [
            ", " if nodes else " [",
            _tag("a", {"href": f"#ref-{number}", "aria-label": f"Reference {number}"}, str(number)),
        ]
    return [*nodes, "]"] if nodes else []


def _summary(report: Report, numbers: Mapping[str, int]) -> list[Node]:
    claims = words.points(report)
    verified = words.verified(report)
    shown = (
        _tag("ul", *[_tag("li", clean(c.text), *_cite(c.support, numbers)) for c in claims])
        if claims
        else _tag("p", clean(report.executive_summary))
    )
    notes = [note for note in (words.balance(report), verified) if note]
    return [shown, *(_tag("p", {"class": "note"}, note) for note in notes)]


def _section(
    report: Report,
    section: ReportSection,
    numbers: Mapping[str, int],
    titles: Mapping[int, str],
    claims: Mapping[str, Claim],
) -> list[Node]:
    content: list[Node] = []
    asked = words.key_question(report, section)
    if asked:
        content.append(_tag("p", {"class": "question"}, asked))
    content += [_claim(claim, numbers, titles, claims) for claim in section.claims]
    return _heading(f"section-{clean(section.id)}".replace(" ", "-"), words.heading(section), content)


def _claim(
    claim: Claim, numbers: Mapping[str, int], titles: Mapping[int, str], claims: Mapping[str, Claim]
) -> Element:
    quotes = [s for s in claim.support if s.quote]
    nodes: list[Node] = [_tag("p", clean(claim.text), *_cite(claim.support, numbers))]
    for other in claim.contradicts:
        against = _tag("a", {"href": f"#{other}"}, clean(claims[other].text) if other in claims else other)
        nodes.append(_tag("p", {"class": "note"}, "The sources disagree; against it: ", against))
    if quotes:
        shown: list[Node] = []
        for quote in quotes:
            number = numbers.get(quote.evidence_id, 0)
            shown.append(_tag("blockquote", clean(quote.quote)))
            shown.append(_tag("p", f"[{number}] {clean(titles.get(number, ''))}"))
        label = f"{len(quotes)} quote{'' if len(quotes) == 1 else 's'}"
        nodes.append(_tag("details", _tag("summary", label), *shown))
    return _tag("div", {"class": "claim", "id": clean(claim.id).replace(" ", "-")}, *nodes)


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Node | list[Node]]]) -> Element:
    table = _tag(
        "table",
        _tag("caption", caption),
        _tag("thead", _tag("tr", *[_tag("th", {"scope": "col"}, name) for name in head])),
        _tag(
            "tbody",
            *[
                _tag("tr", *[_tag("td", *(cell if isinstance(cell, list) else [cell])) for cell in row])
                for row in rows
            ],
        ),
    )
    return _tag("div", {"class": "scroll", "tabindex": "0"}, table)


def _candidates(candidates: Sequence[Candidate], numbers: Mapping[str, int]) -> list[Node]:
    rows: list[list[Node | list[Node]]] = [
        [*words.candidate_row(c), _cite(c.support, numbers)] for c in candidates
    ]
    quotes = [
        _tag(
            "details",
            _tag("summary", f"Quotes for {clean(c.name)}"),
            *[_tag("blockquote", clean(s.quote)) for s in c.support],
        )
        for c in candidates
        if any(s.quote for s in c.support)
    ]
    return [_table(words.UNCHECKED, [*words.CANDIDATE_HEAD, "Sources"], rows), *quotes]


def _link(text: str, url: str | None) -> Node:
    return _tag("a", {"href": url, "rel": "noreferrer noopener"}, text) if url else text


def _reference(reference: Reference) -> Element:
    nodes: list[Node] = []
    if reference.authors:
        nodes.append(f"{ended(authors_line(reference.authors))} ")
    nodes += [_link(ended(clean(reference.title)), best_url(reference)), " "]
    where = ", ".join(x for x in (clean(reference.venue or ""), str(reference.year or "")) if x)
    nodes.append(f"{where}. " if where else "")
    for label, value, url in identifier_links(reference.identifiers):
        nodes += [_link(f"{label} {clean(value)}", url), " "]
    for word in badges(reference):
        alarming = word.isupper()
        nodes += [_tag("span", {"class": "badge alert" if alarming else "badge"}, word), " "]
    nodes.append(_tag("span", {"class": "badge"}, f"found in {clean(reference.source)}"))
    return _tag("li", {"id": f"ref-{reference.number}", "value": str(reference.number)}, *nodes)


def _method(report: Report) -> list[Node]:
    method = report.methodology
    nodes: list[Node] = [_tag("p", words.flow(report)), _tag("p", words.spent(method))]
    if method.searches:
        caption = "Every search, as it was sent and as it ended"
        nodes.append(_table(caption, words.SEARCH_HEAD, words.search_rows(method.searches)))
    if method.approvals:
        nodes.append(_list(words.decision(d) for d in method.approvals))
    return [*nodes, _tag("p", words.run_line(report))]
