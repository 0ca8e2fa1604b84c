import pytest

from activities.text.uses import (
    asked_about,
    asks_for_a_new_use,
    drugs_in_use,
    established_for,
    uses_elsewhere,
    without_other_diseases,
)

ALS = asked_about("What helps in amyotrophic lateral sclerosis?")
NOTHING = asked_about("What helps?")


@pytest.mark.parametrize(
    ("sentence", "drugs"),
    [
        ("Riluzole is approved for amyotrophic lateral sclerosis.", {"riluzole"}),
        ("Riluzole and edaravone are indicated in amyotrophic lateral sclerosis.", {"riluzole", "edaravone"}),
        ("In amyotrophic lateral sclerosis riluzole remains the first-line drug.", {"riluzole"}),
        ("Riluzole is not approved for amyotrophic lateral sclerosis.", set()),
        ("Methotrexate is approved for rheumatoid arthritis.", set()),
        (
            "Methotrexate is effective in gout, but in amyotrophic lateral sclerosis riluzole is effective.",
            {"riluzole"},
        ),
        (
            "Riluzole is effective in amyotrophic lateral sclerosis (methotrexate in rheumatoid arthritis).",
            {"riluzole"},
        ),
        ("Lithium, approved for bipolar disorder, slows amyotrophic lateral sclerosis.", set()),
        ("Riluzole was studied in amyotrophic lateral sclerosis.", set()),
        ("Tofersen was approved for familial amyotrophic lateral sclerosis.", {"tofersen"}),
    ],
)
def test_a_drug_in_use_is_named_by_the_clause_that_says_so(sentence: str, drugs: set[str]) -> None:
    assert drugs_in_use(sentence, ALS) == drugs


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("arthritis (methotrexate) and more", "arthritis  and more"),
        ("riluzole (50 mg twice daily) slowed decline", "riluzole (50 mg twice daily) slowed decline"),
        ("amyotrophic lateral sclerosis (riluzole)", "amyotrophic lateral sclerosis (riluzole)"),
    ],
)
def test_brackets_of_another_disease_are_left_out(text: str, left: str) -> None:
    assert without_other_diseases(text, ALS) == left


def test_nothing_is_left_out_where_no_disease_is_asked_about() -> None:
    text = "arthritis (methotrexate)"
    assert without_other_diseases(text, NOTHING) == text
    assert drugs_in_use("Methotrexate is effective in arthritis.", NOTHING) == frozenset()


@pytest.mark.parametrize(
    ("sentence", "name", "diseases"),
    [
        (
            "Exenatide, a receptor agonist approved for type 2 diabetes, slows it.",
            "exenatide",
            ("type 2 diabetes",),
        ),
        ("Digoxin is used for heart failure.", "digoxin", ("heart failure",)),
        ("Digoxin is used for heart failure.", "metformin", ()),
        ("Lithium is not approved for bipolar disorder.", "lithium", ()),
        ("Riluzole is approved for amyotrophic lateral sclerosis.", "riluzole", ()),
        ("Digoxin was used in trials of heart failure.", "digoxin", ()),
    ],
)
def test_the_other_diseases_a_drug_is_used_for_are_read_where_a_sentence_says_so(
    sentence: str, name: str, diseases: tuple[str, ...]
) -> None:
    assert uses_elsewhere(sentence, name, ALS) == diseases


def test_a_line_of_treatment_is_a_use_that_is_established_and_an_effect_is_none() -> None:
    asked = asked_about("Which drugs could be repurposed against cancer?")
    title = "Is first-line mitoxantrone in the treatment of breast cancer as good as a combination?"
    assert established_for(title, "mitoxantrone", asked) == ("breast cancer",)
    assert established_for(title, "digoxin", asked) == ()
    assert established_for("Digoxin was effective in breast cancer.", "digoxin", asked) == ()
    assert established_for("Digoxin is not approved for breast cancer.", "digoxin", asked) == ()
    assert established_for("Digoxin is approved for heart failure.", "digoxin", asked) == ()


@pytest.mark.parametrize(
    ("question", "new"),
    [
        ("Which drugs could be repurposed for depression?", True),
        ("Which old drugs have new indications in gout?", True),
        ("Which drugs are approved for gout?", False),
    ],
)
def test_a_question_for_new_uses_says_so(question: str, *, new: bool) -> None:
    assert asks_for_a_new_use(question) is new
