"""The table of works as it is shown: a row a work, grouped by what was measured, each field that was read
from the text with its place."""

from collections.abc import Iterable, Iterator, Sequence

from activities.report.formats import references as refs
from activities.report.formats import words
from activities.report.formats.model import Cell, PlaceView, Reading, WorkGroup, WorkView
from activities.report.formats.names import STANDINGS
from activities.report.formats.results import results
from activities.report.formats.text import clean
from activities.report.outcomes import by_outcome
from activities.report.schema import Reference, Report
from activities.report.strength import grade_of
from activities.types import WorkRow

OTHER = "Other outcomes"
NOT_STATED = "Outcome not stated"


def work_views(report: Report) -> tuple[WorkView, ...]:
    """A row for each reference; in a report without rows, from the references alone."""
    rows = {row.evidence_id: row for row in report.works}
    said = [claim.text for section in report.sections for claim in section.claims]
    return tuple(
        _view(r, rows.get(r.evidence_id) or WorkRow(evidence_id=r.evidence_id), said)
        for r in report.references
    )


def grouped(works: Sequence[WorkView], question: str) -> tuple[WorkGroup, ...]:
    """Works whose outcomes share a word, the largest group first; one group without a name when no two do."""
    found = by_outcome([work.outcome for work in works], question)
    groups = [WorkGroup(group.name, tuple(works[place] for place in group.places)) for group in found]
    named = {place for group in found for place in group.places}
    left = [work for place, work in enumerate(works) if place not in named]
    if not groups:
        return (WorkGroup("", tuple(works)),) if works else ()
    for name, rest in (
        (OTHER, [work for work in left if work.outcome]),
        (NOT_STATED, [work for work in left if not work.outcome]),
    ):
        if rest:
            groups.append(WorkGroup(name, tuple(rest)))
    return tuple(groups)


def _view(reference: Reference, row: WorkRow, said: Sequence[str]) -> WorkView:
    printed = any(words.same_words(claim, row.finding) for claim in said) if row.finding else True
    places = tuple(_places(reference.number, row))
    anchors = {name: place.anchor for place in places for name in place.fields}

    def cell(name: str, text: str) -> Cell:
        return Cell((Reading(clean(text), anchors.get(name, "")),)) if clean(text) else Cell()

    counts = [cell("n", f"{row.n:,}" if row.n else "")]
    if row.analysed and row.analysed != row.n:
        counts.append(cell("analysed", f"{row.analysed:,} analysed"))
    return WorkView(
        number=reference.number,
        label=refs.label_of(reference),
        title=clean(reference.title),
        pmid=reference.identifiers.pmid or "",
        design=cell("design", row.design or refs.badges(reference)[0]),
        year=row.year or reference.year,
        n=row.n,
        people=Cell(tuple(reading for count in counts for reading in count.readings)),
        population=cell("population", row.population),
        compared=cell("comparison", row.comparison),
        outcome=clean(row.outcome),
        measured=cell("outcome", row.outcome),
        finding="" if printed else clean(row.finding),
        results=results(row, anchors),
        conduct=Cell(
            tuple(
                Reading(clean(text), anchors.get(f"conduct.{place}", ""))
                for place, text in enumerate(row.conduct)
                if clean(text)
            )
        ),
        direction=words.DIRECTIONS[row.direction] if row.direction else "",
        strength="weak"
        if reference.standing in refs.WARNING_STANDINGS
        else grade_of(reference.evidence_type),
        standing=STANDINGS[reference.standing],
        study=reference.study,
        places=places,
    )


def _places(number: int, row: WorkRow) -> Iterator[PlaceView]:
    """Each sentence that a field was read from, once, with its fields and the words that were read."""
    read = {
        "design": row.design,
        "population": row.population,
        "comparison": row.comparison,
        "outcome": row.outcome,
    }
    texts = read | {f"numbers.{place}": text for place, text in enumerate(row.numbers)}
    texts |= {f"conduct.{place}": text for place, text in enumerate(row.conduct)}
    texts |= {f"computed.{place}": effect.text for place, effect in enumerate(row.computed)}
    texts |= {f"arms.{place}": result.text for place, result in enumerate(row.arms)}
    sentences: dict[str, list[str]] = {}
    for name, sentence in row.places.items():
        sentences.setdefault(clean(sentence), []).append(name)
    for place, (sentence, names) in enumerate(sentences.items(), start=1):
        marked = [clean(texts[name]) for name in names if name in texts]
        yield PlaceView(
            anchor=f"work-{number}-p{place}",
            fields=tuple(names),
            pieces=tuple(_marked(sentence, marked)),
        )


def _marked(sentence: str, phrases: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """A sentence in runs, with whether each is part of a phrase that was read from it."""
    held = [False] * len(sentence)
    folded = sentence.casefold()
    for phrase in phrases:
        # what is shown of a design begins with a small letter, and may have its evidence type before it
        start = folded.find(phrase.casefold()) if phrase else -1
        if start < 0 and ", " in phrase:
            phrase = phrase.rsplit(", ", 1)[1]
            start = folded.find(phrase.casefold())
        if start >= 0 and len(folded) == len(sentence):
            held[start : start + len(phrase)] = [True] * len(phrase)
    start = 0
    for end in range(1, len(sentence) + 1):
        if end == len(sentence) or held[end] != held[start]:
            yield sentence[start:end], held[start]
            start = end
