"""Lists and tables of a writer in a report: each format draws them with the references of each row."""

import io
import re
from collections.abc import Sequence

import pytest
from docx import Document

from activities.contracts.evidence import CiteMark, Claim, Emphasis, Support
from activities.contracts.write import (
    DraftClaim,
    DraftParagraph,
    Edited,
    EditedSentence,
    SectionDraft,
    with_ids,
)
from activities.messages import in_language
from activities.report.assemble import build_report
from activities.report.claims import draft_claims
from activities.report.formats import render
from activities.report.formats.calculations import steps
from activities.report.formats.text import clean
from activities.report.run_folder import run_files
from activities.report.schema import Report
from activities.verification.verdicts import printable_draft
from tests.activities.cases import publish_input
from tests.activities.report.rendered import EVERY_FORMAT, page_of, words_of
from tests.activities.report.written import (
    INFECTION,
    LAPAROSCOPIC,
    PNEUMONIA,
    QUESTION,
    REGISTRY,
    WORKS,
    section,
)

ON_INFECTION = Support(evidence_id=LAPAROSCOPIC.evidence_id, quote=INFECTION)
ON_PNEUMONIA = Support(evidence_id=REGISTRY.evidence_id, quote=PNEUMONIA)


def shaped(*cells: tuple[str, str], support: Support = ON_INFECTION, state: str = "stands") -> DraftClaim:
    claim = DraftClaim(text="", support=(support,)).shaped(cells)
    return claim.replace(state=state, stands_by="reader")


TRIAL = shaped(("Trial", "Appendectomy"), ("Keyhole", "4%"), ("Open", "11%"))
RARER = shaped(("Trial", "Registry"), ("Keyhole", "-5.50"), ("Open", ""), support=ON_PNEUMONIA)
ITEM = shaped(("Pneumonia", "It was rarer in a registry."), support=ON_PNEUMONIA).replace(
    item=True, begins=True
)
HEAD = DraftClaim(text="Infections by trial", kind="transition", stands_by="reader")
TABLE = DraftParagraph(claims=(TRIAL, RARER), heading=HEAD)
DRAFT = with_ids("s1", SectionDraft(paragraphs=(TABLE, DraftParagraph(claims=(ITEM,)))))
SAID = DraftClaim(text="Infections were rarer.", support=(ON_INFECTION,), stands_by="reader")
PROPOSED = DraftClaim(text="", kind="inference", stands_by="reader")


def grouped(*groups: Sequence[DraftClaim]) -> SectionDraft:
    """A draft with a paragraph of each group."""
    return with_ids("s1", SectionDraft(paragraphs=tuple(DraftParagraph(claims=tuple(g)) for g in groups)))


def report_of(draft: SectionDraft) -> Report:
    return build_report(publish_input(section("s1", draft), question=QUESTION), WORKS)


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_every_format_draws_tables_and_lists_under_their_headings(name: str) -> None:
    text = words_of(report_of(DRAFT), name)
    places = [
        text.index(words) for words in ("Infections by trial", "Appendectomy", "Registry", "Pneumonia:")
    ]
    assert places == sorted(places)
    assert "Trial: Appendectomy" not in text, "the text of a row stands beside its fields"


def test_bold_print_goes_on_from_a_sentence_to_the_next_one() -> None:
    strong = PROPOSED.replace(text="Keyhole surgery is **better** **here**.", strong=True)
    text = render(report_of(grouped((strong, strong.replace(text="Choose it.")))), "md").decode()
    assert "**Keyhole surgery is \\*\\*better\\*\\* \\*\\*here\\*\\*. Choose it.**" in text


def test_a_total_is_in_bold_print() -> None:
    text = render(report_of(grouped((TRIAL, RARER.replace(strong=True)))), "md").decode()
    assert "| Appendectomy [1] | 4% | 11% |" in text
    assert "| **Registry** [2] | **-5.50** |  |" in text


STRESSES = (
    Emphasis(words="were rarer", at=11, style="strong"),
    Emphasis(words="rarer", at=16, style="em"),
    Emphasis(words="were", at=0, style="strong"),  # its words do not stand there
)
STRESSED = SAID.replace(emphasis=STRESSES)
STRESSED_ROW = TRIAL.replace(emphasis=(Emphasis(words="4%", at=0, style="code", field=1),))


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_what_is_stressed_within_a_sentence_and_a_field_is_printed(name: str) -> None:
    report = report_of(grouped((STRESSED,), (STRESSED_ROW,), (STRESSED.replace(letter=True, begins=True),)))
    assert "Infections were rarer." in words_of(report, name).replace("*", "")
    data = render(report, name)
    match name:
        case "md":
            assert "Infections **were *rarer*** [1]." in data.decode()
            assert "Infections **were *rarer***.\n" in data.decode(), "of the letter"
            assert "| Appendectomy [1] | `4%` | 11% |" in data.decode()
        case "html":
            page = page_of(data)
            assert page.xpath("//strong//text()") == ["were ", "rarer"] * 2
            assert page.xpath("//strong/em/text()") == ["rarer"] * 2
            assert page.xpath("//td//code/text()") == ["4%"]
        case "docx":
            runs = [run for p in Document(io.BytesIO(data)).paragraphs for run in p.runs]
            assert [(r.text, r.italic) for r in runs if r.bold and "r" in r.text][:2] == [
                ("were ", None),
                ("rarer", True),
            ]


def test_the_markdown_in_the_json_has_what_is_stressed_and_nothing_else() -> None:
    row = STRESSED_ROW.shaped([("Trial", "[x](http://x.org) | y"), ("Keyhole", "4%"), ("Open", "")])
    (part,) = report_of(grouped((STRESSED,), (row,))).sections
    assert "Infections **were *rarer*** [1]." in part.markdown
    assert "| \\[x\\](http\\://x.org) \\| y | `4%` |  | [1] |" in part.markdown
    assert part.claims[0].text == "Infections were rarer."


def test_the_emphasis_of_a_writer_does_not_alter_a_quote() -> None:
    claim = STRESSED.replace(text=INFECTION, emphasis=(Emphasis(words=INFECTION[:4], at=0, style="em"),))
    report = report_of(grouped((claim,)))
    assert [one.emphasis for one in report.claims()] == [()]
    assert f"\u201c{INFECTION}\u201d" in words_of(report)


def test_a_heading_stays_where_the_answer_says_the_first_paragraph_under_it() -> None:
    said = SAID.replace(id="s1.a1")
    other = SAID.replace(text="Fewer abscesses formed.")
    (first,) = grouped((SAID,)).paragraphs
    paragraphs = (first.replace(heading=HEAD), DraftParagraph(claims=(other,)))
    report = report_of(with_ids("s1", SectionDraft(answer=(said,), paragraphs=paragraphs)))
    assert f"## {HEAD.text}\n\n{other.text[:-1]}" in render(report, "md").decode()


def test_bold_words_before_a_script_without_blanks_are_bold_in_markdown() -> None:
    line = PROPOSED.shaped([("\u7ed3\u8bba", "\u5b83\u91cd\u8981\u3002")])
    strong = PROPOSED.replace(text="\u597d\u3002", strong=True)
    text = render(report_of(grouped((SAID,), (strong, line))), "md").decode()
    assert "**\u597d\u3002 \u7ed3\u8bba\uff1a** \u5b83\u91cd\u8981\u3002\n" in text


STEPS = tuple(
    PROPOSED.replace(text=f"Do {text}.", item=True, begins=True, number=number, level=level)
    for text, number, level in (("alpha", 1, 0), ("beta", 0, 1), ("gamma", 0, 3), ("delta", 2, 0))
)


@pytest.mark.parametrize("name", EVERY_FORMAT)
@pytest.mark.parametrize("is_letter", [False, True])
def test_a_list_within_an_item_is_printed_within_it(name: str, is_letter: bool) -> None:
    steps = [step.replace(letter=is_letter) for step in STEPS]
    report = report_of(grouped((SAID,), steps))
    data = render(report, name)
    match name:
        case "md":
            assert "1. Do alpha.\n    - Do beta.\n        - Do gamma.\n2. Do delta.\n" in data.decode()
            (part,) = report.sections
            lines = ["1. Do alpha.", "    - Do beta.", "        - Do gamma.", "2. Do delta."]
            assert [line.removeprefix("> ") for line in part.markdown.splitlines()][-4:] == lines
        case "html":
            page = page_of(data)
            assert page.xpath("//ol/li/@value") == ["1", "2"]
            assert page.xpath("count(//ol/li[1]/ul/li/ul/li)") == 1
        case "docx":
            paragraphs = Document(io.BytesIO(data)).paragraphs
            indents = [p.paragraph_format.left_indent or 0 for p in paragraphs if "Do " in p.text]
            assert indents[0] == indents[3] < indents[1] < indents[2]
        case "pdf":
            assert "1. Do alpha. \u2022 Do beta." in words_of(report, name)


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_lines_leads_and_colons_are_those_of_their_writer(name: str) -> None:
    code = [Emphasis(words=text, at=0, style="code") for text in ("ask(x)", "pay(y)")]
    line = PROPOSED.replace(begins=True, line=True)
    first, second = (line.replace(text=one.words, emphasis=(one,)) for one in code)
    item = SAID.replace(text="We chose:", item=True, begins=True)
    report = report_of(
        grouped(
            (SAID, line.shaped([("Dose.", "It is low.")]), line.shaped([("Route", "It is oral.")])),
            (first.replace(line=False), second),
            (item, *STEPS[1:2]),
        )
    )
    text = words_of(report, name).replace("**", "").replace("`", "").replace("\\", "")
    assert re.search(r"Dose\. It is low\. ?Route: It is oral\.", text)
    assert re.search(r"ask\(x\) ?pay\(y\) ", text), "no full stop"
    assert re.search(r"We chose( \[1\])?:(\[1\])?", text)
    if name == "md":
        data = render(report, name).decode()
        assert "**Dose.** It is low.  \n**Route:** It is oral.\n" in data
        assert "`ask(x)`  \n`pay(y)`\n" in data
        (part,) = report.sections
        assert all(block in part.markdown for block in ("low.  \n**Route:**", "`ask(x)`  \n`pay(y)`"))


LETTER = tuple(
    claim.replace(letter=True, state="stands", begins=True)
    for claim in (PROPOSED.replace(text="Dear colleagues,"), SAID, ITEM)
)


POINTS = tuple(
    PROPOSED.replace(text=f"Point {word} is settled.", item=True, begins=True, number=n, letter=True)
    for n, word in enumerate(("alpha", "beta", "gamma"), 1)
)


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_a_letter_is_printed_as_it_is_sent_with_what_it_rests_on_below_it(name: str) -> None:
    """Where it lost a numbered point that is said below it."""
    points = (point.replace(state="refused" if point.number == 2 else "stands") for point in POINTS)
    text = words_of(report_of(grouped((SAID,), (*LETTER, *points))), name)
    text = " ".join(text.replace("\\.", ".").split())
    start, last = text.index("Dear colleagues,"), "rarer in a registry"
    letter = text[start : text.index(last, start)]
    assert "Infections were rarer." in letter, "also where the report has said it"
    assert "[" not in letter
    assert all(quote.quote in text for quote in (ON_INFECTION, ON_PNEUMONIA))
    sources = "Sources, sentence by sentence"
    order = ("Point gamma", "Sentences left out of the text", "References", sources)
    assert [text.rindex(part) for part in order] == sorted(map(text.rindex, order))
    below = text[text.rindex(sources) :].partition("Quotes behind the sentences")[0]
    assert "Infections were rarer." in below
    assert "Dear colleagues" not in below, "it rests on nothing"
    if name == "html":
        page = page_of(render(report_of(grouped((SAID,), (*LETTER, *POINTS[::2]))), name))
        assert page.xpath("//blockquote//ol/li/@value") == ["1", "3"]
        assert page.xpath("//blockquote/@data-copy") == ["Copy"]
    else:
        assert "1. Point alpha" in text
        assert "3. Point gamma" in text


def test_a_letter_is_copied_between_two_rules_or_from_a_file_of_its_own() -> None:
    name = PROPOSED.replace(text="Ann Reed", letter=True, begins=True)
    head = name.replace(text="The bill", strong=True)
    lines = (head, name, name.replace(text="Mill Lane 3", line=True), *POINTS[:1])
    report = report_of(grouped((SAID,), lines))
    text = "\n---\n\n**The bill**\n\nAnn Reed  \nMill Lane 3\n\n1. Point alpha is settled.\n\n---\n"
    assert text in render(report, "md").decode()
    plain = "The bill\n\nAnn Reed\nMill Lane 3\n\n1. Point alpha is settled.\n"
    assert run_files(report, "md", (), ())["to send.txt"].decode() == plain
    assert "to send.txt" not in run_files(report_of(DRAFT), "md", (), ())


def test_a_brief_report_has_the_text_that_was_asked_for() -> None:
    report = report_of(grouped((SAID,), LETTER)).replace(length="brief")
    assert "Dear colleagues," in words_of(report)


def test_sentences_that_follow_each_other_show_the_works_that_they_share_once() -> None:
    more, other = SAID.replace(text="Fewer abscesses formed."), ITEM.replace(item=False, begins=False)
    page = page_of(render(report_of(grouped((SAID, more, other))), "html"))
    (prose,) = page.xpath("//section[starts-with(@aria-labelledby, 'section-')]//div[@class='prose']")
    signs = prose.xpath(".//summary[sup[@class='cites']]/span/text()")
    assert signs == ["Fewer abscesses formed.", "It was rarer in a registry."]
    assert len(prose.xpath(f".//details[.//mark='{INFECTION}']")) == 2, "each sentence opens its quotes"


def test_sentences_on_papers_of_the_user_have_no_signs_and_each_is_listed_below() -> None:
    """A text names a letter or a bill, so that no sentence and no row needs its number."""
    other = RARER.replace(cells=(), text="It was rarer in a registry.")
    report = report_of(grouped((SAID, other), (TRIAL, RARER)))
    papers = tuple(work.replace(source="library", design="letter") for work in report.references)
    report = report.replace(references=papers)
    text = words_of(report)
    assert f"{SAID.text} {other.text} | Trial" in text
    assert "| Appendectomy | 4% | 11% |" in text
    below = text.partition("Sources, sentence by sentence")[2].partition("Quotes behind")[0]
    assert all(f"\u201c{name}\u201d [1]" in below for name in (SAID.text, "Appendectomy"))
    assert f"\u201c{other.text}\u201d [2]" in below
    page = page_of(render(report, "html"))
    assert page.xpath(f"//details[summary='{SAID.text}']//mark/text()") == [INFECTION]
    assert not page.xpath("//section[starts-with(@aria-labelledby, 'section-')]//*[@class='cites']")
    markdown = render(report, "md").decode()
    assert "## References" not in markdown
    folded = markdown.partition("<summary>Sources, sentence by sentence</summary>")[2]
    assert all(clean(work.title) in folded for work in papers), "no sign leads to them"


def test_a_letter_and_the_report_each_say_what_they_share() -> None:
    said = [claim.replace(letter=True) for claim in (SAID, SAID.replace(text="Fewer abscesses formed."))]
    draft = grouped(said, (SAID, ITEM))
    answer = EditedSentence(
        id="a1", text=SAID.text, support=SAID.support, claims=("s1.1",), stands_by="reader"
    )
    edited = Edited(answer=(answer,), repeated=(("s1.2", "s1.1"), ("s1.4", "s1.1")))
    step = publish_input(section("s1", draft), question=QUESTION, edited=edited)
    report = build_report(step, WORKS)
    texts = [claim.text for claim in report.claims()]
    assert texts == [SAID.text, said[1].text, SAID.text, ITEM.text]
    (letter,) = page_of(render(report, "html")).xpath("//blockquote[@class='letter']")
    assert " ".join(letter.text_content().split()) == f"{SAID.text} {said[1].text}"


def test_no_quote_interrupts_a_letter() -> None:
    assert not printable_draft(grouped([claim.replace(state="ask") for claim in LETTER])).claims


def test_a_row_has_its_own_references_and_opens_its_quote() -> None:
    page = page_of(render(report_of(DRAFT), "html"))
    (row,) = page.xpath("//tr[.//*[@id='s1-1']]")
    assert INFECTION in row.text_content()
    assert PNEUMONIA not in row.text_content()


def test_the_json_has_fields_and_headings_and_its_markdown_the_same_table() -> None:
    report = report_of(DRAFT)
    (own,) = report.sections
    assert "| Registry [2] | -5.50 |" in words_of(report), "a plain minus"
    assert own.claims[0].cells == TRIAL.cells
    assert (own.paragraphs, own.headings) == ((("s1.1", "s1.2"), ("s1.3",)), ("Infections by trial", ""))
    assert "### Infections by trial" in own.markdown
    assert "| Appendectomy | 4% | 11% | [1] |" in own.markdown
    assert own.markdown.endswith("- **Pneumonia:** It was rarer in a registry [2].")


def test_a_row_that_falls_is_left_out_and_named_and_an_item_is_replaced_by_its_quote() -> None:
    fallen = DRAFT.changed(lambda one: (one.replace(state="refused") if one.id != "s1.1" else one,))
    shown = printable_draft(fallen)
    rows = [(TRIAL.cells, False), ((), True)]
    assert [(c.cells, c.item) for p in shown.paragraphs for c in p.claims] == rows
    assert shown.paragraphs[1].claims[0].text == PNEUMONIA
    assert shown.paragraphs[0].heading is None, "a heading that nobody confirmed"
    report = report_of(fallen)
    assert (report.verification.fell, report.verification.replaced) == (2, 1)
    text = words_of(report).rpartition("What is not shown")[2]
    lost = "Left out of the tables, because the sources do not bear it out"
    assert f"{lost}: \u201cRegistry\u201d." in text


def test_each_computation_is_shown_once_at_the_end_behind_what_it_gives() -> None:
    total = ("11 - 4 = 7", "(5 + 6) * 2 - 4 = 18")
    ratio = "risk_ratio(30, 50, 26, 50) = 1.15 (0.81 to 1.64)"
    row = shaped(("Trial", "Appendectomy"), ("Fewer", "7 points"), ("In all", "18 of 10"))
    prose = DraftClaim(
        text="Keyhole surgery had a risk ratio of 1.15 (0.81 to 1.64).",
        support=(ON_INFECTION,),
        stands_by="reader",
        computed=(ratio, total[1]),
    )
    report = report_of(grouped((row.replace(computed=total),), (prose,)))
    shown = words_of(report).replace("\\", "").partition("Calculations")[2]
    assert "Appendectomy, Fewer: 11 \u2212 4 = 7" in shown
    first = "Appendectomy, In all: (5 + 6) \u00d7 2 \u2212 4 = 18"
    assert shown.count(first) == 1
    assert "isk ratio of 30 of 50 against 26 of 50 = 1.15 (0.81 to 1.64)" in shown
    assert shown.count("(5 + 6)") == 1


def test_a_computation_that_its_sentence_shows_is_not_shown_again() -> None:
    shown = Claim(id="s1.1", text="You owe 101 (66 + 35).", computed=("66 + 35 = 101",))
    other = Claim(id="s1.2", text="You owe 101.", computed=("66 + 35 = 101",))
    assert steps([shown], set()) == []
    assert steps([shown, other], set()) == ["66 + 35 = 101"]
    row = shown.shaped([("Item", "In all"), ("Sum", "66 + 35 = 101")])
    left = Claim(id="s1.3", text="91 are left.", computed=("66 + 35 = 101", "101 - 10 = 91"))
    assert steps([row, left], set()) == ["101 \u2212 10 = 91"], "nor below what goes on from a row"
    again = other.replace(computed=("66 + 35 = 101.00",))
    assert steps([other, again], set()) == ["66 + 35 = 101"]


def test_a_computation_that_goes_on_from_another_begins_with_its_result() -> None:
    rows = ("(5 + 6) * 2 - 4 = 18", "(5 + 6) * 2 - 4 - 7 - 1 = 10", "(5 + 6) * 2 - 4 - 7 - 1 + 2 = 12")
    account = Claim(id="s1.1", text="12 are left.", computed=rows)
    expected = ["(5 + 6) \u00d7 2 \u2212 4 = 18", "18 \u2212 7 \u2212 1 = 10", "10 + 2 = 12"]
    assert steps([account], set()) == expected


def test_a_citation_stands_in_the_bracket_and_in_the_bold_words_that_it_ends() -> None:
    claim = DraftClaim(text="It fell (4% and 11%).", support=(ON_INFECTION,), stands_by="reader")
    marks = [CiteMark(at=at, works=(ON_INFECTION.evidence_id,)) for at in (11, 19)]
    closed = claim.replace(marks=tuple(marks))
    strong = claim.replace(
        text="It was 4% and 11%.", marks=(marks[0].replace(at=17),), strong=True, begins=True
    )
    head = DraftClaim(text="6. Dose steps", kind="inference", strong=True, begins=True)
    text = words_of(report_of(with_ids("s1", SectionDraft(answer=(closed, strong, head))))).replace("\\", "")
    assert "**6. Dose steps**" in text
    assert "It fell (4% and 11% [1])." in text
    assert "**It was 4% and 11% [1].**" in text


def test_a_statistic_is_shown_in_the_language_of_the_report() -> None:
    computed = "mean_difference(4.5, 1, 9, 5, 2, 8) = -0.5 (-2.0 to 1.0)"
    said = "Mittelwertdifferenz von 4,5 (SD 1, n = 9) gegen 5 (SD 2, n = 8) = -0,5 (-2,0 bis 1,0)"
    with in_language("de"):
        assert steps([Claim(id="s1.1", text="1.15", computed=(computed,))], set()) == [said]


def test_an_editor_is_not_shown_general_knowledge() -> None:
    known = DraftClaim(text="Rasagiline bars pethidine.", kind="background", stands_by="reader")
    draft = SectionDraft(answer=(SAID, known), paragraphs=(DraftParagraph(claims=(known, SAID)),))
    assert [[claim.text for claim in part] for part in draft_claims(draft)] == [[SAID.text], [SAID.text]]


def test_general_knowledge_is_marked_where_it_stands() -> None:
    known = "Rasagiline must not be combined with pethidine"
    read = DraftClaim(text=f"{known}.", kind="background", stands_by="reader")
    unread = read.replace(text="Pay 200 euros to the clinic.", state="ask")
    row = read.shaped([("Drug", "Pethidine"), ("Rule", "Never with rasagiline")])
    letter = read.replace(text="The clinic keeps its records.", letter=True)
    text = words_of(report_of(grouped((SAID, read, unread), (row,), (letter,))))
    assert f"{known}\u2020." in text
    assert "| Drug\u2020 | Rule |" in text
    assert text.count("\u2020") == 3, "the sentence, the row and the note that says what the sign means"
    assert "check it or leave it out: \u201cThe clinic keeps its records.\u201d" in text
    assert "\u2020 From general knowledge, not from the sources; check it" in text
    assert unread.text not in text, "what no reader has read"
