"""A PDF is read as a viewer shows it: paragraphs over lines, columns and pages, rows of tables, no edges."""

import re

import pytest
import typst

from activities.documents.pdf import Hyphens, read_pdf
from activities.documents.text import Text

PLAIN = "#show super: set super(typographic: false)\n#show sub: set sub(typographic: false)"
"""Raised letters are smaller ones and no glyphs of their own."""
REMARK = "new mooring lines are needed before the storms of the autumn begin"
BOATS = """
#table(columns: 5,
  [Boat], [Berth], [Length (m)], [Fee (EUR)], [Remarks],
  [Alma], [A4], [9.5], [1,150], [REMARK],
  [Brise], [B12], [], [780], [],
  [Cormoran], [A9], [12.1], [1,420], [sold])
""".replace("REMARK", REMARK)
PROSE = "The harbour has been open since spring. It is closed at night, and the keeper has the key. "


def read(source: str, page: str = "width: 16cm, height: 22cm") -> Text:
    return read_pdf(bytes(typst.compile(f"#set page({page})\n{PLAIN}\n{source}".encode())))


def paragraphs(source: str, page: str = "width: 16cm, height: 22cm") -> list[str]:
    return read(source, page).text.split("\n\n")


def test_a_paragraph_is_joined_over_columns_and_pages() -> None:
    numbered = "".join(
        f"Sentence {number} says that boat {number} left the harbour. " for number in range(90)
    )
    for columns in (1, 2, 3):
        text = read(f"#set page(columns: {columns})\n#set par(justify: true)\n{numbered}").text
        assert text == numbered.strip(), f"{columns} columns"
    wide = f'#place(top, scope: "parent", float: true)[#text(18pt)[Boats of the harbour]]\n{numbered}'
    title, *parts = read(f"#set page(columns: 2)\n{wide}").text.split("\n\n")
    assert title == "Boats of the harbour"
    assert " ".join(parts) == numbered.strip()
    assert all(part.startswith("Sentence") and part.endswith(".") for part in parts)


def test_columns_that_are_drawn_across_are_read_one_after_the_other() -> None:
    left = [f"left line {n} of the boats that lie here" for n in range(12)]
    right = [f"right line {n} of the boats that sail now" for n in range(12)]
    rows = "".join(
        f"#place(top + left, dx: {dx}pt, dy: {14 * n}pt)[{words}]\n"
        for n, pair in enumerate(zip(left, right, strict=True))
        for dx, words in zip((0, 210), pair, strict=True)
    )
    assert " ".join(read(rows).text.split()) == " ".join([*left, *right])


def test_the_numbers_of_lines_are_no_text() -> None:
    text = read(f'#set par.line(numbering: "1")\n{PROSE * 8}')
    assert text.text == (PROSE * 8).strip()
    assert "2\n3" in text.apart["line numbers"]
    boats = [(str(n), name) for n, name in enumerate("ABCDEF", start=1)]
    places = "".join(f"[{n}], [Boat {name} with its crew of three]," for n, name in boats)
    ranks = read(f"#grid(columns: 2, column-gutter: 1cm, row-gutter: 8pt, {places})").text
    assert re.findall(r"(\d) Boat (\w)", ranks) == boats
    listed = "#enum(" + ", ".join(f"[Take boat {n} out.]" for n in range(1, 7)) + ")"
    assert re.findall(r"(\d)\. Take boat (\d)", read(listed).text) == [(str(n), str(n)) for n in range(1, 7)]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (("patients with IL-", "6 above 5"), "patients with IL-6 above 5"),
        (("age was 18-", "65 years"), "age was 18-65 years"),
        (("for 12-", "week survivors"), "for 12-week survivors"),
        (("the anti-", "PD-1 arm"), "the anti-PD-1 arm"),
        (("showed a pro-", "gression-free time"), "showed a progression-free time"),
        (("a long-", "term benefit"), "a long-term benefit"),
        (("the dose-", "response was"), "the dose-response was"),
        (("non-", "small-cell tumours"), "non-small-cell tumours"),
        (("die Unter-", "suchung war"), "die Untersuchung war"),
        (("pre-", "and postnatal"), "pre- and postnatal"),
        (("see https:", "//harbour.example/boats."), "see https://harbour.example/boats."),
        (("受験者ごと", "のページ数"), "受験者ごとのページ数"),
        (("在备份中\u3001", "文件仍在"), "在备份中\u3001文件仍在"),
        (("这个 apt", "命令"), "这个 apt 命令"),
        (("한국어", "문장"), "한국어 문장"),
        (("ภาษา", "ไทย"), "ภาษาไทย"),
    ],
)
def test_a_hyphen_at_the_end_of_a_line_is_undone_where_the_word_has_none(
    lines: tuple[str, str], text: str
) -> None:
    assert Hyphens([]).join(*lines) == text


@pytest.mark.parametrize("word", ["cross-over", "crossover"])
def test_the_document_decides_on_a_hyphen_that_it_has_elsewhere(word: str) -> None:
    assert Hyphens([f"a {word} trial"]).join("the cross-", "over arm") == f"the {word} arm"


def test_running_heads_page_numbers_contents_and_references_are_apart() -> None:
    head = "#context [Harbour report #h(1fr) #counter(page).display()]"
    pages = "\n#pagebreak()\n".join(f"= Part {n}\n{PROSE * 3} In year {n} it rained." for n in range(1, 5))
    works = "= References\n" + "\n\n".join(
        f"[{n}] Ann Lee. 201{n}. Tides. Journal {n}, 1-9." for n in range(4)
    )
    text = read(
        f"#set page(header: {head[1:]})\n#outline()\n#pagebreak()\n{pages}\n{works}".replace(
            "header: context", "header: context "
        )
    )
    assert "Harbour report" not in text.text
    assert "Harbour report 2" in text.apart["running heads and page numbers"]
    assert "Ann Lee" not in text.text
    assert "Ann Lee" in text.apart["references"]
    assert ". . ." not in text.text
    assert all(f"In year {n} it rained." in text.text for n in range(1, 5))


@pytest.mark.parametrize("heading", ["References", "文献"])
def test_a_list_of_references_is_told_by_its_form_and_not_by_its_heading(heading: str) -> None:
    works = "\n\n".join(f"Lee, A., Roy, B. (201{n}). Tides. J. Sea, {n}, 1-9." for n in range(5))
    text = read(f"= Tides\n{PROSE * 3}\n= {heading}\n{works}")
    assert "Lee, A." not in text.text
    assert text.apart["references"].count("Tides. J. Sea") == 5
    about = f"= Tides\n{PROSE}\n= {heading}\nOf works the year 2012 is named. {PROSE * 3}\n\n{PROSE * 2}"
    assert "Of works the year 2012 is named." in read(about).text


def test_running_text_that_cites_many_works_is_no_list_of_references() -> None:
    cited = "".join(
        f"The package of Lee (19{n}0, 19{n}1) builds on others (Roy 19{n}2; Kim 19{n}3; Abt 19{n}4) and, "
        "by default, returns the estimates, the errors and, for short series, the intervals (see also Lee). "
        for n in range(1, 5)
    )
    assert read("\n\n".join(["= Packages", *[cited] * 3])).text.count("The package of Lee") == 12


@pytest.mark.parametrize(
    "begun", [[], ["The keys of the keeper and what became of"]], ids=["", "in two lines"]
)
def test_contents_without_leaders_are_told_by_their_numbers(begun: list[str]) -> None:
    names = ("Boats", "Piers", "Locks", "Buoys", "Tides", "Ropes")
    rows = [f"{name} and what they cost {3 + 4 * n}" for n, name in enumerate(names)]
    listed = "\n\n".join([*rows[:2], *begun, *rows[2:]])
    text = read(f"= Inhoud\n{listed}\n#pagebreak()\n{PROSE * 4}").text
    assert "what they cost" not in text
    assert "keys of the keeper" not in text
    assert "The harbour has been open" in text


@pytest.mark.parametrize("label", ["Figure 2. ", "Рис. 2. ", "Abb. 2: ", "Tabela 2 \u2013 "])
def test_a_caption_of_any_language_parts_no_sentence(label: str) -> None:
    lines = f"{PROSE}The boats that lay at the pier#linebreak()\n"
    text = read(f"{lines}#v(-4pt)\n{label}View of the pier at noon\n\nwere painted.").text
    assert text.split("\n\n")[-1].startswith(label.strip()) or f"\n\n{label.strip()}" in text


def test_the_symbols_of_a_program_stand_together_and_it_goes_on_over_pages() -> None:
    lines = "\n".join(f"set -x {n} && run (now) [it]" for n in range(60))
    text = read(f'#set text(font: "DejaVu Sans Mono")\n```\n{lines}\n```').text
    assert text == lines


def test_a_caption_and_a_note_do_not_part_a_sentence() -> None:
    figure = "#place(auto, float: true)[#figure(rect(width: 8cm, height: 4cm), caption: [Boats at noon.])]"
    said = "".join(f"Sentence {number} says that boat {number} left. " for number in range(60))
    text = read(f"{figure}\n#set par(justify: true)\n{said}#footnote[Seen from the pier.] {said}").text
    assert "Figure 1: Boats at noon." in text.split("\n\n")
    assert "Seen from the pier." in text.split("\n\n")[-1] or "Seen from the pier." in text
    joined = next(block for block in text.split("\n\n") if block.startswith("Sentence 0"))
    assert re.sub(r"\u00b9", "", joined).split() == f"{said}{said}".split()


def test_exponents_and_ties_are_as_they_are_shown() -> None:
    text = read("From 10#super[6] to 10#super[3] per ml, H#sub[2]O in five efficient offices.").text
    assert text == "From 10\u2076 to 10\u00b3 per ml, H\u2082O in five efficient offices."


def test_tables_become_rows_with_their_headings() -> None:
    said = paragraphs(f"{PROSE}\n{BOATS}\nFees are due in May.")
    assert said[0] == PROSE.strip()
    assert said[-1] == "Fees are due in May."
    assert said[-2].split("\n") == [
        f"Boat: Alma; Berth: A4; Length (m): 9.5; Fee (EUR): 1,150; Remarks: {REMARK}",
        "Boat: Brise; Berth: B12; Fee (EUR): 780",
        "Boat: Cormoran; Berth: A9; Length (m): 12.1; Fee (EUR): 1,420; Remarks: sold",
    ]


@pytest.mark.parametrize(
    "source",
    [
        f"#columns(2)[{PROSE * 12}]",
        f"#columns(2)[{'In 2019 there were 40 boats, and in 2021 there were 55 of them at 3 berths. ' * 12}]",
        "1. Ann Lee. 2019. Tides.\n\n2. Bo Kim. 2020. Winds.\n\n3. Cy Roe. 2021. Waves.",
    ],
    ids=["columns of text", "columns of text with numbers", "references"],
)
def test_text_is_no_table(source: str) -> None:
    assert ": " not in read(source).text


def drawn(content: str, fonts: str = "/F1 5 0 R", more: str = "", form: str = "") -> str:
    """Return the text of one page with this content; F1 is Helvetica."""
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {form} >>",
        "<< /Kids [3 0 R] /Count 1 >>",
        f"<< /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << {fonts} >> >> >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        *filter(None, more.split("---")),
    ]
    body = "".join(f"{number} 0 obj\n{one}\nendobj\n" for number, one in enumerate(objects, start=1))
    return read_pdf(f"%PDF-1.4\n{body}trailer << /Root 1 0 R >>\n".encode("latin-1")).text


def at(x: float, y: float, words: str, font: str = "F1", size: int = 10) -> str:
    return f"BT /{font} {size} Tf {x} {y} Td ({words}) Tj ET\n"


def test_sums_and_roots_of_tex_are_read_as_such() -> None:
    tex = "<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+CMEX10 /Encoding /WinAnsiEncoding >>"
    content = at(50, 700, "the energy is") + at(112, 700, "P", "F2") + at(122, 700, "of all, and")
    content += at(172, 700, "p", "F2") + at(180, 700, "2 of one.")
    assert drawn(content, "/F1 5 0 R /F2 6 0 R", tex) == "the energy is ∑ of all, and √ 2 of one."


def test_a_ligature_that_a_font_does_not_name_is_one_within_a_word_alone() -> None:
    """The circle around the c of a copyright has the same place in another font of TeX."""
    tex = "<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+CMR10 /FirstChar 0 /LastChar 127 >>"
    content = at(50, 700, "The in\\015uence of the \\(\\015c \\) is 14 \\015", "F2")
    assert drawn(content, "/F1 5 0 R /F2 6 0 R", tex) == "The influence of the ( c ) is 14"


def test_an_accent_is_on_the_letter_over_which_it_is_drawn() -> None:
    # as TeX draws it without a font of such letters: the accent, and the letter below it
    content = at(50, 700, "La opci") + at(82.1, 700, "\264") + at(81, 700, "on est") + at(109.6, 700, "\264")
    content += at(108.5, 700, "andar y `la otra^ opcion.")
    assert drawn(content) == "La opci\u00f3n est\u00e1ndar y `la otra^ opcion."
    assert (
        drawn(at(50, 700, "\\210") + at(49, 700, "etre")) == "\u00eatre"
    )  # which is a letter by its category


def standing_for(letters: str) -> str:
    """Return the objects of a font F2 whose A, B, C ... stand for these letters."""
    map_of = "".join(f"<{ord('A') + n:02x}> <{ord(letter):04x}>\n" for n, letter in enumerate(letters))
    cmap = (
        "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(letters)} beginbfchar\n{map_of}endbfchar endcmap end"
    )
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 7 0 R >>"
    return f"{font}---<< /Length {len(cmap)} >>\nstream\n{cmap}\nendstream"


def test_words_in_brackets_that_are_written_to_the_left_stand_in_them() -> None:
    lines = ("AB", "\\(", "CD", "\\)", "EF"), ("CD", "\\(", "AB", "\\)", "EF")
    content = "".join(
        at(x, 700 - 12 * number, word, "F2")
        for number, line in enumerate(lines)
        for x, word in zip((500, 493, 479, 475, 458), line, strict=True)
    )
    text = drawn(content, "/F1 5 0 R /F2 6 0 R", standing_for("\u05d0\u05d1\u05d2\u05d3\u05d4\u05d5"))
    assert len(re.findall(r"\(\w+\)", text)) == 2


def test_a_line_of_a_script_without_blanks_that_ends_early_ends_its_paragraph() -> None:
    lines = "ABC", "DEF", "ABCDEF" * 8, "ABCDEF" * 8, "AB"
    content = "".join(at(50, 700 - 12 * n, line, "F2") for n, line in enumerate(lines))
    text = drawn(content, "/F1 5 0 R /F2 6 0 R", standing_for("\u8bba\u6587\u4e2d\u6807\u9898\u5bfc"))
    assert [len(part) for part in text.split("\n\n")] == [3, 3, 98]


def test_words_that_are_written_to_the_left_stand_in_their_order() -> None:
    more = standing_for("\u05d0\u05d1\u05d2\u05d3\u05d4\u05d5")
    lines = (("AA", "BB", "CC"), ("DD", "EE", "FF"))
    content = "".join(
        at(500 - 20 * place, 700 - 12 * number, word, "F2")
        for number, line in enumerate(lines)
        for place, word in enumerate(line)
    )
    text = drawn(content, "/F1 5 0 R /F2 6 0 R", more)
    letters = [chr(0x5D0 + n) * 2 for n in range(6)]
    assert " ".join(text.split()) == " ".join(letters)
    among = (
        at(50, 700, "The words")
        + at(128, 700, "AA", "F2")
        + at(112, 700, "BB", "F2")
        + at(150, 700, "are Hebrew.")
    )
    assert drawn(among, "/F1 5 0 R /F2 6 0 R", more) == f"The words {letters[0]} {letters[1]} are Hebrew."


def span(place: float, step: int, text: str, glyphs: str) -> str:
    """Draw glyphs beside each other that stand for a text."""
    shown = "".join(at(place + step * n, 700, glyph, "F2") for n, glyph in enumerate(glyphs))
    return f"/Span << /ActualText <FEFF{text.encode('utf-16-be').hex()}> >> BDC\n{shown}EMC\n"


COURIER = "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"


@pytest.mark.parametrize("step", [-6, 6], ids=["from the right", "from the left"])
def test_the_letters_of_a_word_that_is_written_to_the_left_stand_in_their_order(step: int) -> None:
    words = ("\u05e9\u05dc\u05d5\u05dd", "\u05e2\u05d5\u05dc\u05dd")
    one_by_one = "".join(
        span(right - 18 * (step > 0) + step * n, 6, letter, "A")
        for right, word in zip((200, 170), words, strict=True)
        for n, letter in enumerate(word if step < 0 else reversed(word))
    )
    assert drawn(one_by_one, "/F1 5 0 R /F2 6 0 R", COURIER) == " ".join(words)
    line = span(200, step, words[0], "ABCD") + span(170, step, words[1], "ABCD")
    assert drawn(line, "/F1 5 0 R /F2 6 0 R", COURIER) == " ".join(words)


@pytest.mark.parametrize(
    ("margin", "place"), [("left", "dx: -3cm"), ("right", "right, dx: 3.4cm")], ids=["left", "right"]
)
def test_words_in_the_margin_part_no_sentence(margin: str, place: str) -> None:
    beside = "".join(
        f"#place({place}, dy: {y}cm)[#text(8pt)[margin{word}]]" for y, word in ((0.03, "one"), (2.1, "two"))
    )
    page = f"width: 16cm, height: 22cm, margin: ({margin}: 5cm)"
    parts = paragraphs(f"#set par(justify: true)\n{beside}\n{PROSE * 6}", page)
    assert [part for part in parts if not part.startswith("margin")] == [(PROSE * 6).strip()]
    assert {"marginone", "margintwo"} <= set(parts)


def test_cells_between_rules_are_a_table_whatever_they_say() -> None:
    rows = [
        ("befehl &", PROSE),
        ("befehl | mehr", "Both are run, and the second reads what the first writes."),
    ]
    cells = "".join(f"[{first}], [{second}]," for first, second in rows)
    text = read(
        f"{PROSE}\n#table(columns: (3cm, 5cm), [*Command*], [*What it does*], {cells})\nAfter it."
    ).text
    assert text.split("\n\n")[1].split("\n") == [
        f"Command: {first}; What it does: {second.strip()}" for first, second in rows
    ]


def test_an_upright_rule_parts_words_that_stand_close_to_it() -> None:
    cells = "[*Pier*], [*Boat*], [*Fee*], [North], [Alma], [12], [North], [Brise], [14], [South], [Eva], [9]"
    table = f"#table(columns: 3, inset: 2pt, align: (right, left, right), {cells})"
    assert paragraphs(f"{PROSE}\n{table}")[1].split("\n") == [
        "Pier: North; Boat: Alma; Fee: 12",
        "Pier: North; Boat: Brise; Fee: 14",
        "Pier: South; Boat: Eva; Fee: 9",
    ]


def test_cells_over_several_rows_and_columns_part_no_table() -> None:
    north = "table.cell(rowspan: 3)[North], [Alma], [12], [Brise], [14], [Cora], [15]"
    south = "table.cell(colspan: 3)[New since May], [South], [Dora], [9]"
    table = f"#table(columns: 3, [*Pier*], [*Boat*], [*Fee*], {north}, {south})"
    assert paragraphs(f"{PROSE}\n{table}")[1].split("\n") == [
        "Pier: North; Boat: Alma; Fee: 12",
        "Boat: Brise; Fee: 14",
        "Boat: Cora; Fee: 15",
        "New since May",
        "Pier: South; Boat: Dora; Fee: 9",
    ]


def test_tables_with_text_between_them_are_two() -> None:
    tables = [
        f"#table(columns: (3cm, 3cm, 3cm), stroke: (x, y) => (y: 1pt, left: if x > 0 {{ 1pt }}), {cells})"
        for cells in (
            "[Boat], [Pier], [Fee], [Alma], [A4], [12]",
            "[Keeper], [Key], [Day], [Lee], [3], [May]",
        )
    ]
    assert paragraphs(f"{tables[0]}\n- at night\n- in the day\n\n{tables[1]}") == [
        "Boat: Alma; Pier: A4; Fee: 12",
        "\u2022 at night",
        "\u2022 in the day",
        "Keeper: Lee; Key: 3; Day: May",
    ]


def test_cells_between_rules_across_are_a_table_whatever_they_say() -> None:
    cells = """table.hline(), [Arm], table.cell(colspan: 2)[Low dose], table.cell(colspan: 2)[High dose],
      [], [n], [Effect], [n], [Effect], table.hline(),
      [Alpha], [twelve], [fewer], [none], [--],
      [Beta with a long name that wraps over two lines], [nine], [more], [ten], [fewer], table.hline()"""
    columns = "(4cm, auto, auto, auto, auto)"
    table = f"#table(columns: {columns}, stroke: none, align: left, {cells})"
    assert paragraphs(f"{PROSE * 2}\n{table}\n{PROSE}")[1].split("\n") == [
        "Arm: Alpha; Low dose n: twelve; Low dose Effect: fewer; High dose n: none; High dose Effect: \u2013",
        (
            "Arm: Beta with a long name that wraps over two lines; Low dose n: nine; Low dose Effect: more; "
            "High dose n: ten; High dose Effect: fewer"
        ),
    ]


def test_a_table_that_is_turned_is_read_as_one_across() -> None:
    rows = (("Boat", "Owner", "Fee"), ("Alma", "Lee", "12"), ("Brise", "Kim Lee", "14"))

    def turned(x: float, y: float, words: str) -> str:
        return f"BT /F1 10 Tf 0 1 -1 0 {x} {y} Tm ({words}) Tj ET\n"

    content = "".join(
        turned(200 + 20 * row, 50 + 90 * column, cell)
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
    )
    content += "".join(f"{x} 46 0.8 240 re f\n" for x in (186, 206, 246))
    content += turned(270, 50, "The boats of the harbour are those of last year.")
    assert drawn(content).split("\n\n") == [
        "Boat: Alma; Owner: Lee; Fee: 12\nBoat: Brise; Owner: Kim Lee; Fee: 14",
        "The boats of the harbour are those of last year.",
    ]


def test_rules_that_are_drawn_cell_by_cell_enclose_a_table() -> None:
    rows = (("Boat", "Owner", "Remark"), ("Alma", "Lee", "sold"), ("Brise", "Kim", "not seen"))
    content = "".join(
        at(50 + 90 * column, 700 - 20 * row, cell)
        + f"{46 + 90 * column} {694 - 20 * row} 90 0.8 re f\n{46 + 90 * column} 714 90 0.8 re f\n"
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
    )
    text = drawn(content + at(50, 600, "Nobody may moor here at night.") + at(50, 575, "It is closed."))
    assert text.split("\n\n") == [
        "Boat: Alma; Owner: Lee; Remark: sold\nBoat: Brise; Owner: Kim; Remark: not seen",
        "Nobody may moor here at night.",
        "It is closed.",
    ]


@pytest.mark.parametrize(
    "inside",
    ["```\n-a    add a boat\n-b    take it out\n-c    count them\n```", PROSE * 3],
    ids=["program", "prose"],
)
def test_what_else_stands_between_rules_is_no_table(inside: str) -> None:
    source = f"{PROSE}\n#line(length: 100%)\nOn boats#h(2cm)and berths\n#line(length: 100%)\n"
    assert ": " not in read(f"{source}{inside}\n#line(length: 100%)\n{PROSE}").text


def test_a_program_in_front_of_a_grey_area_is_text() -> None:
    lines = [f"let boat {n} sail" for n in range(12)]
    listing = "\n".join(
        f"#block(fill: luma(220), width: 12cm, spacing: 0pt, inset: 1pt)[`{line}`]" for line in lines
    )
    text = read(f"{PROSE}Type:\n#v(1em)\n{listing}")
    assert text.text.split("\n\n")[-1].split("\n") == lines
    assert "labels of figures" not in text.apart


def test_a_program_behind_a_colon_stands_where_it_is_shown() -> None:
    def shown(code: str, more: str) -> list[str]:
        return paragraphs(f"The default is:\n#block(stroke: 1pt, inset: 4pt)[```\n{code}\n```]\n{more}")

    assert shown("let boat = 1", "for each of its boats.") == [
        "The default is: let boat = 1 for each of its boats."
    ]
    assert shown("let a = 1\nlet b = 2", "It is old.") == [
        "The default is:",
        "let a = 1\nlet b = 2",
        "It is old.",
    ]


def test_items_whose_further_lines_are_indented_are_paragraphs() -> None:
    items = "\n\n".join(f"#par(hanging-indent: 1cm)[Harbour {n}: {PROSE * 2}]" for n in range(3))
    assert [part[:10] for part in paragraphs(f"#set par(spacing: 0.65em)\n{items}")] == [
        f"Harbour {n}:" for n in range(3)
    ]


def test_letters_that_lean_are_no_labels() -> None:
    content = at(50, 700, "The boats that") + "BT /F1 10 Tf 1 0 0.33 1 122 700 Tm (lie here) Tj ET\n"
    assert drawn(content + at(165, 700, "are old.")) == "The boats that lie here are old."


def test_the_values_of_a_form_and_what_is_written_on_a_page_are_read() -> None:
    def note(kind: str, height: int, more: str) -> str:
        place = f"/Rect [150 {height} 400 {height + 16}] /DA (/F1 10 Tf 0 g)"
        return f"<< /Type /Annot /Subtype /{kind} {place} {more} >>"

    notes = (
        note("Widget", 696, "/FT /Tx /T (boat) /V (Alma Grande)"),
        note("Widget", 676, "/FT /Ch /Ff 131072 /T (berth) /V (A4 north) /Opt [(A4 north) (B12 south)]"),
        note("FreeText", 600, "/Contents (Approved until 2027)"),
        note("Text", 560, "/Contents (A remark that opens by a click)"),
    )
    places = " ".join(f"{number} 0 R" for number in range(6, 10))
    form = f"/AcroForm << /Fields [{places}] /DA (/F1 10 Tf 0 g) /DR << /Font << /F1 5 0 R >> >> >>"
    page = f"/F1 5 0 R >> >> /Annots [{places}] /Unused << /None << "
    labels = at(50, 700, "Name of the boat:") + at(50, 680, "Berth:") + at(50, 640, "The fee is due in May.")
    assert drawn(labels, page, "---".join(notes), form).split("\n\n") == [
        "Name of the boat: Alma Grande",
        "Berth: A4 north",
        "The fee is due in May.",
        "Approved until 2027",
    ]


def test_a_row_without_a_first_cell_is_a_row() -> None:
    rows = "[Boat], [Berth], [Fee], [Alma], [A4], [1,150], [], [B1], [780], [Cormoran], [A9], [1,420]"
    text = read(f"#table(columns: 3, stroke: none, column-gutter: 2cm, {rows})").text
    assert text.split("\n") == [
        "Boat: Alma; Berth: A4; Fee: 1,150",
        "Berth: B1; Fee: 780",
        "Boat: Cormoran; Berth: A9; Fee: 1,420",
    ]


def test_the_numbered_lines_of_a_program_stay_lines() -> None:
    lines = [*enumerate(("if (tide) {", "  sail();", "}", "else {", "  wait();", "}"), start=1)]
    shown = "".join(f"#text(6pt)[{n}] #raw({words!r})\n\n".replace("'", '"') for n, words in lines)
    text = read(f"#set par(spacing: 0.6em)\n{PROSE * 2}\n\n{shown}\n{PROSE * 2}").text
    assert "1 if (tide) {\n2" in text


def test_a_bullet_that_is_drawn_begins_an_item() -> None:
    item = "#place(dx: -8pt, dy: 3pt, rect(width: 4pt, height: 4pt, fill: black, radius: 2pt))"
    listed = "\n\n".join(f"{item}{words}" for words in ("North: 2,400 boats", "South: 1,850 boats"))
    text = read(f"{PROSE}\n#pad(left: 20pt)[{listed}]").text
    assert "\u2022 North: 2,400 boats" in text
    assert "\u2022 South: 1,850 boats" in text


def test_a_page_of_drawings_without_a_word_costs_no_other_page() -> None:
    dot = "#rect(width: 4pt, height: 4pt, fill: black, radius: 2pt)"
    assert read(f"{PROSE}\n#pagebreak()\n{dot}").text == PROSE.strip()


def test_the_numerator_of_a_formula_is_part_of_it() -> None:
    text = read(f"{PROSE * 2}\n$ x = (b (a + 2)) / (c (d + 1)) + sum_(i=1)^n y_i $\n{PROSE * 2}")
    assert text.text == f"{PROSE * 2}\n\n{PROSE * 2}".replace(" \n", "\n").strip()
