"""A reference as every format shows it: its address, where it appeared, and warnings about it."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote, unquote, urlsplit

from activities.contracts.evidence import UNSPECIFIC, Claim, Standing, Support
from activities.contracts.profile import Words
from activities.contracts.write import DraftClaim
from activities.messages import N_, _, clock, day
from activities.report.formats import blocks as page
from activities.report.formats.blocks import Cite, Mark, Quote, Sentence
from activities.report.formats.prose import names_none, pieces, with_general_sign
from activities.report.formats.statements import source_title
from activities.report.formats.text import (
    authors_line,
    capitalized,
    clean,
    identifier_links,
    in_quotes,
    safe_url,
    shortened,
    with_full_stop,
)
from activities.report.schema import Reference, Report
from activities.report.strength import KIND_NAMES, TYPE_NAMES
from activities.text.person_names import MAX_INITIALS, is_cjk, is_group, is_initials

STANDINGS: Mapping[Standing, str] = {
    "none": "",
    "retracted": N_("RETRACTED"),
    "concern": N_("EXPRESSION OF CONCERN"),
    "corrected": N_("corrected"),
    "unknown": N_("retraction status not checked"),
}
"""As a mark on a reference; a standing without fault has none."""

STANDING_SENTENCES: Mapping[Standing, str] = {
    "none": N_("checked, with no notice found"),
    "retracted": N_("retracted"),
    "concern": N_("under an expression of concern"),
    "corrected": N_("corrected"),
    "unknown": N_("not listed in any register consulted"),
}
"""As the end of a sentence."""
NOT_REVIEWED = N_("not peer reviewed")
KEPT = frozenset({STANDINGS["retracted"], STANDINGS["concern"], NOT_REVIEWED})
"""Marks that stand at a reference at every length, also where all share them."""
LABEL_CHARS = 60
FRAGMENT_WORDS = 5
"""Words at each end of a quote by which a browser finds it in a page."""
WARNING_STANDINGS: frozenset[Standing] = frozenset({"retracted", "concern"})
"""Standings that are shown as a warning."""


def blocks(report: Report, numbers: Collection[int] | None = None) -> Iterator[page.References]:
    """List the references, or those with these numbers."""
    marks = [badges(reference, report.words) for reference in report.references]
    labels = {*map(_, KEPT)}
    if report.length == "full":
        common_marks = set(marks[0]).intersection(*marks) if len(marks) > 1 else set[str]()
        labels |= set().union(*marks) - common_marks
    items = tuple(
        entry_of(reference, [mark for mark in marks_of_work if mark in labels], _twins(reference, report))
        for reference, marks_of_work in zip(report.references, marks, strict=True)
        if numbers is None or reference.number in numbers
    )
    if items:
        yield page.References(items)


def alerts() -> frozenset[str]:
    """Return the marks that are shown as a warning."""
    return frozenset(_(STANDINGS[name]) for name in WARNING_STANDINGS)


def _twins(reference: Reference, report: Report) -> list[int]:
    """List the other references that report the same study."""
    numbers = [r.number for r in report.references if reference.study and r.study == reference.study]
    return [number for number in numbers if number != reference.number]


def entry_of(reference: Reference, marks: Sequence[str] = (), twins: Sequence[int] = ()) -> page.Reference:
    """Write a reference; `marks`: its badges but those that all references share."""
    links = [(f"{name} {clean(value)}", url) for name, value, url in identifier_links(reference.identifiers)]
    title, venue = clean(reference.title), clean(reference.venue or "")
    has_subject = reference.date_from == "header"
    if venue and is_paper(reference) and not has_subject:  # its first line is seldom what it is called
        title, venue = venue, ""
    if venue.replace("_", " ").startswith(f"{title}."):  # a file that has no title but its name
        title, venue = venue, ""
    kind = _(reference.design) if reference.evidence_type == "document" else ""
    kind = kind if venue else capitalized(kind)
    place = with_full_stop(", ".join(filter(None, (venue, kind, date_of(reference)))))
    warnings, file = alerts(), file_of(reference)
    parts: list[page.Part] = [
        page.Run(with_full_stop(authors_line(reference.authors))),
        page.Run(with_full_stop(title), url=best_url(reference)),
        page.Run(place),
        page.Run(f"({file})" if file and file not in f"{title} {venue}" else ""),
        *(page.Run(text, url=url) for text, url in links),
        page.Run(_("Also published as") if twins else ""),
        page.Cite(tuple(page.Mark(number) for number in twins)),
        *(page.Run(text, "alert") for text in marks if text in warnings),
        page.Run("; ".join(text for text in marks if text not in warnings), "badge"),
    ]
    return page.Reference(reference.number, tuple(part for part in parts if part.text))


def date_of(reference: Reference) -> str:
    """Write the date of a document, else the year of a work; empty where neither is known.

    The first date in a letter, a bill or minutes is its own; in another paper it may be any.
    """
    is_own = reference.design in BEGIN_WITH_DATE or reference.design not in KIND_NAMES.values()
    if reference.date_from == "text" and not is_own:
        return ""
    return day(clean(reference.date)) or str(reference.year or "")


def best_url(reference: Reference) -> str | None:
    """Where a reader goes first: the source's own page, else the first identifier that resolves."""
    link = safe_url(reference.url) or local_url(reference) or safe_url(reference.identifiers.url)
    return link or next((url for _, _, url in identifier_links(reference.identifiers) if url), None)


def local_url(reference: Reference) -> str | None:
    """Return the file of a document of the user's own library; what others sent opens no file."""
    url = reference.url or ""
    if reference.source != "library" or not re.match(r"file:///(?!/)", url):
        return None
    return quote(url, safe=":/%-._~") if url.isprintable() else None


BEGIN_WITH_DATE = frozenset(KIND_NAMES[kind] for kind in ("letter", "mail", "bill", "receipt", "minutes"))
"""The papers that begin with their date."""


def is_paper(reference: Reference) -> bool:
    """Tell whether a document of the user's own is a letter, a bill or the like, and no study."""
    return reference.source == "library" and reference.design in KIND_NAMES.values()


def file_of(reference: Reference) -> str:
    """Name the file of a document, which only this machine can open; empty for a work of another source."""
    return clean(unquote(urlsplit(local_url(reference) or "").path).rsplit("/", 1)[-1])


def place_in(reference: Reference, page: int) -> str:
    """Where a quote stands in its document, and what the text was recognised from: `OCR, p. 3`."""
    if reference.text_from == "transcript":
        times = dict(zip(reference.pages, reference.times, strict=False))
        time = _("at {time}").format(time=clock(times[page])) if page in times else ""
        return ", ".join(filter(None, (_("transcript"), time)))
    recognised = "OCR" if reference.text_from == "ocr" else ""
    return ", ".join(filter(None, (recognised, _("p. {page}").format(page=page) if page else "")))


def quote_url(reference: Reference, text: str, page: int) -> str | None:
    """Link a quote in its document: a page of a PDF, or a text fragment of a web page.

    See https://wicg.github.io/scroll-to-text-fragment; None where a link cannot say it.
    """
    url = best_url(reference)
    if url is None:
        return None
    if page:
        return f"{url}#page={page}" if url.lower().endswith(".pdf") else None
    words = clean(text).split()
    if reference.evidence_type != "web_page" or "#" in url or not words:
        return None
    ends = [words] if len(words) <= 2 * FRAGMENT_WORDS else [words[:FRAGMENT_WORDS], words[-FRAGMENT_WORDS:]]
    # a dash has a meaning in fragments, and `quote` leaves it
    parts = [quote(" ".join(end), safe="").replace("-", "%2D") for end in ends]
    return f"{url}#:~:text={','.join(parts)}"


DATED = {
    "file_name": N_("dated by its file name"),
    "properties": N_("dated by the properties of its file"),
}
"""Where the date of a document is taken from, unless the document itself states it."""


def badges(reference: Reference, terms: Words) -> list[str]:
    """Warnings and qualifications of a reference; of a person's own documents only where they are from."""
    kind, recorded = reference.evidence_type, terms.standing
    place = clean(reference.full_text_from)
    origin = f" ({urlsplit(place).hostname or place})" if place else ""
    extent = _("full text read") + origin if reference.full_text else _("abstract or summary only")
    note = (
        _(TYPE_NAMES[kind]) if kind not in UNSPECIFIC or (terms.graded and kind != "article") else "",
        _(NOT_REVIEWED) if kind == "preprint" else "",
        _(STANDINGS[reference.standing]) if recorded and reference.in_registers else "",
        extent if recorded else "",
        _(DATED.get(reference.date_from, "")),
        _("from the earlier run {run}").format(run=clean(reference.from_run)) if reference.from_run else "",
        _("found in {source}").format(source=source_title(reference.source)) if recorded else "",
    )
    return [mark for mark in note if mark]


def family_first(name: str) -> str:
    """`Doe JA` and `Jane A. Doe` as `Doe, J. A.` and `Doe, Jane A.`.

    Groups stay, and what has a comma or is in Chinese, Japanese or Korean script.
    """
    name = clean(name)
    family, _, forename = name.rpartition(" ")
    if "," in name or not family or is_cjk(name):
        return name
    words = name.split()
    for place in range(1, len(words)):
        if is_initials(initials := " ".join(words[place:])):
            given = initials if "." in initials else " ".join(f"{c}." for c in initials if c.isalpha())
            return f"{' '.join(words[:place])}, {given}"
    if len(words[0]) > MAX_INITIALS and words[0].isupper() and not forename.isupper():
        return f"{words[0]}, {' '.join(words[1:])}"  # `NAGY János`, where the family stands first
    if len(words) <= 4 and not is_group(name):
        return f"{forename}, {family}"
    return name


def label_of(reference: Reference) -> str:
    """`Doe et al. 2020`, or the beginning of the title where no author is known."""
    authors = [clean(name) for name in reference.authors if clean(name)]
    if not authors:
        return shortened(clean(reference.title), LABEL_CHARS)
    family = family_first(authors[0]).split(",")[0]
    return f"{family}{' et al.' if len(authors) > 1 else ''} {reference.year or ''}".strip()


class Quotes:
    def __init__(self, report: Report) -> None:
        self.references = {r.evidence_id: r for r in report.references}
        self._papers = {r.number for r in report.references if is_paper(r)}
        self._titles = {work.evidence_id: clean(work.title) for work in report.judgements}
        self._titles |= {r.evidence_id: clean(r.title) for r in report.references}
        self._contexts = {(c.evidence_id, c.quote): c for c in report.contexts}
        self._places = {key: place for place, key in enumerate(self._contexts)}

    def sentence(self, claim: Claim, *, disputed: bool = False, first: bool = True) -> tuple[Sentence, ...]:
        """Show a claim, in parts that end where it cites; in quotation marks where it is its quote.

        `first`: here first. A letter is shown without its citations."""
        if claim.letter:
            name = anchor_of(claim.id) if first else ""
            text = clean(claim.body)
            words = Sentence(text, Cite(()), name, disputed, claim.strong, line=claim.line)
            return (replace(words, emphasis=claim.emphasis_in(text)),)
        anchor, cite = anchor_of(claim.id) if first else "", self.cite(claim, claim.body)
        if any(quote.same for mark in cite.marks for quote in mark.quotes):
            return (Sentence(in_quotes(with_full_stop(clean(claim.body))), cite, anchor, disputed),)
        *parts, (at, ending, names) = pieces(claim)
        sentences = [
            Sentence(
                text, self.cite(claim, claim.body, ids), goes_on=True, emphasis=claim.emphasis_in(text, start)
            )
            for start, text, ids in parts
        ]
        emphasis = claim.emphasis_in(ending, at)
        is_code = any(e.style == "code" and e.words == claim.body for e in claim.emphasis)
        # a line in bold may head what follows
        ending = ending if claim.strong or is_code else with_full_stop(ending)
        text = with_general_sign(ending) if claim.kind == "background" else ending
        cite = self.cite(claim, claim.body, names)
        sentences.append(Sentence(text, cite, disputed=disputed, emphasis=emphasis))
        sentences = [replace(part, strong=claim.strong) for part in sentences]
        return (replace(sentences[0], anchor=anchor, line=claim.line), *sentences[1:])

    def cite(self, claim: Claim | DraftClaim, text: str, works: Collection[str] | None = None) -> Cite:
        """Return the numbers of the references, in order, each with the quotes that carry the claim.

        `text`: its words. `works`: ids of those that are cited; by default all.
        """
        by_number: dict[int, list[Quote]] = {}
        for support in claim.support:
            reference = self.references.get(support.evidence_id)
            if reference and (works is None or support.evidence_id in works):
                by_number.setdefault(reference.number, []).extend(self.quotes(text, [support]))
        marks = tuple(Mark(number, tuple(quotes)) for number, quotes in sorted(by_number.items()))
        return Cite(marks, hidden=names_none(claim, len(marks)))

    def cites(self, claims: Iterable[Claim]) -> Cite:
        """Return the references of several sentences, in order, each with its quotes."""
        quotes: dict[int, dict[Quote, None]] = {}
        for mark in (mark for claim in claims for mark in self.cite(claim, claim.body).marks):
            quotes.setdefault(mark.number, {}).update(dict.fromkeys(mark.quotes))
        return Cite(tuple(Mark(number, tuple(group)) for number, group in sorted(quotes.items())))

    def are_papers(self, numbers: Iterable[int]) -> bool:
        """Tell whether all are letters, bills and the like, which a text names; False for none."""
        cited = {*numbers}
        return bool(cited) and cited <= self._papers

    def numbers(self, supports: Iterable[Support]) -> Cite:
        """Return the numbers of the references alone, in order."""
        return Cite(
            tuple(map(Mark, sorted({self.number(support.evidence_id) for support in supports} - {0})))
        )

    def mark(self, number: int) -> Cite:
        return Cite((Mark(number),))

    def quotes(self, text: str, supports: Iterable[Support]) -> tuple[Quote, ...]:
        """Return the quotes in their contexts; `text`: the sentence that rests on them."""
        return tuple(self.quote(text, support) for support in supports if support.quote)

    def quote(self, text: str, support: Support) -> Quote:
        context = self._contexts.get((support.evidence_id, support.quote))
        reference = self.references.get(support.evidence_id)
        place = context.page if context else 0
        return Quote(
            evidence_id=support.evidence_id,
            number=reference.number if reference else 0,
            title=self._titles.get(support.evidence_id, ""),
            text=clean(support.quote),
            before=context.before if context else "",
            after=context.after if context else "",
            place=place_in(reference, place) if reference else "",
            url=quote_url(reference, support.quote, place) if reference else None,
            same=same_words(text, support.quote),
            language=context.language if context else "",
            translation=clean(context.translation) if context else "",
        )

    def place(self, quote: Quote) -> tuple[int, int]:
        """Return by what quotes are listed: their reference, and their place in its text."""
        return quote.number, self._places.get((quote.evidence_id, quote.text), len(self._places))

    def number(self, evidence_id: str) -> int:
        """Return the number of a reference; 0 for what is none."""
        reference = self.references.get(evidence_id)
        return reference.number if reference else 0


def words_of(text: str) -> tuple[str, ...]:
    """Return a sentence as its words, by which it is recognised."""
    return tuple(re.findall(r"\w+", text.casefold()))


def same_words(claim: str, quote: str) -> bool:
    """Tell whether a claim is its quote, word for word but for words at the beginning that it leaves out."""
    claim_words, quote_words = words_of(claim), words_of(quote)
    return bool(claim_words) and claim_words == quote_words[-len(claim_words) :]


def anchor_of(name: str) -> str:
    """Write a name as an HTML id."""
    return re.sub(r"[^\w-]+", "-", clean(name)).strip("-") or "x"
