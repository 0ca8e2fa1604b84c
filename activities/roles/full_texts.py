"""How a work is shown whole to those who read it for a review, and the quotes that their answers rest on.

A text that is too long is shown by the passages nearest to each thing that is asked of it: a criterion, a
field, a signalling question. Sentences have labels; a line without one, such as the row of a table, is quoted
by copying it. Both go through the quote check.
"""

from collections.abc import Iterable, Sequence

from activities.contracts.evidence import Evidence, Support
from activities.contracts.step import Role, StepContext
from activities.roles.fields import Loose, SentenceLabels, Text, limits
from activities.roles.role import Prompt
from activities.roles.validation import resolve, supports
from activities.roles.works import compose_works
from activities.text.ranking import rank
from activities.verification.quote_check import QuoteChecker

MAX_REASON_CHARS = 240
WHOLE_CHARS = 24_000
"""Characters of a text that is shown whole where the prompt has room."""
PASSAGES_CHARS = 16_000
"""Characters of the passages of a longer one."""
NEAREST = 3
"""Sentences that are shown for each thing that is asked, before all others."""


class QuotedAnswer(Loose):
    """An answer with the words of the work that it rests on."""

    reason: Text = limits(length=MAX_REASON_CHARS, default="")
    sentences: SentenceLabels = limits(items=3, default_factory=list)
    copied: Text = limits(length=600, default="")

    def quotes(self, prompt: Prompt, document: Evidence) -> tuple[Support, ...]:
        """Return the quotes that stand in the text of the work: labelled sentences, else a copied line."""
        sentences, _ = resolve(self.sentences, prompt)
        quotes = supports(sentence for sentence in sentences if sentence.evidence_id == document.evidence_id)
        if not quotes and self.copied.strip():
            quotes = (Support(evidence_id=document.evidence_id, quote=self.copied.strip()),)
        return QuoteChecker({document.evidence_id: document}).supports(quotes).support


def compose_full_text(
    role: Role,
    step: StepContext,
    documents: Sequence[Evidence],
    *,
    room: int,
    task: str,
    inputs: Sequence[str],
    questions: Iterable[str],
) -> Prompt:
    """Make the prompt of a role that reads one work. `questions`: what is asked of it, a text each."""
    texts = [text for text in questions if text.strip()]
    quotes = {
        document.evidence_id: nearest_quotes(document, texts)
        for document in documents
        if len(document.text) > WHOLE_CHARS
    }
    return compose_works(
        role,
        step,
        documents,
        room=room,
        task=task,
        inputs=inputs,
        quotes=quotes,
        chars=WHOLE_CHARS,
        passages=PASSAGES_CHARS,
    )


def nearest_quotes(document: Evidence, texts: Sequence[str], count: int = NEAREST) -> tuple[str, ...]:
    """Return the sentences nearest to each of several texts, the first of every text first."""
    rows = [
        [ranked.sentence.quote for ranked in item.sentences[:count]]
        for text in texts
        for item in rank(text, [document])
    ]
    return tuple(dict.fromkeys(row[place] for place in range(count) for row in rows if place < len(row)))
