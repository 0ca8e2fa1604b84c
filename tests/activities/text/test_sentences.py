"""Which sentences of a text can be quoted alone."""

from activities.contracts.evidence import Evidence, EvidenceType
from activities.text.sentences import sentences, split


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


def test_a_number_with_a_space_after_its_point_ends_no_sentence() -> None:
    text = "The volume was larger on the right (P<0. 001). The score was the same on both sides."
    assert [one.quote for one in split("x", text)] == [text[:46], text[47:]]
    other = "All of the strokes were seen by day 10. 12 of the patients were seen again a year later."
    assert len(split("x", other)) == 2
