"""Sentences and quotes of a report as blocks: each quote in its context."""

import re
from collections.abc import Iterable

from activities.contracts.evidence import Claim, Support
from activities.report.formats import references as refs
from activities.report.formats.blocks import Cite, Mark, Quote, Sentence
from activities.report.formats.text import clean, ended
from activities.report.schema import Report


class Quotes:
    def __init__(self, report: Report) -> None:
        self.references = {r.evidence_id: r for r in report.references}
        self._titles = {work.evidence_id: clean(work.title) for work in report.judgements}
        self._titles |= {r.evidence_id: clean(r.title) for r in report.references}
        self._contexts = {(c.evidence_id, c.quote): c for c in report.contexts}

    def sentence(
        self, claim: Claim, *, graded: bool = False, disputed: bool = False, first: bool = True
    ) -> Sentence:
        """A claim as it is printed, within quotation marks where it is in the words of its quote. `first`: it
        is printed here first."""
        text, cite = ended(clean(claim.text)), self.cite(claim.support, claim.text)
        verbatim = any(quote.same for mark in cite.marks for quote in mark.quotes)
        return Sentence(
            text=f"\u201c{text}\u201d" if verbatim else text,
            cite=cite,
            anchor=anchor_of(claim.id) if first else "",
            grade=claim.strength if graded else None,
            disputed=disputed,
        )

    def cite(self, supports: Iterable[Support], text: str = "") -> Cite:
        """The numbers of the references, in order, each with its quotes."""
        by_number: dict[int, list[Quote]] = {}
        for support in supports:
            if reference := self.references.get(support.evidence_id):
                by_number.setdefault(reference.number, []).extend(self.quotes(text, [support]))
        return Cite(tuple(Mark(number, tuple(quotes)) for number, quotes in sorted(by_number.items())))

    def mark(self, number: int) -> Cite:
        return Cite((Mark(number),))

    def quotes(self, text: str, supports: Iterable[Support]) -> tuple[Quote, ...]:
        """The quotes that there are, in their contexts; `text`: the sentence that rests on them."""
        return tuple(self.quote(text, support) for support in supports if support.quote)

    def quote(self, text: str, support: Support) -> Quote:
        context = self._contexts.get((support.evidence_id, support.quote))
        reference = self.references.get(support.evidence_id)
        page = context.page if context else 0
        return Quote(
            evidence_id=support.evidence_id,
            number=reference.number if reference else 0,
            title=self._titles.get(support.evidence_id, ""),
            text=clean(support.quote),
            before=context.before if context else "",
            after=context.after if context else "",
            place=refs.place_in(reference, page) if reference else "",
            url=refs.quote_url(reference, support.quote, page) if reference else None,
            same=same_words(text, support.quote),
            language=context.language if context else "",
            translation=clean(context.translation) if context else "",
        )

    def number(self, evidence_id: str) -> int:
        """The number of a reference; 0 for what is none."""
        reference = self.references.get(evidence_id)
        return reference.number if reference else 0


def words_of(text: str) -> tuple[str, ...]:
    """A sentence as its words, by which it is recognised."""
    return tuple(re.findall(r"\w+", text.casefold()))


def same_words(claim: str, quote: str) -> bool:
    """Whether a claim is its quote, word for word but for the beginning of one of them."""
    own, quoted = words_of(claim), words_of(quote)
    shorter = min(len(own), len(quoted))
    return shorter > 0 and own[-shorter:] == quoted[-shorter:]


def anchor_of(name: str) -> str:
    """A name as an HTML id."""
    return re.sub(r"[^\w-]+", "-", clean(name)).strip("-") or "x"
