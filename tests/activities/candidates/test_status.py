import pytest

from activities.candidates.status import foremost, of_application, of_molecule, states_approval


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"approval_status": "approved", "marketing_status": "Prescription"}, "approved"),
        ({"approval_status": "approved"}, "approved"),
        ({"approval_status": "approved", "marketing_status": "Discontinued"}, "discontinued"),
        ({"approval_status": "approved", "marketing_status": "Discontinued; Prescription"}, "approved"),
        ({"approval_status": "tentatively approved"}, "tentatively_approved"),
        ({"approval_status": "status WD"}, None),
        ({}, None),
    ],
)
def test_the_code_of_an_application_follows_from_its_fields(facts: dict[str, str], code: str | None) -> None:
    assert of_application(facts) == code


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"max_phase": "4"}, "approved"),
        ({"max_phase": "2"}, "investigational"),
        ({"max_phase": "-1"}, None),
        ({"max_phase": "4", "withdrawn": "yes"}, "withdrawn"),
        ({}, None),
    ],
)
def test_the_code_of_a_molecule_follows_from_its_phase(facts: dict[str, str], code: str | None) -> None:
    assert of_molecule(facts) == code


@pytest.mark.parametrize(
    ("clause", "says"),
    [
        ("Riluzole is approved for amyotrophic lateral sclerosis", True),
        ("Edaravone, licensed in Japan for stroke, slowed decline", True),
        ("The FDA-approved drug riluzole was given", True),
        ("Nusinersen was approved by the FDA (2016) for spinal muscular atrophy", True),
        ("Golodirsen received accelerated approval", True),
        ("Riluzole is not approved for this use", False),
        ("Whether riluzole will be approved is open", False),
        ("If approved for this disease it would be the first", False),
        ("The protocol was approved by the ethics committee", False),
        ("an unapproved use for children", False),
    ],
)
def test_a_clause_states_approval_only_where_it_does_not_deny_or_suppose_it(clause: str, says: bool) -> None:
    assert states_approval(clause) is says


def test_the_code_that_says_most_comes_first() -> None:
    assert foremost(["investigational", "approved", "withdrawn"]) == "approved"
    assert foremost(["withdrawn", "investigational"]) == "withdrawn"
    assert foremost(["something else"]) == ""
