"""Which sentences can be quoted alone, and where those of a person's own text end."""

import pytest

from activities.contracts.evidence import Evidence, EvidenceType
from activities.text.layout import units
from activities.text.sentences import Sentence, quotable, sentences, split


def quotes(text: str, kind: EvidenceType) -> list[str]:
    """The quotable sentences of a text of a kind."""
    work = Evidence(evidence_id="a", source="library", title="Note", text=text, evidence_type=kind)
    return [sentence.quote for sentence in sentences(work)]


def test_a_sentence_is_quoted_alone_or_with_its_neighbour_and_a_fragment_or_heading_is_not() -> None:
    assert quotes("The shop was down from noon. About 310 orders were lost.", "document") == [
        "The shop was down from noon.",
        "About 310 orders were lost.",
    ]
    text = "Tertiary endoscopy referral center. The operation cured nine of ten patients within a year."
    assert quotes(text, "article") == ["The operation cured nine of ten patients within a year."]
    text = "Ann is the owner. She bought the house in 2011.\n\nThe boiler is in the cellar. It leaks."
    assert quotes(text, "document") == [
        "Ann is the owner. She bought the house in 2011.",
        "The boiler is in the cellar. It leaks.",
    ]
    text = "Working from home in summer\n\nBudget for training: 8,000 euros"
    assert quotes(text, "document") == ["Budget for training: 8,000 euros"]


def test_a_number_with_a_space_after_its_point_ends_no_sentence() -> None:
    text = "The volume was larger on the right (P<0. 001). The score was the same on both sides."
    assert [sentence.quote for sentence in split("x", text)] == [text[:46], text[47:]]
    other = "All of the strokes were seen by day 10. 12 of the patients were seen again a year later."
    assert len(split("x", other)) == 2


def test_the_wide_point_of_a_number_ends_no_sentence_and_a_wide_stop_does() -> None:
    number = "\u6b7b\u4ea1\u7387\u306f\uff11\uff18\uff0e\uff12\uff05\u3067\u4f4e\u304b\u3063\u305f\u3002"
    stop = "\u6b7b\u4ea1\u7387\u306f\u7b2c\u4e8c\u7fa4\u3067\u4f4e\u304b\u3063\u305f\uff0e"
    assert [sentence.quote for sentence in split("x", number + stop + number, language="ja")] == [
        number,
        stop,
        number,
    ]
    dated = "2024\u5e743\u6708\u91c7\u96c6\u4e86\u4e1c\u533a\u7684\u6c34\u6837\u3002"
    assert [sentence.quote for sentence in split("x", dated * 2, language="zh")] == [dated, dated]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Mitglied kann jede Person werden, die das 12. Lebensjahr vollendet hat."),
        ("pl", "Kaucja zostanie zwrócona do 10. dnia po wyprowadzce najemcy z mieszkania."),
        ("es", "El vecino del 4.\u00ba B vota en contra del presupuesto de la empresa."),
        ("fr", "M. Diallo s'occupe de la réservation du car pour la sortie au musée."),
    ],
)
def test_an_ordinal_or_an_initial_ends_no_sentence(language: str, text: str) -> None:
    assert [sentence.quote for sentence in split("x", f"{text} {text}", language=language)] == [text, text]


@pytest.mark.parametrize(
    "text",
    ["We isolated 12 S. Typhimurium strains from calves.", "In 2019 L. Smith described the rash again."],
)
def test_an_initial_behind_a_number_ends_no_sentence(text: str) -> None:
    assert [sentence.quote for sentence in split("x", text)] == [text]


@pytest.mark.parametrize("end", ["at 10 mmol/L", "after 5 g", "within 3\u00a0h"])
def test_a_unit_of_one_letter_ends_a_sentence(end: str) -> None:
    first, then = f"The second dose was given {end}.", "Against that, the risk of a fall rose."
    assert [sentence.quote for sentence in split("x", f"{first} {then}")] == [first, then]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh", "细胞毒性药物通过杀死活化的T细胞来抑制免疫反应。"),
        ("ar", "يعني الخطأ E18 أن خرطوم التصريف مسدود."),
        ("hi", "त्रुटि E18 का अर्थ है कि निकास नली बंद है।"),
    ],
)
def test_a_letter_in_another_script_makes_no_heading_of_a_sentence(language: str, text: str) -> None:
    assert [sentence.quote for sentence in split("x", text, kind="document", language=language)] == [text]
    assert not quotable("REPORT OF THE MEETING IN THE SCHOOL HALL", is_of_user=True)


def test_a_statement_of_thai_ends_at_a_blank() -> None:
    text = "ต้องชำระค่าเช่าเดือนละ 8,500 บาท เงินประกันเท่ากับค่าเช่าสามเดือน ผู้เช่าต้องแจ้งล่วงหน้าสามเดือนก่อนย้ายออก"
    first, *others = [one.quote for one in split("x", text, kind="document", language="th")]
    assert [first, *others] == [text[:32], *text[33:].split(" ")]


def test_a_quotation_mark_that_nothing_closes_hides_no_sentence() -> None:
    text = (
        "The office wrote of \u201ethe bills of the applicant for television and sport in all these years. "
    )
    sentence = "The member of the house proposed a card for the payment of allowances and of tax credits. "
    every = [one.quote for one in split("x", text + 7 * sentence, kind="document")]
    assert every == [text.strip(), *7 * [sentence.strip()]]


@pytest.mark.parametrize(
    "glued", [".CONCLUSION: ", ").CONCLUSIONS: ", ")CONCLUSIONS: ", ".Conclusion: ", "%.Conclusions: "]
)
def test_a_heading_glued_to_a_sentence_begins_a_part(glued: str) -> None:
    text = (
        f"METHODS: Pain fell by 5 points in both groups (P<0.05{glued}The drug lowers pain in older adults. "
    )
    *_, last = split("a", text if ")" in glued else text.replace("(P", "P"))
    assert (last.before_findings, last.quote) == (False, "The drug lowers pain in older adults.")


def test_a_stop_without_a_blank_and_the_marks_of_items_within_a_sentence_are_read_as_such() -> None:
    """As abstracts have them whose lines were joined."""
    first = "Adults were randomized to either i) two years of group therapy (MBT) or ii) one year of support."
    second = "Outcome was read by a blinded rater of function (GAF)."
    third = "Fifty-eight patients completed two years of the treatment that they were given."
    text = f"{first} {second}{third}"
    assert [one.quote for one in split("x", text)] == [first, second, third]


def rows(text: str) -> list[tuple[str, str]]:
    """What stands over each row, and the row."""
    return [(unit.head, text[unit.start : unit.end]) for unit in units(text) if unit.is_row]


def read(text: str) -> tuple[Sentence, ...]:
    return sentences(Evidence(evidence_id="a", source="s", title="", text=text, evidence_type="document"))


LOG = "2025-02-03 01:12 backup of host larch started\n2025-02-03 01:14 disk sdb reports unreadable sectors\n"
MINUTES = """# Board, 5 May

- Membership stands at 143. That is nine more.
- ~~The regatta takes place on 14 June.~~ Withdrawn: it is cancelled.
"""


def test_a_line_of_a_list_or_a_log_is_one_statement_under_its_heading() -> None:
    assert rows(LOG) == [("", line) for line in LOG.splitlines()]
    assert rows(MINUTES) == [
        ("Board, 5 May", "- Membership stands at 143. That is nine more."),
        ("Board, 5 May", "- ~~The regatta takes place on 14 June.~~ Withdrawn: it is cancelled."),
    ]


def test_prose_that_is_wrapped_is_read_on_and_a_heading_above_it_is_none_of_it() -> None:
    text = (
        "Heating\nThe boiler was replaced in March by the firm that serviced it before, which took\n"
        "two days. The old one is kept in the cellar until the council collects it in the\nsummer.\n"
    )
    assert [(sentence.head, sentence.is_row) for sentence in read(text)] == [("Heating", False)] * 2
    assert read(text)[0].quote.endswith("which took\ntwo days.")


def test_an_amount_at_the_beginning_of_a_wrapped_line_is_no_item() -> None:
    text = (
        "1. Growth\nBarley was grown in pots with (cv. Lund)\nand without silicon. The harvest of a pot was\n"
        "14.2 g with it and 11.6 g without (difference\n2.6 g), which is more than the scales\nwould miss.\n"
        "2. Water\nThe level fell in both groups for eleven\ndays, and in one of them it was\nback first.\n"
    )
    barley, harvest, water = (" ".join(sentence.quote.split()) for sentence in read(text))
    assert barley == "Barley was grown in pots with (cv. Lund) and without silicon."
    assert harvest.startswith("The harvest of a pot was 14.2 g with it")
    assert harvest.endswith("2.6 g), which is more than the scales would miss.")
    assert water.startswith("The level fell")
    assert [sentence.head for sentence in read(text)] == ["1. Growth", "1. Growth", "2. Water"]


def test_an_ordinal_at_the_beginning_of_a_line_is_no_item() -> None:
    ages = (
        "Der Jahresbeitrag steigt auf 96 Euro. Für Jugendliche bis zum\n18. Lebensjahr bleibt er bei 40 Euro."
    )
    assert [sentence.quote for sentence in split("x", ages, kind="document", language="de")] == [
        "Der Jahresbeitrag steigt auf 96 Euro.",
        "Für Jugendliche bis zum\n18. Lebensjahr bleibt er bei 40 Euro.",
    ]
    steps = ["17. The members of the board choose a chair", "18. The chair opens the meeting of the club"]
    assert [row for _, row in rows("\n".join(steps))] == steps


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        ("2. Fianza", "El arrendatario entrega una fianza de 1.280 euros."),
        ("Cantine", "Le prix du repas passe à 4,10 euros à la rentrée."),
        ("1. 夏祭り", "夏祭りは8月2日に公園で開催します。"),
        ("المطعم", "يرتفع سعر الوجبة من 12 إلى 14 درهما ابتداء من سبتمبر."),
    ],
)
def test_a_short_line_over_one_statement_is_its_heading(heading: str, line: str) -> None:
    (sentence,) = read(f"{heading}\n{line}\n")
    assert (sentence.head, sentence.quote) == (heading, line)


def test_a_numbered_line_is_a_heading_over_its_clauses_and_an_item_among_others() -> None:
    lease = "2 Rent\n\n2.1 The rent is 900 a month.\n\n3 Deposit\n\nThe deposit has an account of its own."
    assert [sentence.head for sentence in read(lease)] == ["2 Rent", "3 Deposit"]
    tasks = ["1. Buy milk and bread", "2. Call the plumber", "3. Mend the door"]
    assert rows("\n\n".join(tasks)) == [("", task) for task in tasks]


def test_a_line_of_bold_alone_is_a_heading_and_no_statement() -> None:
    said = "Three months of written notice are given before the flat is left."
    long = "13. Notices and Other Communications of the Parties to This Agreement and of Their Assigns"
    for mark in ("**", "__"):
        assert [s.head for s in read(f"{mark}{long}{mark}\n\n{said}")] == [long]
        two = f"{mark}12. Rent and what it includes{mark}\n{mark}13. Notices of the parties{mark}\n\n{said}"
        assert [(s.head, s.quote) for s in read(two)] == [("13. Notices of the parties", said)]
        assert [s.quote for s in read(f"{said}\n\n{mark}14. Costs of the two parties{mark}")] == [said]
    for fact in ("**The rent is paid on: 3 May 2024**", "**The rent of both flats is due on Monday.**"):
        assert fact in [s.quote for s in read(f"{said}\n{fact}\n{said}")]
        assert fact in [s.quote for s in read(f"{said}\n\n{fact}\n\n{said}")]
    assert [s.quote for s in read(f"**13. Notices of both parties.**\n\n{said}")] == [said]


def test_a_line_that_opens_a_list_stands_over_no_later_paragraph() -> None:
    text = "# Soup\n\nIngredients:\n- 1 kg of tomatoes\n- 2 onions\n\nThe soup is left to cool for two hours."
    assert [unit.head for unit in units(text)] == ["Ingredients", "Ingredients", "Soup"]


def test_a_line_of_settings_is_a_row_under_its_section() -> None:
    assert rows("http:\n  port: 8087\n  read_timeout: 15s\ndatabase:\n  pool_size: 40\n") == [
        ("http", "  port: 8087"),
        ("http", "  read_timeout: 15s"),
        ("database", "  pool_size: 40"),
    ]


@pytest.mark.parametrize(
    ("text", "columns", "row"),
    [
        ("day,what,paid\n3 May,train to Leeds,61.40\n4 May,hotel in Leeds,214.00", "day,what,paid", "61.40"),
        ("| Item | Decision |\n|---|---|\n| Boathouse door | repair it |", "Item | Decision", "repair it"),
        ("# Do\n| Item | Task |\n|---|---|\n| Boathouse door | mend |", "Item | Task", "| Boat"),
        ("plate | driver\nHH-A 12 | Keller of Altona", "plate | driver", "Keller"),
    ],
)
def test_a_row_has_the_columns_of_its_table_as_words_and_is_quoted_as_it_stands(
    text: str, columns: str, row: str
) -> None:
    sentence = next(one for one in read(text) if row in one.quote)
    assert (sentence.head, sentence.is_row) == (columns, True)
    assert sentence.quote in text
    assert {word.strip("| ").casefold() for word in columns.replace(",", "|").split("|")} & set(
        sentence.terms
    )


def test_a_field_too_short_to_be_quoted_is_quoted_with_the_next_and_never_left_out() -> None:
    text = "Order 55\n\nDate: 3 May\nRefund: 1,146\nFunding: 20,000\nSent to: D. Fenwick\n"
    documents = read(text)
    assert {one.head for one in documents} == {"Order 55"}
    assert [one.quote for one in documents] == [
        "Date: 3 May\nRefund: 1,146",
        "Funding: 20,000\nSent to: D. Fenwick",
    ]
    # a total at the end of a list can be cited by a writer, whose labels never share a line
    bill = "Heat pump, 32 kilowatt: 58,400\nNet: 64,600\nVAT: 12,274\nTotal: 76,874\n"
    assert [sentence.quote for sentence in read(f"Offer 7\n\n{bill}")] == [
        "Heat pump, 32 kilowatt: 58,400",
        "Net: 64,600\nVAT: 12,274\nTotal: 76,874",
    ]


def test_clauses_keep_their_numbers_and_labels_of_studies_are_fields_of_a_users_text() -> None:
    documents = read(
        "Agreement\n\n2.1 The rooms are cleaned daily.\n2.2 Windows are cleaned four times a year.\n"
    )
    assert [one.quote for one in documents] == [
        "2.1 The rooms are cleaned daily.",
        "2.2 Windows are cleaned four times a year.",
    ]


def test_a_label_that_is_glued_to_a_number_ends_the_sentence_before_it() -> None:
    text = (
        "RESULTS: Mortality fell in those who took it (P<0.05).CONCLUSION: It lowers mortality in adults too."
    )
    found = sentences(Evidence(evidence_id="a", source="s", title="", text=text))
    assert found[1].quote == "It lowers mortality in adults too."


def test_a_short_line_that_ends_with_the_stop_of_its_script_is_no_heading() -> None:
    lines = (
        "\u9505\u7089\u4ece\u661f\u671f\u4e00\u8d77\u505c\u6b62\u5de5\u4f5c\u3002",
        "\u674e\u660e\u53d6\u5f97\u4e24\u4efd\u62a5\u4ef7\u3002",
    )
    assert [unit.is_row for unit in units("\n\n".join(lines))] == [False, False]


@pytest.mark.parametrize("marks", [("1,2", "3"), ("\u00b9,\u00b2", "\u00b3")])
def test_the_number_of_a_note_behind_a_stop_ends_its_sentence(marks: tuple[str, str]) -> None:
    first, second = (
        f"{text}{mark}"
        for text, mark in zip(
            (
                "The drug lowered mortality in every trial.",
                "It lasted for two years in most of them.",
            ),
            marks,
            strict=True,
        )
    )
    last = "See para.4 The tenant pays the rent on time."
    document = Evidence(
        evidence_id="doc:1", source="library", title="Report", text=f"{first} {second} {last}"
    )
    assert [sentence.quote for sentence in sentences(document)] == [first, second, last]
