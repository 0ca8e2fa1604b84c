import pytest

from activities.candidates.fields import of_application, of_molecule


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
