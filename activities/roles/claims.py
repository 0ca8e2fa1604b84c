"""The sentences, items and rows of a writer, each with what the gate decides of it.

Code finds the quotes that figures and computations need; those that carry what a sentence means the second
reader names (`activities.verification.gate`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from activities.contracts.evidence import Support
from activities.contracts.judge import Refused
from activities.contracts.write import DraftClaim
from activities.roles.prose import ProseRow
from activities.roles.role import Prompt
from activities.roles.validation import refusal
from activities.text.numbers import figures, read
from activities.verification import gate
from activities.verification.computed import Computations
from activities.verification.expressions import label_of, operands_of, result_of, without_label
from activities.verification.quotes import quotes_of_figures, quotes_of_operands
from activities.verification.verdicts import PLACE

MAX_GENERAL = 40
"""Sentences of general knowledge of a draft."""


class Checks:
    """The checks of the sentences of one answer."""

    def __init__(
        self, prompt: Prompt, expressions: Sequence[str], proposed: Sequence[str] = (), text: str = ""
    ) -> None:
        """Read the works that a writer was shown.

        `expressions`: its computations. `proposed`: the figures that it sets itself. `text`: what it wrote,
        whose dates a second reader reads."""
        self._documents = {document.evidence_id: document for document in prompt.works.values()}
        self._sentences = tuple(prompt.sentences.values())
        self._context = prompt.question
        works = [*map(gate.text_of, self._documents.values()), prompt.question]
        self._computations = Computations(expressions, works, [*works, text])
        self._proposed = [number.text for text in proposed for number in read(text).numbers]
        self._question_figures = {number.text for number in figures(prompt.question)}
        self._general = 0
        """Sentences of general knowledge so far."""
        self.refused: list[Refused] = []
        """Sentences that cite nothing that was shown."""

    def fill(self, text: str, language: str) -> str:
        """Return a text with the figures that it leaves to its computations."""
        return self._computations.fill(text, language)

    @property
    def results(self) -> list[str]:
        """The values that its computations give, as they may be printed."""
        results = self._computations.results
        amounts = (f"{value:.2f}" for result in results for value in result.values)
        return [*(result.printed for result in results), *amounts]

    def with_results(self, expression: str) -> str:
        """Return a computation with what others give in the place of their labels."""
        return self._computations.with_results(expression)

    def claims(self, rows: Iterable[ProseRow]) -> tuple[DraftClaim, ...]:
        """Return the sentences of a block, each once."""
        claims: dict[str, DraftClaim] = {}
        for row in rows:
            if row.unknown and not row.claim.cites:
                label = ", ".join(row.unknown)
                self.refused.append(refusal("claim", row.claim.text, "label_unknown", label=label))
            elif row.claim.text:
                claims.setdefault(row.claim.text, self.claim(row.claim))
        return tuple(claims.values())

    def claim(self, claim: DraftClaim) -> DraftClaim:
        """Return a sentence with its quotes as far as code knows them, and with what the gate decides of it.

        A row loses the fields whose figures do not follow, and stands with the others; `problem` says why."""
        if claim.kind == "background":
            return gate.with_decision(claim, self._decide_general(claim))
        if len(claim.cites) == 1 and not claim.is_row and (quote := self._verbatim_quote(claim)):
            claim = claim.replace(support=(quote,))
        headings = gate.stated_headings([head for head, _ in claim.cells], self._documents.values())
        context = "\n".join((self._context, *headings))
        decision = self._decide(claim, claim.text, context)
        while new_figures := self._new_figures(claim, decision):
            claim = claim.replace(proposed=(*claim.proposed, *new_figures))
            context = "\n".join((context, *new_figures))
            decision = self._decide(claim, claim.text, context)
        problem = decision.refusal
        if claim.is_row and problem is not None and problem.code in gate.NUMERIC:
            (head, label), *other_cells = claim.cells
            fields = [
                (name, "" if field and self._decide(claim, field, context).refusal else field)
                for name, field in other_cells
            ]
            row = claim.shaped([(head, label), *fields])
            row_decision = self._decide(claim, row.text, context)
            if any(field for _, field in fields) and row_decision.refusal is None:
                claim, decision = row, row_decision
        claim = gate.with_decision(claim, decision).replace(problem=problem)
        if claim.state != "ask":
            return claim
        works = [self._documents[name] for name in claim.cites if name in self._documents]
        quotes = [*quotes_of_figures(claim, works, context), *self._operands(claim)]
        return claim.replace(support=tuple(dict.fromkeys((*claim.support, *quotes))))

    def _new_figures(self, claim: DraftClaim, decision: gate.Decision) -> tuple[str, ...]:
        """Return the figures of a sentence without works that its writer sets: no work has them."""
        if claim.cites:
            return ()
        own_figures = {n.text for n in read(claim.text).numbers} - self._question_figures - {*claim.proposed}
        missing = [decision.refusal.text("number")] if decision.refusal else []
        missing += map(result_of, decision.computed)
        values = {value for text in missing for value in (text, *_values_of(text))}
        proposed = (n for n in dict.fromkeys(self._proposed) if n in own_figures)
        return tuple(n for n in proposed if n in values or _values_of(n) & values)

    def _decide_general(self, claim: DraftClaim) -> gate.Decision:
        """Decide on general knowledge, of which a text has a few sentences."""
        self._general += 1
        if self._general > MAX_GENERAL:
            return gate.refuse("general_many", most=str(MAX_GENERAL))
        return gate.background(claim.text, self._context)

    def _decide(self, claim: DraftClaim, text: str, context: str) -> gate.Decision:
        """Decide on a text of a claim; a number may stand in another work than it cites, which is read."""

        def decide(cites: Sequence[str]) -> gate.Decision:
            return gate.sentence(
                text,
                cites,
                self._documents,
                context,
                quotes=[support.quote for support in claim.support],
                computations=self._computations,
                is_row=claim.is_row,
            )

        if line := self._computations.unfilled(text):
            number, computation = f"{{{label_of(line)}}}", without_label(line)
            return gate.refuse("number_not_computed", number=number, computation=computation)
        decision = decide(claim.cites)
        may_widen = claim.cites and decision.refusal is not None and decision.refusal.code in gate.MISSING
        if not may_widen or (wider := decide(())).refusal is not None:
            return decision
        rows = tuple(dict.fromkeys((*decision.computed, *wider.computed)))
        return replace(wider, computed=rows)

    def _verbatim_quote(self, claim: DraftClaim) -> Support | None:
        """Return the sentence of the cited work that a claim is, word for word."""
        quotes = (s.quote for s in self._sentences if s.evidence_id == claim.cites[0])
        quote = next((quote for quote in quotes if gate.is_quote(claim.body, [quote])), "")
        return Support(evidence_id=claim.cites[0], quote=quote) if quote else None

    def _operands(self, claim: DraftClaim) -> Iterable[Support]:
        """Return the sentences that state the numbers and dates of its computations.

        What its writer leaves without works follows from other sentences, which have theirs."""
        if not claim.cites:
            return ()
        figures_of_rows = (figures(result_of(row)) for row in claim.computed)
        results = {value for numbers in figures_of_rows for number in numbers for value in number.values}
        operands = [
            operand
            for row in claim.computed
            for operand in operands_of(row)
            if not any(number.values & results for number in figures(operand))
        ]
        return quotes_of_operands(operands, claim.cites, self._sentences)


def _values_of(text: str) -> set[Decimal]:
    """Return the values of the figures of a text."""
    return {value for number in figures(text) for value in number.values}


def in_shape_of(first: DraftClaim, row: ProseRow) -> DraftClaim:
    """Return what was written in the place of a first wording."""
    return row.claim.replace(**{name: getattr(first, name) for name in PLACE})


def ids_by_label(prompt: Prompt) -> dict[str, str]:
    """Return label -> id of the works that a model was shown."""
    return {label: document.evidence_id for label, document in prompt.works.items()}
