"""Dividing evidence: each item belongs to one section that found it."""

from hypothesis import given
from hypothesis import strategies as st

from activities.contracts.evidence import ReportPlanSection
from workflows.sections.drafting import MAX_NEAREST, divide, nearest_first

SECTIONS = (
    ReportPlanSection(id="s1", title="Benefit", key_question="Does metformin lower mortality?"),
    ReportPlanSection(id="s2", title="Harm", key_question="Does metformin cause lactic acidosis?"),
    ReportPlanSection(id="s3", title="Dose", key_question="Which dose of metformin is used?"),
)


def test_the_section_that_ranks_an_item_highest_gets_it_and_of_equals_the_first() -> None:
    found = {"s1": ["b", "a", "c"], "s3": ["a", "b"], "s2": ["d", "e", "c"]}
    assert divide(SECTIONS, found, {}) == {"a": "s3", "b": "s1", "c": "s1", "d": "s2", "e": "s2"}


ids = st.lists(st.sampled_from("abcdef"), unique=True)


@given(st.fixed_dictionaries({"s1": ids, "s2": ids}), st.fixed_dictionaries({"s3": ids}))
def test_every_item_has_one_owner_and_keeps_it(
    first: dict[str, list[str]], more: dict[str, list[str]]
) -> None:
    owners = divide(SECTIONS, first, {})
    assert set(owners) == {name for names in first.values() for name in names}
    assert all(name in first[section] for name, section in owners.items())
    later = divide(SECTIONS, {**first, **more}, owners)
    assert owners.items() <= later.items()


def test_without_a_model_the_first_section_quotes_what_is_nearest_to_it() -> None:
    found = {"s1": ["a", *(f"n{n}" for n in range(MAX_NEAREST)), "z"], "s2": ["a", "z"]}
    owners = nearest_first(SECTIONS, found)
    assert owners["a"] == "s1"
    assert owners["z"] == "s2"
    assert f"n{MAX_NEAREST - 2}" in owners
    assert f"n{MAX_NEAREST - 1}" not in owners
