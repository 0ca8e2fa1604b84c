"""Claims and quotes of a report as every format shows them: each quote in its context, with its anchor."""

import re
from collections.abc import Iterable, Sequence

from activities.report.formats import references as refs
from activities.report.formats import words
from activities.report.formats.model import Cite, ClaimView, Quote
from activities.report.formats.prose import Citations
from activities.report.formats.text import clean, ended
from activities.report.schema import Report
from activities.types import Claim, Support


class Quotes:
    """Views of the claims and quotes of a report."""

    def __init__(self, report: Report) -> None:
        self._citations = Citations.of(report.references)
        self.references = {r.evidence_id: r for r in report.references}
        self._titles = {work.evidence_id: clean(work.title) for work in report.judgements}
        self._titles |= {r.evidence_id: clean(r.title) for r in report.references}
        self._contexts = {(c.evidence_id, c.quote): c for c in report.contexts}

    def claim(self, claim: Claim) -> ClaimView:
        anchor = anchor_of(claim.id)
        quotes = self.quotes(anchor, claim.text, claim.support)
        return ClaimView(
            anchor=anchor,
            text=ended(clean(claim.text)),
            mark=self._citations.mark(claim.support),
            cites=self.cites(claim.support, quotes),
            quotes=quotes,
            strength=claim.strength,
            studies=claim.independent_works,
            disputed=bool(claim.contradicts),
            quoted=claim.quoted,
        )

    def quotes(self, owner: str, said: str, supports: Iterable[Support]) -> tuple[Quote, ...]:
        made = []
        for place, support in enumerate((s for s in supports if s.quote), start=1):
            context = self._contexts.get((support.evidence_id, support.quote))
            reference = self.references.get(support.evidence_id)
            page = context.page if context else 0
            made.append(
                Quote(
                    anchor=f"{owner}-q{place}",
                    number=self.number(support.evidence_id),
                    title=self._titles.get(support.evidence_id, ""),
                    text=clean(support.quote),
                    before=context.before if context else "",
                    after=context.after if context else "",
                    place=refs.place_in(reference, page) if reference else "",
                    url=refs.quote_url(reference, support.quote, page) if reference else None,
                    same=words.same_words(said, support.quote),
                )
            )
        return tuple(made)

    def cites(self, supports: Iterable[Support], quotes: Sequence[Quote]) -> tuple[Cite, ...]:
        first = {quote.number: quote.anchor for quote in reversed(quotes)}
        return tuple(
            Cite(number, pmid if pmid.isdigit() else "", first.get(number, f"ref-{number}"))
            for number, pmid in self._citations.cited(supports)
        )

    def number(self, evidence_id: str) -> int:
        """The number of a reference; 0 for what is none."""
        return self._citations.numbers.get(evidence_id, 0)

    def mark(self, supports: Iterable[Support]) -> str:
        return self._citations.mark(supports)


def anchor_of(name: str) -> str:
    """A name as an HTML id."""
    return re.sub(r"[^\w-]+", "-", clean(name)).strip("-") or "x"
