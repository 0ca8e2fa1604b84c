"""Drugs named in a text."""

import pytest

from activities.text.entities import drugs_named, names_drug


def test_a_drug_is_named_by_any_of_its_names() -> None:
    assert names_drug("Rifampicin was given.", "rifampin")
    assert names_drug("Compound XY-17 was given.", "compound xy-17")
    assert not names_drug("Rifabutin was given.", "rifampin")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Interleukin-4 drives inflammation in asthma.", ()),
        ("Frataxin builds iron-sulfur clusters.", ()),
        ("Penicillin-resistant strains were found.", ()),
        ("PET with [11C]-raclopride showed occupancy by amoxapine.", ("amoxapine",)),
        ("Beta2-adrenoreceptor agonists and salbutamol were used.", ("albuterol",)),
        ("Steroid-refractory colitis was treated with infliximab.", ("infliximab",)),
    ],
)
def test_a_part_of_a_compound_names_no_drug(text: str, named: tuple[str, ...]) -> None:
    assert tuple(name for name, _ in drugs_named(text)) == named
