"""Without a model: the nearest passages and candidates are quoted; nothing is judged."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.contracts.evidence import Evidence
from activities.contracts.judge import HypothesisInput, MechanismHypothesis
from activities.contracts.write import Passage
from activities.extractive.candidates import hypothesise
from activities.text.normal_form import verbatim
from tests.activities.extractive.abstracts import context, document, judged, library, written

QUESTION = "Does metformin reduce the risk of dementia?"


def shown(passages: tuple[Passage, ...]) -> list[str]:
    return [passage.evidence_id for passage in passages]


def note(text: str, title: str = "Note") -> Evidence:
    return document(1, text, title, "document")


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("Does metformin reduce the risk of dementia?", "Metformin users had less dementia than the others."),
        ("Which boxes keep sandwiches fresh?", "Boxes that keep sandwiches fresh were bought in March."),
    ],
)
def test_a_finding_is_quoted_before_the_aim_unless_it_is_of_something_else(question: str, quote: str) -> None:
    work = document(
        1,
        "OBJECTIVE: To see whether metformin reduces the risk of dementia.\n\n"
        "METHODS: Boxes that keep sandwiches fresh were bought in March.\n\n"
        "RESULTS: Metformin users had less dementia than the others.",
    )
    draft = written(question, [work])
    assert [passage.quotes[0] for passage in draft.passages] == [quote]


def test_a_row_is_shown_with_the_columns_of_its_table_as_they_stand() -> None:
    table = "item,income,expense\nMembership fees,2156.00,\nRowing coach,,7800.00\nRent of the hall,,400.00\n"
    work = note(table, "Accounts")
    (passage,) = written("What was spent on the rowing coach?", [work]).passages
    assert "Rowing coach,,7800.00" in " ".join(passage.quotes)
    assert passage.before == "item,income,expense"
    assert passage.before in work.text, "what stands nowhere in a work is left out of the report"


def test_passages_of_works_without_a_name_are_shown_and_the_word_is_named() -> None:
    works = [work.replace(source="pubmed") for work in library()]
    draft = written("Does aspirin reduce the risk of dementia?", works)
    assert "pmid:1" in shown(draft.passages)
    assert [(word.word, word.decides) for word in draft.absent] == [("aspirin", True)]
    assert draft.documents == len(works)
    assert written(QUESTION, works).absent == ()
    assert written("Does aspirin help?", library()).absent == (), "of a folder its search tells it"


def test_where_no_passage_is_near_enough_none_is_shown() -> None:
    question = "Who painted the ceiling of the chapel?"
    assert judged(question, library()).relevant == ()
    draft = written(question, library())
    assert draft.passages == ()


def test_retracted_works_and_those_of_another_section_are_not_quoted() -> None:
    works = [work.replace(standing="retracted") if n == 0 else work for n, work in enumerate(library())]
    draft = written(QUESTION, works, shared=("pmid:2",))
    assert {"pmid:1", "pmid:2"}.isdisjoint(shown(draft.passages))


def test_a_section_whose_near_works_another_quotes_is_told_from_one_without_any() -> None:
    works = library()
    every = tuple(work.evidence_id for work in works)
    draft = written(QUESTION, works, shared=every)
    assert (draft.passages, draft.elsewhere) == ((), True)
    assert not written(QUESTION, works).elsewhere
    assert not written("Who painted the ceiling of the chapel?", works, shared=every).elsewhere


def test_an_item_of_a_list_is_quoted_without_its_bullet_and_a_clause_with_its_number() -> None:
    text = "- The tent is carried by Luis.\n- The stove stays at home.\n\n4. The hut costs 20 a night."
    passages = written("Who carries the tent and what does the hut cost?", [note(text)]).passages
    quotes = [quote for passage in passages for quote in passage.quotes]
    assert "The tent is carried by Luis." in quotes
    assert "4. The hut costs 20 a night." in quotes


def test_passages_stand_in_the_order_of_their_own_nearness() -> None:
    house = (
        "The boiler was replaced for 900 euros in March.\n\nThe roof is sound and was not touched.\n\n"
        "The garden was dug over twice.\n\nThe old boiler stays in the cellar until it is collected."
    )
    kettle = "The boiler of the club broke in May. The club bought a kettle for the kitchen."
    other = document(2, kettle, "Kettle", "document")
    passages = written("What happened to the boiler?", [other, note(house)]).passages
    assert set(shown(passages[:3])) == {"pmid:1", "pmid:2"}
    assert {passage.quotes[0][:14] for passage in passages[:3]} == {
        "The boiler was", "The old boiler", "The boiler of "
    }  # fmt: skip
    assert max(shown(passages).count(name) for name in ("pmid:1", "pmid:2")) <= 3


def test_a_symptom_is_shown_with_its_cure_and_a_row_without_its_neighbours() -> None:
    troubles = (
        "**The label is blank.** The template is larger than the media. Set another size.\n\n"
        "**Half of the barcode is missing.** Nearly always a wrong `dpi`. A job of 203 dpi is too small.\n\n"
        "**Jobs hang.** A font is missing."
    )
    (passage, *_) = written("My barcode is cut in half, what do I check?", [note(troubles)]).passages
    assert "Nearly always a wrong `dpi`." in passage.quotes
    rows = "\n".join(f"strain: flg{name}; biofilm: {n}; swarming: no" for n, name in enumerate("ABCDEK"))
    (first, *_) = written("How much biofilm does flgK make?", [note(rows)]).passages
    assert first.quotes == ("strain: flgK; biofilm: 5; swarming: no",)


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("What is the price of article 3321?", "3321,steel hammer,3.21,WH-1"),
        ("What does the tungsten scriber cost?", "3177,tungsten scriber,7.77,WH-7"),
        ("Which article came on 2021-05-14?", "3210,came on 2021-05-14,0.10,WH-0"),
        ("What was it at 16:42?", "3300,steel hammer,16:42:07,WH-0"),
    ],
)
def test_of_a_large_table_the_row_with_what_is_named_is_shown_and_no_filler(question: str, row: str) -> None:
    rows = [f"{n},steel hammer,{n % 1000 / 100:.2f},WH-{n % 10}" for n in range(3000, 3400)]
    rows[177], rows[210] = "3177,tungsten scriber,7.77,WH-7", "3210,came on 2021-05-14,0.10,WH-0"
    rows[300] = "3300,steel hammer,16:42:07,WH-0"
    table = note("\n".join(["article,description,price,warehouse", *rows]), "Articles")
    quotes = [quote for passage in written(question, [table]).passages for quote in passage.quotes]
    assert row in quotes[:3]
    assert len(quotes) <= 3


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=300), st.text(max_size=60))
def test_no_text_breaks_it(text: str, question: str) -> None:
    work = document(1, text, "", "document")
    for passage in written(question, [work]).passages:
        assert all(verbatim(quote, text) for quote in passage.quotes)


def test_a_passage_before_a_nearer_one_is_shown_too() -> None:
    text = (
        "The fee for members is 48 euros and is due in March of each year. "
        "Whoever has not paid the membership fee that is due receives a reminder of the membership fee due. "
        "The treasurer keeps the books of the club and reports to the board once every year."
    )
    for heading in ("", "# Rules\n\n"):
        draft = written("When is the membership fee due?", [note(heading + text)])
        quotes = [quote for passage in draft.passages for quote in passage.quotes]
        assert any("48 euros" in quote for quote in quotes)
        assert len(set(quotes)) == len(quotes)


REVIEW = document(
    1,
    "Allopurinol lowers the urate of people with gout. Colchicine ends attacks of gout within a day. "
    "Sildenafil acts by way of cGMP. Allopurinol and colchicine are both cheap.",
    "Treating gout",
    "review",
)
APPROVAL = document(
    2,
    "FDA application NDA018877.\nOriginal submission 1: approved on 1966-08-19.",
    "ZYLOPRIM (ALLOPURINOL) - FDA application NDA018877",
    "regulatory",
    facts={"generic_name": "ALLOPURINOL", "approval_status": "approved"},
)


def found(question: str, *works: Evidence, **more: object) -> dict[str, MechanismHypothesis]:
    step = HypothesisInput(**context(question), evidence=(), **more)
    return {hypothesis.generic_name: hypothesis for hypothesis in hypothesise(step, works).hypotheses}


def test_a_drug_stands_beside_a_passage_that_names_it_and_nothing_is_judged_of_it() -> None:
    candidates = found("Which drugs treat gout?", REVIEW)
    assert set(candidates) == {"allopurinol", "colchicine"}
    for name, candidate in candidates.items():
        (support,) = candidate.supporting_evidence
        assert name in support.quote.casefold()
        assert verbatim(support.quote, REVIEW.text)
    for candidate in found("Which drugs treat dementia?", *library()).values():
        assert candidate.confidence == 0
        assert candidate.effect == candidate.pathway == ""
        assert candidate.contradicting_evidence == ()


def test_what_is_named_once_is_offered_where_somebody_asks_for_it() -> None:
    assert set(found("Which drugs treat gout?", REVIEW)) == {"allopurinol", "colchicine"}
    assert "sildenafil" in found("Does sildenafil help people with gout?", REVIEW)


def test_a_drug_is_called_as_the_nearest_passage_writes_it() -> None:
    work = document(3, "Salbutamol opened the airways of people with asthma.", "Salbutamol", "review")
    assert found("Which drugs treat asthma?", work)["albuterol"].drug == "salbutamol"


def test_a_record_says_where_a_drug_stands_and_a_retracted_work_names_none() -> None:
    allopurinol = found("Which drugs treat gout?", REVIEW, APPROVAL)["allopurinol"]
    assert allopurinol.regulatory_status == "approved"
    assert [support.evidence_id for support in allopurinol.records] == ["pmid:2"]
    assert found("Which drugs treat gout?", REVIEW.replace(standing="retracted")) == {}
