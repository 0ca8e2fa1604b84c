"""The answer as a command and a program get it."""

from client.reports.answer import AnswerClaim, with_references


def test_a_sentence_without_a_reference_has_no_mark() -> None:
    missing = AnswerClaim(id="s1.a1", text="No work compares them.", references=(), evidence_ids=())
    assert with_references(missing) == "No work compares them."
    cited = missing.model_copy(update={"text": "It fell.", "references": (1, 3)})
    assert with_references(cited) == "It fell. [1, 3]"
