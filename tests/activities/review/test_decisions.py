"""Decisions, records and counts of a review: pure rules."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.contracts.evidence import NO_ABSTRACT, Evidence, Identifiers
from activities.evidence_store import make_ref
from activities.review.archive import flow
from activities.review.decisions import Decision, Marks, Part, affected_decisions, latest_decisions
from activities.review.files import read_records_file
from activities.review.protocol import Columns
from activities.review.records import Records, UnreadableRecords, add_batch, part
from activities.review.rounds import accuracy_of, draw_sample, next_round, restate, sample_size
from activities.review.state import Course, ReviewState
from activities.sources.library.records import SetAside
from tests.activities.review.studies import PROTOCOL
from workflows.rules.dedup import merge

LETTER = st.sampled_from(".ieu")


def marks(first: str, second: str, labels: str = "", words: str = "") -> Marks:
    total = len(first)
    return Marks(first=first, second=second, labels=labels or "." * total, words=words or "." * total)


def test_two_who_agree_settle_and_anything_else_is_a_persons() -> None:
    rows = marks("iieu.ie", "ieeui.e", "......i", "......" + ".")
    assert rows.states() == ["included", "conflict", "excluded", "conflict", "open", "open", "included"]
    assert rows.put("word", {1: "e", 6: "e"}).states()[1::5] == ["excluded", "excluded"]


def test_what_both_include_of_the_random_sample_waits_for_a_person() -> None:
    rows = marks("iieui", "ieeui").with_confirmations(range(4))
    assert rows.states() == ["conflict", "conflict", "excluded", "conflict", "included"]
    assert rows.put("word", {0: "e"}).states()[0] == "excluded"
    labelled = marks("ii", "ii", "e.").with_confirmations(range(2))
    assert labelled.states() == ["excluded", "conflict"], "a label of the calibration is one already"


def test_marks_travel_small_and_come_back_whole() -> None:
    rows = Marks.of(10_000).put("screener", {7: "i", 9_999: "e"}, 0)
    sent = rows.model_dump_json()
    assert len(sent) < 1_000
    assert Marks.model_validate_json(sent) == rows


@given(st.lists(st.tuples(LETTER, LETTER, st.sampled_from(".ie"), st.sampled_from(".ie")), max_size=30))
def test_the_numbers_of_the_flow_always_add_up(rows: list[tuple[str, str, str, str]]) -> None:
    columns = ["".join(row[place] for row in rows) for place in range(4)]
    titles = Marks(first=columns[0], second=columns[1], labels=columns[2], words=columns[3])
    refs = tuple(make_ref(a_work(str(number)), "blob") for number in range(len(rows)))
    records = Records(records=refs, by_origin={"a": len(rows)})
    for closed in (True, False):
        state = ReviewState(
            protocol=PROTOCOL,
            protocol_key="",
            titles=titles,
            full_texts=titles,
            got={0: "got"},
            closed=closed,
        )
        assert flow(records, state).faults() == ()


def test_a_full_text_is_counted_under_the_criterion_that_its_report_names() -> None:
    """Both exclude it, by different criteria: the first of the protocol counts, whoever decided last."""
    fields = {"record": 0, "stage": "full_texts", "verdict": "exclude"}
    log = [Decision(**fields, criterion="I2", by="a"), Decision(**fields, criterion="E1", by="b")]
    titles = marks("i", "i")
    records = Records(records=(make_ref(a_work("0"), "blob"),), by_origin={"a": 1})
    texts = marks("e", "e")
    state = ReviewState(protocol=PROTOCOL, protocol_key="", titles=titles, full_texts=texts, got={0: "got"})
    worded = state.model_copy(update={"full_texts": texts.put("word", {0: "e"})})
    for stands, decisions, named in (
        (state, log, "I2"),
        (state, log[::-1], "I2"),
        (worded, [*log, Decision(**fields, criterion="I1", part="word", by="c")], "I1"),
    ):
        assert flow(records, stands, decisions).excluded_because == {named: 1}


def test_a_word_or_a_label_is_replaced_by_that_of_anybody() -> None:
    """A review has one of each: what somebody has overruled is neither counted nor opened by an amendment."""
    parts: tuple[Part, ...] = ("word", "label")
    for role in parts:
        first = Decision(record=0, verdict="include", part=role, by="Ada")
        second = Decision(record=0, verdict="exclude", criterion="E1", part=role, by="Bob")
        assert latest_decisions([first, second]) == [second]
        assert affected_decisions([first, second], ["I1"]) == [], "an exclusion by another criterion stands"
    apart = [Decision(record=0, verdict="include", by=name) for name in ("Ada", "Bob")]
    assert latest_decisions(apart) == apart


def a_work(name: str, **fields: object) -> Evidence:
    return Evidence.model_validate(
        {
            "evidence_id": f"doi:10.1/{name}",
            "source": "library",
            "title": f"A trial of one thing or another {name}",
            "text": f"It was tried in {len(name)} people.",
            "identifiers": Identifiers(doi=f"10.1/{name}"),
            **fields,
        }
    )


def test_copies_are_merged_listed_and_parted_and_numbers_stay() -> None:
    first, second = a_work("a"), a_work("b")
    copy = first.replace(facts={"file": "other"})
    refs = [make_ref(item, f"blobs/{n}") for n, item in enumerate((first, second, copy))]
    records = add_batch(Records(), refs[:2], "first.ris", merge)
    records = add_batch(records, refs[2:], "second.ris", merge)
    assert [ref.evidence_id for ref in records.records] == ["doi:10.1/a", "doi:10.1/b"]
    assert [(row.into, row.ref.blob) for row in records.copies] == [(0, "blobs/2")]
    assert records.records[0].blob == "blobs/0"
    assert (records.identified_count, records.by_origin) == (3, {"first.ris": 2, "second.ris": 1})
    apart = part(records, "blobs/2")
    assert [ref.evidence_id for ref in apart.records] == ["doi:10.1/a", "doi:10.1/b", "doi:10.1/a#2"]
    assert add_batch(apart, refs[2:], "third.ris", merge).records == apart.records
    with pytest.raises(UnreadableRecords):
        part(apart, "blobs/2")


NBIB = """
PMID- 90000001
DP  - 2012 Jul 12
TI  - Honey for acute cough of children: a randomised trial with
      two groups
LID - 10.9999/honey.1 [doi]
AB  - Children were randomly allocated to honey or to nothing. Cough ended in 21 of 50
      given honey.
FAU - M\u00fcller, Karin
FAU - Doe, Jane
PT  - Randomized Controlled Trial
PT  - Retracted Publication
MH  - *Cough
JT  - Pediatrics
SI  - ClinicalTrials.gov/NCT01234567

PMID- 90000002
TI  - A title without an abstract
DP  - 2013
"""


def test_a_pubmed_export_for_citation_managers_is_read_with_its_wrapped_lines(tmp_path: Path) -> None:
    (tmp_path / "pubmed.nbib").write_text(NBIB, encoding="utf-8")
    first, second = read_records_file(tmp_path / "pubmed.nbib")
    assert isinstance(first, Evidence)
    assert first.title == "Honey for acute cough of children: a randomised trial with two groups"
    assert first.text.endswith("Cough ended in 21 of 50 given honey.")
    ids = first.identifiers
    assert (ids.pmid, ids.doi, ids.nct) == ("90000001", "10.9999/honey.1", "NCT01234567")
    assert (first.authors, first.year, first.venue) == (
        ("Karin M\u00fcller", "Jane Doe"),
        2012,
        "Pediatrics",
    )
    assert (first.standing, first.evidence_type) == ("retracted", "randomized_trial")
    assert isinstance(second, Evidence)
    assert NO_ABSTRACT in second.facts


def test_files_of_records_keep_what_has_no_abstract(tmp_path: Path) -> None:
    (tmp_path / "a.ris").write_text("TY  - JOUR\nTI  - A title alone\nDO  - 10.1000/x\nER  - \n")
    out = io.StringIO()
    csv.writer(out).writerows([["title", "abstract"], ["One", "It was so."], ["", ""], ["", "Text alone."]])
    (tmp_path / "b.csv").write_text(out.getvalue())
    (ris,) = read_records_file(tmp_path / "a.ris")
    assert isinstance(ris, Evidence)
    assert (ris.text, NO_ABSTRACT in ris.facts, ris.identifiers.doi) == ("A title alone", True, "10.1000/x")
    rows = list(read_records_file(tmp_path / "b.csv"))
    assert [isinstance(row, SetAside) for row in rows] == [False, False]
    german = 'Titel;Zusammenfassung;Jahr;Kennung\nZink;"Es wurde verglichen; mit nichts.";2020;10.1000/z\n'
    (tmp_path / "german.csv").write_text(german)
    (refused,) = read_records_file(tmp_path / "german.csv")
    assert isinstance(refused, SetAside)
    assert "its fields are Titel, Zusammenfassung, Jahr, Kennung" in refused.reason
    columns = Columns(title="Titel", abstract="Zusammenfassung", year="Jahr", doi="Kennung")
    (read,) = read_records_file(tmp_path / "german.csv", columns)
    assert isinstance(read, Evidence)
    assert (read.title, read.text, read.year) == ("Zink", "Es wurde verglichen; mit nichts.", 2020)
    assert read.identifiers.doi == "10.1000/z"
    for name, text in {"c.xml": "<no", "d.xml": "<set/>", "e.doc": ""}.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(UnreadableRecords):
            list(read_records_file(tmp_path / name))


def test_the_sample_is_as_large_as_its_interval_asks() -> None:
    assert sample_size(10_000, 0.1) in range(95, 106)
    assert sample_size(40, 0.1) == 40
    assert draw_sample(100, 10, "a") == draw_sample(100, 10, "a") != draw_sample(100, 10, "b")


def test_a_screener_who_is_unsure_excludes_nothing() -> None:
    accuracy = accuracy_of("a", "ieue.", "iiie.")
    assert (accuracy.sensitivity.hits, accuracy.sensitivity.of) == (2, 3)
    assert (accuracy.specificity.hits, accuracy.specificity.of) == (1, 1)


def test_where_a_person_labelled_every_record_nothing_was_missed() -> None:
    labels = Marks.of(12).put("label", {record: "i" if record < 2 else "e" for record in range(12)})
    ended, _ = next_round(Course(total=12), labels, lambda _, unread: list(unread), "seed")
    assert (ended.phase, ended.recall) == ("done", 1.0)


def test_rounds_read_all_or_stop_and_an_overruled_decision_changes_the_stated_recall() -> None:
    total = 60
    truth = {record: record % 10 == 0 for record in range(total)}
    course, marks = Course(total=total), Marks.of(total)
    rounds = 0
    while course.phase != "done":
        course, _ = next_round(course, marks, lambda _, unread: list(unread), "seed", read_all=True)
        letters = {record: "i" if truth[record] else "e" for record in course.batch}
        marks = marks.put("screener", letters, 0).put("screener", letters, 1)
        rounds += 1
        assert rounds < 20
    assert marks.states().count("included") == 6
    assert course.recall is None, "all was read and no screener was measured: nothing is estimated"
    marks = marks.put(
        "label", {record: "i" if true else "e" for record, true in truth.items() if record < 20}
    )
    course = restate(course, marks)
    assert (course.recall or 0) > 0.5
    restated_course = restate(course, marks.put("word", {1: "i"}))
    assert restated_course.found == 7
