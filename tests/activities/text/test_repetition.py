"""Repetition across sections: each statement once, in the section it belongs to, and no statement lost."""

from activities.drafts import DraftClaim, DraftParagraph, SectionDraft
from activities.text.repetition import remove_repetition, repeated_share
from activities.types import Support

LOWERS = "Metformin lowered the risk of dementia in adults."
QUOTE = "metformin was associated with a lower risk of dementia"


def claim(text: str, evidence_id: str = "pmid:1", quote: str = QUOTE) -> DraftClaim:
    return DraftClaim(text=text, support=(Support(evidence_id=evidence_id, quote=quote),))


def draft(*claims: DraftClaim) -> SectionDraft:
    return SectionDraft(paragraphs=tuple(DraftParagraph(claims=(one,)) for one in claims))


def texts(drafts: dict[str, SectionDraft]) -> dict[str, list[str]]:
    return {name: [c.text for p in d.paragraphs for c in p.claims] for name, d in drafts.items()}


def test_one_statement_stays_where_its_evidence_belongs_with_the_quotes_of_both() -> None:
    drafts = {"s1": draft(claim(LOWERS)), "s2": draft(claim(LOWERS, "pmid:2"))}
    kept = remove_repetition(drafts, {"pmid:2": "s2"})
    assert texts(kept) == {"s1": [], "s2": [LOWERS]}
    (support,) = (c.support for p in kept["s2"].paragraphs for c in p.claims)
    assert [s.evidence_id for s in support] == ["pmid:2", "pmid:1"]
    assert texts(remove_repetition(drafts)) == {"s1": [LOWERS], "s2": []}


def test_a_claim_on_the_same_quote_that_names_something_else_stays() -> None:
    drafts = {
        "s1": draft(claim(LOWERS)),
        "s2": draft(claim("Aspirin lowered the risk of dementia in adults.")),
    }
    assert remove_repetition(drafts) == drafts
    shorter = {"s1": draft(claim(LOWERS)), "s2": draft(claim("Metformin lowered dementia risk."))}
    assert texts(remove_repetition(shorter))["s2"] == []


def test_an_opposite_statement_is_no_repetition() -> None:
    no = claim("Metformin did not lower the risk of dementia in adults.")
    drafts = {"s1": draft(claim(LOWERS)), "s2": draft(no)}
    assert remove_repetition(drafts) == drafts


def test_nothing_is_left_to_remove_afterwards() -> None:
    drafts = {"s1": draft(claim(LOWERS)), "s2": draft(claim(LOWERS), claim("Harms were mild.", "pmid:3"))}
    assert repeated_share(drafts) == 1 / 3
    once = remove_repetition(drafts)
    assert repeated_share(once) == 0.0
    assert remove_repetition(once) == once
    assert repeated_share({}) == 0.0
