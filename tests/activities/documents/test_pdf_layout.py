"""What stands on a page of a PDF is parted as a reader sees it: formulas, programs, items, notes and rows."""

from tests.activities.documents.test_pdf import PROSE, at, drawn, read, standing_for

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


def test_a_line_of_a_program_may_begin_with_a_sign_of_another_font() -> None:
    content = "".join(
        at(50, 700 - 12 * n, "`") + at(53.4, 700 - 12 * n, f"boat{n}() {{ sail(); }}", "F2") for n in range(3)
    )
    assert drawn(content, BOTH, COURIER) == "\n".join(f"`boat{n}() {{ sail(); }}" for n in range(3))
