"""What becomes of sentences that code could not verify: confirmed ones stand, others become their quotes."""

from activities.drafts import DraftClaim, DraftParagraph, SectionDraft, SentenceVerdict, Verdicts
from activities.types import Statement, Support
from activities.verification.verdicts import (
    NOTABLE_LOSS,
    failures,
    loss,
    to_verify,
    with_quotes,
    with_verdicts,
)

ONE = Support(evidence_id="pmid:1", quote="Sleep lowered the risk of dementia in adults.")
TWO = Support(evidence_id="pmid:2", quote="Sleep did not change cognition in a trial.")


def claim(text: str, *support: Support, state: str = "unverified") -> DraftClaim:
    return DraftClaim.model_validate({"text": text, "support": support, "state": state})


DRAFT = SectionDraft(
    answer=(claim("Sleep may help.", ONE, TWO),),
    paragraphs=(
        DraftParagraph(
            claims=(claim("Sleep lowered risk.", ONE, state="stands"), claim("Sleep helps.", TWO))
        ),
        DraftParagraph(claims=(claim("Sleep cures.", TWO, state="failed"),)),
    ),
)


def test_only_unverified_sentences_are_asked_about() -> None:
    assert [one.id for one in to_verify(DRAFT)] == ["a1", "p1.2"]


def test_a_confirmed_sentence_stands_and_another_fails_with_the_reason() -> None:
    verdicts = Verdicts(
        verdicts=(
            SentenceVerdict(id="a1", supported="yes"),
            SentenceVerdict(id="p1.2", supported="partly", reason="only in a trial"),
            SentenceVerdict(id="p1.1", supported="no"),
        )
    )
    judged = with_verdicts(DRAFT, verdicts)
    assert judged.answer[0].state == "stands"
    assert judged.paragraphs[0].claims[0].state == "stands", "a verdict that was not asked for counted"
    first, second = failures(judged)
    assert (first.text, first.reason.text("reason")) == ("Sleep helps.", "only in a trial")
    assert second.text == "Sleep cures."


def test_what_nobody_verified_is_replaced_by_its_quotes_and_listed() -> None:
    final = with_quotes(DRAFT)
    texts = [one.text for one in (*final.answer, *(c for p in final.paragraphs for c in p.claims))]
    assert texts == [TWO.quote, "Sleep lowered risk."]
    assert [one.text for one in final.refused] == ["Sleep may help.", "Sleep helps.", "Sleep cures."]
    assert {one.reason for one in final.refused} == {Statement(code="not_verified")}
    assert with_quotes(final) == final


def test_a_refused_sentence_leaves_one_quote_of_each_work() -> None:
    near = Support(evidence_id="pmid:1", quote="Conversion to open surgery was needed in three patients.")
    far = Support(evidence_id="pmid:1", quote="The median age of the patients was sixty years.")
    failed = claim("Three patients needed conversion to open surgery.", far, near, TWO, state="failed")
    draft = SectionDraft(paragraphs=(DraftParagraph(claims=(failed,)),))
    (paragraph,) = with_quotes(draft).paragraphs
    assert [one.text for one in paragraph.claims] == [near.quote, TWO.quote]


def test_a_draft_that_lost_more_than_a_third_is_known() -> None:
    assert loss(with_quotes(DRAFT)) > NOTABLE_LOSS
    whole = SectionDraft(answer=(claim("Sleep lowered risk.", ONE, state="stands"),))
    assert loss(with_quotes(whole)) == 0.0
