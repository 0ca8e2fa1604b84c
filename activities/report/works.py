"""The works of a report: references, the text around quotes, studies, grades, and what is not cited."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import get_args

from activities.contracts.evidence import (
    FULL_TEXT_FROM,
    Claim,
    Evidence,
    Grade,
    SearchRecord,
    Support,
    Work,
    fields_of,
)
from activities.contracts.judge import MIN_ANSWERS
from activities.contracts.profile import OWN_DOCUMENTS, Words
from activities.contracts.publish import PublishInput
from activities.messages import ENGLISH
from activities.report.formats.text import clean
from activities.report.schema import (
    Dropped,
    JudgedWork,
    QuoteContext,
    Reference,
    Report,
    UnusedReason,
    UnusedWork,
)
from activities.report.strength import design_name, participants, strength
from activities.text.normal_form import normalise
from activities.text.sentences import language_in

MAX_AROUND_CHARS = 240
"""Characters shown on each side of a quote at most."""
MAX_DATE_CHARS = 30
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_EDGE = re.compile(r"\A\S*\s")


def references(
    supports: Iterable[Support],
    documents: Mapping[str, Evidence],
    study: Mapping[str, int],
    origins: Mapping[str, str],
    around: Iterable[QuoteContext],
    judgements: Mapping[str, JudgedWork],
    *,
    with_grades: bool,
) -> tuple[Reference, ...]:
    """Give numbers to the works that are quoted, by first appearance, and collect what is known of them.

    `study`: works with the same number report the same study; `origins`: the earlier run that a work was
    imported from; `judgements`: the checked ones; `with_grades`: with the strength of each.
    """
    pages: dict[str, set[int]] = {}
    for context in around:
        if context.page:
            pages.setdefault(context.evidence_id, set()).add(context.page)

    def reference(number: int, item: Evidence) -> Reference:
        name, judgement = item.evidence_id, judgements.get(item.evidence_id)
        places = tuple(sorted(pages.get(name, ())))
        date = clean(item.facts.get("date", ""))
        return Reference(
            # without its time; in another form as its document states it
            date=date[: 10 if _ISO_DATE.match(date) else MAX_DATE_CHARS],
            date_from=item.facts.get("date_from", ""),
            **fields_of(Work, item) | {"title": clean(item.title) or name},
            number=number,
            authors=tuple(clean(a) for a in item.authors if clean(a)),
            venue=clean(item.venue) or None if item.venue else None,
            full_text_from=item.facts.get(FULL_TEXT_FROM, ""),
            study=study.get(name, 0),
            from_run=origins.get(name, ""),
            pages=places,
            text_from="transcript" if item.times else "ocr" if item.facts.get("text_from") == "ocr" else "",
            times=tuple(item.times[place - 1] for place in places if 0 < place <= len(item.times)),
            design=design_name(item, judgement),
            n=participants(item, judgement),
            strength=strength(item, judgement) if with_grades else None,
        )

    names = dict.fromkeys(support.evidence_id for support in supports)
    return tuple(reference(number, documents[name]) for number, name in enumerate(names, 1))


def words_for(words: Words, items: Sequence[Evidence], searches: Sequence[SearchRecord]) -> Words:
    """Choose what a report calls what was read: for a person's own documents, words of documents."""
    flags = [item.source == "library" and item.evidence_type == "document" for item in items]
    flags = flags or [search.source == "library" for search in searches]
    return OWN_DOCUMENTS if flags and all(flags) else words


def with_strength(claim: Claim, works: Mapping[str, Grade | None]) -> Claim:
    grades = {works.get(support.evidence_id) for support in claim.support}
    return claim.replace(strength=grades.pop() if len(grades) == 1 else None)


def unused_works(
    step: PublishInput, report: Report, refusals: Sequence[Dropped], retracted_ids: Collection[str]
) -> tuple[UnusedWork, ...]:
    """List the works that the report does not cite, by reason and id; empty where it was not recorded."""
    order = get_args(UnusedReason)
    retracted_ids = {r.evidence_id for r in step.evidence if r.standing == "retracted"} | {*retracted_ids}
    refused_ids = {name for item in refusals if item.kind != "judgement" for name in item.evidence_ids}
    refused_ids |= {name for plan in step.sections for name in plan.draft.cited}
    answers = {judgement.evidence_id: judgement.answers for judgement in report.judgements}

    def reason_of(name: str) -> UnusedReason:
        if name in retracted_ids:
            return "retracted"
        if name in refused_ids:
            return "refused"
        if name not in answers:
            return "not_read"
        return "not_chosen" if answers[name] >= MIN_ANSWERS else "not_relevant"

    ids = {reference.evidence_id for reference in report.references}
    works = [
        UnusedWork(evidence_id=name, reason=reason_of(name), title=clean(title))
        for name, title in step.found.items()
        if name not in ids
    ]
    return tuple(sorted(works, key=lambda work: (order.index(work.reason), work.evidence_id)))


def contexts(
    quotes: Iterable[Support],
    documents: Mapping[str, Evidence],
    language: str = ENGLISH,
    translations: Mapping[Support, str] | None = None,
) -> tuple[QuoteContext, ...]:
    """Return the surroundings of every quote that can be located, each once, in the order of its work.

    `language`: of the report, in which `translations` are.
    """
    spoken = {name: language_in(item) for name, item in documents.items()}
    texts = {name: normalise(item.text) for name, item in documents.items()}
    pages = {name: _page_starts(item) for name, item in documents.items() if item.pages}
    works: dict[str, int] = {}
    located: list[tuple[int, int, QuoteContext]] = []
    for support in dict.fromkeys(quotes):
        name = support.evidence_id
        text, quote = texts.get(name, ""), normalise(support.quote)
        start = text.find(quote) if quote else -1
        if start < 0:
            continue
        context = QuoteContext(
            evidence_id=name,
            quote=support.quote,
            before=_before(text[:start]),
            after=_after(text[start + len(quote) :]),
            language="" if spoken[name] == language else spoken[name],
            translation=(translations or {}).get(support, ""),
            page=bisect_right(pages.get(name, ()), start),
        )
        located.append((works.setdefault(name, len(works)), start, context))
    return tuple(context for *_, context in sorted(located, key=itemgetter(0, 1)))


def _page_starts(item: Evidence) -> list[int]:
    """Where each page begins in the normal form of a text."""
    starts: list[int] = []
    length = 0
    for start, end in pairwise((*item.pages, len(item.text))):
        starts.append(length)
        if words := normalise(item.text[start:end]):
            length += len(words) + 1
    return starts


def _before(text: str) -> str:
    """Return the end of a text, with the space before the quote where there is one."""
    space = " " if text.endswith(" ") else ""
    if len(text) > MAX_AROUND_CHARS:
        text = "\u2026 " + _EDGE.sub("", text[-MAX_AROUND_CHARS:], count=1)
    return clean(text) + space


def _after(text: str) -> str:
    """Return the beginning of a text, with the space after the quote where there is one."""
    space = " " if text.startswith(" ") else ""
    if len(text) > MAX_AROUND_CHARS:
        text = text[:MAX_AROUND_CHARS].rsplit(" ", 1)[0] + " \u2026"
    return space + clean(text)
