"""What a question names, and what of it a work mentions by any name."""

import pytest

from activities.contracts.evidence import Evidence
from activities.text.coverage import coverage, names, with_meaning
from activities.text.embeddings import Embedder, embedder
from tests.activities.extractive.abstracts import document


def lacks(question: str, text: str, title: str = "") -> tuple[str, ...]:
    (found,) = coverage(question, [document(1, text, title)])
    return found.lacks


def test_names_are_shown_as_typed_and_words_of_any_question_are_none() -> None:
    shown = [name.shown for name in names("What is the effect of Metformin on outcomes in type 2 diabetes?")]
    assert shown == ["Metformin", "type 2 diabetes"]
    assert names("What is known about the results?") == ()


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Does paracetamol help?", "Acetaminophen was given to forty children."),
        ("What follows a heart attack?", "Patients with acute myocardial infarction were seen."),
        ("Is cirrhosis frequent?", "Of all cirrhotic patients half were men."),
        ("Do tonsils matter?", "After tonsillectomy the children slept well."),
        ("Does CKD harm?", "Chronic kidney disease (CKD) was found in nine."),
        ("Do type 2 diabetes drugs work?", "Type II diabetes was treated with tablets."),
        ("Is vitamin E safe?", "All of them took vitamin E for a year."),
        ("Do statins work?", "Atorvastatin was given."),
    ],
)
def test_a_work_mentions_a_name_by_its_other_names_and_forms(question: str, text: str) -> None:
    assert lacks(question, text) == ()


@pytest.mark.parametrize(
    ("question", "text", "name"),
    [
        ("Is vitamin E safe?", "All of them took vitamin C for a year.", "vitamin E"),
        ("Does prednisone help?", "Prednisolone was given to all.", "prednisone"),
        ("Is type 2 diabetes frequent?", "Type 1 diabetes was found in nine.", "type 2 diabetes"),
        ("Does metformin slow dementia?", "Aspirin did not slow dementia.", "metformin"),
        ("How fast did Inca messengers travel?", "Roman messengers travelled fast.", "Inca"),
        ("Is breast cancer hereditary?", "Lung cancer was found. Some hurt a breast.", "breast cancer"),
    ],
)  # fmt: skip
def test_a_work_on_another_thing_of_the_same_kind_lacks_the_name(question: str, text: str, name: str) -> None:
    assert name in lacks(question, text)


def test_title_and_indexing_terms_count() -> None:
    assert lacks("Does metformin slow dementia?", "It did not.", "Metformin and dementia") == ()
    indexed = Evidence(
        evidence_id="a", source="s", title="", text="It did.", facts={"mesh": "Metformin; Dementia"}
    )
    assert coverage("Does metformin slow dementia?", [indexed])[0].lacks == ()


def test_an_abbreviation_that_another_work_defines_is_known() -> None:
    works = [
        document(1, "Home blood glucose testing (HBGT) was taught to all."),
        document(2, "With HBGT fewer of them fell ill."),
    ]
    found = coverage("Does home blood glucose testing help?", works)
    assert found[0].lacks == ()


@pytest.fixture
def model() -> Embedder:
    found = embedder()
    assert found is not None
    return found


def meant(model: Embedder, question: str, text: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """What a work lacks by meaning, and the words that it uses in the place of others."""
    work = document(1, text)
    model.encode([text])
    (covered,) = coverage(question, [work])
    read = with_meaning(covered, question, work, [text])
    return read.lacks, read.uses


def test_a_part_of_a_name_is_no_other_word_for_it(model: Embedder) -> None:
    lacking, uses = meant(model, "What is known of lung cancer?", "The prognosis of gastric cancer was poor.")
    assert uses == ()
    assert lacking in ((), ("lung cancer",))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Do thirsty toddlers sleep badly?", "Infants who drank little woke up more often at night."),
        ("Do bakers miss work more often?", "Employees of bakeries were absent from work more frequently."),
        ("How much did the plumber charge?", "The fitter's bill for the new pipe was 240 euros."),
        ("Who owns locker 1234?", "The locker 1234 belongs to person 2636."),
    ],
)
def test_a_work_that_says_it_in_other_words_lacks_nothing(model: Embedder, question: str, text: str) -> None:
    assert meant(model, question, text)[0] == ()


@pytest.mark.parametrize(
    ("question", "text", "word"),
    [
        ("Does coffee make asthma worse?", "Hamburgers made asthma in children worse.", "coffee"),
        ("Does hypnosis help athletes?", "A training of the breath helped athletes.", "hypnosis"),
        ("Does a storm bring on labour?", "The phase of the moon did not bring on labour.", "storm"),
        (
            "Does aspirin prevent bowel cancer?",
            "Better hospitals gave aspirin to more patients.",
            "bowel cancer",
        ),
    ],
)
def test_a_work_on_another_common_thing_lacks_the_word(
    model: Embedder, question: str, text: str, word: str
) -> None:
    assert meant(model, question, text)[0] == (word,)


def test_a_word_at_the_end_of_a_long_text_is_there() -> None:
    far = "The pump was checked. " * 10_000 + "The generator was moved."
    (covered,) = coverage("Why was the generator moved?", [document(1, far)])
    assert (covered.lacks, covered.common) == ((), ())
