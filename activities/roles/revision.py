"""The revision of a whole report: its writer criticises its draft first, then writes it once more."""

from collections.abc import Iterator, Sequence

from activities.contracts.judge import Refused
from activities.contracts.write import Written
from activities.report.formats.statements import sentence as in_words
from activities.roles.prompt import fence, listing

MAX_CRITIQUE, MAX_CRITIQUE_CHARS = 6, 500
"""Points of a critique, and characters of each."""
REVISE = (
    "`critique`, first: read your draft as the one who asked and has to use it today, and as the one who "
    "gets what it is to send. At most six things that must change, the gravest first, each with what "
    "should stand there: what contradicts itself (opening, tables, advice, what is to be sent) or "
    "misleads; what says more or less than the works, or holds for others than the reader is told; a "
    "figure that is taken for something else; a part of the question without a plain verdict; advice that "
    "the works speak against, or steps of which two cannot both be taken; a conflict of works that decides "
    "and is not faced; what a text to be sent gives away; what serves nobody or is said twice. No matter of "
    "taste. `report`: then the whole text once more, in the form above. Mend each of these points, and what "
    "was refused, where it belongs, not in a sentence added behind; leave word for word what needs no "
    "change. The text gets no longer than the draft: what is added takes the place of what matters "
    "less. The draft has its figures filled in: they stay as printed. What it "
    "computed and proposed need not be listed again; list what is new. Answer with JSON."
)
MAX_SHOWN, MAX_SHOWN_CHARS = 160, 600
"""Computations and refused sentences of a draft that are shown, and characters of each."""


def draft_listing(first: Written, refusals: Sequence[Refused]) -> Iterator[str]:
    """Show a draft, and which of its sentences a check refused."""
    yield "Your draft:\n" + fence("draft", first.report)
    yield listing("Computed in it", first.computed, MAX_SHOWN, MAX_SHOWN_CHARS)
    yield listing("Proposed in it", first.proposed, MAX_SHOWN, MAX_SHOWN_CHARS)
    rows = [f"{refusal.text} ({in_words(refusal.reason)})" for refusal in refusals]
    yield listing("Refused of it", rows, MAX_SHOWN, MAX_SHOWN_CHARS)
