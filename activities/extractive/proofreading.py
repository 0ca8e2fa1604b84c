"""One pass over the drafts of all sections."""

from activities.drafts import DraftClaim, DraftParagraph, Proofread, ProofreadInput
from activities.text.repetition import remove_repetition, with_repeated
from activities.text.stance import contradicts, one_work


def proofread(step: ProofreadInput) -> Proofread:
    """Remove repetition, mark contradictions between sections, leave every quote and every text as it is."""
    earlier: list[DraftClaim] = []
    drafts = remove_repetition(step.drafts, step.owners, quotes_suffice=True)
    for section, draft in drafts.items():
        paragraphs: list[DraftParagraph] = []
        for paragraph in draft.paragraphs:
            marked: list[DraftClaim] = []
            for claim in paragraph.claims:
                against = (
                    other.text
                    for other in earlier
                    if not one_work(claim.support, other.support)
                    and contradicts(claim.text, other.text, step.question)
                )
                marks = tuple(dict.fromkeys((*claim.contradicts, *against)))
                marked.append(claim.model_copy(update={"contradicts": marks}))
                earlier.append(claim)
            paragraphs.append(DraftParagraph(claims=tuple(marked)))
        whole = draft.model_copy(update={"paragraphs": tuple(paragraphs)})
        drafts[section] = with_repeated(step.drafts[section], whole)
    return Proofread(drafts=drafts)
