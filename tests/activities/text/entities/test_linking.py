"""What a text names is found by well-kept vocabularies, and only that."""

import time

import pytest

from activities.text.entities import drug_counts, entities_of_kind, is_same_entity, link, names_drug, resolve


def named(text: str) -> list[tuple[str, str]]:
    return [(entity.kind, entity.surface) for entity in link(text)]


def test_drugs_diseases_and_symptoms_are_found_with_their_place() -> None:
    text = "Metformin hydrochloride for type 2 diabetes; fever was rare."
    found = link(text)
    assert [(e.kind, e.surface) for e in found] == [
        ("drug", "Metformin hydrochloride"),
        ("disease", "type 2 diabetes"),
        ("phenotype", "fever"),
    ]
    assert all(text[e.start : e.end] == e.surface for e in found)


SAME = (
    "paracetamol = acetaminophen | Tylenol = paracetamol | metformin hydrochloride = Glucophage"
    "| sodium valproate = valproic acid | rapamycin = sirolimus | 5-FU = fluorouracil | IL-6 = interleukin 6"
    "| heart attack = myocardial infarction | Crohn's disease = Crohn disease | anaemia = anemia"
    "| ALS = amyotrophic lateral sclerosis | flu = influenza | statins = HMG-CoA reductase inhibitors"
    "| \u03b2-blockers = beta-adrenergic blockers"
)
NEIGHBOURS = (
    "vitamin C = vitamin E | interferon alfa = interferon beta | statins = fibrates"
    "| calcium carbonate = calcium | type 1 diabetes = type 2 diabetes | unknownium = unknownide"
)


@pytest.mark.parametrize(
    ("pair", "one"),
    [*((pair, True) for pair in SAME.split("|")), *((pair, False) for pair in NEIGHBOURS.split("|"))],
)
def test_names_of_one_thing_are_one_entity_and_neighbours_are_two(pair: str, one: bool) -> None:
    a, b = (name.strip() for name in pair.split(" = "))
    assert is_same_entity(a, b) is is_same_entity(b, a) is one


@pytest.mark.parametrize(
    "text",
    [
        *(f"The {thing} was studied." for thing in (
            "epidermal growth factor receptor", "insulin receptor", "dopamine transporter",
            "dopamine D2 receptor", "dopamine antagonists", "insulin degrading enzyme",
            "anti-insulin antibodies",
        )),
        "It is time to lead, and the aim of this base case is more of the same.",
        "Luminal narrowing was seen; hearing aids and generics were bought.",
        "The patients sit in caps; mops and snares lie on the armour.",
        "Drinking water and ice were allowed today.",
        "An emended version in 2-3 types of cells, combined.",
    ],
)  # fmt: skip
def test_english_words_and_what_acts_on_a_drug_are_no_drugs(text: str) -> None:
    assert not entities_of_kind(text, ["drug", "disease"])


def test_a_name_is_taken_whole_and_as_a_name_is_written() -> None:
    assert named("AIDS") == [("disease", "AIDS")]
    assert not named("aids to memory")
    assert ("drug", "Valium") in named("They took Valium.")
    assert not named("the luminal wall")
    assert named("iron deficiency anemia") == [("disease", "iron deficiency anemia")]
    assert named("insulin glargine") == [("drug", "insulin glargine")]
    assert not entities_of_kind("vitamin. C was", ["drug"])
    assert all(entity.surface != "vitamin b1" for entity in link("vitamin b12"))


def test_a_name_that_stands_alone_is_resolved_however_it_is_written() -> None:
    entity = resolve("GLUCOPHAGE")
    assert entity is not None
    assert (entity.kind, entity.name, entity.id) == ("drug", "Metformin", "drugbank:DB00331")
    assert "Metformin" not in entity.synonyms
    assert resolve("als") is not None
    assert resolve("nothing of the kind") is None
    assert resolve("") is None


def test_an_abstract_is_linked_in_a_few_milliseconds() -> None:
    text = (
        "To compare metformin with sulfonylureas in adults with type 2 diabetes and chronic kidney disease. "
        "We measured glycated hemoglobin, body weight, blood pressure, and adverse events such as diarrhea. "
    ) * 8
    link(text)
    link.cache_clear()
    start = time.process_time()
    assert link(text)
    assert time.process_time() - start < 0.05


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
    assert tuple(name for name, _ in drug_counts(text)) == named
