"""The report of a review: each number adds up, each checklist item has its place, every format has it all."""

import csv
import io
import json
import zipfile
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import rispy
from pydantic import ValidationError

from activities.analysis.meta_analysis import interval_text
from activities.contracts.appraisal import WorkFacts
from activities.contracts.evidence import Evidence, EvidenceRef, Identifiers, Support, Usage
from activities.messages import CATALOGUES, in_language
from activities.report.formats import WRITTEN, render_document
from activities.report.formats.blocks import Table
from activities.report.formats.figures import pool_blocks, pool_panel
from activities.review.archive import PublishedReview, agreement, flow
from activities.review.bias import SOURCE, BiasAssessment
from activities.review.chapters import ITEMS, NOT_REPORTED, checklist, limitations
from activities.review.decisions import Decision, Marks
from activities.review.export import decisions_csv, export_files, records_ris, without_names
from activities.review.extraction import AGREED, DecidedStudy, DecidedValue, Value, asked_fields
from activities.review.findings import ExcludedText, Findings, ListedWork, Study, synthesise, with_letters
from activities.review.page import document, flow_boxes, render
from activities.review.page import limitations as of_the_review
from activities.review.protocol import Amendment, FileSearch, Protocol, Screener
from activities.review.records import Records
from activities.review.results import Flow, ReviewReport, ScreenerAccuracy, Share, Validation
from activities.review.state import Course, ReviewState, SearchRow, ToolUse
from activities.sources.names import info_of
from activities.sources.records import by_title
from tests.activities.report.test_languages import fixed_texts
from tests.activities.review.studies import PROTOCOL, TRIAL
from tests.activities.review.test_bias import BEST

QUOTE = Support(evidence_id="pmid:1", quote=TRIAL.text.split(". ")[3])
FLOW = Flow(
    identified={"pubmed: drug AND disease": 60, "embase.ris": 40},
    duplicates=20,
    screened=70,
    excluded=62,
    unread=10,
    open=0,
    sought=8,
    not_retrieved=1,
    awaited=0,
    assessed=7,
    excluded_because={"E1": 3, "I2": 2},
    undecided=0,
    included=2,
)


RATS = Evidence(
    evidence_id="pmid:9",
    source="pubmed",
    title="Rats",
    text="",
    authors=("Jane A. Doe", "\u738b\u5c0f\u660e"),
    year=2019,
    venue="Liver",
    identifiers=Identifiers(pmid="9"),
)


def row(number: int, events: int) -> DecidedStudy:
    figures = {"events": events, "total": 200, "control_events": 21 + number, "control_total": 200}
    values = [
        DecidedValue(field=f"death.{name}", text=str(text), by=AGREED, support=(QUOTE,))
        for name, text in figures.items()
    ]
    dose = DecidedValue(field="dose", text="20 mg <img>", by="Ada Lovelace", support=(QUOTE,))
    return DecidedStudy(evidence_id=f"pmid:{number}", values=(dose, *values))


ROWS = (row(1, 8), row(2, 9))
STUDIES = tuple(
    Study(
        number=number,
        record=number,
        source="pubmed",
        evidence_id=f"pmid:{number}",
        title=f"Trial {number} of the drug",
        authors=(name,),
        year=2020,
        identifiers=Identifiers(pmid=str(number)),
        evidence_type="randomized_trial",
    )
    for number, name in ((1, "Doe, J."), (2, "Roe, R."))
)


@cache
def findings() -> Findings:
    """What was found; pooled when it is first asked for, not whenever tests are collected."""
    return Findings(
        excluded=(
            ExcludedText.of_work(RATS, criterion="Animals were studied.", reason="rats", support=(QUOTE,)),
        ),
        not_retrieved=(ListedWork.of_work(RATS.replace(title="A lost paper")),),
        studies=STUDIES,
        fields=asked_fields(PROTOCOL),
        rows=ROWS,
        bias=(
            BiasAssessment(
                evidence_id="pmid:1",
                outcome="death from any cause",
                answers=tuple(Value(field=question, text=answer) for question, answer in BEST.items()),
                decided_by="Ada Lovelace",
            ),
        ),
        not_assessed=("pmid:2",),
        syntheses=(
            synthesise(
                PROTOCOL.outcomes[0],
                PROTOCOL.question,
                ROWS,
                {study.evidence_id: study.label for study in STUDIES},
                {study.evidence_id: WorkFacts(randomized=True, full_text=True) for study in STUDIES},
            ),
        ),
    )


STATE = ReviewState(
    protocol=PROTOCOL.replace(registration="CRD42026000001"),
    protocol_key="",
    amendments=[Amendment(version=2, at="2026-11-01", by="Ada", reason="too wide", keys=("criteria.E1",))],
    searches=[
        SearchRow(
            origin="pubmed: drug AND disease",
            source="pubmed",
            query="drug AND disease",
            at="2026-10-01",
            hits=300,
            records=60,
            new=60,
        )
    ],
    course=Course(total=80, read=70, recall=0.953, phase="done"),
    tools={
        "extraction": ToolUse(
            stage="extraction",
            screener="model-a",
            model="some-model",
            prompt="data_extractor@12ab34cd",
            calls=7,
            decisions=70,
            usage=Usage(input_tokens=1000, output_tokens=100),
        )
    },
    approved_by="Ada Lovelace",
)
REPORT = ReviewReport(flow=FLOW, at="2026-11-28T12:00:00+00:00")


def published(**changed: Any) -> PublishedReview:
    return replace(PublishedReview("review-1", REPORT, STATE, Records(), (), findings()), **changed)


def page(form: str = "md", **changed: Any) -> bytes:
    review = published(**changed)
    return render_document(document(without_names(review), "0.2"), form)


@pytest.mark.parametrize("name", WRITTEN)
def test_every_format_has_the_whole_report(name: str) -> None:
    data = page(form=name)
    if name == "pdf":
        assert data.startswith(b"%PDF")
        return
    if name == "docx":
        data = zipfile.ZipFile(io.BytesIO(data)).read("word/document.xml")
    text = data.decode()
    for part in (
        *("CRD42026000001", "drug AND disease", "A lost paper", "data_extractor@12ab34cd", "person 1"),
        *("Doe 2020", "low risk", "Certainty", "few events (2 levels).", "PRISMA 2020 checklist"),
    ):
        assert part in text, part
    assert "<img>" not in text.replace("\\<img>", "")


def test_no_file_names_a_person_unless_it_is_asked_for() -> None:
    people = (Screener(name="Ada Lovelace"), Screener(name="m", kind="model"))
    protocol = STATE.protocol.replace(screeners=people, deciders=("Ada Byron",))
    share = Share(hits=1, of=1, low=0.025, high=1)
    measured = ScreenerAccuracy(name="Ada Lovelace", sensitivity=share, specificity=share)
    validation = Validation(version=2, labelled=2, by=("Ada King",), screeners=(measured,))
    decisions = (Decision(record=0, verdict="include", by="Ada King", part="label"),)
    named = published(
        state=STATE.replace(protocol=protocol),
        report=REPORT.replace(validation=validation),
        decisions=decisions,
    )

    def written(review: PublishedReview) -> str:
        whole = [render(review, form, "0.2") for form in ("md", "html", "json")]
        return b"".join((*whole, *export_files(review, ()).values())).decode()

    text = written(without_names(named))
    assert [name for name in ("Ada", "Lovelace", "Byron", "King") if name in text] == []
    assert "person 1" in text
    assert {"Ada Byron", "Ada King"} <= {name for name in ("Ada Byron", "Ada King") if name in written(named)}


def test_the_flow_and_each_pool_are_drawn() -> None:
    shown = page(form="html").decode()
    assert shown.count("<svg") == 2
    assert "Included: 2" in shown


def test_the_flow_has_every_number_that_leaves_it() -> None:
    steps = flow_boxes(published())
    assert [step.rows[0] for step in steps] == [
        ("Identified", 100),
        ("Screened", 70),
        ("Full texts sought", 8),
        ("Assessed", 7),
        ("Included", 2),
    ]
    assert steps[1].aside == (("Excluded", 62), ("Not read", 10))
    assert [number for _, number in steps[3].aside] == [5, 3, 2]
    assert FLOW.faults() == ()


def places_of(review: PublishedReview, content: Findings) -> dict[str, str]:
    titles = {chapter.anchor: chapter.title for chapter in document(review, "").chapters}
    return {number: place for number, _, place in checklist(review, content, titles)}


def test_an_item_of_the_checklist_is_answered_only_where_the_report_answers_it() -> None:
    numbers = {number.rstrip("abcdef") for number, *_ in ITEMS}
    assert numbers == {str(number) for number in range(1, 28)}
    places = places_of(published(), findings())
    assert (places["16a"], places["24a"]) == ("Flow of records (PRISMA 2020)", "Protocol")
    assert (places["11"], places["1"]) == ("Risk of bias", NOT_REPORTED)
    assert places["3"] == places["25"] == places["21"] == NOT_REPORTED
    bare = findings().replace(syntheses=(), bias=(), studies=(), rows=())
    protocol = PROTOCOL.replace(outcomes=(), extraction=())
    without = published(state=STATE.replace(protocol=protocol))
    bare_places = places_of(replace(without, findings=bare), bare)
    for number in ("9", "10a", "11", "12", "13d", "17", "18", "20b", "24a"):
        assert bare_places[number] == NOT_REPORTED, number
    titles = {chapter.title for chapter in document(published(), "").chapters}
    assert {place for place in places.values() if place != NOT_REPORTED} <= titles


@pytest.mark.parametrize(
    "title",
    [
        "Aspirin: a Systematic Review",
        "Aspirin? Eine systematische Übersichtsarbeit",
        "Aspirina: una revisión sistemática",
        "Aspirine : revue systématique",
        "阿司匹林的系统评价",
    ],
)
def test_a_title_names_a_systematic_review_in_its_language(title: str) -> None:
    review = published(state=STATE.replace(protocol=PROTOCOL.replace(title=title)))
    assert [place for number, _, place in checklist(review, findings(), {}) if number == "1"] == ["Title"]


def test_nothing_is_said_to_rest_on_a_quote_or_a_model_where_people_worked_alone() -> None:
    def written(*screeners: Screener, support: tuple[Support, ...], assessed: int) -> str:
        excluded = (ExcludedText.of_work(RATS, criterion="Animals were studied.", support=support),)
        return page(
            state=STATE.replace(protocol=PROTOCOL.replace(screeners=screeners)),
            findings=findings().replace(excluded=excluded),
            report=REPORT.replace(flow=FLOW.replace(assessed=assessed)),
        ).decode()

    people = written(Screener(name="Ada"), Screener(name="Bob"), support=(), assessed=0)
    models = written(Screener(name="Ada"), Screener(name="m", kind="model"), support=(QUOTE,), assessed=7)
    assert "a person answered the questions on each result" in people
    counts = "Full texts: 8. Assessed: 7, of which included: 2."
    for part in (f"“{QUOTE.quote[:40]}", "a model proposed answers with quotes", counts):
        assert (part in models, part in people) == (True, False), part


def test_a_decision_that_an_amendment_opened_again_no_longer_holds() -> None:
    """Neither is it counted, nor is it the reason why a full text was excluded."""
    people = PROTOCOL.replace(screeners=(Screener(name="Ada"), Screener(name="Bob")))
    marks = Marks(first="i", second="i", labels=".", words=".")
    texts = Marks(first="e", second="e", labels=".", words=".")
    state = STATE.model_copy(
        update={"protocol": people, "titles": marks, "full_texts": texts, "got": {0: "got"}}
    )
    old = Decision(record=0, verdict="exclude", criterion="I1", by="Cyd", part="word", stage="full_texts")
    new = [
        Decision(record=0, verdict="exclude", criterion="E1", by=name, stage="full_texts", protocol=2)
        for name in ("Ada", "Bob")
    ]
    undone = Decision(record=0, verdict="exclude", criterion="E1", by="Ada")
    assert state.decisions_in_force((old, undone, *new)) == new
    assert flow(Records(by_origin={"a": 1}), state, (old, *new)).excluded_because == {"E1": 1}
    again = texts.put("word", {0: "e"})
    assert state.model_copy(update={"full_texts": again}).decisions_in_force((old, *new)) == [old, *new]
    text = page(state=state, decisions=(old, *new)).decode()
    assert "word on a conflict" not in text


def test_of_a_search_that_is_made_again_the_newest_is_what_limits_the_review() -> None:
    (first,) = STATE.searches
    again = first.replace(status="unavailable", records=0, new=0, hits=0)
    for rows, limited in (([first], True), ([first, first.replace(records=300)], False)):
        review = published(state=STATE.model_copy(update={"searches": rows}))
        assert ("records that match: 300" in " ".join(of_the_review(review))) == limited
    failed = " ".join(of_the_review(published(state=STATE.model_copy(update={"searches": [again, first]}))))
    assert "the search failed" not in failed


def test_a_record_whose_text_was_not_retrieved_is_not_listed_as_included() -> None:
    titles = Marks(first="ii", second="ii", labels="..", words="..")
    marks = {"titles": titles, "full_texts": Marks.of(2), "got": {1: "not_retrieved"}}
    refs = tuple(
        EvidenceRef(evidence_id=name, blob=f"blobs/{name}", source="alpha", title=name)
        for name in ("here", "gone")
    )
    text = page(state=STATE.model_copy(update=marks), records=Records(records=refs)).decode()
    assert "| here |" in text
    assert "gone" not in text
    review = published(state=STATE.model_copy(update=marks), records=Records(records=refs))
    items = [Evidence(evidence_id=ref.evidence_id, source="alpha", title=ref.title, text="") for ref in refs]
    rows = csv.DictReader(decisions_csv(review, items).decode().splitlines())
    assert [row["asreview_label"] for row in rows] == ["1", ""]
    assert "determinator:not_retrieved" in records_ris(review, items).decode()


def test_asreview_reads_the_decisions_from_both_exports() -> None:
    """Its readers know the column `included`, of later versions also `asreview_label`, and notes in RIS."""
    marks = Marks(first="ie.", second="ie.", labels="...", words="...")
    state = STATE.model_copy(update={"titles": marks, "full_texts": Marks.of(3)})
    items = [Evidence(evidence_id=f"a{n}", source="alpha", title=f"T{n}", text=f"Text {n}") for n in range(3)]
    items[2] = by_title(items[2].replace(text=""))
    review = published(state=state)
    rows = [*csv.DictReader(decisions_csv(review, items).decode().splitlines())]
    assert [row["included"] for row in rows] == [row["asreview_label"] for row in rows] == ["1", "0", ""]
    assert [row["record_id"] for row in rows] == ["0", "1", "2"]
    assert [row["abstract"] for row in rows] == ["Text 0", "Text 1", ""], "a title is no abstract"
    entries = rispy.loads(records_ris(review, items).decode())
    assert [entry["notes"] for entry in entries] == [
        ["ASReview_relevant", "included"],
        ["ASReview_irrelevant", "excluded"],
        ["ASReview_not_seen", "open"],
    ]
    assert [entry.get("abstract", "") for entry in entries] == ["Text 0", "Text 1", ""]


def test_the_interval_of_a_conclusion_stands_in_its_forest_plot() -> None:
    (synthesis,) = findings().syntheses
    assert synthesis.pool is not None
    (plot,) = (
        block for block in pool_blocks("", synthesis.pool, with_pictures=False) if isinstance(block, Table)
    )
    rows = {row[0].text: row[1].text for row in plot.rows}
    assert rows["Random effects"] == interval_text(synthesis.pool.random)
    drawn = pool_panel(synthesis.pool)
    assert drawn
    assert {mark.label: mark.text for mark in drawn.marks}["Random effects"] == rows["Random effects"]


def test_two_works_of_one_author_and_year_have_names_of_their_own_and_reports_count_as_studies() -> None:
    first, second = STUDIES
    twins = with_letters([first.replace(study=1), first.replace(number=2, study=1), second.replace(study=2)])
    assert [study.label for study in twins] == ["Doe 2020a", "Doe 2020b", "Roe 2020"]
    assert findings().replace(studies=tuple(twins)).study_count == 2
    last = flow_boxes(published(report=REPORT.replace(flow=FLOW.replace(studies=1))))[-1]
    assert last.rows == (("Included", 2), ("Studies reported", 1))


def test_the_agreement_of_the_screeners_is_that_before_a_person_decided() -> None:
    marks = Marks(first="iiiieeeeu.", second="iiieeeeei.", labels="." * 10, words="....i...i.")
    row = agreement("titles", marks)
    assert row is not None
    assert (row.both, row.agreed) == (9, 7)
    assert row.kappa == pytest.approx((7 / 9 - 36 / 81) / (1 - 36 / 81))
    assert (
        "| titles and abstracts | 9 | 7 (77.8%) | 0.60 |"
        in page(report=REPORT.replace(agreement=(row,))).decode()
    )
    alike = agreement("full_texts", Marks(first="ii", second="ii", labels="..", words=".."))
    assert alike is not None
    assert alike.kappa is None
    assert agreement("titles", Marks.of(3)) is None


def test_a_retracted_work_is_marked_wherever_it_is_listed() -> None:
    studies = (STUDIES[0].replace(standing="retracted"), STUDIES[1].replace(standing="none"))
    text = page(findings=findings().replace(studies=studies)).decode()
    assert "\\[1\\] Doe 2020 RETRACTED |" in text
    assert "| \\[2\\] Roe 2020 |" in text
    assert text.split("## References")[1].count("RETRACTED") == 1
    assert "Included works that were retracted: 1" in text
    assert "no source says whether" not in text


def test_a_pool_has_its_heterogeneity_its_method_and_the_risk_of_bias_of_its_studies_in_words() -> None:
    text = page().decode()
    (synthesis,) = findings().syntheses
    assert synthesis.pool is not None
    assert f"Heterogeneity: Q = {synthesis.pool.q:.2f} (df 1, p = {synthesis.pool.q_p:.3f}), I² =" in text
    assert "Pooled by inverse variance" in text
    assert "- Risk of bias: low risk 1." in text
    sure = synthesis.conclusion.replace(certainty="high", concerns=())
    bare = findings().replace(syntheses=(synthesis.replace(conclusion=sure),))
    assert "- High." not in page(findings=bare).decode(), "a level without a reason is in the line above"


def test_the_flow_names_sources_and_not_their_queries() -> None:
    again = STATE.searches[0].replace(origin="pubmed: drug", query="drug")
    state = STATE.replace(searches=[*STATE.searches, again])
    counts = FLOW.replace(identified={**FLOW.identified, "pubmed: drug": 5})
    first = flow_boxes(published(state=state, report=REPORT.replace(flow=counts)))[0]
    assert first.rows == (
        *(("Identified", 105), ("Databases", 105), ("\u2013 PubMed", 65), ("\u2013 embase.ris", 40)),
    )


def test_the_flow_tells_databases_registers_and_other_methods_apart() -> None:
    rows = [
        *STATE.searches,
        SearchRow(origin="clinicaltrials: drug", source="clinicaltrials", query="drug", kind="register"),
        *(SearchRow(origin=name, source="file") for name in ("embase.ris", "cited.csv", "pubmed.nbib")),
    ]
    searched = {"embase.ris": FileSearch(database="Embase"), "cited.csv": FileSearch(query="hand search")}
    protocol = STATE.protocol.replace(records=("embase.ris", "cited.csv", "pubmed.nbib"), searched=searched)
    state = STATE.replace(searches=rows, protocol=protocol)
    numbers = dict(zip((row.origin for row in rows), (60, 5, 40, 3, 2), strict=True))
    counted = flow(Records(by_origin=numbers), state)
    assert counted.identified_by_kind == {"database": 102, "register": 5, "other": 3}
    review = published(state=state, report=REPORT.replace(flow=counted))
    assert flow_boxes(review)[0].rows == (
        ("Identified", 110),
        *(("Databases", 102), ("\u2013 PubMed", 60), ("\u2013 Embase", 40), ("\u2013 pubmed.nbib", 2)),
        *(("Registers", 5), ("\u2013 ClinicalTrials.gov", 5), ("Other methods", 3), ("\u2013 cited.csv", 3)),
    )
    text = page(state=state, report=review.report).decode()
    assert "Other methods | 3 |" in text
    assert json.loads(render(review, "json", "1"))["flow"]["identified_by_kind"]["register"] == 5
    files = {
        name: [*csv.DictReader(io.StringIO(data.decode()))]
        for name, data in export_files(review, []).items()
        if name in ("flow.csv", "searches.csv")
    }
    identified = [row for row in files["flow.csv"] if row["step"] == "identified"]
    assert sum(int(row["records"]) for row in identified if not row["about"]) == 110
    assert sum(int(row["records"]) for row in identified if row["about"]) == 110
    assert all(row["records"] for row in files["flow.csv"])
    assert "excluded_full_texts" in [row["step"] for row in files["flow.csv"] if not row["about"]]
    assert [row["kind"] for row in files["searches.csv"]] == [
        *("database", "register", "database", "other", "database")
    ]
    assert info_of("clinicaltrials").kind == "register"
    assert info_of("pubmed").kind == "database"
    by_hand = protocol.replace(searched={"embase.ris": FileSearch(database="Embase", kind="register")})
    assert by_hand.search_of("embase.ris").kind == "register"


def test_a_file_of_records_is_searched_as_the_protocol_says_or_the_report_says_that_it_does_not() -> None:
    row = SearchRow(origin="embase.ris", source="file", at="2026-11-28", hits=40, records=40, new=30)
    state = STATE.replace(searches=[*STATE.searches, row])
    assert "embase.ris: the search that gave this file is not stated." in of_the_review(
        published(state=state)
    )
    assert places_of(published(state=state), findings())["7"] == NOT_REPORTED
    search = FileSearch(database="Embase (Ovid)", query="drug.mp. and disease.mp.", date="2026-11-02")
    protocol = STATE.protocol.replace(records=("embase.ris",), searched={"embase.ris": search})
    told = published(state=state.replace(protocol=protocol))
    assert "is not stated" not in " ".join(of_the_review(told))
    assert places_of(told, findings())["7"] == "Search (PRISMA-S)"
    text = render(told, "md", "1").decode()
    assert "| Embase (Ovid) | drug.mp. and disease.mp. | 2 November 2026 |" in text
    (_, line) = csv.DictReader(io.StringIO(export_files(told, [])["searches.csv"].decode()))
    assert (line["source"], line["database"], line["date"]) == ("embase.ris", "Embase (Ovid)", "2026-11-02")
    with pytest.raises(ValidationError, match="which is no file of `records`"):
        Protocol.model_validate({**dict(STATE.protocol), "searched": {"other.ris": search}})


def test_the_risk_of_bias_is_exported_as_robvis_reads_it_with_each_ground() -> None:
    (line,) = csv.DictReader(io.StringIO(export_files(published(), [])["bias.csv"].decode()))
    assert [line[name] for name in ("Study", "D1", "D5", "Overall")] == ["Doe 2020", "Low", "Low", "Low"]
    assert (line["1.1"], line["Outcome"]) == ("Y", "death from any cause")


def test_a_criterion_that_was_not_met_is_no_ground_as_it_stands() -> None:
    excluded = ExcludedText.of_work(
        RATS.replace(title="A cohort"), criterion="People were allocated by chance.", is_unmet=True
    )
    text = page(findings=findings().replace(excluded=(excluded, *findings().excluded))).decode()
    authors = "Jane A. Doe, \u738b\u5c0f\u660e\u3002"
    ground = "not met: People were allocated by chance."
    assert f"| {authors} A cohort. Liver, 2019. PMID 9 | {ground} |" in text
    assert f"| {authors} Rats. Liver, 2019. PMID 9 | Animals were studied. |" in text
    assert "A lost paper" in text.split("Not retrieved")[1].split("##")[0]
    assert ("I2 not met: People were allocated by chance.", 2) in flow_boxes(published())[3].aside
    assert ("E1 Animals were studied.", 3) in flow_boxes(published())[3].aside


def test_what_the_findings_cannot_vouch_for_is_said() -> None:
    text = " ".join(limitations(findings(), PROTOCOL))
    for part in ("Full texts not retrieved: 1", "tool for the risk of bias: 1", "stands beside it"):
        assert part in text, part
    assert "was not assessed" in " ".join(limitations(findings(), PROTOCOL.replace(bias="none")))
    assert "Full texts not retrieved: 1" in page().decode()


@pytest.mark.parametrize("language", CATALOGUES)
def test_a_review_in_another_language_has_no_fixed_text_in_english(language: str) -> None:
    state = STATE.replace(protocol=STATE.protocol.replace(language=language))
    review = published(state=state)
    given = f"{state.model_dump_json()} {findings().model_dump_json()} {SOURCE}"
    for form in ("md", "html"):
        text = render(without_names(review), form, "0.2").decode()
        assert not {part for part in fixed_texts() if part in text and part not in given}
    assert f'lang="{language}"' in text


def test_a_full_text_without_a_criterion_is_counted_in_the_language_of_the_report() -> None:
    report = REPORT.replace(flow=FLOW.replace(excluded_because={"E9": 2, "not stated": 1}))
    with in_language("de"):
        steps = flow_boxes(published(report=report))
    names = [name for step in steps for name, _ in step.aside]
    assert ("E9" in names, "not stated" in names) == (True, False)


def test_a_person_who_did_not_screen_what_was_labelled_is_not_measured() -> None:
    nothing = Share(hits=0, of=0, low=0, high=1)
    measured = ScreenerAccuracy(name="Bob", sensitivity=nothing, specificity=nothing)
    report = REPORT.replace(validation=Validation(version=1, labelled=4, by=("Ada",), screeners=(measured,)))
    assert "Accuracy on the labelled records" not in page(report=report).decode()


def test_a_review_is_reported_in_the_language_of_its_question() -> None:
    question = {"population": "Erwachsene mit Vorhofflimmern", "intervention": "Aspirin"}
    protocol = PROTOCOL.model_dump() | {"title": "Senkt Aspirin das Risiko?", "question": question}
    assert Protocol.model_validate(protocol).report_language == "de"
    assert PROTOCOL.report_language == "en"
    with pytest.raises(ValidationError, match="language code"):
        Protocol.model_validate(protocol | {"language": "Klingon?"})


def test_a_review_that_read_no_full_text_has_no_such_chapters() -> None:
    text = page(findings=None).decode()
    assert "Risk of bias" not in text
    assert "checklist" not in text
