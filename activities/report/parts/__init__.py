"""What each part of a run does with the report: a file a part, imported where a report has its values."""

import importlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, cast

from activities.contracts.evidence import Statement, Support
from activities.contracts.parts import PublishParts, ReportParts, part_data
from activities.contracts.publish import PublishInput
from activities.contracts.write import DraftClaim
from activities.report.schema import JudgedWork, Report

if TYPE_CHECKING:
    from activities.evidence_store import EvidenceStore
    from activities.report.claims import Checks
    from activities.report.formats.blocks import Block, Chapter
    from activities.report.formats.references import Quotes


CONTINUES = "continues"
"""The run that a report continues, which the head of its page names."""


class ReportPart:
    """The base of the parts: shows what publishing is given. A file of this folder has `PART`."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def read_stored(
        self, store: "EvidenceStore", step: PublishInput, *, patient: bool
    ) -> tuple[object, Iterable[Statement]]:
        """Read what the given value refers to in the store, and state what cannot be read.

        `patient`: raise StoreError instead.
        """
        return None, ()

    def cited_ids(self, step: PublishInput) -> Iterable[str]:
        """Ids of the works that the part cites."""
        return ()

    def without_works(self, step: PublishInput, works: Collection[str]) -> object:
        """Return the given value without works that a person left out."""
        return part_data(self.name).of_input(step)

    def check(
        self, step: PublishInput, checks: "Checks", judgements: Iterable[JudgedWork], data: object
    ) -> object:
        """Return what stands of the given value. `data`: what `read_stored` returned."""
        return part_data(self.name).of_input(step)

    def remarks(self, report: Report, *, has_claims: bool) -> Iterable[Statement]:
        """Limitations of what stands."""
        return ()

    def quotes(self, report: Report) -> Iterable[Support]:
        """Every quote of the part, in the order of the page."""
        return ()

    def concludes(self, report: Report) -> bool:
        """Tell whether the answer begins with what the part says."""
        return False

    def lines(self, report: Report) -> Iterable[str]:
        """Yield what the answer begins with, as text."""
        return ()

    def lead(self, report: Report, quotes: "Quotes") -> Iterable["Block"]:
        """Yield what the answer begins with, as blocks."""
        return ()

    def sentences(self, report: Report) -> Iterable[DraftClaim]:
        """Sentences of the part that a person may have written in other words, by id."""
        return ()

    def reword(self, step: PublishInput, texts: Mapping[str, str]) -> object:
        """Return the given value with sentences in other words, by id."""
        raise NotImplementedError

    def chapters(self, report: Report, quotes: "Quotes", *, with_pictures: bool) -> Iterable["Chapter"]:
        """Yield the chapters of the part. `with_pictures`: figures are drawn."""
        return ()

    def problems(
        self, report: Report, items: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, Iterable[tuple[str, ...]]]:
        """By kind of what quotes, what is wrong with each beyond its quotes. `items`: the evidence by id."""
        return {}

    def files(self, report: Report) -> Mapping[str, bytes]:
        """Files of the folder of the run, by name."""
        return {}


def part_of(name: str) -> ReportPart:
    """Return the part of a name; one without a file adds nothing but its value."""
    if name == CONTINUES:
        return ReportPart(name)
    return cast(ReportPart, importlib.import_module(f"{__name__}.{name}").PART)


def parts_of(holder: PublishParts | ReportParts) -> Iterator[ReportPart]:
    """Yield the parts that have a value there."""
    return map(part_of, holder.parts)


def concludes(report: Report) -> bool:
    """Tell whether a part says what the answer begins with."""
    return any(part.concludes(report) for part in parts_of(report))


def leaves_open(report: Report) -> bool:
    """Tell whether the answer says nothing but what no work says."""
    cites_nothing = not any(claim.support for claim in report.answer)
    return bool(report.answer) and cites_nothing and not concludes(report)


def cited_quotes(report: Report) -> Iterator[Support]:
    """Every quote of a reference, whatever rests on it or shows it, in the order of the page."""
    for claim in (*report.answer, *report.mechanism):
        yield from claim.support
    for section in report.sections:
        for claim in (*section.answer, *section.claims):
            yield from claim.support
    for part in parts_of(report):
        yield from part.quotes(report)
