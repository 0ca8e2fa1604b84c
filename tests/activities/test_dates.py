"""Dates of documents."""

from datetime import date

import pytest

from activities.dates import date_of_head, dates_in, days_in, days_of


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
        ("Hire agreement\nPerformances: 28 and 29 March; 4, 5 and 6 April 2025", "en", ""),
        ("Room 12, 16 April 2024", "en", "2024-04-16"),
        (
            "Notes\n" + "A long line of text that is no head of a document. " * 4 + "It ended on 3 May 2024.",
            "en",
            "",
        ),
    ],
)
def test_a_document_is_dated_by_its_head(text: str, language: str, day: str) -> None:
    assert date_of_head(text, language) == day


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("Berlin, den 16.05.24", "de", "2024-05-16"),
        ("Berlin, den 16. 05. 24", "de", "2024-05-16"),
        ("K\u00f6ln, 03.11.98", "de", "1998-11-03"),
        ("16.05.24-18.05.24", "de", "2024-05-16"),
        ("Paris, le 16/05/24", "fr", "2024-05-16"),
        ("Madrid, 3/5/24", "es", "2024-05-03"),
        ("16-05-24", "nl", "2024-05-16"),
        ("Leeds, 16/05/24", "en", "2024-05-16"),
        ("05/16/24", "en", "2024-05-16"),
        # what may be another date, or none, is none
        ("Leeds, 05/06/24", "en", ""),
        ("16.05.24", "en", ""),
        ("16/05/24", "de", ""),
        ("24/05/16", "zh", ""),
        ("16.05.45", "de", ""),
        ("Kapitel 3.5.24", "de", ""),
        ("Server 10.12.24.11", "de", ""),
        ("31.06.24", "de", ""),
        ("Konto 16.05.241", "de", ""),
        ("16.05.24", "xx", ""),
    ],
)
def test_a_year_of_two_digits_is_read_where_the_language_writes_it(
    text: str, language: str, day: str
) -> None:
    assert date_of_head(text, language) == day


@pytest.mark.parametrize(
    ("text", "language", "days"),
    [
        ("Die Sitzung ist am 16.05. um 10 Uhr.", "de", ["05-16"]),
        ("vom 16.05. bis 18.05.2024", "de", ["05-16", "05-18"]),
        ("16.05.-18.05.", "de", ["05-16", "05-18"]),
        ("siehe Abschnitt 3.5.", "de", []),
        ("16.05. 20 Personen", "de", []),
        ("16.05.20 Personen", "de", ["05-16"]),
        ("It rose to 12.05.", "en", []),
        ("99.05.", "de", []),
        ("12.05.2024-14.05.2024", "de", ["05-12", "05-14"]),
        ("Anruf 030-16-05-2024", "de", []),
    ],
)
def test_a_day_in_figures_has_no_year_where_the_language_writes_it_so(
    text: str, language: str, days: list[str]
) -> None:
    assert days_in(text, language) == days


def test_a_day_in_figures_is_of_the_years_of_the_others() -> None:
    assert days_of(["Am 16.05. und am 18.05.24."], "de") == {date(2024, 5, 16), date(2024, 5, 18)}


def test_dates_do_not_overlap() -> None:
    assert [one.day for one in dates_in("From 3 May 2024, 4 May 2024 to 2024-06-01.")] == [
        date(2024, 5, 3),
        date(2024, 5, 4),
        date(2024, 6, 1),
    ]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What happened on 3 April?", "en"),
        ("What happened on April 3rd?", "en"),
        ("2024-04-03,boiler failed", "en"),
        ("Was geschah am 3. April?", "de"),
        ("03.04.2024;Heizung ausgefallen", "de"),
        ("Que s'est-il pass\u00e9 le 3 avril ?", "fr"),
        ("\u00bfQu\u00e9 pas\u00f3 el 3 de abril?", "es"),
        ("4\u67083\u65e5\u53d1\u751f\u4e86\u4ec0\u4e48\uff1f", "zh"),
    ],
)
def test_a_day_is_one_word_with_a_year_or_without(text: str, language: str) -> None:
    assert days_in(text, language) == ["04-03"]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("May 3, 2024 and 4 May", ["05-03", "05-04"]),
        ("on the 9th of June", ["06-09"]),
        ("12 of 30 members met in 2024, and 5 more", []),
        ("3 May and 5 others", ["05-03"]),
        ("the Stra\u00dfe was closed on MAY. 5, 2024", ["05-05"]),
        ("on 4 Augu\ufb06 2024", ["08-04"]),  # a letter that case folding makes two
    ],
)
def test_a_number_is_a_day_with_the_month_beside_it(text: str, days: list[str]) -> None:
    assert days_in(text) == days


def test_a_day_without_a_year_is_of_the_years_of_the_others() -> None:
    texts = ["Paid on 3 May 2024 and on 2 June 2025.", "It came on 9 June."]
    assert days_of(texts) == {*(date(2024, 5, 3), date(2025, 6, 2)), *(date(2024, 6, 9), date(2025, 6, 9))}


@pytest.mark.parametrize(
    ("text", "language", "days"),
    [
        ("25 to 31 August", "en", ["08-25", "08-31"]),
        ("25\u201331 August 2026", "en", ["08-25", "08-31"]),
        ("vom 25. bis 31. August", "de", ["08-25", "08-31"]),
        ("du 3 au 5 mai", "fr", ["05-03", "05-05"]),
        ("12 on 31 August", "en", ["08-31"]),
        ("2024-12 to 13 May", "en", ["05-13"]),
        ("31 to 25 August", "en", ["08-25"]),
    ],
)
def test_the_first_day_of_a_span_is_a_day_of_its_month(text: str, language: str, days: list[str]) -> None:
    assert days_in(text, language) == days
