"""Risk of bias of a randomised trial by RoB 2: signalling questions, and the judgement that follows of them.

The five domains and the way from answers to judgements are those of the tool of 22 August 2019 for parallel
trials of individuals, for the effect of assignment to intervention (Sterne et al. 2019,
doi:10.1136/bmj.l4898; the algorithms of its guidance, https://www.riskofbias.info, which were compared with
the flow charts of its short version question by question). The questions are numbered as in the tool and
worded shortly here; its own text is the one to read where an answer is in doubt.

A model proposes answers with quotes, and a person decides each of them. For other designs no tool is applied,
and the report says so.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from activities.contracts.errors import DecisionError
from activities.contracts.evidence import EvidenceType, Frozen
from activities.messages import N_
from activities.review.extraction import AskedField, Extraction, Value, checked_value

Answer = Literal["Y", "PY", "PN", "N", "NI"]
"""Yes, probably yes, probably no, no, no information."""
ANSWERS: tuple[Answer, ...] = get_args(Answer)
ANSWER_NAMES: Mapping[str, str] = {
    "Y": N_("yes"),
    "PY": N_("probably yes"),
    "PN": N_("probably no"),
    "N": N_("no"),
    "NI": N_("no information"),
}
Judgement = Literal["low", "some_concerns", "high"]
JUDGEMENTS: tuple[Judgement, ...] = get_args(Judgement)
"""From the least bias to the most."""
JUDGEMENT_NAMES: Mapping[Judgement, str] = {
    "low": N_("low risk"),
    "some_concerns": N_("some concerns"),
    "high": N_("high risk"),
}
SOURCE = "RoB 2, version of 22 August 2019 (doi:10.1136/bmj.l4898)"
LOW, SOME, HIGH = JUDGEMENTS
CLASSES: Mapping[str, int] = {"Y": 0, "PY": 0, "PN": 1, "N": 1, "NI": 2}
"""Answer -> its place in a step of a chart."""
ASSESSED: frozenset[EvidenceType] = frozenset(
    {"randomized_trial", "clinical_trial", "article", "preprint", "document", "web_page"}
)
"""Kinds of works that may be randomised trials; a person says which of them is none."""


STEPS: Mapping[str, tuple[str, str, str]] = {
    "1.1": ("1.3", SOME, "1.3"),
    "1.2": ("1.1", HIGH, "1.3 unconcealed"),
    "1.3": (SOME, LOW, LOW),
    "1.3 unconcealed": (HIGH, SOME, SOME),
    "2.1": ("2.3", "2.2", "2.3"),
    "2.2": ("2.3", LOW, "2.3"),
    "2.3": ("2.4", LOW, SOME),
    "2.4": ("2.5", SOME, "2.5"),
    "2.5": (SOME, HIGH, HIGH),
    "2.6": (LOW, "2.7", "2.7"),
    "2.7": (HIGH, SOME, HIGH),
    "3.1": (LOW, "3.2", "3.2"),
    "3.2": (LOW, "3.3", "3.3"),
    "3.3": ("3.4", LOW, "3.4"),
    "3.4": (HIGH, SOME, HIGH),
    "4.1": (HIGH, "4.2", "4.2"),
    "4.2": (HIGH, "4.3", "4.3 unlike"),
    "4.3": ("4.4", LOW, "4.4"),
    "4.3 unlike": ("4.4 unlike", SOME, "4.4 unlike"),
    "4.4": ("4.5", LOW, "4.5"),
    "4.4 unlike": ("4.5", SOME, "4.5"),
    "4.5": (HIGH, SOME, HIGH),
    "5.1": (LOW, SOME, SOME),
    "5.2": (HIGH, "5.3", "5.3 measured"),
    "5.3": (HIGH, "5.1", SOME),
    "5.3 measured": (HIGH, SOME, SOME),
}
"""The flow charts: question -> what follows yes, no and no information, a question or the judgement.

One that stands twice in a chart has a word behind its number where the way to it was another.
"""


@dataclass(frozen=True, slots=True)
class Domain:
    title: str
    starts: tuple[str, ...]
    """Where its charts begin; the domain is as bad as the worst of them."""
    questions: Mapping[str, str]
    """Number of the tool -> question, in the order in which they are answered."""


DOMAINS: tuple[Domain, ...] = (
    Domain(
        N_("Randomisation process"),
        ("1.2",),
        {
            "1.1": N_("Was the allocation sequence random?"),
            "1.2": N_("Was it concealed until participants were enrolled and assigned?"),
            "1.3": N_("Do differences between the groups at baseline suggest a problem with randomisation?"),
        },
    ),
    Domain(
        N_("Deviations from the intended interventions"),
        ("2.1", "2.6"),
        {
            "2.1": N_("Did participants know their group during the trial?"),
            "2.2": N_("Did carers, or those who delivered the interventions, know it?"),
            "2.3": N_("Were there deviations from the interventions that arose because of the trial?"),
            "2.4": N_("Were these deviations likely to have affected the outcome?"),
            "2.5": N_("Were they balanced between the groups?"),
            "2.6": N_("Did the analysis estimate the effect of assignment (by intention to treat)?"),
            "2.7": N_("Could it matter much that participants were not analysed in their group?"),
        },
    ),
    Domain(
        N_("Missing outcome data"),
        ("3.1",),
        {
            "3.1": N_("Were data on this outcome there for all, or nearly all, participants?"),
            "3.2": N_("Is there evidence that missing data did not bias the result?"),
            "3.3": N_("Could being missing depend on the true value of the outcome?"),
            "3.4": N_("Is it likely that it did?"),
        },
    ),
    Domain(
        N_("Measurement of the outcome"),
        ("4.1",),
        {
            "4.1": N_("Was the method of measuring the outcome inappropriate?"),
            "4.2": N_("Could measurement have differed between the groups?"),
            "4.3": N_("Did those who assessed the outcome know the group?"),
            "4.4": N_("Could that knowledge have influenced the assessment?"),
            "4.5": N_("Is it likely that it did?"),
        },
    ),
    Domain(
        N_("Selection of the reported result"),
        ("5.2",),
        {
            "5.1": N_("Were the data analysed by a plan that was final before the outcomes were known?"),
            "5.2": N_("Was the result likely chosen from several measurements of the outcome?"),
            "5.3": N_("Was it likely chosen from several analyses of the data?"),
        },
    ),
)
QUESTIONS: Mapping[str, str] = {
    number: text for domain in DOMAINS for number, text in domain.questions.items()
}
WITHOUT_UNKNOWN = frozenset({"3.2"})
"""Questions that the tool does not let answer with no information."""
FIELDS: tuple[AskedField, ...] = tuple(
    AskedField(
        id=number,
        label=text,
        kind="choice",
        choices=ANSWERS[:-1] if number in WITHOUT_UNKNOWN else ANSWERS,
        guesses=("PY", "PN", "N" if number in WITHOUT_UNKNOWN else "NI"),
    )
    for number, text in QUESTIONS.items()
)
"""The questions as fields of a study, whose values are answers."""


def judgement(domain: Domain, answers: Mapping[str, str]) -> Judgement | None:
    """Judge a domain by its charts; None where a question that decides it is not answered."""
    ends = [_end(start, answers) for start in domain.starts]
    reached: list[Judgement] = [name for name in JUDGEMENTS if name in ends]
    return None if set(ends) - set(JUDGEMENTS) else reached[-1]


def open_questions(answers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the next question of each chart that still has to be answered, in order."""
    ends = (_end(start, answers) for domain in DOMAINS for start in domain.starts)
    return tuple(end for end in ends if end not in JUDGEMENTS)


def _end(step: str, answers: Mapping[str, str]) -> str:
    """Follow the answers through a chart, to its judgement or the first question without an answer."""
    while step not in JUDGEMENTS:
        number = step.partition(" ")[0]
        if number not in answers:
            return number
        step = STEPS[step][CLASSES[answers[number]]]
    return step


def overall(judgements: Iterable[Judgement], *, several: bool = False) -> Judgement:
    """Judge a result by its domains, one at least: as high as the highest of them.

    `several`: a person holds that some concerns in several domains together lower the confidence so much that
    the risk is high.
    """
    levels = list(judgements)
    return HIGH if several and levels.count(SOME) > 1 else max(levels, key=JUDGEMENTS.index)


class BiasAssessment(Frozen):
    """The risk of bias of one result, as a person decided it."""

    evidence_id: str
    outcome: str = ""
    answers: tuple[Value, ...]
    decided_by: str
    several: bool = False
    """Some concerns in several domains were held to add up to a high risk."""
    reason: str = ""
    """Why they were."""

    @property
    def by_number(self) -> dict[str, str]:
        return {answer.field: answer.text for answer in self.answers}

    def judgements(self) -> Iterator[tuple[str, Judgement]]:
        """Yield the title and the judgement of each domain."""
        for domain in DOMAINS:
            level = judgement(domain, self.by_number)
            assert level is not None  # `decide` lets none pass that is open
            yield domain.title, level

    @property
    def overall(self) -> Judgement:
        return overall((level for _, level in self.judgements()), several=self.several)


def decide(
    proposal: Extraction,
    outcome: str,
    answers: Mapping[str, str],
    by: str,
    *,
    several: bool = False,
    reason: str = "",
) -> BiasAssessment:
    """Take a person's answers; a proposed one stands where the person gives none.

    Raises DecisionError where a question is unknown or open, or where concerns are raised without a reason.
    """
    answers_by_id = {value.field: value for value in proposal.values}
    rows = dict(answers_by_id)
    for question, text in answers.items():
        answer = checked_value(FIELDS, question, text)
        if question not in answers_by_id or answers_by_id[question].text != answer:
            rows[question] = Value(field=question, text=answer)
    if several and not reason.strip():
        raise DecisionError("say why some concerns in several domains add up to a high risk")
    if questions := open_questions({number: row.text for number, row in rows.items()}):
        raise DecisionError(f"answer {', '.join(questions)} first")
    return BiasAssessment(
        evidence_id=proposal.evidence_id,
        outcome=outcome,
        answers=tuple(rows[number] for number in QUESTIONS if number in rows),
        decided_by=by,
        several=several,
        reason=reason.strip(),
    )
