"""What works say of a candidate."""

import pytest

from activities.candidates.passages import Passages
from activities.contracts.evidence import Evidence


@pytest.mark.parametrize(
    ("field", "is_said"), [("inhibition of mTOR", True), ("Neuroprotection", False), ("20 mg", False)]
)
def test_a_field_of_a_candidate_is_in_the_words_of_a_work_and_not_in_such_as_begin_alike(
    field: str, is_said: bool
) -> None:
    text = "In neuropathy metformin inhibited mTOR."
    work = Evidence(evidence_id="pmid:9", source="", title="W", text=text)
    assert (Passages([work], "metformin").places_of(field) is not None) is is_said
