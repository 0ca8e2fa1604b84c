"""Which sentences of a text can be quoted alone."""

from activities.contracts.evidence import Evidence, EvidenceType
from activities.text.sentences import sentences


def quotes(text: str, kind: EvidenceType) -> list[str]:
    """The quotable sentences of a text of a kind."""
    work = Evidence(evidence_id="a", source="library", title="Note", text=text, evidence_type=kind)
    return [sentence.quote for sentence in sentences(work)]


def test_a_sentence_is_quoted_alone_or_with_its_neighbour_and_a_fragment_or_heading_is_not() -> None:
    assert quotes("The shop was down from noon. About 310 orders were lost.", "document") == [
        "The shop was down from noon.",
        "About 310 orders were lost.",
    ]
    text = "Tertiary endoscopy referral center. The operation cured nine of ten patients within a year."
    assert quotes(text, "article") == ["The operation cured nine of ten patients within a year."]
    text = "Ann is the owner. She bought the house in 2011.\n\nThe boiler is in the cellar. It leaks."
    assert quotes(text, "document") == [
        "Ann is the owner. She bought the house in 2011.",
        "The boiler is in the cellar. It leaks.",
    ]
    text = "Working from home in summer\n\nBudget for training: 8,000 euros"
    assert quotes(text, "document") == ["Budget for training: 8,000 euros"]
