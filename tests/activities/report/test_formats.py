import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from activities.contracts.evidence import CiteMark, Evidence, Length, SearchRecord
from activities.contracts.publish import IterationUse, PrismaCounts
from activities.contracts.write import DraftClaim, DraftParagraph, Edited, EditedSentence, SectionDraft
from activities.report.assemble import build_report
from activities.report.formats import FORMATS, UnknownFormat, render
from activities.report.formats.blocks import Cite, Mark, Table, cell
from activities.report.formats.references import date_of
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
    STEP,
    WORKS,
    section,
)


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=100)
def test_escaped_text_shows_itself_and_does_nothing_else(text: str) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(f"before {escape_markdown(text)}")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children) == f"before {clean(text)}".strip()


@given(st.text("#>-+*=_~`|[](){}<>!&;:.0123456789ab \\$\n\t", max_size=30))
@settings(max_examples=100)
def test_escaped_text_starts_no_block(text: str) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(escape_markdown(text))
    assert [token.type for token in tokens] in ([], ["paragraph_open", "inline", "paragraph_close"])


@pytest.mark.parametrize("form", ["md", "html"])
def test_nothing_hostile_becomes_markup(form: str) -> None:
    data = render(hostile(), form).decode()
    page = page_of(MarkdownIt("gfm-like", {"linkify": False}).render(data) if form == "md" else data)
    assert not page.xpath("//img | //iframe | //link | //object | //code | //@onclick | //main//script")
    assert len(page.xpath("//script")) == (form == "html")
    assert "evil" not in page.xpath("string(//script)")
    assert not page.xpath("//a[not(@href)]")
    assert all(
        h.startswith(("#", "https://doi.org/", "https://clinicaltrials.gov/"))
        for h in page.xpath("//a/@href")
    )


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "http://", "https://a b/", "http://u:p@evil/", "", None],
)
def test_only_plain_addresses_become_links(url: str | None) -> None:
    assert safe_url(url) is None


def test_a_markdown_report_has_what_a_researcher_looks_for() -> None:
    text = render(REPORT, "md").decode()
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert heads == [
        "# Metformin and mortality",
        "## Benefit",
        "## Harm",
        "## Candidates",
        "### Metformin",
        "## Studies",
        "## What is not shown",
        "## References",
    ]
    assert text.splitlines()[-1].startswith("<!-- Made with Determinator on ")
    assert "1. Doe JA, Roe B. [Metformin and mortality: a randomized trial.](https://pubmed" in text
    assert "EXPRESSION OF CONCERN" in text
    assert f"\n- **\\[1\\] Metformin and mortality: a randomized trial:** \u201c{REDUCED}\u201d\n" in text
    assert " [1]." in text
    full = render(REPORT.replace(length="full"), "md").decode()
    assert r"| PubMed | a \| b | source unavailable |" in full
    assert r"AMPK \| activation" in text


def test_each_citation_opens_its_quote_in_context() -> None:
    page = page_of(render(REPORT, "html"))
    assert page.xpath("//html/@lang") == ["en"]
    (quote,) = page.xpath("//div[*[@id='s1-1']]//details[summary='1']")
    assert quote.xpath("string(.//mark)") == REDUCED
    assert "Metformin is a first-line drug" in quote.text_content()
    assert "#ref-1" in quote.xpath(".//a/@href")
    assert page.xpath("string(//div[*[@id='s2-1']]//details//mark)") == INCREASED


def test_a_report_without_evidence_is_rendered_in_every_format_and_another_format_is_refused() -> None:
    report = build_report(publish_input(stop_reason="all_sources_failed"), {})
    assert all(render(report, fmt) is not None for fmt in FORMATS)
    with pytest.raises(UnknownFormat, match="choose one of md, html, json"):
        render(REPORT, "odt")


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_sections_without_a_claim_are_listed_together_and_never_as_chapters(name: str) -> None:
    step = publish_input(
        planned("s1", quoting("Metformin reduced mortality by 30%.", ("pmid:1", REDUCED)), title="Benefit"),
        planned("s2", title="Mechanism", status="partial", note="no new evidence"),
        planned("s3", title="Safety", status="failed", note="its worker died"),
    )
    text = words_of(build_report(step, DOCUMENTS), name)
    assert "What is not shown" in text
    assert "Mechanism: Nothing that was found answers this question." in text
    assert "Safety (failed): No claim is made here (its worker died)." in text
    assert "What of s2?" not in text


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_a_sentence_is_printed_once_and_quotes_never_stand_between_an_answer_and_a_heading(name: str) -> None:
    report = build_report(STEP, WORKS)
    update = {"claims": report.answer, "paragraphs": (("s1.a1", "s1.a2"),)}
    both = report.sections[0].model_copy(update=update)
    text = words_of(report.replace(sections=(both,)), name)
    assert text.count(FEWER.rstrip(".")) == 1
    if name == "md":
        answer = text[text.index("## Answer") : text.index("## ", text.index("## Answer") + 3)]
        assert INFECTION not in answer


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_the_lengths_differ_by_what_they_leave_out(name: str) -> None:
    report = build_report(STEP, WORKS)
    texts = [words_of(report.replace(length=length), name) for length in ("brief", "standard", "full")]
    assert [FEWER.rstrip(".") in text for text in texts] == [True, True, True]
    assert ["Patients left a day earlier" in text for text in texts] == [False, True, True]
    assert ["A claim that the writer lost." in text for text in texts] == [False, False, True]
    assert ["Surgeons were not blinded." in text for text in texts] == [False, True, True]
    assert len(texts[0]) < len(texts[1]) < len(texts[2])


def words_in(report: Report) -> str:
    return render(report, "md").decode().casefold()


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
    report = build_report(
        publish_input(planned("s1", claim), searches=searches, confidence=0.7), {letter.evidence_id: letter}
    )
    text = words_in(report)
    assert not [
        word for word in ("studies", "study", "weak", "retracted", "screened", "confidence") if word in text
    ]
    assert "## documents" not in text, "the references have what is known of them"
    assert "a. miller" in text
    assert "12 january 2024" in text


def test_the_date_of_a_row_is_not_the_date_of_its_table() -> None:
    first = build_report(STEP, WORKS).references[0]
    table = first.replace(date="2025-02-05", date_from="text", design="table")
    assert date_of(table) == ""
    assert date_of(table.replace(design="letter")) == "5 February 2025"
    assert date_of(table.replace(date_from="file_name")) == "5 February 2025"


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_an_overview_says_once_in_a_line_what_each_section_found(name: str) -> None:
    drafts = (
        SectionDraft(answer=(quoting(FEWER, ("pmid:11", INFECTION), ("pmid:12", PNEUMONIA)),)),
        SectionDraft(answer=(quoting("The urinary tract was injured more often.", ("pmid:13", INJURY)),)),
    )
    sections = (section("s1", drafts[0], "Gain"), section("s2", drafts[1], "Harm"))
    judgements = tuple(judgement.replace(direction="not_asked") for judgement in STEP.judgements)
    update = {"sections": sections, "edited": None, "question": "What is known of laparoscopic surgery?"}
    step = STEP.model_copy(update={**update, "judgements": judgements})
    text = words_of(build_report(step, WORKS), name)
    answer = text[text.index("Answer") : text.index("References")]
    assert answer.index("Gain:") < answer.index(FEWER.rstrip(".")) < answer.index("Harm:")
    assert text.count(FEWER.rstrip(".")) == 1
    assert " yes" not in answer, "an overview is not answered by a count"
    support = drafts[0].answer[0].support
    joined = EditedSentence(id="a1", text="Infections are fewer.", claims=("s1.a1", "s2.a1"), support=support)
    edited = {**update, "edited": Edited(answer=(joined,))}
    told = words_of(build_report(STEP.model_copy(update=edited), WORKS), name)
    answer = told[told.index("Answer") : told.index("References")]
    assert not {"Gain:", "Harm:"} & {*answer.split()}, "the report has an answer of its own"
    assert FEWER.rstrip(".") in answer[answer.index("Gain") :]
    whole = f"{FEWER.rstrip('.')}, but the urinary tract was injured more often."
    edited = {**update, "edited": Edited(answer=(joined.replace(text=whole),))}
    told = words_of(build_report(STEP.model_copy(update=edited), WORKS), name)
    assert told.count(FEWER.rstrip(".")) == told.count("urinary tract was injured more often") == 1


@pytest.mark.parametrize("answer", ["", "Infections are fewer."])
def test_a_brief_report_lists_what_it_cites(answer: str) -> None:
    support = quoting(answer, ("pmid:11", INFECTION)).support
    first = (build_report(STEP, WORKS).answer[0].replace(text=answer, support=support),) if answer else ()
    brief = build_report(STEP, WORKS).replace(length="brief", answer=first)
    assert citation_faults(render(brief, "md").decode()) == []


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_a_brief_report_without_an_answer_has_the_first_passages(name: str) -> None:
    report = build_report(PASSAGES, WORKS).replace(length="brief")
    assert INFECTION in words_of(report, name)


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_a_section_begins_with_its_conclusion_and_what_it_does_not_show_stands_once_at_the_end(
    name: str,
) -> None:
    """Unless the answer says it; one whose sentences stand elsewhere says where."""
    draft = SectionDraft(
        answer=(quoting(FEWER, ("pmid:11", INFECTION), ("pmid:12", PNEUMONIA)),),
        paragraphs=(DraftParagraph(claims=(quoting(INJURY, ("pmid:13", INJURY)),)),),
    )
    again = SectionDraft(paragraphs=draft.paragraphs)
    sections = (section("s1", draft, "Gain"), section("s2", again, "Harm"))
    use = IterationUse(iteration=2, section="s1", open=("whether anybody was blinded",))
    update = {
        "sections": sections,
        "edited": None,
        "question": "What is known of laparoscopic surgery?",
        "spent_by": (use,),
    }
    text = words_of(build_report(STEP.model_copy(update=update), WORKS), name)
    last = text.index("Whether anybody was blinded.")
    part = text[text.index("Answer") : last]
    assert part.index(FEWER.rstrip(".")) < part.rindex(INJURY.rstrip("."))
    assert part.count(FEWER.rstrip(".")) == 1
    assert text.index("reported in another section") < text.rindex("What is not shown") < last


def written(*claims: DraftClaim) -> Report:
    draft = SectionDraft(paragraphs=(DraftParagraph(claims=claims),))
    update = {"sections": (section("s1", draft, "Gain"),), "edited": None}
    return build_report(STEP.model_copy(update=update), WORKS)


def test_each_quote_stands_once_behind_the_references() -> None:
    both = quoting(FEWER, ("pmid:11", INFECTION), ("pmid:12", PNEUMONIA))
    again = quoting("Fewer had an infection.", ("pmid:11", INFECTION))
    stay = "The stay was shorter by one day after laparoscopic appendectomy."
    left = quoting("Patients left a day earlier.", ("pmid:11", stay))
    text = render(written(left, both, again), "md").decode()
    body, _, folded = text.partition("<details>\n<summary>Quotes behind the sentences</summary>\n\n")
    assert "Patients left a day earlier [1]." in body
    assert f"{FEWER.rstrip('.')} [1, 2]." in body
    assert [folded.count(quote) for quote in (INFECTION, PNEUMONIA, stay)] == [1, 1, 1]
    assert folded.partition("<!--")[0].endswith("\n\n</details>\n\n")


def test_a_sentence_falls_where_one_of_its_works_has_no_quote_left() -> None:
    good, bad = ("pmid:11", INFECTION), "This was never written in any of them."
    for work, stands in (("pmid:11", True), ("pmid:12", False)):
        report = written(
            quoting(FEWER, good, (work, bad)), quoting("They had pneumonia.", ("pmid:12", PNEUMONIA))
        )
        assert (FEWER in [claim.text for claim in report.sentences()]) == stands


def test_quotes_stand_in_the_order_of_their_work() -> None:
    stay = "The stay was shorter by one day after laparoscopic appendectomy."
    report = written(
        quoting("Patients left a day earlier.", ("pmid:11", stay)),
        quoting("Fewer had an infection.", ("pmid:11", INFECTION)),
        quoting("It was one day.", ("pmid:11", "shorter by one day")),
    )
    folded = render(report, "md").decode().partition("<details>")[2]
    assert folded.index(INFECTION) < folded.index(stay)
    assert folded.count("shorter by one day") == 1, "a part of another quote is not listed"


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
    text = "".join(words_of(written(claim), name).split())  # a format may part a line into pieces
    shown = "Fewerhadaninfection[1],andfewerhadpneumonia[2];allinall"
    assert shown in text
    assert "[3]" in text[text.index(shown) :][: len(shown) + 4]


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_a_lead_stands_in_front_of_its_sentence_and_an_item_has_several_sentences(name: str) -> None:
    lead = quoting("", ("pmid:11", INFECTION)).shaped([("Infection", "It was rarer.")])
    item = lead.replace(item=True, begins=True)
    more = quoting("Pneumonia was rarer too.", ("pmid:12", PNEUMONIA)).replace(item=True)
    text = words_of(written(lead, item.shaped([("Lungs", "They were spared.")]), more), name)
    text = text.replace("**", "")
    assert "Infection. It was rarer" in text
    assert "Lungs: They were spared" in text
    assert text.index("They were spared") < text.index("Pneumonia was rarer too")


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
    for title, times in (
        ("Chromoscopy and colonoscopy compared: polyps and harm", 0),
        ("Dye in the bowel", 1),
    ):
        report = REPORT.replace(question=asked, title=title)
        assert words_of(report.replace(length="full"), "md").count(f"*{asked}*") == times
        assert asked not in words_of(report, "md")


@pytest.mark.parametrize("length", ["standard", "full"])
def test_a_sentence_shows_every_quote_that_carries_it(length: Length) -> None:
    names = ("pmid:11", "pmid:12", "pmid:13")
    quotes = [sentence for name in names for sentence in WORKS[name].text.split(". ")][:8]
    owners = [name for quote in quotes for name in names if quote in WORKS[name].text]
    text = "Infection was rarer, in 4% against 11%; there were 210 adults."
    report = written(quoting(text, *zip(owners, quotes, strict=True)))
    shown = words_of(report.replace(length=length), "md").partition("References")[2]
    assert [quote for quote in quotes if quote in shown] == quotes


@pytest.mark.parametrize("name", ["md", "docx", "pdf"])
def test_quotes_stand_in_one_place_and_a_sentence_in_their_words_is_marked(name: str) -> None:
    text = words_of(build_report(STEP, WORKS), name)
    body, _, references = text.rpartition("References")
    assert INFECTION in references
    assert INFECTION not in body.replace(f"\u201c{INFECTION}\u201d", "").split("Studies")[0]
    assert f"\u201c{INJURY}\u201d" in words_of(written(quoting(INJURY, ("pmid:13", INJURY))), name)


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_the_run_is_told_folded_on_a_page_in_properties_of_a_file_and_whole_where_asked(name: str) -> None:
    searches = tuple(SearchRecord(source="pubmed", query=f"query {n}", status="ok") for n in range(9))
    report = build_report(STEP.replace(searches=searches), WORKS)
    data, text = render(report, name), words_of(report, name)
    whole = words_of(report.replace(length="full"), name)
    assert "query 3" not in text
    if name == "html":
        *_, folded = page_of(data).xpath("//section[contains(@class, 'folded')][h2//input[not(@checked)]]")
        assert "Searches: 9;" in folded.text_content()
    else:
        assert "Searches: 9;" not in text
        assert name == "md" or "Made with Determinator" not in text
    assert "query 3" in whole[whole.rindex("How this report was made") :]


@pytest.mark.parametrize(
    ("finding", "sentence", "shown"),
    [
        ("falls were rarer", "In both groups falls were rarer.", "In both groups falls were rarer"),
        (
            "falls were rarer in",
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


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_what_was_left_open_is_a_gap_also_of_one_section(name: str) -> None:
    use = IterationUse(iteration=2, open=("trials in women",), stopped="sufficient_evidence")
    text = words_of(build_report(STEP.replace(spent_by=(use,)), WORKS), name)
    assert "Trials in women." in text[text.rindex("What is not shown") :]
    drafted = [one.replace(draft=one.draft.replace(settled=use.open)) for one in STEP.sections]
    settled = words_of(build_report(STEP.replace(spent_by=(use,), sections=tuple(drafted)), WORKS), name)
    assert "trials in women" not in settled, "a later step gave it"
    unjudged = use.replace(open=(STEP.question,))
    without = words_of(build_report(STEP.replace(spent_by=(unjudged,)), WORKS), name)
    assert STEP.question not in without[without.rindex("What is not shown") :]


NUMBER = st.integers(min_value=0, max_value=500)


@given(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER)
def test_identified_works_are_duplicates_screened_or_not_screened(
    identified: int, duplicates: int, different: int, screened: int, included: int
) -> None:
    counts = PrismaCounts(identified=identified, duplicates=min(duplicates, identified))
    made = counts.added_up(different, screened, included)
    assert made.identified == made.duplicates + made.screened + made.not_screened
    assert made.screened == made.included + made.not_cited
    assert min(made.model_dump().values()) >= 0
    assert made.included == included


def test_what_a_run_holds_beside_what_was_screened_is_said() -> None:
    made = PrismaCounts(identified=75, duplicates=46).added_up(29, 21, 9)
    assert (made.duplicates, made.screened, made.not_screened, made.not_cited) == (46, 21, 8, 12)


@pytest.mark.parametrize("report", [RICH, build_report(STEP, WORKS)], ids=["rich", "written"])
def test_the_full_report_has_all_that_the_standard_one_has(report: Report) -> None:
    def lines(length: Length) -> set[str]:
        text = render(report.replace(length=length), "md").decode()
        return {line.strip() for line in text.splitlines() if line.strip()}

    whole = "\n".join(lines("full"))
    assert [line for line in lines("standard") if line not in whole] == []


@pytest.mark.parametrize(
    ("texts", "kind"), [(["\u00a370", "", "not due", "-5%"], "number"), (["none", "5"], "short")]
)
def test_a_column_of_numbers_may_have_a_few_short_words(texts: list[str], kind: str) -> None:
    table = Table(("Amount",), tuple((cell(text),) for text in texts))
    assert table.columns == (kind,)
