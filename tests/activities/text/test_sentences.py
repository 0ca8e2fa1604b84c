"""Which sentences of a text can be quoted alone."""

from activities.contracts.evidence import Evidence, EvidenceType
from activities.text.sentences import sentences


def quotes(text: str, kind: EvidenceType) -> list[str]:
    """The quotable sentences of a text of a kind."""
    work = Evidence(evidence_id="a", source="library", title="Note", text=text, evidence_type=kind)
    return [sentence.quote for sentence in sentences(work)]


def test_a_short_sentence_of_the_users_own_text_can_be_quoted() -> None:
    assert quotes("The shop was down from noon. About 310 orders were lost.", "document") == [
        "The shop was down from noon.",
        "About 310 orders were lost.",
    ]


def test_a_fragment_of_an_abstract_cannot() -> None:
    text = "Tertiary endoscopy referral center. The operation cured nine of ten patients within a year."
    assert quotes(text, "article") == ["The operation cured nine of ten patients within a year."]


def test_a_sentence_too_short_to_be_quoted_is_quoted_with_its_neighbour() -> None:
    text = "Ann is the owner. She bought the house in 2011.\n\nThe boiler is in the cellar. It leaks."
    assert quotes(text, "document") == [
        "Ann is the owner. She bought the house in 2011.",
        "The boiler is in the cellar. It leaks.",
    ]


def test_a_label_with_its_value_can_be_quoted_and_a_heading_cannot() -> None:
    text = "Working from home in summer\n\nBudget for training: 8,000 euros"
    assert quotes(text, "document") == ["Budget for training: 8,000 euros"]
