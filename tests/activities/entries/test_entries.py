"""Dated events and amounts: what stands of an extractor's entries, and what they come to."""

from datetime import date
from decimal import Decimal

import pytest

from activities.contracts.entries import Entries, Entry
from activities.contracts.evidence import Evidence, Support
from activities.contracts.parts import part_data
from activities.contracts.publish import PublishInput
from activities.contracts.write import ExtractInput
from activities.documents.dates import date_of_head, dates_in
from activities.entries.ledger import is_one_unit, ledger, value_of
from activities.profiles.loader import load_profile
from activities.report.assemble import build_report
from activities.report.parts import part_of
from activities.roles import extractor
from activities.roles.extractor import EntriesAnswer, EntryAnswer, day_of
from tests.activities.cases import planned
from tests.activities.report.rendered import EVERY_FORMAT, words_of

ROOF = Evidence(
    evidence_id="library:roof",
    source="library",
    title="Invoice 1187",
    text="Invoice 1187 of Harrow and Sons, 3 May 2024.\n\nRepair of the workshop roof cost 11,210.50 pounds. "
    "A deposit of 2,000 pounds was paid on 16 April 2024 by the guild.",
    evidence_type="document",
    facts={"date": "2024-05-03", "date_from": "text"},
)
LETTER = Evidence(
    evidence_id="library:letter",
    source="library",
    title="Letter of the glazier",
    text="The two panes of glass in the north window cost 1,890 pounds without the fitting.",
    evidence_type="document",
)
WORKS = (ROOF, LETTER)
STEP = ExtractInput(
    run_id="r",
    question="How much did the repairs cost in all, and when?",
    profile=load_profile("general"),
    columns=(),
    asks=("when", "how_much"),
)


def read(*rows: dict[str, str]) -> tuple[tuple[Entry, ...], list[str]]:
    """The entries that stand of an answer, and why others do not."""
    prompt = extractor.render(STEP, WORKS, 20_000)
    labels = {sentence.quote: label for label, sentence in prompt.sentences.items()}

    def label(words: str) -> str:
        return next((name for quote, name in labels.items() if words in quote), "S99")

    entries = [EntryAnswer(**{**row, "sentence": label(row["sentence"])}) for row in rows]
    answer = extractor.accept(STEP, prompt, EntriesAnswer(entries=entries))
    return answer.output.entries, [one.reason.code for one in answer.output.refused]


COST = {
    "sentence": "workshop roof",
    "what": "Repair of the workshop roof",
    "amount": "11,210.50 pounds",
    "counts": "add",
}
PAID = {
    "sentence": "deposit",
    "what": "deposit",
    "date": "16 April 2024",
    "amount": "2,000 pounds",
    "counts": "subtract",
}
GLASS = {"sentence": "panes of glass", "what": "panes of glass", "amount": "1,890 pounds", "counts": "add"}


def test_an_entry_is_copied_from_its_sentence_and_dated_by_it_or_by_its_work() -> None:
    entries, refused = read(COST, PAID, GLASS)
    assert not refused
    assert [(one.what, one.amount, one.day, one.day_from) for one in entries] == [
        ("Repair of the workshop roof", "11,210.50 pounds", "2024-05-03", "work"),
        ("deposit", "2,000 pounds", "2024-04-16", "sentence"),
        ("panes of glass", "1,890 pounds", "", ""),
    ]


@pytest.mark.parametrize(
    ("change", "code"),
    [({"amount": "11,310.50 pounds"}, "number_missing"), ({"sentence": "no such sentence"}, "label_unknown")],
)
def test_an_amount_that_its_sentence_does_not_state_is_refused(change: dict[str, str], code: str) -> None:
    entries, refused = read({**COST, **change}, GLASS)
    assert [one.amount for one in entries] == ["1,890 pounds"]
    assert refused == [code]


def test_a_date_that_its_work_does_not_state_is_not_printed() -> None:
    (entry,), _ = read({**PAID, "date": "17 April 2024"})
    assert (entry.day, entry.day_from) == ("", "")


def test_a_day_without_a_year_is_the_one_nearest_to_the_date_of_its_work() -> None:
    text = "The roofers let a pole fall on the north window on 5 June and on 19 December."
    work = ROOF.replace(text=text)
    support = Support(evidence_id=work.evidence_id, quote=text)
    assert day_of("5 June", work, support) == "2024-06-05"
    assert day_of("6 June", work, support) == ""
    assert day_of("19 December", work, support) == "2023-12-19", "a letter of May speaks of the last one"


def test_amounts_of_one_unit_are_added_up_in_order_of_time_and_others_stay_apart() -> None:
    entries, _ = read(COST, PAID, GLASS)
    euros = entries[0].replace(amount="320 euros", value=Decimal(320))
    other = entries[0].replace(amount="7,000 pounds", value=Decimal(7_000), counts="no")
    made = ledger(Entries(asks=("how_much",), entries=(*entries, euros, other)))
    assert [one.day for one in made.entries] == ["2024-04-16", "2024-05-03", "2024-05-03", "2024-05-03", ""]
    (total,) = made.totals
    assert total.line == "11,210.50 + 1,890 - 2,000 = 11,100.50 pounds"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("pounds", "\u00a3", True),
        ("\u20ac", "euro", True),
        ("eur", "\u20ac", True),
        ("\u00a3", "\u20ac", False),
        ("dollars", "pounds", False),
        ("hours", "\u00a3", False),
    ],
)
def test_a_currency_has_one_total_whether_by_its_sign_or_its_name(one: str, other: str, same: bool) -> None:
    assert is_one_unit(one, other) == is_one_unit(other, one) == same


def test_a_question_that_asks_for_several_sums_gets_each_under_its_name() -> None:
    entries, _ = read(
        {**COST, "total": "cost"}, {**GLASS, "total": "cost"}, {**PAID, "total": "deposited by a thief"}
    )
    assert [one.total for one in entries] == ["cost", "cost", ""], "a name is in words of the question"
    (total,) = ledger(Entries(entries=entries)).totals
    assert total.line == "cost: 11,210.50 + 1,890 = 13,100.50 pounds"
    cents = [one.replace(value=Decimal("486.00"), amount="486.00 pounds", total="") for one in entries[:2]]
    assert ledger(Entries(entries=tuple(cents))).totals[0].result == "972.00"


def test_a_sum_is_read_as_its_language_writes_numbers() -> None:
    support = Support(evidence_id="library:b", quote="Die Miete betrug 1.250,00 Euro im Monat.")
    rent = Entry(evidence_id="library:b", support=support, what="Miete", counts="add")
    rows = (rent.replace(amount=text, value=value_of(text, "de")) for text in ("1.250 Euro", "320,50 Euro"))
    (total,) = ledger(Entries(entries=tuple(rows))).totals
    assert (total.expression, total.result) == ("1.250 + 320,50", "1,570.50")


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_every_format_shows_the_timeline_and_the_amounts_with_their_total(name: str) -> None:
    entries, _ = read(COST, PAID, GLASS)
    gone = entries[2].replace(
        support=Support(evidence_id=LETTER.evidence_id, quote="A quote that is not there.")
    )
    step = PublishInput.model_validate(
        {
            "run_id": "r",
            "question": STEP.question,
            "mode": "iterative",
            "title": "Repairs",
            "profile": "general",
            "stop_reason": "sufficient_evidence",
            "written_by": "model",
            "generated_at": "2026-01-01T00:00:00+00:00",
            "sections": (planned("s1"),),
            "entries": Entries(asks=STEP.asks, entries=(*entries, gone)),
        }
    )
    report = build_report(step, {work.evidence_id: work for work in WORKS})
    text = words_of(report, name)
    table = text[text.index("Timeline and amounts") :]
    assert "Amounts" not in table.partition("References")[0], "one table"
    assert table.index("16 April 2024") < table.index("subtracted") < table.index("Total")
    assert "11,210.50 + 1,890 - 2,000" in text
    assert "11,100.50 pounds" in text
    part, shown = part_of("entries"), part_data("entries").shown(report)
    assert [*part.problems(report, {})["total"]] == [()]
    assert len(shown.entries) == 3, "what does not stand in its work is not shown"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("Minutes of the committee, 16 April 2024", "en", "2024-04-16"),
        (
            "Harrow & Sons\n12 Mill Lane, Leeds LS1 4AP\n\nApril 3rd, 2024\n\nDear Ms Verma,",
            "en",
            "2024-04-03",
        ),
        ("Protokoll der Sitzung vom 12.05.2021", "de", "2021-05-12"),
        ("Berlin, den 3. M\u00e4rz 2023", "de", "2023-03-03"),
        ("Acta de la reuni\u00f3n del 5 de junio de 2022", "es", "2022-06-05"),
        ("2024\u5e744\u670816\u65e5 \u4f1a\u8bae\u8bb0\u5f55", "zh", "2024-04-16"),
        ("Invoice No. 2024-117\n12 of 30 members, 31 June 2024", "en", ""),
        ("Paid on 03/04/2024", "en", ""),
        ("Lease\n\nThe house is let to the guild from 1 January 2019.\nLeeds, 3 May 2018", "en", ""),
        ("Harrow and Co.\n3 May 2018", "en", "2018-05-03"),
        (
            "Notes\n" + "A long line of text that is no head of a document. " * 4 + "It ended on 3 May 2024.",
            "en",
            "",
        ),
    ],
)
def test_a_document_is_dated_by_its_head(text: str, language: str, day: str) -> None:
    assert date_of_head(text, language) == day


def test_dates_do_not_overlap() -> None:
    assert [one.day for one in dates_in("From 3 May 2024, 4 May 2024 to 2024-06-01.")] == [
        date(2024, 5, 3),
        date(2024, 5, 4),
        date(2024, 6, 1),
    ]
