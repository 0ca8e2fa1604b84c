"""Text files, messages and pages as quotable text, and what is set aside without its library."""

import sys
from email.message import EmailMessage
from pathlib import Path
from zipfile import ZipFile

import pytest
import typst

from activities.contracts.errors import install
from activities.documents.html_page import read_html, read_own_html
from activities.documents.latex import read_tex
from activities.documents.pdf import read_pdf
from activities.documents.plain import read_mail, read_plain
from activities.documents.tables import from_rows
from activities.sources.library.reading import SetAside, read_file


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("The password is tulip-47.\n\nThe cleaner comes on Fridays.", ""),
        ("Bins go out on Monday.\n\nThe cleaner comes on Fridays.", ""),
        ("House rules\n\nBins go out on Monday.", "House rules"),
        (
            "Effect of aspirin on cancer.\n\n" + "Aspirin lowered the risk. " * 40,
            "Effect of aspirin on cancer.",
        ),
    ],
)
def test_the_first_sentence_of_a_note_is_not_its_title(text: str, title: str) -> None:
    assert read_plain(text.encode()).title == title


def test_a_page_sent_by_mail_has_a_line_for_each_block() -> None:
    page = "<p>Dear all,</p><p>on <b>Thursday</b> we\n go to the <i>castle</i>.</p><ul><li>A coat</li></ul>"
    text = read_mail(
        f"From: Ann <a@b.example>\nSubject: Trip\nContent-Type: text/html\n\n{page}".encode()
    ).text
    assert text.split("\n\n")[-3:] == ["Dear all,", "on Thursday we go to the castle.", "A coat"]


def test_a_message_is_read_with_those_that_were_sent_along() -> None:
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "Cy <c@d.example>", "The roof"
    inner.set_content("The roof leaked on 3 May.")
    outer = EmailMessage()
    outer["From"], outer["Subject"] = "Ann <a@b.example>", "Fwd: The roof"
    outer.set_content("See below.")
    outer.add_attachment(inner)
    mail = read_mail(bytes(outer))
    assert mail.title == "Fwd: The roof"
    assert mail.authors == ("Ann",)
    assert mail.text.index("See below.") < mail.text.index("From: Cy") < mail.text.index("The roof leaked")


def test_the_mark_of_a_note_is_no_digit_of_a_number() -> None:
    page = (
        '<p>It rose 3<sup><a href="#n1">1</a></sup> m and 4<a href="#n2"><sup>[2]</sup></a> m,'
        " by 10<sup>3</sup>;"
        " <math><msup><mi>x</mi><mn>2</mn></msup></math> of <ruby>\u6f22<rt>kan</rt></ruby>.</p>"
    )
    assert read_own_html(page).text == "It rose 3 m and 4 m, by 10\u00b3; x\u00b2 of \u6f22."


def test_what_is_struck_out_is_not_quoted() -> None:
    page = "<p>It was <del>not</del> <ins>later</ins> raised, for <s>40</s> <strike>50</strike> 60 euros.</p>"
    assert read_own_html(page).text == "It was later raised, for 60 euros."
    assert "was later raised, for 60 euros." in read_html(f"<article>{page * 9}</article>").text


def test_the_commands_that_a_latex_source_defines_are_the_words_they_stand_for() -> None:
    text = read_tex(
        rb"\newcommand{\drug}{Farvexil}\def\n{forty}\renewcommand*\group{women}\title{On \drug}"
        rb"\begin{document}\drug{} helped \n\ of the \group, and \drug\\Deaths fell.\end{document}"
    )
    assert text.title == "On Farvexil"
    assert " ".join(text.text.split()) == "Farvexil helped forty of the women, and Farvexil Deaths fell."


def test_tables_notes_and_programs_of_latex_are_read_as_they_are_printed() -> None:
    text = read_tex(
        rb"\title{\emph{Tides}\thanks{Paid by the port.}}\author{Ann Lee\footnote{Of Ports} \and Bo Roe}"
        rb"\newcommand{\mean}[1]{mean of #1}\begin{document}\maketitle% a remark"
        b"\n"
        rb"\section{How it was done}"
        rb"The \mean{tides} was 10$^{3}$ mm\footnote{By gauge.} \citet{lee} at sea."
        rb"\begin{table}\caption{Tides by month}\begin{tabular}{lr}\hline Month & Mean \\ \hline"
        rb" May & 2.6 \\ June & 2.8 \\ \hline\end{tabular}\end{table}"
        rb"\begin{verbatim}gauge --start\end{verbatim}\end{document}"
    )
    assert (text.title, text.authors) == ("Tides", ("Ann Lee", "Bo Roe"))
    assert [" ".join(part.split(" ")) for part in text.text.split("\n\n")] == [
        *("How it was done", "The mean of tides was 10\u00b3 mm at sea.", "Tides by month"),
        *("Month: May; Mean: 2.6\nMonth: June; Mean: 2.8", "gauge --start", "Of Ports", "By gauge."),
    ]


def test_the_attachments_of_a_message_are_named() -> None:
    message = EmailMessage()
    message["From"], message["To"] = "ann@a.example", "bo@a.example"
    message.set_content("The fees are attached.")
    message.add_attachment(b"Boat;Fee\n", maintype="text", subtype="csv", filename="fees.csv")
    assert read_mail(bytes(message)).cut == "1 attachment not read, save beside it: fees.csv"


def test_a_running_foot_stands_once_and_a_sum_at_the_foot_of_each_page_stays() -> None:
    text = "For the flat.\n\nThe tax is paid.\n\nThe rent was paid in full.\n\nThe fee is due."
    pages = "\n#pagebreak()\n".join(f"{text}\n\nBalance {n * 37}.50" for n in (1, 2, 3))
    foot = "#context [Harbour Bank, account 77, page #counter(page).display()]"
    source = f"#set page(width: 12cm, height: 9cm, footer: [{foot}])\n{pages}"
    lines = read_pdf(bytes(typst.compile(source.encode()))).text.splitlines()
    assert [line for line in lines if "Harbour" in line] == ["Harbour Bank, account 77, page 1"]
    assert all(f"Balance {n * 37}.50" in " ".join(lines) for n in (1, 2, 3))
    assert " ".join(lines).count("The rent was paid in full.") == 3


def test_a_table_of_facts_in_a_page_becomes_rows_and_a_layout_stays() -> None:
    facts = "<table><tr><th>Plant</th><th>Price</th></tr><tr><td>Rose</td><td>12 euros</td></tr></table>"
    page = f"<table><tr><td>{facts}</td><td>Beside it.</td></tr></table><p>After it.</p>"
    assert read_own_html(page).text.split("\n\n") == [
        "Plant: Rose; Price: 12 euros",
        "Beside it.",
        "After it.",
    ]
    long = "<p>" + "The garden is open in spring. " * 9 + "</p>"
    assert "Plant: Rose; Price: 12 euros" in read_html(f"<article>{long}{facts}{long}</article>").text


def test_a_page_of_ones_own_keeps_all_that_a_browser_shows() -> None:
    page = """<html><head><title>Sheet</title><style>p {}</style></head><body><nav>Start</nav>
    <h2>First aid</h2>
    <ul><li>Eyes: rinse for 15&nbsp;minutes.</li></ul><pre>a  b\nc</pre><p hidden>unseen</p>
    <p>From 10<sup>6</sup> to 10<sup>3</sup>, CO<sub>2</sub>, 10<sup>2.5</sup>, said<sup>1,2</sup>.<br>
    Next.</p>
    <div style="color: red; DISPLAY:none">unseen</div>
    <p style="visibility: hidden">unseen</p>
    <footer>Foot</footer></body></html>"""
    text = read_own_html(page)
    assert text.title == "Sheet"
    assert text.text.split("\n\n") == [
        *("Start", "First aid", "Eyes: rinse for 15 minutes.", "a  b\nc"),
        "From 10\u2076 to 10\u00b3, CO\u2082, 10^2.5, said\u00b9,\u00b2.\nNext.",
        "Foot",
    ]


def test_lists_are_numbered_as_a_browser_numbers_them() -> None:
    page = (
        '<ol start="3"><li>Close it.</li><li value="7"><p>Open it.</p><p>Wait.</p></li></ol>'
        '<ol type="a"><li>Left.<ol reversed><li>Two.</li><li>One.</li></ol></li></ol>'
        '<ol style="list-style: none"><li>Home</li></ol><ul><li>A coat</li></ul>'
        "<dl><dt>Eyes:</dt><dd>Rinse them.</dd><dd><p>See a doctor.</p></dd><dt>Skin<dd><p>Wash it.</dl>"
    )
    assert read_own_html(page).text.split("\n\n") == [
        *("3. Close it.", "7. Open it.", "Wait.", "Left.", "2. Two.", "1. One.", "Home", "A coat"),
        *("Eyes: Rinse them.", "See a doctor.", "Skin: Wash it."),
    ]


def test_a_line_above_the_headings_of_a_table_names_no_columns() -> None:
    rows = [
        ["# Community Bakery", " outgoing payments", " exported 2025-09-15"],
        ["Account", "40718"],
        ["instructed", "credited", "payee", "amount"],
        ["2025-03-28", "2025-03-31", "Ardent", "5000.00"],
        ["2025-04-30", "2025-04-30", "Ardent", "2374.85"],
    ]
    assert [*from_rows(rows).lines()] == [
        "# Community Bakery, outgoing payments, exported 2025-09-15",
        "Account: 40718",
        "instructed: 2025-03-28; credited: 2025-03-31; payee: Ardent; amount: 5000.00",
        "instructed: 2025-04-30; credited: 2025-04-30; payee: Ardent; amount: 2374.85",
    ]


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("talk.pptx", "pptx", "office"),
        ("table.xlsx", "python_calamine", "office"),
        ("paper.tex", "pylatexenc.latex2text", "office"),
        ("works.bib", "bibtexparser.splitter", "bibliography"),
    ],
)
def test_a_file_whose_extra_is_missing_names_it(
    name: str, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if extra == "office" and not name.endswith(".tex"):
        with ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("anything", "")
    else:
        (tmp_path / name).write_bytes(b"anything")
    monkeypatch.setitem(sys.modules, module, None)
    (aside,) = read_file(b"", str(tmp_path / name), name)
    assert isinstance(aside, SetAside)
    assert aside.lacking
    assert f"pip install 'determinator[{extra}]'" in aside.reason


@pytest.mark.parametrize(
    ("mark", "command"),
    [
        ("uv-receipt.toml", "uv pip install --python {prefix} 'determinator[pdf]'"),
        ("pipx_metadata.json", "pipx runpip tools install 'determinator[pdf]'"),
        ("pyvenv.cfg", "pip install 'determinator[pdf]'"),
    ],
)
def test_an_extra_is_added_by_what_installed_the_product(mark: str, command: str, tmp_path: Path) -> None:
    prefix = tmp_path / "tools"
    prefix.mkdir()
    (prefix / mark).touch()
    assert install("pdf", prefix) == command.format(prefix=prefix)
