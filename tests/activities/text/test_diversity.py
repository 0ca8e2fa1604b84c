"""Choosing what a judge and a writer see."""

import random

from activities.sources.library import SAMPLE
from activities.sources.library.files import list_folder, read_files
from activities.text.diversity import LIMIT, rank
from activities.types import Evidence, EvidenceType

FILLER = {
    "heart": "cardiac output ventricular pressure coronary artery stent infarction beta blocker arrhythmia",
    "lung": "spirometry inhaled steroid bronchial asthma airway obstruction wheeze emphysema oxygen",
    "bone": "osteoporosis fracture density calcium vitamin hip vertebra bisphosphonate fall prevention",
}


def item(
    name: str, text: str, title: str = "", kind: EvidenceType = "article", year: int | None = 2015
) -> Evidence:
    return Evidence(evidence_id=name, source="t", title=title, text=text, evidence_type=kind, year=year)


def test_what_answers_the_question_comes_first() -> None:
    found = rank(
        "vitamin to prevent hip fracture", [item(name, text) for name, text in FILLER.items()], limit=3
    )
    assert found[0].evidence.evidence_id == "bone"
    assert found[0].score > found[1].score


def test_at_most_thirty_are_shown() -> None:
    library = read_files(list_folder(SAMPLE)).documents[:80]
    assert len(rank("treatment of patients", library)) == LIMIT
    assert len(rank("treatment of patients", library, limit=7)) == 7
    assert rank("anything", [], limit=5) == []
    assert rank("anything", library, limit=0) == []


def test_the_order_they_came_in_does_not_matter() -> None:
    library = list(read_files(list_folder(SAMPLE)).documents[:60])
    first = rank("surgery in the elderly", library, limit=15)
    random.Random(3).shuffle(library)
    assert rank("surgery in the elderly", library, limit=15) == first


def test_near_duplicates_are_folded_and_counted() -> None:
    text = " ".join(f"word{i}" for i in range(200)) + " statin therapy"
    copy = text.replace("word100 ", "")
    others = [item(name, words) for name, words in FILLER.items()]
    found = rank("statin therapy", [item("a", text), item("b", copy), item("c", text.upper()), *others])
    folded = next(r for r in found if r.copies > 1)
    assert folded.copies == 3
    assert {folded.evidence.evidence_id, *folded.folded} == {"a", "b", "c"}
    assert len(found) == 4
    assert sum(r.copies for r in found) == 6


def test_texts_that_only_resemble_each_other_are_not_folded() -> None:
    common = [f"word{i}" for i in range(100)]
    one = " ".join([*common, *(f"one{i}" for i in range(40))])
    two = " ".join([*common, *(f"two{i}" for i in range(40))])
    assert [r.copies for r in rank("word1", [item("a", one), item("b", two)])] == [1, 1]


def test_stronger_evidence_and_then_newer_wins_a_tie() -> None:
    def text(tail: str) -> str:
        return "metformin lowers glucose in adults with diabetes " + " ".join(f"{tail}{i}" for i in range(30))

    kinds: list[EvidenceType] = [
        "web_page",
        "case_report",
        "observational",
        "randomized_trial",
        "meta_analysis",
    ]
    documents = [item(kind, text(kind[:3]), kind=kind) for kind in kinds]
    best = rank("metformin glucose", documents, limit=1)[0]
    assert best.evidence.evidence_type == "meta_analysis"
    old, new = item("a", text("x"), year=1990), item("b", text("y"), year=2020)
    assert rank("metformin glucose", [old, new], limit=1)[0].evidence.year == 2020


def test_relevance_outweighs_kind_and_age() -> None:
    apt = item("apt", "colchicine reduces recurrent pericarditis", kind="case_report", year=1990)
    strong = item("strong", "bisphosphonate and fracture of the hip", kind="meta_analysis", year=2024)
    assert rank("colchicine in pericarditis", [apt, strong])[0].evidence.evidence_id == "apt"


def test_the_choice_is_diverse() -> None:
    """Ten variations on one finding do not push out the only other one."""
    same = [
        item(f"same{n}", f"aspirin lowers the risk of stroke in men after surgery group{n}")
        for n in range(10)
    ]
    other = item("other", "aspirin raises the risk of bleeding: gastric ulcer haemorrhage anaemia")
    rest = [item(f"{name}{n}", f"{text} clinic{n}") for name, text in FILLER.items() for n in range(8)]
    chosen = [
        r.evidence.evidence_id for r in rank("aspirin and the risk of stroke", [*same, other, *rest], limit=3)
    ]
    assert "other" in chosen
    assert chosen[0].startswith("same")


def test_spelling_and_hyphens_do_not_matter() -> None:
    documents = [
        item("uk", "tumour necrosis factor \N{GREEK SMALL LETTER ALPHA} in anaemia"),
        item("x", "hip fracture in women"),
    ]
    assert rank("tumor-necrosis factor-alpha anemia", documents)[0].evidence.evidence_id == "uk"


def test_a_question_without_a_known_word_still_gets_an_answer() -> None:
    found = rank("zzz qqq", [item(name, text) for name, text in FILLER.items()])
    assert len(found) == 3
