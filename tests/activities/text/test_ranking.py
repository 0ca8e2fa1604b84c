"""Documents and sentences are ranked by words, names and meaning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.text import ranking
from activities.text.ranking import RELEVANT, best_first, fuse, nearness, rank, relevant_items
from tests.activities.extractive.abstracts import document, library

QUESTION = "Does metformin reduce the risk of dementia?"


def order(question: str) -> list[str]:
    return [item.document.evidence_id for item in best_first(rank(question, library()))]


def test_works_on_the_question_come_before_others_also_in_other_words() -> None:
    assert order(QUESTION)[-1] == "pmid:4"
    assert order("How does long fermentation change bread?")[0] == "pmid:4"
    heart = document(1, "Myocardial infarction was survived by most of the men who reached hospital in time.")
    other = document(2, "The survey of farms found more hedges and fewer ponds than ten years before.")
    assert best_first(rank("heart attacks", [other, heart]))[0].document is heart
    near = {item.document.evidence_id for item in relevant_items(rank(QUESTION, library()))}
    assert {"pmid:1", "pmid:2"} <= near
    assert "pmid:4" not in near


def test_of_the_users_own_all_documents_with_the_words_of_a_short_question_are_near() -> None:
    lease = "El arrendatario entrega una fianza de 1.280 euros. La renta mensual es de 640 euros."
    recipe = "Se tritura todo con el aceite, el vinagre y la sal. Se deja enfriar dos horas antes de servir."
    works = [
        document(n, text).replace(evidence_type="document", title="", language="es")
        for n, text in enumerate((lease, recipe))
    ]
    near = relevant_items(rank("¿Cuánto es la fianza?", works))
    assert [item.document.text for item in near] == [lease]


def test_a_question_about_a_day_finds_the_row_with_its_date() -> None:
    days = (("01", "service done"), ("03", "boiler failed"), ("05", "pump replaced"))
    log = "\n".join(f"date: 2024-04-{day}; event: {event}" for day, event in days)
    work = document(1, log).replace(evidence_type="document", title="")
    (item,) = rank("What happened on 3 April?", [work])
    assert "boiler failed" in item.sentences[0].sentence.quote
    assert item.near_by_words


def test_without_the_encoder_words_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "embedder", lambda _: None)
    items = rank(QUESTION, library())
    assert best_first(items)[-1].document.evidence_id == "pmid:4"
    assert max(items, key=lambda item: item.relevance).relevance >= RELEVANT
    assert all(ranked.likeness is None for item in items for ranked in item.sentences)


def test_titles_alone_tell_what_is_far() -> None:
    pages = [
        ("Sourdough", "Long fermentation improves the texture and the shelf life of wheat bread."),
        ("Diabetes drugs and the brain", "Metformin was associated with a lower risk of dementia."),
        ("", ""),
    ]
    works = [document(n, text).replace(title=title) for n, (title, text) in enumerate(pages)]
    (near,) = nearness([QUESTION], works)
    assert np.argmax(near[0]) == 1
    assert [one >= RELEVANT for one in near[1]] == [False, True, False]
    assert not len(nearness([QUESTION], [])[0][0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_fused_ranks_follow_a_single_ranking(scores: list[float]) -> None:
    fused = fuse([np.array(scores)])
    for score, mine in zip(scores, fused, strict=True):
        for other, theirs in zip(scores, fused, strict=True):
            if score > other:
                assert mine > theirs
            if score == other:
                assert mine == theirs
        assert (mine == 0) == (score <= 0)
