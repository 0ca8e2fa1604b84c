"""What the claims' quotes name in answer to a question for a fact or for a list."""

from collections.abc import Mapping, Sequence

from activities.report.schema import Answer
from activities.report.summary import part_of
from activities.text.answer_reader import Passage
from activities.text.answers import ASKS_NAMES, answers, leading
from activities.text.drug_findings import Finding, together
from activities.text.giving_sentence import Said, giving
from activities.text.parts import Part
from activities.text.question import asked
from activities.text.sentences import sentences
from activities.types import Claim, Evidence

READ = 20_000
"""Characters of a work that are read for its abbreviations."""


def giving_first(
    question: str, claims: Sequence[Claim], documents: Mapping[str, Evidence]
) -> tuple[str, ...]:
    """The id of the claim whose quote gives what a question asks for of a user's own texts, where another one
    holds more of its words; none otherwise."""
    own = [
        (claim.id, support)
        for claim in claims
        for support in claim.support
        if documents[support.evidence_id].evidence_type == "document"
    ]
    place = giving(
        question,
        [Said(s.evidence_id, _place(s.quote, documents[s.evidence_id]), s.quote) for _, s in own],
    )
    return () if place is None else (own[place][0],)


def _place(quote: str, document: Evidence) -> int:
    """Which sentence of a work a quote begins with; -1 where that is not found."""
    found = (n for n, sentence in enumerate(sentences(document)) if quote[:40] in sentence.quote)
    return next(found, -1)


def answers_of(
    question: str, claims: Sequence[Claim], documents: Mapping[str, Evidence]
) -> tuple[tuple[Answer, ...], tuple[str, ...]]:
    """The answers, the best first, each with the claims whose quotes contain it; and the ids of the claims
    to read first. Both are empty where the question asks for no fact and no list, or no quote gives one.
    `documents`: the cited works by evidence id, which may define the abbreviations of their quotes."""
    if asked(question).form not in ASKS_NAMES:
        return (), ()
    quoted = [(claim.id, support) for claim in claims for support in claim.support]
    cited = dict.fromkeys(support.evidence_id for _, support in quoted)
    works = [documents[name].text[:READ] for name in cited if name in documents]
    found = answers(question, [Passage(support.evidence_id, support.quote) for _, support in quoted], works)
    drugs = "drug" in asked(question).things

    def found_of(places: Sequence[int]) -> Finding:
        """What is found of a drug by the works that are cited for it, each by itself."""
        by_work: dict[str, list[tuple[Part, str]]] = {}
        for support in (quoted[place][1] for place in places):
            part = part_of(support.quote, documents[support.evidence_id])
            by_work.setdefault(support.evidence_id, []).append((part, support.quote))
        ways = {together(said) for said in by_work.values()} - {"none"}
        return "mixed" if len(ways) > 1 else next(iter(ways), "none")

    made = tuple(
        Answer(
            text=answer.name,
            claims=tuple(dict.fromkeys(quoted[place][0] for place in answer.passages)),
            works=answer.works,
            finding=found_of(answer.passages) if drugs else "none",
        )
        for answer in found
    )
    return made, tuple(dict.fromkeys(quoted[place][0] for place in leading(question, found)))
