"""Independent verification of a report: the rules of `check_bundle`, and those that need more than Python.

`examine` needs nothing but a report and its evidence as JSON lines: no store, no server, no trust in the run.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version

from activities.contracts.judge import MIN_ANSWERS
from activities.messages import in_its_language
from activities.report.check_bundle import CheckedBearer, check_report
from activities.report.formats.prose import numbers_of, section_text, summary_text
from activities.report.formats.statements import sentence, sentences
from activities.report.limitations import stated_limits
from activities.report.parts import parts_of
from activities.report.schema import Report
from activities.report.strength import WEIGHT, carried_by, confidence_of

OTHER_VERSION = (
    "it was written by another version of Determinator ({version}), whose fixed sentences differ: "
    "summary, sections as text and limitations were not compared with their data"
)
ROUNDED = 0.0001
"""By how much a stored confidence may differ from the one that is computed again."""


@dataclass(frozen=True, slots=True)
class Examination:
    run_id: str
    bearers: tuple[CheckedBearer, ...] = ()
    problems: tuple[str, ...] = ()
    """What is wrong with the report as a whole: its numbering, and text without a claim."""
    notes: tuple[str, ...] = ()
    """Parts of the report that could not be compared, with the reason."""

    @property
    def holds(self) -> bool:
        return not self.faults()

    def faults(self) -> list[str]:
        return [*(fault for bearer in self.bearers for fault in bearer.faults()), *self.problems]


def examine(report: Report, lines: Iterable[Mapping[str, object]]) -> Examination:
    """Check quotes, numbering, and that conclusions, fields and text follow from what is cited."""
    lines = list(lines)
    items = {str(line.get("evidence_id")): line for line in lines}
    bearers, problems = check_report(report.model_dump(mode="json"), lines)
    derived: dict[str, Iterator[tuple[str, ...]]] = {}
    for part in parts_of(report):
        derived |= {kind: iter(rows) for kind, rows in part.problems(report, items).items()}
    printed = (*_prose(report), *_limitations(report))
    is_of_today = report.made_with == version("determinator")
    return Examination(
        run_id=report.run_id,
        bearers=tuple(
            replace(bearer, problems=(*bearer.problems, *next(derived[bearer.kind])))
            if bearer.kind in derived
            else bearer
            for bearer in bearers
        ),
        problems=(*problems, *_confidence(report), *_grounds(report), *(printed if is_of_today else ())),
        notes=(OTHER_VERSION.format(version=report.made_with or "unknown"),)
        if printed and not is_of_today
        else (),
    )


def _confidence(report: Report) -> Iterator[str]:
    """Name a confidence without a model, or above what the judged works carry."""
    if report.confidence is None:
        return
    if report.written_by != "model":
        yield "a report that no model wrote has no confidence"
        return
    answering = (work for work in report.judgements if work.answers >= MIN_ANSWERS)
    weights = (
        (work.answers, WEIGHT[work.evidence_type] if work.evidence_type else 1.0) for work in answering
    )
    maximum = confidence_of([carried_by(answers, weight) for answers, weight in weights])
    if report.confidence > maximum + ROUNDED:
        text = f"{report.confidence:.2f}"
        yield f"its confidence of {text} is more than its works carry, as judged: {maximum:.2f} at most"


def _grounds(report: Report) -> Iterator[str]:
    """Name a confidence that is said to rest on more works than were judged to answer."""
    answering = [work.answers for work in report.judgements if work.answers >= MIN_ANSWERS]
    direct_works = sum(answers >= 3 for answers in answering)
    stated = [reason for reason in report.confidence_reasons if reason.code == "confidence_of_judgements"]
    if any(row.number("works") > len(answering) or row.number("direct") > direct_works for row in stated):
        yield "its confidence is said to rest on more works than were judged to answer"


@in_its_language
def _limitations(report: Report) -> list[str]:
    """Limitations that follow from the report itself and that it does not state."""
    problems = []
    if report.limitations != sentences(report.statements):
        problems.append("its limitations do not say what their data says")
    stated = {sentence(statement) for statement in report.statements}
    problems += [
        f"it does not state a limitation that it has: {sentence(limit)}"
        for limit in stated_limits(report)
        if sentence(limit) not in stated
    ]
    return problems


@in_its_language
def _prose(report: Report) -> list[str]:
    """Text that says more than the claims, or something else: it is made again from them and compared."""
    numbers = numbers_of(report.references)
    problems = [
        f"section {section.id} does not say its claims, and no more, with their references"
        for section in report.sections
        if section.markdown  # else it was left out of a report that was too large to travel
        and section.markdown != section_text(section, numbers)
    ]
    if report.executive_summary != summary_text(report):
        problems.append("the summary does not say its claims, and no more, with their references")
    return problems
