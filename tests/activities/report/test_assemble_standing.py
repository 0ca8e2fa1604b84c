from activities.contracts.evidence import Evidence, EvidenceType, SearchRecord, Statement
from activities.contracts.judge import WorkJudgement
from activities.report.independence import studies
from tests.activities.cases import DOCUMENTS, FULL, REDUCED, TRIAL, planned, publish_input, quoting, ref_of
from tests.activities.report.rendered import built, codes, stated, words_of


def test_an_outage_is_never_no_results() -> None:
    report = built(
        publish_input(
            searches=(
                SearchRecord(source="pubmed", query="a", status="unavailable"),
                SearchRecord(source="pubmed", query="b", status="rate_limited"),
            ),
            stop_reason="all_sources_failed",
        )
    )
    assert [s.values for s in stated(report, "searches_failed")] == [
        {"source": "pubmed", "status": "unavailable", "failed": 1, "of": 2},
        {"source": "pubmed", "status": "rate_limited", "failed": 1, "of": 2},
    ]
    assert report.unanswered == Statement(code="searches_all_failed")


def test_an_empty_search_is_no_failure() -> None:
    report = built(publish_input(searches=(SearchRecord(source="pubmed", query="a", status="empty"),)))
    assert report.unanswered
    assert report.unanswered.code == "nothing_found"
    assert "searches_failed" not in codes(report)


def test_where_nothing_comes_near_the_report_says_what_was_asked_and_what_to_do_next() -> None:
    searches = (
        SearchRecord(source="clinicaltrials", query="zorblax", status="empty"),
        SearchRecord(source="clinicaltrials", query="zorblax", status="empty"),
        SearchRecord(source="pubmed", query="zorblax AND fever", status="rate_limited"),
        SearchRecord(source="library", query="zorblax fever", status="ok", hits=7),
    )
    report = built(publish_input(searches=searches))
    assert report.unanswered
    assert report.unanswered.texts("gave") == ("0", "rate_limited", "7")
    text = report.executive_summary
    assert "ClinicalTrials.gov \u201czorblax\u201d (no record); PubMed" in text
    assert (
        "(no answer: rate limit reached); library \u201czorblax fever\u201d (7 records). What you can do: try"
        in text
    )


def test_retracted_work_is_left_out_and_named_also_when_it_was_withheld() -> None:
    withheld = [
        ref_of(TRIAL).replace(evidence_id=f"doc:{n}", title=f"Withheld work {n}", standing="retracted")
        for n in range(23)
    ]
    report = built(FULL.replace(evidence=(*FULL.evidence, *withheld)))
    named = {(s.text("evidence_id"), s.text("title")) for s in stated(report, "retracted_left_out")}
    assert {(ref.evidence_id, ref.title) for ref in withheld} <= named
    report = built(
        publish_input(
            planned(
                "s1", quoting("All live.", ("pmid:3", "Metformin abolished all mortality in every patient"))
            )
        )
    )
    assert report.references == ()
    assert [s.text("evidence_id") for s in stated(report, "retracted_left_out")] == ["pmid:3"]


def test_every_work_that_was_found_and_is_not_cited_has_its_reason() -> None:
    lead = planned("s1", quoting("Reduced.", ("pmid:1", REDUCED)), quoting("Invented.", ("pmid:2", "x" * 40)))
    why = {4: "Another comparator.", 5: ""}
    judged = tuple(WorkJudgement(evidence_id=f"pmid:{n}", answers=n - 3, reason=why[n]) for n in why)
    found = {f"pmid:{n}": f"Work number {n}" for n in range(1, 7)}
    evidence = tuple(map(ref_of, DOCUMENTS.values()))
    step = publish_input(lead, found=found, evidence=evidence, judgements=judged)
    assert {work.evidence_id: work.reason for work in built(step).unused} == {
        "pmid:2": "refused",
        "pmid:3": "retracted",
        "pmid:4": "not_relevant",
        "pmid:5": "not_chosen",
        "pmid:6": "not_read",
    }
    full = built(step).replace(length="full")
    assert "| Work number 6 | pmid:6 | ranked too low to be read |" in words_of(full, "md")
    shown = words_of(built(step), "md")
    assert "Read and not used: \u201cWork number 4\u201d (Another comparator)." in shown, (
        "its text is not at hand"
    )
    assert "Work number 5" not in shown, "its judge gave no reason"
    other_order = step.replace(found=dict(reversed(found.items())))
    assert built(other_order).unused == built(step).unused, "the order depends on how fast sources are"


def test_works_of_one_trial_are_one_study() -> None:
    def item(name: str, kind: EvidenceType, year: int, text: str, *authors: str) -> Evidence:
        return Evidence(
            evidence_id=name,
            source="x",
            title=name,
            text=text,
            authors=authors,
            year=year,
            evidence_type=kind,
        )

    first = item("a", "randomized_trial", 2010, "NCT00000001 enrolled 120 patients.", "Doe J")
    second = item("b", "randomized_trial", 2012, "Ten years of NCT00000001.", "Roe B")
    same = item("c", "observational", 2010, "Of them 500 adults were enrolled (ISRCTN12345678).", "Poe E")
    twin = item("d", "observational", 2010, "Later results of ISRCTN12345678.", "Poe E")
    other = item("e", "observational", 2010, "In all, 501 participants were recruited.", "Poe E")
    review = item("f", "systematic_review", 2011, "Trials such as NCT00000001 were pooled.", "Moe M")
    late = item("g", "randomized_trial", 2015, "A later trial of 80 women.", "Loe L")
    items = [first, second, same, twin, other, review, late]
    study = studies(items)
    assert study["a"] == study["b"]
    assert study["c"] == study["d"] != study["e"]
    assert len(set(study.values())) == 5
