"""Gaps, searches and reflection, without a language model."""

from typing import Any

import pytest

from activities.contracts.evidence import SearchRecord, SearchStatus, SourceOption
from activities.contracts.judge import ReflectInput
from activities.contracts.plan import GapsInput, KnowledgeGapOutput, SelectInput
from activities.extractive import searching
from tests.activities.extractive.abstracts import context, library, option, refs

QUESTION = "Does metformin reduce the risk of dementia?"
BOTH = (option("library", "local"), option("pubmed", "biomedical"))


def gaps(question: str, found: int, **more: Any) -> KnowledgeGapOutput:
    fields = {k: more.pop(k) for k in ("steering",) if k in more}
    step = GapsInput(**context(question, **fields), iteration=1, relevant=found, **more)
    return searching.evaluate_gaps(step)


def selected(gap: str, sources: tuple[SourceOption, ...] = BOTH, **more: Any) -> list[tuple[str, str]]:
    step = SelectInput(**context(QUESTION), iteration=2, gaps=(gap,), sources=sources, **more)
    tasks = searching.select_tools(step).tasks
    assert all(t.gap == gap for t in tasks)
    return [(t.agent, t.query) for t in tasks]


def record(source: str, query: str, status: SearchStatus, gap: str = QUESTION) -> SearchRecord:
    return SearchRecord(source=source, query=query, status=status, gap=gap)


def test_gaps_end_when_ranked_texts_were_searched_or_an_index_found_something_near() -> None:
    made = (record("library", QUESTION, "ok"),)
    assert gaps(QUESTION, 4, tried=made).research_complete
    assert gaps(
        "Who painted the chapel?", 4, tried=(record("library", "x", "ok", "Who painted the chapel?"),)
    ).research_complete
    made = (record("pubmed", "metformin AND dementia", "empty"),)
    assert gaps(QUESTION, 0, tried=made).outstanding_gaps == (QUESTION,)
    assert gaps(QUESTION, 4, tried=made).research_complete


def test_what_the_reviewer_says_becomes_the_first_gap_until_it_was_searched() -> None:
    text = "look at lactic acidosis in renal failure"
    assert gaps(QUESTION, 4, steering=(text,)).outstanding_gaps[0] == text
    made = (record("library", QUESTION, "ok"), record("library", text, "ok", text))
    assert gaps(QUESTION, 4, steering=(text,), tried=made).research_complete


def test_searches_are_in_the_words_of_each_enabled_source() -> None:
    assert selected(QUESTION)[:2] == [("library", QUESTION), ("pubmed", "metformin AND dementia")]
    gap = 'metformin AND (dementia OR "cognitive decline") NOT mice'
    assert {query for _, query in selected(gap, per_gap=4)} == {gap}
    off = option("pubmed", "biomedical", enabled=False)
    assert {source for source, _ in selected(QUESTION, (BOTH[0], off))} == {"library"}
    assert selected(QUESTION, (off,)) == []


def test_a_source_of_unknown_search_that_found_nothing_is_asked_for_the_rarest_words() -> None:
    notes, question = (option("notes", "general"),), "When was the greenhouse heater replaced?"
    assert selected(question, notes, per_gap=2) == [("notes", question), ("notes", "heater")]
    made = (record("notes", question, "empty", question),)
    assert [query for _, query in selected(question, notes, tried=made, per_gap=2)] == [
        "heater",
        "greenhouse",
    ]
    assert len(selected(question, (option("pages", "web", "general"),), per_gap=4)) == 1


def test_the_question_is_searched_once_more_by_the_vocabularies_names_where_nobody_gave_the_search() -> None:
    def asked(question: str, *, reworded: bool = True) -> list[tuple[str, str]]:
        step = SelectInput(
            **context(question), iteration=1, gaps=(question,), sources=BOTH, per_gap=2, reworded=reworded
        )
        return [(task.agent, task.query) for task in searching.select_tools(step).tasks]

    lay = "Does aspirin prevent a heart attack?"
    own = [("library", lay), ("pubmed", "aspirin AND heart attack")]
    assert asked(lay) == [*own, ("pubmed", "aspirin AND Myocardial Infarction")]
    assert asked(lay, reworded=False) == own
    assert len(asked(QUESTION)) == len(BOTH), "the names are the vocabularies' own"
    given = 'aspirin AND "heart attack"'
    assert {query for _, query in asked(given)} == {given}


def test_a_search_is_recognised_by_what_was_asked_not_by_what_the_source_sent() -> None:
    sent = SearchRecord(
        source="pubmed",
        query='("metformin"[MeSH Terms]) AND "dementia"',
        asked="metformin AND dementia",
        status="ok",
        gap=QUESTION,
    )
    assert ("pubmed", "metformin AND dementia") not in selected(QUESTION, tried=(sent,), per_gap=5)
    down = sent.replace(status="unavailable")
    assert ("pubmed", "metformin AND dementia") in selected(QUESTION, tried=(down,), per_gap=5)


def test_a_search_that_found_nothing_is_widened() -> None:
    gap = "Does metformin delay frontotemporal dementia in Finnish postmenopausal smokers?"
    first = selected(gap, (option("pubmed", "biomedical"),), per_gap=1)[0][1]
    tried = (record("pubmed", first, "empty", gap),)
    wider = selected(gap, (option("pubmed", "biomedical"),), tried=tried, per_gap=1)[0][1]
    assert wider.count(" AND ") < first.count(" AND ")
    assert set(wider.split(" AND ")) < set(first.split(" AND "))


def test_reflection_distinguishes_an_outage_from_an_empty_answer() -> None:
    def reflected(status: SearchStatus, found: int) -> Any:
        documents = library()[:found]
        step = ReflectInput(
            **context(QUESTION),
            iteration=1,
            gaps=(QUESTION,),
            searches=(record("pubmed", "metformin AND dementia AND Finland", status),),
            new_evidence=refs(documents),
        )
        return searching.reflect(step, documents)

    assert reflected("ok", 2).served
    assert not reflected("empty", 0).served
    outage = reflected("unavailable", 0)
    assert not outage.served
    assert "unavailable" in outage.reason


def test_gaps_and_their_searches_are_bounded_and_no_search_is_made_twice() -> None:
    assert len(gaps(QUESTION, 4, judged_gaps=("a", "b", "c", "d"), max_gaps=3).outstanding_gaps) == 3
    for room in range(1, 6):
        tasks = selected(QUESTION, per_gap=room)
        assert len(set(tasks)) == len(tasks) <= room


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("phase 3 trials of nivolumab", "phase 3 AND nivolumab"),
        ("Does vitamin B 12 help in type 2 diabetes?", "vitamin B 12 AND type 2 diabetes"),
        ("Was kostet Tarif 2?", "kostet Tarif 2"),
    ],
)
def test_a_number_stays_with_the_name_that_it_belongs_to(question: str, query: str) -> None:
    assert searching.keywords(question) == query
