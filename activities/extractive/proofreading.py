"""One pass over the drafts of all sections."""

from activities.steps import DraftClaim, DraftParagraph, Proofread, ProofreadInput
from activities.text.stance import contradicts, one_work, same
from activities.verification.quote_check import normalise


def proofread(step: ProofreadInput) -> Proofread:
    """Drop what an earlier section said already, mark contradictions between sections, leave every quote and
    every text as it is."""
    said: list[DraftClaim] = []
    quotes: set[tuple[str, str]] = set()
    drafts = {}
    for section, draft in step.drafts.items():
        kept_paragraphs: list[DraftParagraph] = []
        for paragraph in draft.paragraphs:
            kept: list[DraftClaim] = []
            for claim in paragraph.claims:
                own = {(s.evidence_id, normalise(s.quote)) for s in claim.support}
                if (own and own <= quotes) or any(same(claim.text, c.text) for c in said):
                    continue
                against = (
                    c.text
                    for c in said
                    if not one_work(claim.support, c.support)
                    and contradicts(claim.text, c.text, step.question)
                )
                marks = tuple(dict.fromkeys((*claim.contradicts, *against)))
                kept.append(claim.model_copy(update={"contradicts": marks}))
                said.append(claim)
                quotes |= own
            if kept:
                kept_paragraphs.append(DraftParagraph(claims=tuple(kept)))
        drafts[section] = draft.model_copy(update={"paragraphs": tuple(kept_paragraphs)})
    return Proofread(drafts=drafts)
