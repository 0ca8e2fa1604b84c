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
CLASSES: Mapping[str, str] = {"Y": "yes", "PY": "yes", "PN": "no", "N": "no", "NI": "unknown"}
ASSESSED: frozenset[EvidenceType] = frozenset(
    {"randomized_trial", "clinical_trial", "article", "preprint", "document", "web_page"}
)
"""Kinds of works that may be randomised trials; a person says which of them is none."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question of a flow chart, and what follows its answers: another question, or the judgement."""

    number: str
    yes: "Ask | Judgement"
    no: "Ask | Judgement"
    unknown: "Ask | Judgement"


@dataclass(frozen=True, slots=True)
class Domain:
    title: str
    questions: Mapping[str, str]
    """Number of the tool -> question, in the order in which they are answered."""
    charts: tuple[Ask, ...]
    """The domain is as bad as the worst of them."""


def yes_or_unknown(number: str, then: Ask | Judgement, no: Ask | Judgement) -> Ask:
    return Ask(number, then, no, then)


def no_or_unknown(number: str, then: Ask | Judgement, yes: Ask | Judgement) -> Ask:
    return Ask(number, yes, then, then)


def _measured(best: Judgement) -> Ask:
    """Ask who assessed the outcome, where its measurement was apt."""
    likely = yes_or_unknown("4.5", HIGH, no=SOME)
    return yes_or_unknown("4.3", yes_or_unknown("4.4", likely, no=best), no=best)


_DEVIATIONS = Ask(
    "2.3", yes=yes_or_unknown("2.4", no_or_unknown("2.5", HIGH, yes=SOME), no=SOME), no=LOW, unknown=SOME
)
_SELECTED = no_or_unknown("5.1", SOME, yes=LOW)
DOMAINS: tuple[Domain, ...] = (
    Domain(
        N_("Randomisation process"),
        {
            "1.1": N_("Was the allocation sequence random?"),
            "1.2": N_("Was it concealed until participants were enrolled and assigned?"),
            "1.3": N_("Do differences between the groups at baseline suggest a problem with randomisation?"),
        },
        (
            Ask(
                "1.2",
                yes=yes_or_unknown("1.1", no_or_unknown("1.3", LOW, yes=SOME), no=SOME),
                no=HIGH,
                unknown=no_or_unknown("1.3", SOME, yes=HIGH),
            ),
        ),
    ),
    Domain(
        N_("Deviations from the intended interventions"),
        {
            "2.1": N_("Did participants know their group during the trial?"),
            "2.2": N_("Did carers, or those who delivered the interventions, know it?"),
            "2.3": N_("Were there deviations from the interventions that arose because of the trial?"),
            "2.4": N_("Were these deviations likely to have affected the outcome?"),
            "2.5": N_("Were they balanced between the groups?"),
            "2.6": N_("Did the analysis estimate the effect of assignment (by intention to treat)?"),
            "2.7": N_("Could it matter much that participants were not analysed in their group?"),
        },
        (
            yes_or_unknown("2.1", _DEVIATIONS, no=yes_or_unknown("2.2", _DEVIATIONS, no=LOW)),
            no_or_unknown("2.6", yes_or_unknown("2.7", HIGH, no=SOME), yes=LOW),
        ),
    ),
    Domain(
        N_("Missing outcome data"),
        {
            "3.1": N_("Were data on this outcome there for all, or nearly all, participants?"),
            "3.2": N_("Is there evidence that missing data did not bias the result?"),
            "3.3": N_("Could being missing depend on the true value of the outcome?"),
            "3.4": N_("Is it likely that it did?"),
        },
        (
            no_or_unknown(
                "3.1",
                no_or_unknown(
                    "3.2", yes_or_unknown("3.3", yes_or_unknown("3.4", HIGH, no=SOME), no=LOW), yes=LOW
                ),
                yes=LOW,
            ),
        ),
    ),
    Domain(
        N_("Measurement of the outcome"),
        {
            "4.1": N_("Was the method of measuring the outcome inappropriate?"),
            "4.2": N_("Could measurement have differed between the groups?"),
            "4.3": N_("Did those who assessed the outcome know the group?"),
            "4.4": N_("Could that knowledge have influenced the assessment?"),
            "4.5": N_("Is it likely that it did?"),
        },
        (no_or_unknown("4.1", Ask("4.2", yes=HIGH, no=_measured(LOW), unknown=_measured(SOME)), yes=HIGH),),
    ),
    Domain(
        N_("Selection of the reported result"),
        {
            "5.1": N_("Were the data analysed by a plan that was final before the outcomes were known?"),
            "5.2": N_("Was the result likely chosen from several measurements of the outcome?"),
            "5.3": N_("Was it likely chosen from several analyses of the data?"),
        },
        (
            Ask(
                "5.2",
                yes=HIGH,
                no=Ask("5.3", yes=HIGH, no=_SELECTED, unknown=SOME),
                unknown=no_or_unknown("5.3", SOME, yes=HIGH),
            ),
        ),
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
    ends = [_end(chart, answers) for chart in domain.charts]
    if any(isinstance(end, Ask) for end in ends):
        return None
    return max(ends, key=JUDGEMENTS.index)  # type: ignore[arg-type]  # none is a question


def open_questions(answers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the next question of each chart that still has to be answered, in order."""
    ends = (_end(chart, answers) for domain in DOMAINS for chart in domain.charts)
    return tuple(end.number for end in ends if isinstance(end, Ask))


def _end(chart: Ask | Judgement, answers: Mapping[str, str]) -> Ask | Judgement:
    """Follow the answers through a chart, to its judgement or the first question without an answer."""
    while isinstance(chart, Ask) and chart.number in answers:
        chart = getattr(chart, CLASSES[answers[chart.number]])
    return chart


def overall(judgements: Iterable[Judgement], *, several: bool = False) -> Judgement:
    """Judge a result by its domains, one at least: as high as the highest of them.

    `several`: a person holds that some concerns in several domains together lower the confidence so much that
    the risk is high.
    """
    every = list(judgements)
    return HIGH if several and every.count(SOME) > 1 else max(every, key=JUDGEMENTS.index)


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

    def judged(self) -> Iterator[tuple[str, Judgement]]:
        """Yield the title and the judgement of each domain."""
        for domain in DOMAINS:
            judged = judgement(domain, self.by_number)
            assert judged is not None  # `decide` lets none pass that is open
            yield domain.title, judged

    @property
    def overall(self) -> Judgement:
        return overall((judged for _, judged in self.judged()), several=self.several)


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
    proposed = {value.field: value for value in proposal.values}
    rows = dict(proposed)
    for question, text in answers.items():
        answer = checked_value(FIELDS, question, text)
        if question not in proposed or proposed[question].text != answer:
            rows[question] = Value(field=question, text=answer)
    if several and not reason.strip():
        raise DecisionError("say why some concerns in several domains add up to a high risk")
    if missing := open_questions({number: row.text for number, row in rows.items()}):
        raise DecisionError(f"answer {', '.join(missing)} first")
    return BiasAssessment(
        evidence_id=proposal.evidence_id,
        outcome=outcome,
        answers=tuple(rows[number] for number in QUESTIONS if number in rows),
        decided_by=by,
        several=several,
        reason=reason.strip(),
    )
