from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from activities.contracts.evidence import CiteMark, Evidence, Length, SearchRecord
from activities.contracts.publish import IterationUse, PrismaCounts
from activities.contracts.write import DraftClaim, DraftParagraph, Edited, EditedSentence, SectionDraft
from activities.report.assemble import build_report
from activities.report.formats import FORMATS, UnknownFormat, render
from activities.report.formats.blocks import Cite, Figure, Mark, Quote, Table, cell, on_paper
from activities.report.formats.page import document
from activities.report.formats.references import date_of, same_words
from activities.report.formats.text import clean, escape_markdown, safe_url
from activities.report.formats.works_table import whole_clause
from activities.report.schema import Report
from tests.activities.cases import DOCUMENTS, INCREASED, REDUCED, planned, publish_input, quoting
from tests.activities.report.rendered import EVERY_FORMAT, REPORT, citation_faults, hostile, page_of, words_of
from tests.activities.report.wide import RICH
from tests.activities.report.written import (
    FEWER,
    INFECTION,
    INJURY,
    PASSAGES,
    PNEUMONIA,
    STAY,
    STEP,
    WORKS,
    draft,
    made,
    section,
)

MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})
WRITTEN = build_report(STEP, WORKS)


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=40)
def test_escaped_text_shows_itself_and_does_nothing_else(text: str) -> None:
    tokens = MARKDOWN.parse(f"before {escape_markdown(text)}")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children) == f"before {clean(text)}".strip()


@given(st.text("#>-+*=_~`|[](){}<>!&;:.0123456789ab \\$\n\t", max_size=30))
@settings(max_examples=60)
def test_escaped_text_starts_no_block(text: str) -> None:
    tokens = MARKDOWN.parse(escape_markdown(text))
    assert [token.type for token in tokens] in ([], ["paragraph_open", "inline", "paragraph_close"])


@pytest.mark.parametrize("form", ["md", "html"])
def test_nothing_hostile_becomes_markup(form: str) -> None:
    data = render(hostile(), form).decode()
    page = page_of(MARKDOWN.render(data) if form == "md" else data)
    assert not page.xpath("//img | //iframe | //link | //object | //code | //@onclick | //main//script")
    assert len(page.xpath("//script")) == (form == "html")
    assert "evil" not in page.xpath("string(//script)")
    assert not page.xpath("//a[not(@href)]")
    allowed = ("#", "https://doi.org/", "https://clinicaltrials.gov/")
    assert all(address.startswith(allowed) for address in page.xpath("//a/@href"))


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "http://", "https://a b/", "http://u:p@evil/", "", None],
)
def test_only_plain_addresses_become_links(url: str | None) -> None:
    assert safe_url(url) is None


def texts(value: object, *, drawn: bool) -> Iterator[str]:
    """Yield what a reader sees of blocks who opens no quote; `drawn`: figures are pictures."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Figure):
        yield from texts((value.caption,) if drawn else value.table or value.words, drawn=drawn)
    elif isinstance(value, Cite):
        yield value.text
    elif is_dataclass(value):
        hidden = {"anchor", "kind", "style", "url", "grade", "rank", "number", "language", "about", "kicker"}
        hidden |= {"run_line"} | ({"title"} if isinstance(value, Quote) else set())
        for field in fields(value):
            if field.name not in hidden and not isinstance(getattr(value, field.name), Quote):
                yield from texts(getattr(value, field.name), drawn=drawn)
    elif isinstance(value, tuple):
        for part in value:
            yield from texts(part, drawn=drawn)


def squeezed(text: str) -> str:
    """Letters and digits alone: a format may part a line, and escape or hyphenate a word."""
    return "".join(filter(str.isalnum, text))


@pytest.mark.parametrize("name", EVERY_FORMAT)
@pytest.mark.parametrize("report", [RICH, WRITTEN, build_report(PASSAGES, WORKS)], ids="rwp")
def test_every_format_says_all_that_the_tree_of_a_report_has(name: str, report: Report) -> None:
    """So that what is printed, and in which order, need be asked of one format alone."""
    report = report.replace(length="full")
    made, shown = document(report, with_pictures=name != "md"), squeezed(words_of(report, name))
    chapters = made.chapters if name == "html" else tuple(on_paper(made))
    said = [*texts((made.title, made.head, chapters), drawn=name != "md")]
    assert len(said) > 30
    assert [text for text in said if squeezed(text) not in shown] == []


def test_a_markdown_report_has_what_a_researcher_looks_for() -> None:
    text = render(REPORT, "md").decode()
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        *("# Metformin and mortality", "## Benefit", "## Harm", "## Candidates", "### Metformin"),
        *("## Studies", "## What is not shown", "## References"),
    ]
    assert text.splitlines()[-1].startswith("<!-- Made with Determinator on ")
    full = render(REPORT.replace(length="full"), "md").decode()
    assert r"| PubMed | a \| b | source unavailable |" in full
    for part in (
        "1. Doe JA, Roe B. [Metformin and mortality: a randomized trial.](https://pubmed",
        "EXPRESSION OF CONCERN",
        f"\n- **\\[1\\] Metformin and mortality: a randomized trial:** \u201c{REDUCED}\u201d\n",
        " [1].",
        r"AMPK \| activation",
    ):
        assert part in text


def test_each_citation_opens_its_quote_in_context() -> None:
    page = page_of(render(REPORT, "html"))
    (quote,) = page.xpath("//details[summary[@id='s1-1']]")
    assert quote.xpath("string(summary/sup)") == "[1]"
    assert quote.xpath("string(.//mark)") == REDUCED
    assert "Metformin is a first-line drug" in quote.text_content()
    assert "#ref-1" in quote.xpath(".//a/@href")
    assert page.xpath("string(//details[summary[@id='s2-1']]//mark)") == INCREASED


def test_a_report_without_evidence_is_rendered_in_every_format_and_another_format_is_refused() -> None:
    report = build_report(publish_input(stop_reason="all_sources_failed"), {})
    assert all(render(report, fmt) is not None for fmt in FORMATS)
    with pytest.raises(UnknownFormat, match="choose one of md, html, json"):
        render(REPORT, "odt")


def test_sections_without_a_claim_are_listed_together_and_never_as_chapters() -> None:
    step = publish_input(
        planned("s1", quoting("Metformin reduced mortality by 30%.", ("pmid:1", REDUCED)), title="Benefit"),
        planned("s2", title="Mechanism", status="partial", note="no new evidence"),
        planned("s3", title="Safety", status="failed", note="its worker died"),
    )
    text = words_of(build_report(step, DOCUMENTS))
    assert "What is not shown" in text
    assert "Mechanism: Nothing that was found answers this question." in text
    assert "Safety (failed): No claim is made here (its worker died)." in text
    assert "What of s2?" not in text


def test_a_sentence_is_printed_once_and_quotes_never_stand_between_an_answer_and_a_heading() -> None:
    update = {"claims": WRITTEN.answer, "paragraphs": (("s1.a1", "s1.a2"),)}
    both = WRITTEN.sections[0].model_copy(update=update)
    text = words_of(WRITTEN.replace(sections=(both,)))
    assert text.count(FEWER.rstrip(".")) == 1
    assert INFECTION not in text[text.index("## Answer") : text.index("## ", text.index("## Answer") + 3)]


def test_the_lengths_differ_by_what_they_leave_out() -> None:
    shown = [words_of(WRITTEN.replace(length=length)) for length in ("brief", "standard", "full")]
    for part, where in (
        (FEWER.rstrip("."), [True, True, True]),
        ("Patients left a day earlier", [False, True, True]),
        ("Surgeons were not blinded.", [False, True, True]),
        ("A claim that the writer lost.", [False, False, True]),
    ):
        assert [part in text for text in shown] == where
    assert INFECTION in words_of(build_report(PASSAGES, WORKS).replace(length="brief")), "the first passages"


def test_a_persons_own_documents_are_never_called_studies() -> None:
    letter = Evidence(
        evidence_id="library:letter.eml",
        source="library",
        title="Delivery of the pumps",
        text="We shall deliver the four pumps by 1 March 2024 at the price agreed in January.",
        authors=("A. Miller",),
        evidence_type="document",
        facts={"date": "2024-01-12"},
        full_text=True,
    )
    claim = quoting("The pumps were due by 1 March 2024.", (letter.evidence_id, letter.text))
    searches = (SearchRecord(source="library", query="pumps", status="ok", hits=1, kept=1),)
    step = publish_input(planned("s1", claim), searches=searches, confidence=0.7)
    text = words_of(build_report(step, {letter.evidence_id: letter})).casefold()
    never = ("studies", "study", "weak", "retracted", "screened", "confidence")
    assert not [word for word in never if word in text]
    assert "## documents" not in text, "the references have what is known of them"
    assert "a. miller" in text
    assert "12 january 2024" in text


def test_the_date_of_a_row_is_not_the_date_of_its_table() -> None:
    table = WRITTEN.references[0].replace(date="2025-02-05", date_from="text", design="table")
    assert date_of(table) == ""
    assert date_of(table.replace(design="letter")) == "5 February 2025"
    assert date_of(table.replace(date_from="file_name")) == "5 February 2025"


OVERVIEW = {"edited": None, "question": "What is known of laparoscopic surgery?"}


def test_an_overview_says_once_in_a_line_what_each_section_found() -> None:
    drafts = (
        SectionDraft(answer=(quoting(FEWER, ("pmid:11", INFECTION), ("pmid:12", PNEUMONIA)),)),
        SectionDraft(answer=(quoting("The urinary tract was injured more often.", ("pmid:13", INJURY)),)),
    )
    sections = (section("s1", drafts[0], "Gain"), section("s2", drafts[1], "Harm"))
    judgements = tuple(judgement.replace(direction="not_asked") for judgement in STEP.judgements)
    step = STEP.replace(**OVERVIEW, sections=sections, judgements=judgements)

    def told(*answer: EditedSentence) -> tuple[str, str]:
        text = words_of(build_report(step.replace(edited=Edited(answer=answer)), WORKS))
        return text, text[text.index("Answer") : text.index("References")]

    text, answer = told()
    assert answer.index("Gain:") < answer.index(FEWER.rstrip(".")) < answer.index("Harm:")
    assert text.count(FEWER.rstrip(".")) == 1
    assert " yes" not in answer, "an overview is not answered by a count"
    support = drafts[0].answer[0].support
    joined = EditedSentence(id="a1", text="Infections are fewer.", claims=("s1.a1", "s2.a1"), support=support)
    _, answer = told(joined)
    assert not {"Gain:", "Harm:"} & {*answer.split()}, "the report has an answer of its own"
    assert FEWER.rstrip(".") in answer[answer.index("Gain") :]
    whole = f"{FEWER.rstrip('.')}, but the urinary tract was injured more often."
    text, _ = told(joined.replace(text=whole))
    assert text.count(FEWER.rstrip(".")) == text.count("urinary tract was injured more often") == 1


@pytest.mark.parametrize("answer", ["", "Infections are fewer."])
def test_a_brief_report_lists_what_it_cites(answer: str) -> None:
    support = quoting(answer, ("pmid:11", INFECTION)).support
    first = (WRITTEN.answer[0].replace(text=answer, support=support),) if answer else ()
    brief = WRITTEN.replace(length="brief", answer=first)
    assert citation_faults(render(brief, "md").decode()) == []


def test_a_section_begins_with_its_conclusion_and_what_it_does_not_show_stands_once_at_the_end() -> None:
    """Unless the answer says it; one whose sentences stand elsewhere says where."""
    draft = SectionDraft(
        answer=(quoting(FEWER, ("pmid:11", INFECTION), ("pmid:12", PNEUMONIA)),),
        paragraphs=(DraftParagraph(claims=(quoting(INJURY, ("pmid:13", INJURY)),)),),
    )
    again = SectionDraft(paragraphs=draft.paragraphs)
    sections = (section("s1", draft, "Gain"), section("s2", again, "Harm"))
    use = IterationUse(iteration=2, section="s1", open=("whether anybody was blinded",))
    text = words_of(build_report(STEP.replace(**OVERVIEW, sections=sections, spent_by=(use,)), WORKS))
    last = text.index("Whether anybody was blinded.")
    part = text[text.index("Answer") : last]
    assert part.index(FEWER.rstrip(".")) < part.rindex(INJURY.rstrip("."))
    assert part.count(FEWER.rstrip(".")) == 1
    assert text.index("reported in another section") < text.rindex("What is not shown") < last


def of_claims(*claims: DraftClaim) -> Report:
    return made(draft(*claims))


LEFT = quoting("Patients left a day earlier.", ("pmid:11", STAY))
RARER = quoting("Fewer had an infection.", ("pmid:11", INFECTION))


def test_each_quote_stands_once_behind_the_references() -> None:
    """In the order of its work; a part of another quote is not listed."""
    both = quoting(FEWER, ("pmid:11", INFECTION), ("pmid:12", PNEUMONIA))
    part = quoting("It was one day.", ("pmid:11", "shorter by one day"))
    text = render(of_claims(LEFT, both, RARER, part), "md").decode()
    body, _, folded = text.partition("<details>\n<summary>Quotes behind the sentences</summary>\n\n")
    assert "Patients left a day earlier [1]." in body
    assert f"{FEWER.rstrip('.')} [1, 2]." in body
    quotes = (INFECTION, PNEUMONIA, STAY, "shorter by one day")
    assert [folded.count(quote) for quote in quotes] == [1, 1, 1, 1]
    assert folded.index(INFECTION) < folded.index(STAY)
    assert folded.partition("<!--")[0].endswith("\n\n</details>\n\n")


def test_a_sentence_falls_where_one_of_its_works_has_no_quote_left() -> None:
    good, bad = ("pmid:11", INFECTION), "This was never written in any of them."
    for work, stands in (("pmid:11", True), ("pmid:12", False)):
        report = of_claims(
            quoting(FEWER, good, (work, bad)), quoting("They had pneumonia.", ("pmid:12", PNEUMONIA))
        )
        assert (FEWER in [claim.text for claim in report.sentences()]) == stands
        codes = {dropped.statement.code for dropped in report.verification.dropped}
        assert "quote_not_in_text" in codes


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_a_citation_stands_at_the_words_that_its_work_carries(name: str) -> None:
    """Behind a clause without a space before the sign that follows, and at the end where none was placed."""
    marks = (CiteMark(at=22, works=("pmid:11",)), CiteMark(at=47, works=("pmid:12",)))
    claim = quoting(
        "Fewer had an infection, and fewer had pneumonia; all in all.",
        ("pmid:11", INFECTION),
        ("pmid:12", PNEUMONIA),
        ("pmid:13", INJURY),
    ).replace(marks=marks)
    lead = RARER.shaped([("Infection.", "It was rarer.")])
    item = lead.replace(item=True, begins=True).shaped([("Lungs", "They were spared.")])
    more = quoting("Pneumonia was rarer too.", ("pmid:12", PNEUMONIA)).replace(item=True)
    text = words_of(of_claims(claim, lead, item, more, quoting(INJURY, ("pmid:13", INJURY))), name)
    text = "".join(text.replace("**", "").split())  # a format may part a line into pieces
    shown = "Fewerhadaninfection[1],andfewerhadpneumonia[2];allinall"
    assert "[3]" in text[text.index(shown) :][: len(shown) + 4]
    assert "Infection.Itwasrarer" in text, "a lead stands in front of its sentence"
    assert text.index("Lungs:Theywerespared") < text.index("Pneumoniawasrarertoo"), "an item has several"
    assert f"\u201c{''.join(INJURY.split())}\u201d" in text, "a sentence in the words of its quote is marked"


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((1, 2, 3), "[1\u20133]"),
        ((1, 2, 3, 4, 6), "[1\u20134, 6]"),
        ((1, 2, 4, 5, 6), "[1, 2, 4\u20136]"),
        ((), ""),
    ],
)
def test_many_works_behind_a_sentence_are_one_mark(numbers: tuple[int, ...], said: str) -> None:
    assert Cite(tuple(map(Mark, numbers))).text == said


def test_only_a_full_report_repeats_a_question_that_its_title_does_not_say() -> None:
    asked = "How do chromoscopy and colonoscopy compare in finding polyps and in harm?"
    told = "Chromoscopy and colonoscopy compared: polyps and harm"
    for title, times in ((told, 0), ("Dye in the bowel", 1)):
        report = REPORT.replace(question=asked, title=title)
        assert words_of(report.replace(length="full")).count(f"*{asked}*") == times
        assert asked not in words_of(report)


@pytest.mark.parametrize("length", ["standard", "full"])
def test_a_sentence_shows_every_quote_that_carries_it(length: Length) -> None:
    names = ("pmid:11", "pmid:12", "pmid:13")
    quotes = [sentence for name in names for sentence in WORKS[name].text.split(". ")][:8]
    owners = [name for quote in quotes for name in names if quote in WORKS[name].text]
    text = "Infection was rarer, in 4% against 11%; there were 210 adults."
    report = of_claims(quoting(text, *zip(owners, quotes, strict=True)))
    shown = words_of(report.replace(length=length)).partition("References")[2]
    assert [quote for quote in quotes if quote in shown] == quotes


@pytest.mark.parametrize(
    ("claim", "quote", "same"),
    [
        ("No reaction was observed.", "In all, no reaction was observed.", True),
        ("The cost was 8 and no reaction was observed.", "No reaction was observed.", False),
        ("The cost was 8.", "The cost was 8, or less.", False),
    ],
)
def test_only_words_of_a_quote_stand_in_quotation_marks(claim: str, quote: str, same: bool) -> None:
    assert same_words(claim, quote) is same


@pytest.mark.parametrize("name", ["md", "docx", "pdf"])
def test_quotes_stand_in_one_place_and_a_sentence_in_their_words_is_marked(name: str) -> None:
    body, _, references = words_of(WRITTEN, name).rpartition("References")
    assert INFECTION in references
    assert INFECTION not in body.replace(f"\u201c{INFECTION}\u201d", "").split("Studies")[0]


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_the_run_is_told_folded_on_a_page_in_properties_of_a_file_and_whole_where_asked(name: str) -> None:
    searches = tuple(SearchRecord(source="pubmed", query=f"query {n}", status="ok") for n in range(9))
    report = WRITTEN.replace(methodology=WRITTEN.methodology.replace(searches=searches))
    text = words_of(report, name)
    assert "query 3" not in text
    if name == "html":
        page = page_of(render(report, name))
        *_, folded = page.xpath("//section[contains(@class, 'folded')][h2//input[not(@checked)]]")
        assert "Searches: 9;" in folded.text_content()
    else:
        assert "Searches: 9;" not in text
        assert name == "md" or "Made with Determinator" not in text
    whole = words_of(report.replace(length="full"))
    assert "query 3" in whole[whole.rindex("How this report was made") :]


@pytest.mark.parametrize(
    ("finding", "sentence", "shown"),
    [
        ("falls were rarer", "In both groups falls were rarer.", "In both groups falls were rarer"),
        (
            "were rarer in",
            "Here falls were rarer in women, but not in men.",
            "Here falls were rarer in women",
        ),
        ("the dose fell to", "At last the dose fell to 3.5 mg.", "At last the dose fell to 3.5 mg"),
        ("33 had one in the", f"33 had one in the {'very ' * 12} old group.", ""),
        ("13% (4 of", "It was 13% (4 of 31, P = 0.2) in one.", ""),
        ("\u75bc\u75db\u51cf\u8f7b", "\u75bc\u75db\u51cf\u8f7b\u3002", "\u75bc\u75db\u51cf\u8f7b"),
        ("\u4e8c\u7532" * 20, "\u4e8c\u7532" * 20, ""),
    ],
)
def test_the_finding_of_a_work_is_a_whole_clause_of_few_words_or_is_left_out(
    finding: str, sentence: str, shown: str
) -> None:
    assert whole_clause(finding, sentence) == shown


def test_what_was_left_open_is_a_gap_also_of_one_section() -> None:
    use = IterationUse(iteration=2, open=("trials in women",), stopped="sufficient_evidence")

    def not_shown(**update: object) -> str:
        return words_of(build_report(STEP.replace(**update), WORKS)).rpartition("What is not shown")[2]

    assert "Trials in women." in not_shown(spent_by=(use,))
    drafted = tuple(one.replace(draft=one.draft.replace(settled=use.open)) for one in STEP.sections)
    assert "rials in women" not in not_shown(spent_by=(use,), sections=drafted), "a later step gave it"
    assert STEP.question not in not_shown(spent_by=(use.replace(open=(STEP.question,)),))


NUMBER = st.integers(min_value=0, max_value=500)


@given(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER)
@settings(max_examples=50)
def test_identified_works_are_duplicates_screened_or_not_screened(
    identified: int, duplicates: int, different: int, screened: int, included: int
) -> None:
    counts = PrismaCounts(identified=identified, duplicates=min(duplicates, identified))
    made = counts.add_up(different, screened, included)
    assert made.identified == made.duplicates + made.screened + made.not_screened
    assert made.screened == made.included + made.not_cited
    assert min(made.model_dump().values()) >= 0
    assert made.included == included


def test_what_a_run_holds_beside_what_was_screened_is_said() -> None:
    made = PrismaCounts(identified=75, duplicates=46).add_up(29, 21, 9)
    assert (made.duplicates, made.screened, made.not_screened, made.not_cited) == (46, 21, 8, 12)


@pytest.mark.parametrize("report", [RICH, WRITTEN], ids=["rich", "written"])
def test_the_full_report_has_all_that_the_standard_one_has(report: Report) -> None:
    standard, full = (render(report.replace(length=length), "md").decode() for length in ("standard", "full"))
    assert [line for line in standard.splitlines() if line.strip() not in full] == []


@pytest.mark.parametrize(
    ("texts", "kind"), [(["\u00a370", "", "not due", "-5%"], "number"), (["none", "5"], "short")]
)
def test_a_column_of_numbers_may_have_a_few_short_words(texts: list[str], kind: str) -> None:
    table = Table(("Amount",), tuple((cell(text),) for text in texts))
    assert table.columns == (kind,)
