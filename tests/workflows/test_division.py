"""Dividing evidence: each item belongs to one section that found it."""

from hypothesis import given
from hypothesis import strategies as st

from activities.contracts.evidence import EvidenceRef, ReportPlanSection
from workflows.sections.drafting import MAX_NEAREST, divide, nearest_first

SECTIONS = (
    ReportPlanSection(id="s1", title="Benefit", key_question="Does metformin lower mortality?"),
    ReportPlanSection(id="s2", title="Harm", key_question="Does metformin cause lactic acidosis?"),
    ReportPlanSection(id="s3", title="Dose", key_question="Which dose of metformin is used?"),
)


def item(name: str, title: str = "") -> EvidenceRef:
    return EvidenceRef(evidence_id=name, blob=f"blobs/{name}", source="alpha", title=title or name)


def test_an_item_belongs_to_the_section_whose_question_it_is_about() -> None:
    evidence = [item("a", "Lactic acidosis under metformin"), item("b", "Metformin and mortality")]
    found = {"s1": ["a", "b"], "s2": ["b", "a"]}
    assert divide(SECTIONS, evidence, found, {}) == {"a": "s2", "b": "s1"}


def test_without_such_a_difference_the_section_that_ranked_it_higher_gets_it() -> None:
    evidence = [item("a", "Metformin"), item("b", "Metformin")]
    assert divide(SECTIONS, evidence, {"s1": ["b", "a"], "s3": ["a", "b"]}, {}) == {"a": "s3", "b": "s1"}


ids = st.lists(st.sampled_from("abcdef"), unique=True)


@given(st.fixed_dictionaries({"s1": ids, "s2": ids}), st.fixed_dictionaries({"s3": ids}))
def test_every_item_has_one_owner_and_keeps_it(
    first: dict[str, list[str]], more: dict[str, list[str]]
) -> None:
    evidence = [item(name, f"Mortality and dose {name}") for name in "abcdef"]
    owners = divide(SECTIONS, evidence, first, {})
    assert set(owners) == {name for names in first.values() for name in names}
    assert all(name in first[section] for name, section in owners.items())
    later = divide(SECTIONS, evidence, {**first, **more}, owners)
    assert owners.items() <= later.items()


def test_without_a_model_the_first_section_quotes_what_is_nearest_to_it() -> None:
    found = {"s1": ["a", *(f"n{n}" for n in range(MAX_NEAREST)), "z"], "s2": ["a", "z"]}
    owners = nearest_first(SECTIONS, found)
    assert owners["a"] == "s1"
    assert owners["z"] == "s2"
    assert f"n{MAX_NEAREST - 2}" in owners
    assert f"n{MAX_NEAREST - 1}" not in owners
