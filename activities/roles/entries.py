"""The extractor's second task: an entry for every dated event or amount that a work states."""

from datetime import date
from typing import get_args

from activities.contracts.entries import Counts, Entry
from activities.contracts.evidence import Evidence, Support
from activities.contracts.judge import Refused
from activities.contracts.write import Extracted, ExtractInput
from activities.documents.dates import dates_in
from activities.entries.ledger import value_of
from activities.roles.role import Accepted, Prompt
from activities.roles.validation import (
    Loose,
    OneSentence,
    Text,
    cited,
    limits,
    line,
    one_of,
    refusal,
    supports,
)
from activities.roles.works import MAX_SENTENCE_CHARS
from activities.text.sentences import language_in
from activities.verification import gate

MAX_ENTRIES = 60
MAX_WHAT_CHARS = 120
COUNTS: tuple[Counts, ...] = get_args(Counts)
EVENTS = "event that bears on the question, with its date"
AMOUNTS = "amount that bears on the question"
TASK = (
    "No table is to be filled. List every {what} as an entry of `entries`: `sentence`: the label of the "
    "sentence that states it; `what`: what it is, in a few words of that sentence, copied; `date`: its date "
    "as the work states it, copied, empty where it states none; `amount`: the amount with its unit, copied "
    "from the sentence, else empty; `counts`: `add` or `subtract` for an amount of the total that is asked "
    "for, `no` for one of another matter, one that is stated a second time, or a sum of others. Answer with "
    "JSON."
)


class EntryAnswer(Loose):
    sentence: OneSentence = ""
    what: Text = limits(length=MAX_WHAT_CHARS, default="")
    date: Text = limits(length=40, default="")
    amount: Text = limits(length=60, default="")
    counts: Text = limits(length=10, default="no")


class EntriesAnswer(Loose):
    entries: list[EntryAnswer] = limits(items=MAX_ENTRIES)


def task_of(step: ExtractInput) -> str:
    """What the extractor is told to list."""
    asked = [words for kind, words in (("when", EVENTS), ("how_much", AMOUNTS)) if kind in step.asks]
    return TASK.format(what=" and every ".join(asked))


def accept_entries(step: ExtractInput, prompt: Prompt, answer: EntriesAnswer) -> Accepted[Extracted]:
    """The entries whose words, date and amount are copied from their work, each once."""
    entries: dict[tuple[str, str, str], Entry] = {}
    refused: list[Refused] = []
    works = {work.evidence_id: work for work in prompt.shown.values()}
    for row in answer.entries:
        sentences, unknown = cited([row.sentence], prompt)
        support = next(iter(supports(sentences)), None)
        if support is None:
            text = f"{row.what} {row.amount}".strip()
            if text:
                label = ", ".join(unknown)
                refused.append(
                    refusal("cell", text, "label_unknown" if unknown else "cites_nothing", label=label)
                )
            continue
        work = works[support.evidence_id]
        amount = line(row.amount, 60)
        if amount and (problem := gate.cell("amount", amount, support, work).refusal) is not None:
            refused.append(refusal("cell", amount, problem, [work.evidence_id]))
            continue
        day = day_of(row.date, work, support)
        by_work = "" if day or row.date.strip() else _iso(work.facts.get("date", ""))
        if not (amount or day):
            continue
        entry = Entry(
            evidence_id=work.evidence_id,
            support=support,
            what=_what(row.what, support),
            day=day or by_work,
            day_from="sentence" if day else "work" if by_work else "",
            amount=amount,
            value=value_of(amount, language_in(work)),
            counts=(one_of(row.counts, COUNTS) or "no") if amount and "how_much" in step.asks else "no",
        )
        entries.setdefault((support.quote, amount, entry.what), entry)
    return Accepted(Extracted(entries=tuple(entries.values()), refused=tuple(refused)))


def _what(text: str, support: Support) -> str:
    """A few words of a sentence, else the sentence."""
    words = line(text, MAX_WHAT_CHARS)
    return (
        words if words and gate.are_spans(words, support.quote) else line(support.quote, MAX_SENTENCE_CHARS)
    )


def day_of(text: str, work: Evidence, support: Support) -> str:
    """The day that a copied date names, as an ISO date; empty where its work has no such date. A day without
    a year is of the year of its work."""
    language, year = language_in(work), _iso(work.facts.get("date", ""))[:4]
    sources = (support.quote, work.text)
    stated = {one.day for source in sources for one in dates_in(source, language)}
    for one in dates_in(text, language):
        return one.day.isoformat() if one.day in stated else ""
    if year and gate.is_span(text, support.quote):
        return next((one.day.isoformat() for one in dates_in(f"{text} {year}", language)), "")
    return ""


def _iso(text: str) -> str:
    try:
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        return ""
