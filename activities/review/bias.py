"""Risk of bias of a randomised trial by RoB 2: signalling questions, and the judgement that follows of them.

The five domains and the way from answers to judgements are those of the tool of 22 August 2019 for parallel
trials of individuals, for the effect of assignment to intervention (Sterne et al. 2019,
doi:10.1136/bmj.l4898; the tables of its guidance, https://www.riskofbias.info). The questions are numbered as
in the tool and worded shortly here; its own text is the one to read where an answer is in doubt.

A model proposes answers with quotes, and a person decides each of them. For other designs no tool is applied,
and the report says so.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from activities.contracts.errors import DecisionError
from activities.contracts.evidence import Frozen
from activities.review.studies import Answer, BiasProposal, SignallingAnswer

ANSWERS: tuple[Answer, ...] = get_args(Answer)
ANSWER_NAMES: Mapping[Answer, str] = {
    "Y": "yes",
    "PY": "probably yes",
    "PN": "probably no",
    "N": "no",
    "NI": "no information",
}
Judgement = Literal["low", "some_concerns", "high"]
JUDGEMENTS: tuple[Judgement, ...] = get_args(Judgement)
"""From the least bias to the most."""
JUDGEMENT_NAMES: Mapping[Judgement, str] = {
    "low": "low risk",
    "some_concerns": "some concerns",
    "high": "high risk",
}
SOURCE = "RoB 2, version of 22 August 2019 (doi:10.1136/bmj.l4898)"
YES: frozenset[Answer] = frozenset({"Y", "PY"})
NO: frozenset[Answer] = frozenset({"N", "PN"})
NO_OR_UNKNOWN: frozenset[Answer] = NO | {"NI"}
YES_OR_UNKNOWN: frozenset[Answer] = YES | {"NI"}
UNKNOWN: frozenset[Answer] = frozenset({"NI"})
When = Mapping[str, frozenset[Answer]]
Row = tuple[When, Judgement]
"""Answers to questions, and what is judged where all of them are so."""


@dataclass(frozen=True, slots=True)
class Domain:
    id: str
    title: str
    questions: Mapping[str, str]
    """Number of the tool -> question, in the order in which they are answered."""
    parts: tuple[tuple[Row, ...], ...]
    """Tables whose rows exclude each other; the domain is as bad as the worst of them."""


def _deviations(aware: When) -> Iterator[Row]:
    """What is judged of deviations where participants or carers knew the group, or may have known it."""
    yield {**aware, "2.3": NO}, "low"
    yield {**aware, "2.3": UNKNOWN}, "some_concerns"
    yield {**aware, "2.3": YES, "2.4": NO}, "some_concerns"
    yield {**aware, "2.3": YES, "2.4": YES_OR_UNKNOWN, "2.5": YES}, "some_concerns"
    yield {**aware, "2.3": YES, "2.4": YES_OR_UNKNOWN, "2.5": NO_OR_UNKNOWN}, "high"


def _measured(differs: frozenset[Answer], best: Judgement) -> Iterator[Row]:
    """What is judged of who measured, where the method was apt and `differs` is whether it differed."""
    apt: When = {"4.1": NO_OR_UNKNOWN, "4.2": differs}
    yield {**apt, "4.3": NO}, best
    yield {**apt, "4.3": YES_OR_UNKNOWN, "4.4": NO}, best
    yield {**apt, "4.3": YES_OR_UNKNOWN, "4.4": YES_OR_UNKNOWN, "4.5": NO}, "some_concerns"
    yield {**apt, "4.3": YES_OR_UNKNOWN, "4.4": YES_OR_UNKNOWN, "4.5": YES_OR_UNKNOWN}, "high"


DOMAINS: tuple[Domain, ...] = (
    Domain(
        "randomisation",
        "Randomisation process",
        {
            "1.1": "Was the allocation sequence random?",
            "1.2": "Was it concealed until participants were enrolled and assigned?",
            "1.3": "Do differences between the groups at baseline suggest a problem with randomisation?",
        },
        (
            (
                ({"1.2": YES, "1.1": YES_OR_UNKNOWN, "1.3": NO_OR_UNKNOWN}, "low"),
                ({"1.2": YES, "1.1": YES_OR_UNKNOWN, "1.3": YES}, "some_concerns"),
                ({"1.2": YES, "1.1": NO}, "some_concerns"),
                ({"1.2": UNKNOWN, "1.3": NO_OR_UNKNOWN}, "some_concerns"),
                ({"1.2": UNKNOWN, "1.3": YES}, "high"),
                ({"1.2": NO}, "high"),
            ),
        ),
    ),
    Domain(
        "deviations",
        "Deviations from the intended interventions",
        {
            "2.1": "Did participants know their group during the trial?",
            "2.2": "Did carers, or those who delivered the interventions, know it?",
            "2.3": "Were there deviations from the interventions that arose because of the trial?",
            "2.4": "Were these deviations likely to have affected the outcome?",
            "2.5": "Were they balanced between the groups?",
            "2.6": "Did the analysis estimate the effect of assignment (by intention to treat)?",
            "2.7": "Could it matter much that participants were not analysed in their group?",
        },
        (
            (
                ({"2.1": NO, "2.2": NO}, "low"),
                *_deviations({"2.1": YES_OR_UNKNOWN}),
                *_deviations({"2.1": NO, "2.2": YES_OR_UNKNOWN}),
            ),
            (
                ({"2.6": YES}, "low"),
                ({"2.6": NO_OR_UNKNOWN, "2.7": NO}, "some_concerns"),
                ({"2.6": NO_OR_UNKNOWN, "2.7": YES_OR_UNKNOWN}, "high"),
            ),
        ),
    ),
    Domain(
        "missing_data",
        "Missing outcome data",
        {
            "3.1": "Were data on this outcome there for all, or nearly all, participants?",
            "3.2": "Is there evidence that missing data did not bias the result?",
            "3.3": "Could being missing depend on the true value of the outcome?",
            "3.4": "Is it likely that it did?",
        },
        (
            (
                ({"3.1": YES}, "low"),
                ({"3.1": NO_OR_UNKNOWN, "3.2": YES}, "low"),
                ({"3.1": NO_OR_UNKNOWN, "3.2": NO, "3.3": NO}, "low"),
                ({"3.1": NO_OR_UNKNOWN, "3.2": NO, "3.3": YES_OR_UNKNOWN, "3.4": NO}, "some_concerns"),
                ({"3.1": NO_OR_UNKNOWN, "3.2": NO, "3.3": YES_OR_UNKNOWN, "3.4": YES_OR_UNKNOWN}, "high"),
            ),
        ),
    ),
    Domain(
        "measurement",
        "Measurement of the outcome",
        {
            "4.1": "Was the method of measuring the outcome inappropriate?",
            "4.2": "Could measurement have differed between the groups?",
            "4.3": "Did those who assessed the outcome know the group?",
            "4.4": "Could that knowledge have influenced the assessment?",
            "4.5": "Is it likely that it did?",
        },
        (
            (
                ({"4.1": YES}, "high"),
                ({"4.1": NO_OR_UNKNOWN, "4.2": YES}, "high"),
                *_measured(NO, "low"),
                *_measured(UNKNOWN, "some_concerns"),
            ),
        ),
    ),
    Domain(
        "reporting",
        "Selection of the reported result",
        {
            "5.1": "Were the data analysed by a plan that was final before the outcomes were known?",
            "5.2": "Was the result likely chosen from several measurements of the outcome?",
            "5.3": "Was it likely chosen from several analyses of the data?",
        },
        (
            (
                ({"5.2": YES}, "high"),
                ({"5.2": NO_OR_UNKNOWN, "5.3": YES}, "high"),
                ({"5.2": NO, "5.3": NO, "5.1": YES}, "low"),
                ({"5.2": NO, "5.3": NO, "5.1": NO_OR_UNKNOWN}, "some_concerns"),
                ({"5.2": UNKNOWN, "5.3": NO_OR_UNKNOWN}, "some_concerns"),
                ({"5.2": NO, "5.3": UNKNOWN}, "some_concerns"),
            ),
        ),
    ),
)
QUESTIONS: Mapping[str, str] = {
    number: text for domain in DOMAINS for number, text in domain.questions.items()
}
WITHOUT_UNKNOWN = frozenset({"3.2"})
"""Questions that the tool does not let answer with no information."""


def allowed(question: str) -> tuple[Answer, ...]:
    """The answers that a question may have."""
    return ANSWERS[:-1] if question in WITHOUT_UNKNOWN else ANSWERS


def judgement(domain: Domain, answers: Mapping[str, Answer]) -> Judgement | None:
    """Judge a domain by its tables; None where a question that decides it is not answered."""
    judged = [
        next((result for when, result in table if _holds(when, answers)), None) for table in domain.parts
    ]
    whole = [one for one in judged if one is not None]
    return max(whole, key=JUDGEMENTS.index) if len(whole) == len(domain.parts) else None


def _holds(when: When, answers: Mapping[str, Answer]) -> bool:
    return all(answers.get(question) in values for question, values in when.items())


def applies(domain: Domain, question: str, answers: Mapping[str, Answer]) -> bool:
    """Whether a question decides something, after the answers to those that come before it."""
    return any(
        question in when
        and all(
            answers.get(other) in values or (other > question and other not in answers)
            for other, values in when.items()
            if other != question
        )
        for table in domain.parts
        for when, _ in table
    )


def open_questions(answers: Mapping[str, Answer]) -> tuple[str, ...]:
    """The questions that still have to be answered, in order."""
    return tuple(
        question
        for domain in DOMAINS
        if judgement(domain, answers) is None
        for question in domain.questions
        if question not in answers and applies(domain, question, answers)
    )


def overall(judgements: Iterable[Judgement], *, several: bool = False) -> Judgement:
    """Judge a result by its domains, one at least: as high as the highest of them. `several`: a person holds
    that some concerns in several domains together lower the confidence so much that the risk is high."""
    every = list(judgements)
    worst: Judgement = max(every, key=JUDGEMENTS.index)
    together = several and every.count("some_concerns") > 1
    return "high" if together else worst


# proposals and decisions


class BiasAssessment(Frozen):
    """The risk of bias of one result, as a person decided it."""

    evidence_id: str
    outcome: str = ""
    answers: tuple[SignallingAnswer, ...]
    decided_by: str
    several: bool = False
    """Some concerns in several domains were held to add up to a high risk."""
    reason: str = ""
    """Why they were."""
    changed: tuple[str, ...] = ()
    """Questions whose answer is another one than the proposed."""

    @property
    def by_number(self) -> dict[str, Answer]:
        return {one.question: one.answer for one in self.answers}

    def domain(self, domain: Domain) -> Judgement:
        """Judge a domain of it."""
        judged = judgement(domain, self.by_number)
        assert judged is not None  # `decide` lets none pass that is open
        return judged

    @property
    def overall(self) -> Judgement:
        return overall(map(self.domain, DOMAINS), several=self.several)


def decide(
    proposal: BiasProposal,
    answers: Mapping[str, Answer],
    by: str,
    *,
    several: bool = False,
    reason: str = "",
) -> BiasAssessment:
    """Take a person's answers; a proposed one stands where the person gives none. Raises DecisionError where
    a question is unknown or open, or where concerns are raised without a reason."""
    for question, answer in answers.items():
        if question not in QUESTIONS:
            raise DecisionError(f"{question} is no signalling question; they are {', '.join(QUESTIONS)}")
        if answer not in allowed(question):
            raise DecisionError(
                f"{question} is answered by one of {', '.join(allowed(question))}, not {answer}"
            )
    if several and not reason.strip():
        raise DecisionError("say why some concerns in several domains add up to a high risk")
    proposed = {one.question: one for one in proposal.answers}
    rows = {
        number: proposed[number]
        if number in proposed and answers.get(number, proposed[number].answer) == proposed[number].answer
        else SignallingAnswer(question=number, answer=answers[number])
        for number in QUESTIONS
        if number in proposed or number in answers
    }
    if missing := open_questions({number: row.answer for number, row in rows.items()}):
        raise DecisionError(f"answer {', '.join(missing)} first")
    return BiasAssessment(
        evidence_id=proposal.evidence_id,
        outcome=proposal.outcome,
        answers=tuple(rows.values()),
        decided_by=by,
        several=several,
        reason=reason.strip(),
        changed=tuple(
            number for number, row in rows.items() if number in proposed and row != proposed[number]
        ),
    )
