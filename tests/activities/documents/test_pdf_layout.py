"""What stands on a page of a PDF is parted as a reader sees it: formulas, programs, items, notes and rows."""

import pytest

from tests.activities.documents.test_pdf import PROSE, at, drawn, paragraphs, read, standing_for

MATHS = "<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+CMSY10 /Encoding /WinAnsiEncoding >>"
COURIER = "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>"
BOTH = "/F1 5 0 R /F2 6 0 R"
JUSTIFIED = "#set par(justify: true)\n"


def lines(*texts: str, x: float = 50, top: float = 700, step: float = 12) -> str:
    return "".join(at(x, top - step * n, text) for n, text in enumerate(texts))


def test_the_letters_of_formulas_are_plain_ones() -> None:
    rows = "".join(f"[{n}], [{n * n}], [{n**3}]," for n in range(2, 6))
    names = "$n$, $f(n)$, $g(n)$"
    ruled = f"#table(columns: 3, stroke: none, table.hline(), {names}, table.hline(), {rows} table.hline())"
    text = read(f"The count $n$ is that of the boats, where $alpha$ is their share.\n\n{ruled}").text
    assert text.startswith("The count n is that of the boats, where \u03b1 is their share.")
    assert "n: 3; f(n): 9; g(n): 27" in text


def test_a_sign_that_is_struck_through_is_one_character() -> None:
    content = at(50, 700, "for all k") + at(92, 700, "6", "F2") + at(92, 700, "= 16 of them.")
    assert drawn(content, BOTH, MATHS) == "for all k ≠ 16 of them."


def test_a_root_stands_before_what_is_below_its_bar() -> None:
    hanging = standing_for("x" * (ord("g") - ord("A")) + "√")
    content = lines("The side of a field is known from the words in its", "deed, that is")
    content += at(108, 692, "g", "F2") + at(116, 688, "2 of its area, as")
    content += at(50, 676, "the keeper of the harbour has told us.")
    read_as = (
        "The side of a field is known from the words in its deed, that is √ 2 of its area, as the keeper"
    )
    assert drawn(content, BOTH, hanging) == f"{read_as} of the harbour has told us."


def test_a_word_whose_letters_stand_apart_is_a_word() -> None:
    assert read("#text(tracking: 3pt)[BOATS AND PIERS]\n\n" + PROSE).text.startswith("BOATS AND PIERS")
    assert drawn("".join(at(50 + 30 * n, 700, letter) for n, letter in enumerate("ABCDE"))) == "A B C D E"


def test_a_formula_in_the_last_line_of_a_paragraph_is_part_of_it() -> None:
    said = f"{JUSTIFIED}#set par(first-line-indent: 0pt)\n"
    text = read(f"{said}#box(width: 5cm)[The tide at any of the piers of it has the height $f(t) = 1 + 2t.$]")
    assert text.text == "The tide at any of the piers of it has the height f(t) = 1 + 2t."


def test_an_item_behind_a_bullet_of_a_font_of_symbols_is_no_formula() -> None:
    content = lines(*[PROSE.strip()] * 3) + at(50, 650, "\\225", "F2") + at(64, 650, "Boats:")
    assert drawn(content, BOTH, MATHS).endswith("• Boats:")


def test_an_empty_line_of_a_program_stays() -> None:
    program = "> sail(boat)\n\nboat: Alma\nberth: A4\n\n> stop(boat)"
    assert read(f"```\n{program}\n```").text == program


def test_a_line_of_a_program_may_begin_with_a_sign_of_another_font() -> None:
    content = "".join(
        at(50, 700 - 12 * n, "`") + at(53.4, 700 - 12 * n, f"boat{n}() {{ sail(); }}", "F2") for n in range(3)
    )
    assert drawn(content, BOTH, COURIER) == "\n".join(f"`boat{n}() {{ sail(); }}" for n in range(3))


def test_a_font_without_a_name_is_one_of_programs_by_the_widths_of_its_letters() -> None:
    letters = [chr(n) for n in range(97, 123)]
    glyphs, names = (" ".join(f"/{letter}{more}" for letter in letters) for more in (" 7 0 R", ""))
    bitmap = (
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 600 700] /FontMatrix [0.001 0 0 0.001 0 0] "
        f"/CharProcs << {glyphs} >> /Encoding << /Differences [97 {names}] >> "
        f"/FirstChar 97 /LastChar 122 /Widths [{'525 ' * 26}] >>"
    )
    drawing = "525 0 d0 0 0 400 500 re f"
    more = f"{bitmap}---<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream"
    content = (
        lines(PROSE.strip(), PROSE.strip()) + at(50, 650, "sailboat", "F2") + at(50, 638, "mooring", "F2")
    )
    assert drawn(content, BOTH, more).endswith("\n\nsailboat\nmooring")


def test_the_angle_brackets_of_a_font_of_symbols_are_no_letters() -> None:
    content = at(50, 700, "the option") + at(104, 700, "h", "F2") + at(109, 700, "name")
    content += at(134.1, 700, "i", "F2") + at(143, 700, "has a hint in it.")
    assert drawn(content, BOTH, MATHS) == "the option ⟨name⟩ has a hint in it."


def test_the_number_of_a_note_stands_before_it() -> None:
    notes = ("Harbour of the first city", "Harbour of the second city", "Harbour of the third city")
    content = "".join(
        at(50, 703.6 - 11.5 * n, str(n + 1), size=6) + at(54, 700 - 11.5 * n, note)
        for n, note in enumerate(notes)
    )
    assert drawn(content).split("\n\n") == [f"{mark}{note}" for mark, note in zip("¹²³", notes, strict=True)]


def test_notes_below_each_other_are_paragraphs() -> None:
    noted = f"{PROSE}#footnote[Seen from the pier.] {PROSE}#footnote[Told by the keeper.] {PROSE * 3}"
    parts = paragraphs(noted)
    assert [part.lstrip("¹² ") for part in parts[1:]] == ["Seen from the pier.", "Told by the keeper."]


def test_a_little_space_between_paragraphs_parts_them() -> None:
    first = (
        "The harbour has been open since spring. It is closed at night; the keeper has the key. Boats lie."
    )
    shown = f"#set par(justify: true, leading: 0.65em, spacing: 1em)\n{first}\n\n{PROSE * 2}"
    assert paragraphs(shown, "width: 13.2cm, height: 22cm") == [first, (PROSE * 2).strip()]


def test_a_line_of_few_words_over_longer_ones_is_a_heading() -> None:
    shown = (
        f"#align(center)[Summary]\n#v(-5pt)\n#set par(justify: true, first-line-indent: 12pt)\n{PROSE * 3}"
    )
    assert paragraphs(shown) == ["Summary", (PROSE * 3).strip()]


def test_further_lines_of_an_item_go_on_with_it_whatever_they_begin_with() -> None:
    items = [
        f"[{n}] Ann Lee. The Tides of the Harbour and of its Piers, 3rd ed. Harbour Press, Boats (201{n})."
        for n in range(1, 4)
    ]
    hanging = "\n\n".join(
        f"#par(hanging-indent: 18pt)[\\{item.replace(']', chr(92) + ']', 1)}]" for item in items
    )
    text = read(f"= Boats\n{PROSE * 20}\n\n{hanging}", "width: 12cm, height: 22cm")
    assert "Ann Lee" not in text.text
    assert text.apart["references"].count("Ann Lee") == 3


@pytest.mark.parametrize("named", ["Boats of the north", ""])
def test_terms_beside_what_they_mean_are_rows(named: str) -> None:
    terms = [("k", "Depth of the water"), ("Pr", "Share of the boats"), ("m", "Mass of a boat")]
    content = lines(PROSE.strip(), PROSE.strip(), PROSE.strip(), top=780)
    content += "".join(at(50, 700 - 12 * n, a) + at(100, 700 - 12 * n, b) for n, (a, b) in enumerate(terms))
    content += at(50, 664, named) + (at(50, 652, "B") + at(100, 652, "Length of a boat")) * bool(named)
    rows = [*(f"{a} {b}" for a, b in terms), *[named, "B Length of a boat"] * bool(named)]
    assert drawn(content).split("\n\n")[-len(rows) :] == rows


def test_the_names_beside_a_table_part_no_sentence() -> None:
    said = (
        "The boats that lie in the harbour at night and those",
        "that sail in the day are counted in the way",
    )
    content = lines(*said, "that is given by", top=712)
    content += at(150, 660, "Treated") + at(150, 636, "Others")
    content += lines("for which the keeper has the key, as the law of the", "harbour says.", top=610)
    assert "given by for which the keeper" in drawn(content)


def test_names_beside_every_line_are_no_words_in_the_margin() -> None:
    names = [(f"quay{letter}", f"Harbour {letter} of the boats of a city") for letter in "ABCDEFGH"]
    content = "".join(at(50, 700 - 12 * n, a) + at(100, 700 - 12 * n, b) for n, (a, b) in enumerate(names))
    assert drawn(content).split("\n\n") == [f"{a} {b}" for a, b in names]


def test_letters_drawn_one_by_one_are_parted_where_a_narrow_blank_stands() -> None:
    """PDFium finds no blank between letters of which each is drawn by itself, as groff and FOP draw them."""
    content, x = "", 50.0
    for letter in "boats of a city":
        content += at(round(x, 2), 700, letter.strip())
        x += 1.7 if letter == " " else {"i": 2.22, "f": 2.78, "t": 2.78}.get(letter, 5.56)
        x -= 0.56 if letter in "csy" else 0
    assert drawn(content) == "boats of a city"


def test_a_path_goes_on_in_the_next_line() -> None:
    assert drawn(lines("The file of it is in /usr/share/doc/", "package/news of the harbour.")) == (
        "The file of it is in /usr/share/doc/package/news of the harbour."
    )
    assert "boats/ harbours" in drawn(lines("The file of it is in boats/", "harbours of the harbour."))


def test_a_number_that_begins_a_line_within_an_item_is_no_item() -> None:
    content = lines("1. The keeper counts all boats that are in the harbour and the piers 3 and")
    content += lines(
        "5. They are open. The keeper of the harbour has counted all of its boats.", x=64, top=688
    )
    assert "piers 3 and 5. They" in drawn(content)


def test_a_short_line_with_a_stop_ends_its_paragraph() -> None:
    terms = ("job   Names of the jobs of it.", "keyword   Names of all words.", "user   Names of people.")
    content = lines("The boats that lie in the harbour of the city at night are named in the order of it:")
    assert drawn(content + lines(*terms, top=688)).split("\n\n")[-2:] == [
        "keyword Names of all words.",
        "user Names of people.",
    ]


def test_a_program_between_paragraphs_stands_where_it_is_shown() -> None:
    program = "let a = 1\nlet b = 2\nlet c = 3"
    assert paragraphs(
        f"Then give it the name of the boat:\n```\n{program}\n```\nor the name of the pier:"
    ) == [
        "Then give it the name of the boat:",
        program,
        "or the name of the pier:",
    ]


def test_terms_close_to_what_they_mean_are_rows_where_all_of_this_begins_at_one_place() -> None:
    terms = [
        ("size", "the length of a boat"),
        ("pier and key", "where it lies"),
        ("fee of it", "what it costs"),
    ]
    content = lines("The keeper of the harbour counts these of each boat that lies in it at night:")
    for n, (term, meaning) in enumerate(terms):
        content += at(60, 688 - 12 * n, term) + at(129, 688 - 12 * n, meaning)
    assert drawn(content).split("\n\n")[1:] == [f"{term} {meaning}" for term, meaning in terms]


def test_items_of_one_line_are_paragraphs_where_more_space_parts_them() -> None:
    items = ("The keeper counts all boats that lie in the harbour", "Boats of others pay", "The key is lost")
    content = lines("Nobody may moor here at night, and nobody has the key of the", "harbour.", top=740)
    content += lines("It is closed for all of the summer, and boats lie elsewhere, in the", "bay.", top=712)
    content += lines(*items, step=18, top=680)
    assert drawn(content).split("\n\n")[-3:] == list(items)


def test_a_sentence_goes_on_in_letters_of_another_font() -> None:
    content = lines("The boats that lie in the harbour at night and those that sail as all the")
    content += at(50, 688, "laws of the harbour say are counted by its keeper in the way of old.", size=9)
    assert drawn(content).count("\n\n") == 0


def test_a_short_rule_below_a_space_is_an_underscore() -> None:
    content = at(50, 700, "Call get") + at(89.4, 700, "depth of it.") + "85.6 699 3.5 0.4 re f\n"
    assert drawn(content) == "Call get_depth of it."


def test_entries_in_the_order_of_the_alphabet_before_numbers_of_pages_are_no_text() -> None:
    names = ("anchors", "boats", "cables", "docks", "ferries", "harbours", "keys", "piers")
    entries = [f"{name} of the city, {7 * n % 5 + 1}, {20 - n}" for n, name in enumerate(names)]
    text = read(f"{PROSE}\n\n= Index\n" + " \\\n".join(entries))
    assert "anchors" not in text.text
    assert "piers of the city" in text.apart["contents"]


def test_an_address_that_is_broken_behind_a_stop_goes_on() -> None:
    content = lines("The latest of all of the laws of the harbour and of its boats can be seen at this place")
    content += lines("that is https://www.", "harbour.org/laws/.", top=688)
    assert drawn(content).endswith("https://www.harbour.org/laws/.")
