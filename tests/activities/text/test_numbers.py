"""The one reader of numbers, as a table."""

from decimal import Decimal

import pytest

from activities.text import number_index
from activities.text.number_index import NumberIndex, are_among, index_of, missing_code, missing_numbers
from activities.text.numbers import figure_of, figures, read

BILL = """date,item,amount
2024-04-03,rent,4350.00
2024-05-03,"heating, water","1,204.50"
2024-06-03,repair,-640.00"""


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("1,234.5", ["1234.5"]),
        ("1.234,5", ["1234.5"]),
        ("1 234", ["1234", "1 234"]),
        ("1\u2009234 and 2\u202f345\u00a0678", ["1234", "1 234", "2345678", "2 345 678"]),
        ("1 234,5", ["1234.5", "1234 5", "1 234.5"]),
        ("1.000", ["1.000", "1000"]),
        ("65,600", ["65600", "65.600"]),
        ("1,00,000", ["100000"]),
        ("1'234", ["1234"]),
        (".05", ["0.05"]),
        ("5\u00b72", ["5.2"]),
        ("2,3", ["2.3", "2 3"]),
        ("10,20,30", ["10 20 30"]),
        ("20-30%", ["20", "30"]),
        ("43/120", ["43", "120"]),
        ("\u22125.2", ["5.2"]),
        ("2.5 million people", ["2.5", "2500000"]),
        ("5k", ["5", "5000"]),
        ("$3bn", ["3", "3000000000"]),
        ("12 mg, 3x", ["12", "3"]),
        ("three hundred fifty-three patients", ["353"]),
        ("one hundred and ninety patients", ["190"]),
        ("between twenty and thirty patients", ["20", "30"]),
        ("Es waren dreihundertdreiundf\u00fcnfzig Patienten.", ["353"]),
        ("Il y avait trois cent cinquante-trois patients.", ["353"]),
        ("Hab\u00eda trescientos cincuenta y tres pacientes.", ["353"]),
        ("Er waren driehonderddrie\u00ebnvijftig pati\u00ebnten.", ["353"]),
        ("\u60a3\u800512\u4eba", ["12"]),
        ("95% CI 0.62-3.81", ["0.62", "3.81"]),
        ("IC 95 % 1,2-3,4", ["1.2", "1 2", "3.4", "3 4"]),
        ("on p. 12 on April 3, 2024", []),
        ("from the 25th, for the 3rd time", []),
        ("at 14:30, 14.30 Uhr, 2:30 pm or 14h30", []),
        ("before 16:30: ring", []),
        ("2024-04-03,4350.00", ["4350.00"]),
        ("on 3 April 2024, 3. M\u00e4rz 2024, 03.04.2024, 2024\u5e744\u67083\u65e5", []),
        ("COVID-19, CYP3A4, IL-6 and T2DM", []),
        ("shown before [4]", []),
        ("12\u00bd mg and \u2154", ["12.5", "121 2", "0.667", "0.67", "0.7", "2 3"]),
        ("20 to 30 million people", ["20", "30", "30000000"]),
        ("8 to 12 patients", ["8", "12"]),
        ("quatre pour cent contre vingt-six pour cent des patients", ["4", "26"]),
        ("El seis por ciento de los pacientes", ["6"]),
        (
            "eine zw\u00f6lfw\u00f6chige Behandlung eines f\u00fcnfundvierzigj\u00e4hrigen Mannes",
            ["12", "45"],
        ),
        ("a twentyfold rise", ["20"]),
    ],
)
def test_a_number_is_read_however_it_is_written(text: str, readings: list[str]) -> None:
    """Every reading that it may have; what is no figure has none."""
    made = [reading for figure in figures(text) for reading in figure.readings]
    assert made == [tuple(map(Decimal, reading.split())) for reading in readings]


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("1.000", "de", "1000"),
        ("1.000", "en", "1.000"),
        ("65,600", "en", "65600"),
        ("65,600", "es", "65.600"),
        ("1,250", "zh", "1250"),
        ("1.250", "unknown", "1.250"),
        ("-0.45", "en", "-0.45"),
        ("12 480 Euro", "de", "12480"),
        ("5-7", "en", ""),
        ("none", "en", ""),
    ],
)
def test_a_number_that_can_be_read_in_two_ways_is_first_read_as_its_language_writes_it(
    text: str, language: str, value: str
) -> None:
    number = figure_of(text, language)
    assert (number.signed[0] if number else None) == (Decimal(value) if value else None)


@pytest.mark.parametrize(
    ("text", "work", "is_stated"),
    [
        ("-0.45", "the difference was \u22120.45", True),
        ("0.45", "the difference was \u22120.45", False),
        ("-0.45", "the difference was 0.45", False),
        ("1.06", "0\u00b772 (0\u00b749\u20131\u00b706)", True),
        ("5-7", "5-7 days", True),
        ("353", "three hundred fifty-three patients", True),
        ("1615", "49 of 1,615 patients", True),
        ("1620", "49 of 1,615 patients", False),  # nothing is rounded
        ("0.37", "0.06+/-0.37 a patient", True),
    ],
)
def test_a_figure_is_stated_with_its_sign(text: str, work: str, is_stated: bool) -> None:
    assert are_among(text, index_of(work).signed) is is_stated


@pytest.mark.parametrize(
    ("claim", "work", "missing"),
    [
        ("46 patients", "Forty-six consecutive patients", ""),
        ("6 of 46 patients", "Forty-six consecutive patients", ""),  # a count of what is listed is read
        ("16 of 46 patients", "Forty-six consecutive patients", "16"),
        ("there were fifteen patients in it", "12.5 patients a year", "fifteen"),
        ("13 mm", "22 and 9 mm", "13"),
        ("9.90% against 19.19%", "less in delivery-9.90% vs 19.19%", ""),
        ("24 against 16 per cent", "16 versus 24 per cent", ""),
        ("type 2 diabetes in week 12", "T2DM in the 12th week", ""),
        ("a registry of 5,400 operations", "data from 5.400 operations", ""),
        ("5.400 Operationen", "5,400 operations", ""),
        ("the academic year 2018-19", "the year 2018-2019", ""),
        ("the tenant paid 640 pounds", BILL, ""),
        ("the rent was 4,350 euros", BILL, ""),
        ("heating and water cost 1,204.50", BILL, ""),
        ("it fell below 24 degrees", "it was 23.8 degrees", ""),
        ("it was 30 degrees", "it was 23.8 degrees", "30"),
        ("it was 21%", "it was 20%", "21%"),
        ("40% of the patients", "40 patients", "40%"),
        ("46.2% of the births", "births were 46.2", ""),
        ("65 of each 100", "65% of all 100", ""),
        ("2.5 Millionen Menschen waren betroffen", "2,500,000 people", ""),
        ("im April 2024", "2024-04-03", ""),
        ("on 3 April 2023", "2024-04-03", "3 April 2023"),
        ("on 5 April 2024", "2024-04-03", "5 April 2024"),
        ("2024-04-03", "on 3 April 2024", ""),
        ("2024-04-04", "on 3 April 2024", "2024-04-04"),
        ("on 3 May 2024", "2024-04-03", "3 May 2024"),
        ("on 3 May 2024", "2024-04-03, in May 2024", "3 May 2024"),
        ("on 3 May 2024", "2024-04-03 and 2024-05-03", ""),
        ("from 3 May 2024 to 5 April 2025", "3 patients; 5 April 2025", "3 May 2024"),
        ("Am 28. Juni 2012 kam der Sturm.", "On 28 May 2012 it came.", "28. Juni 2012"),
        ("Am 28. Mai 2012 kam der Sturm.", "On 28 May 2012 it came.", ""),
        (
            "\u0641\u064a 18 \u0623\u0628\u0631\u064a\u0644 2024",
            (
                "\u0639\u064f\u0642\u062f \u0627\u0644\u0627\u062c\u062a\u0645\u0627\u0639 "
                "18 \u0645\u0627\u0631\u0633 2024"
            ),
            "18 \u0623\u0628\u0631\u064a\u0644 2024",
        ),
        ("2024\ub144 9\uc6d4 1\uc77c", "2024-09-01", ""),
        ("2024\ub144 9\uc6d4 1\uc77c", "2024-08-01", "2024\ub144 9\uc6d4 1\uc77c"),
        ("Die Miete ist bis zum 31.3. zu zahlen.", "The rent is due by 31 March.", ""),
        ("Die Miete ist bis zum 30.3. zu zahlen.", "The rent is due by 31 March.", "30.3"),
        ("El tama\u00f1o promedio del hogar era de 30.7.", "El hogar: 3,07; 30 casas", "30.7"),
        ("between 2019/20 and 2021/22", "from 2019/2020 to 2021/2022", ""),
        ("between 2018/19 and 2021/22", "from 2019/2020 to 2021/2022", "2018/19"),
        ("in 2021", "in 2020", "2021"),
        ("in 2020", "in 2022", "2020"),
        ("2,020 patients", "2,022 patients", ""),
        ("at 15:30", "at 14:30", ""),
        ("at 19:30", "in the evening", ""),
        ("Es kostet 2,5 Millionen Euro.", "Es kostet 2.500.000 Euro.", ""),
        ("Das Projekt kostet 2,5 Mio. Euro.", "Das Projekt kostet 2,5 Millionen Euro.", ""),
        ("Das Projekt kostet 5,2 Mio. Euro.", "Das Projekt kostet 2,5 Millionen Euro.", "5,2 Mio"),
        ("Das Projekt kostet 2,5 Mrd. Euro.", "Das Projekt kostet 2,5 Millionen Euro.", "2,5 Mrd"),
        ("It cost 2.5 million euros.", "Cost (million euros): 2.5", ""),
        ("Le co\u00fbt est de 3,2 milliards d'euros.", "Le co\u00fbt est de 3 200 millions d'euros.", ""),
        ("Cost\u00f3 1,5 millones de euros.", "La obra cost\u00f3 1.500.000 euros.", ""),
        ("Cost\u00f3 3 mil millones.", "La obra cost\u00f3 3.000.000.000 euros.", ""),
        ("\u4e0b\u964d\u4e86\u767e\u5206\u4e4b\u4e09\u5341", "\u4e0b\u964d\u4e8630%", ""),
        ("\u4e0b\u964d\u4e8630%", "\u4e0b\u964d\u4e86\u767e\u5206\u4e4b\u4e09\u5341", ""),
        ("\u4e0b\u964d\u4e8670%", "\u4e0b\u964d\u4e86\u4e03\u6210", ""),
        ("\u4e0b\u964d\u4e8670%", "7\u5272\u6e1b\u5c11\u3057\u305f", ""),
        ("\u4e0b\u964d\u4e86\u4e03\u6210", "\u4e0b\u964d\u4e8670%", ""),
        ("\u4e0b\u964d\u4e8660%", "\u4e0b\u964d\u4e86\u4e03\u6210", "60%"),
        (
            "\u4e0b\u964d\u4e86\u767e\u5206\u4e4b\u5341\u4e09",
            "\u4e0b\u964d\u4e8630%",
            "\u767e\u5206\u4e4b\u5341\u4e09",
        ),
        ("\u4e09\u4e07\u4eba", "30000\u4eba", ""),
        ("30,000\u4eba", "3\u4e07\u4eba", ""),
        ("8\u4e07\u4eba", "3\u4e07\u4eba", "8\u4e07"),
        ("1.4\u4ebf", "\u4e00\u4ebf\u56db\u5343\u4e07", ""),
        ("\u4e09\u4e07\u4ebf", "3000000000000", ""),
        ("\u4e00\u4e5d\u516b\u4e94\u5e74", "1985\u5e745\u67083\u65e5", ""),
        ("\u4e00\u4e5d\u4e94\u516b\u5e74", "1985\u5e745\u67083\u65e5", "\u4e00\u4e5d\u4e94\u516b"),
        ("\u4e24\u5343\u4e94\u767e\u5143", "2500\u5143", ""),
        ("\u4e00\u767e\u96f6\u4e94\u4eba", "105\u4eba", ""),
        ("\u4e00\u767e\u4e09\u5341\u4e8c\u540d", "123\u540d", "\u4e00\u767e\u4e09\u5341\u4e8c"),
        ("\u5341\u4e8c\u70b9\u4e94\u5143", "12.5\u5143", ""),
        ("\u4e0b\u5348\u4e09\u70b9\u4e8c\u5341\u5206\u5f00\u59cb", "15:20\u5f00\u59cb", ""),
        ("\u5343\u4e07\u5c0f\u5fc3\uff0c\u5341\u5206\u6709\u6548", "\u5c0f\u5fc3", ""),
        ("\u4e09\u4e03\u6709\u6548", "notoginseng", ""),
        ("Report it by 2025-03-11.", "It was on 3 March 2025.", "2025-03-11"),
        ("Report it by 2025-03-11.", "It is due on March 11, 2025.", ""),
        ("the second trial", "a trial", ""),
        ("At 09.20 on that day", "14/04/2026, 09:20 - Nadia: it is ready", ""),
        ("At 9.20 on that day", "It came at 19:20.", "9.20"),
        ("At 09.10 on that day", "Date: Thu, 5 Feb 2026 09:10:22 +0000", ""),
        ("one of them", "all of them", ""),
    ],
)
def test_a_number_that_no_work_states_is_missing(claim: str, work: str, missing: str) -> None:
    assert next((number.text for number in missing_numbers(claim, [work])), "") == missing


@pytest.mark.parametrize(
    ("claim", "work", "missing"),
    [
        ("IL-6 rose", "IL-6 and IL-8", ""),
        ("IL6 rose", "IL-6", ""),
        ("IL-6 rose", "IL 6 rose", ""),
        ("IL-8 rose", "IL-6 rose", "IL-8"),
        ("IL-8 rose", "In Lyon 8 people fell ill", "IL-8"),
        ("COX-2 was blocked", "COX-1 was blocked for 2 days", "COX-2"),
        ("NCT01234567 ended", "NCT01234568 ended", "NCT01234567"),
        ("the PIVOT-9 trial", "the PIVOT trial of 9 sites", "PIVOT-9"),
        ("stage III", "stage 3", ""),
        ("stage III", "stage II", "III"),
        ("grade-3 toxicity in the mid-1990s", "grade 3 in 1990", ""),
        ("TiO2 was used", "TiO 2 was used", ""),
        ("IL-1\u03b2 rose", "IL-1beta rose", ""),
        ("IL-1\u03b2 rose", "IL-1 beta rose", ""),
        ("IL-1\u03b2 rose", "IL-1alpha rose", "IL-1\u03b2"),
        ("\u03b22-agonists", "beta-2 agonists", ""),
        ("Die Patienten hatten Typ-2-Diabetes.", "They had type 2 diabetes.", ""),
        ("Die Patienten hatten Typ-1-Diabetes.", "They had type 2 diabetes.", "Typ-1-Diabetes"),
        ("metformin and the BBC", "nothing", ""),
    ],
)
def test_a_code_that_no_work_has_is_missing(claim: str, work: str, missing: str) -> None:
    assert missing_code(claim, [work]) == missing


def test_the_cells_of_a_table_are_read_before_its_text() -> None:
    held = index_of(BILL)
    assert {Decimal(4350), Decimal("1204.5"), Decimal(640)} <= held.values
    assert Decimal(3435000) not in held.values


def test_a_run_of_digits_too_long_for_a_number_is_a_code() -> None:
    text = "9" * 40
    assert read(text).numbers == ()
    assert missing_code(text, ["9" * 39]) == text


def test_a_sentence_without_what_is_looked_up_has_no_work_read(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []
    works = ["Sleep helped 12 of 40 people.", "IL-6 fell."]

    def look(text: str) -> NumberIndex:
        looked_at.append(text)
        return index_of(text)

    monkeypatch.setattr(number_index, "index_of", look)
    assert missing_code("Sleep helps.", works) == ""
    assert not any(missing_numbers("Two groups slept.", works))
    assert not looked_at
    assert missing_code("IL-7 fell.", works) == "IL-7"
    assert looked_at == works


@pytest.mark.parametrize(
    ("claim", "same", "exchanged"),
    [
        ("Es kostete 1.234,5 Euro.", "Die Summe betrug 1.234,5 Euro.", "Die Summe betrug 1.243,5 Euro."),
        (
            "Le total est de 1 234,5 euros.",
            "Le total est de 1\u202f234,5 euros.",
            "Le total est de 1\u202f243,5 euros.",
        ),
        ("The ratio was 5\xb72 and P .05.", "The ratio was 5.2 and P 0.05.", "The ratio was 2.5 and P 0.05."),
        ("Vierundzwanzig Patienten starben.", "24 Patienten starben.", "42 Patienten starben."),
        ("Vierentwintig pati\xebnten stierven.", "24 pati\xebnten stierven.", "42 pati\xebnten stierven."),
        (
            "\u0968\u096a \u092e\u0930\u0940\u091c\u093c \u0925\u0947\u0964",
            "24 \u092e\u0930\u0940\u091c\u093c \u0925\u0947\u0964",
            "42 \u092e\u0930\u0940\u091c\u093c \u0925\u0947\u0964",
        ),
        (
            "\u0634\u0627\u0631\u0643 \u0662\u0664 \u0648\u0661\u0662\u066b\u0665",
            "\u0634\u0627\u0631\u0643 24 \u0645\u0631\u064a\u0636\u0627 \u064812.5",
            "\u0634\u0627\u0631\u0643 24 \u0645\u0631\u064a\u0636\u0627 \u064815.2",
        ),
        (
            "\u0634\u0627\u0631\u0643 \u0661\u066c\u0662\u0663\u0664 \u0645\u0631\u064a\u0636\u0627.",
            "\u0634\u0627\u0631\u0643 1234 \u0645\u0631\u064a\u0636\u0627.",
            "\u0634\u0627\u0631\u0643 1324 \u0645\u0631\u064a\u0636\u0627.",
        ),
        (
            "\u5171\u6709\u4e8c\u5341\u56db\u540d\u60a3\u8005\u6b7b\u4ea1\u3002",
            "\u5171\u670924\u540d\u60a3\u8005\u6b7b\u4ea1\u3002",
            "\u5171\u670942\u540d\u60a3\u8005\u6b7b\u4ea1\u3002",
        ),
        (
            "\u0423\u0447\u0430\u0441\u0442\u0432\u043e\u0432\u0430\u043b\u0438 1 234.",
            "\u0423\u0447\u0430\u0441\u0442\u0432\u043e\u0432\u0430\u043b\u0438 1234.",
            "\u0423\u0447\u0430\u0441\u0442\u0432\u043e\u0432\u0430\u043b\u0438 1243.",
        ),
        (
            "\u092e\u0948\u0902\u0928\u0947 1,00,000 \u0930\u0941\u092a\u092f\u0947 \u0926\u093f\u090f\u0964",
            "\u092e\u0948\u0902\u0928\u0947 100000 \u0930\u0941\u092a\u092f\u0947 \u0926\u093f\u090f\u0964",
            "\u092e\u0948\u0902\u0928\u0947 200000 \u0930\u0941\u092a\u092f\u0947 \u0926\u093f\u090f\u0964",
        ),
    ],
)
def test_a_number_of_any_language_is_the_works_and_an_exchanged_one_is_not(
    claim: str, same: str, exchanged: str
) -> None:
    assert not any(missing_numbers(claim, [same]))
    assert any(missing_numbers(claim, [exchanged]))


def test_a_mean_and_its_deviation_are_both_percentages_where_one_sign_stands() -> None:
    for quote in ("Intake rose by 31 +/- 7% (P = 0.005).", "Intake rose by 31 \u00b1 7 % (P = 0.005)."):
        assert not [*missing_numbers("Intake rose by 31%.", [quote])]
