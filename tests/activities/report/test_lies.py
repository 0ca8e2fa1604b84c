"""Lies of ten kinds, a thousand in all: none is stated in a report, in any format, and each is listed."""

import random
from collections.abc import Callable

import pytest

from activities.drafts import DraftClaim, DraftParagraph, Edited, EditedSentence, SectionDraft
from activities.judgements import Cell, Table, TableRow, WorkJudgement
from activities.publication import PublishInput
from activities.report.assemble import build_report
from activities.report.schema import Report
from activities.types import Evidence, Support
from tests.activities.cases import publish_input, quoting, ref_of
from tests.activities.report.rendered import EVERY_FORMAT, words_of
from tests.activities.report.written import section

LIES_A_KIND = 100
DRUGS = ("alphazine", "betazole", "gammapril", "deltamab", "epsistatin", "zetaxime")
OUTCOMES = ("mortality", "stroke", "fractures", "admissions", "relapse", "infections")


Works = dict[str, Evidence]


def world(chance: random.Random) -> Works:
    """Trials whose sentences are alike but for names and numbers: lies are near to the truth."""
    made = {}
    for number in range(6):
        drug, outcome = DRUGS[number], chance.choice(OUTCOMES)
        name, share = f"pmid:{number + 1}", chance.randint(11, 49)
        made[name] = Evidence(
            evidence_id=name,
            source="pubmed",
            title=f"A trial of {drug} in adults",
            text=(
                f"Adults took {drug} or placebo for {chance.randint(3, 9)} years. In it {drug} reduced "
                f"{outcome} by {share}% among {chance.randint(100, 999)} adults. It was well tolerated by "
                "the participants of both groups."
            ),
            year=2000 + number,
            evidence_type="randomized_trial",
            standing="none",
        )
    return made


def found(item: Evidence) -> str:
    """The sentence of a trial with its result."""
    return item.text.split(". ")[1] + "."


def numbered(chance: random.Random) -> str:
    return f"{chance.randint(1001, 9999)}"


Lie = Callable[[random.Random, Works, str], tuple[str, PublishInput]]


def drafted(*claims: DraftClaim, **more: object) -> PublishInput:
    draft = SectionDraft(paragraphs=(DraftParagraph(claims=claims),))
    return publish_input(section("s1", draft), profile="general", **more)


def two(chance: random.Random, works: Works) -> tuple[Evidence, Evidence]:
    one, other = chance.sample(list(works.values()), 2)
    return one, other


def a_number_changed(chance: random.Random, works: Works, mark: str) -> tuple[str, PublishInput]:
    item, _ = two(chance, works)
    text = f"{mark}: it reduced events by {numbered(chance)}%."
    return text, drafted(quoting(text, (item.evidence_id, found(item))))


def a_direction_turned(chance: random.Random, works: Works, mark: str) -> tuple[str, PublishInput]:
    item, _ = two(chance, works)
    text = f"{mark}: it increased the events in the trial."
    return text, drafted(quoting(text, (item.evidence_id, found(item))))


def a_denial(chance: random.Random, works: Works, mark: str) -> tuple[str, PublishInput]:
    item, _ = two(chance, works)
    text = f"{mark}: it did not reduce the events in the trial."
    return text, drafted(quoting(text, (item.evidence_id, found(item))))


def a_quote_of_another_work(chance: random.Random, works: Works, mark: str) -> tuple[str, PublishInput]:
    item, other = two(chance, works)
    text = f"{mark}: it reduced events."
    return text, drafted(quoting(text, (item.evidence_id, found(other))))


def a_work_that_does_not_exist(chance: random.Random, works: Works, mark: str) -> tuple[str, PublishInput]:
    item, _ = two(chance, works)
    text = f"{mark}: it reduced events."
    return text, drafted(quoting(text, (f"pmid:{numbered(chance)}", found(item))))


def two_works_merged(chance: random.Random, works: Works, mark: str) -> tuple[str, PublishInput]:
    item, other = two(chance, works)
    text = f"{mark}: both trials found an increase of events."
    quotes = ((item.evidence_id, found(item)), (other.evidence_id, found(other)))
    return text, drafted(quoting(text, *quotes))


def a_fact_of_the_editor(chance: random.Random, works: Works, mark: str) -> tuple[str, PublishInput]:
    item, _ = two(chance, works)
    text = f"{mark}: events fell by {numbered(chance)}%."
    true = quoting(found(item), (item.evidence_id, found(item)))
    edited = Edited(executive_summary=(EditedSentence(text=text, claims=("s1c1",)),))
    return text, drafted(true, edited=edited)


def a_cell_of_another_work(chance: random.Random, works: Works, mark: str) -> tuple[str, PublishInput]:
    item, other = two(chance, works)
    text = f"{mark} adults"
    cell = Cell(text=text, support=Support(evidence_id=other.evidence_id, quote=found(other)))
    row = TableRow(evidence_id=item.evidence_id, cells={"dose": cell})
    return text, drafted(
        quoting(found(item), (item.evidence_id, found(item))), table=Table(columns=("dose",), rows=(row,))
    )


def a_judgement_of_a_work_not_shown(
    chance: random.Random, works: Works, mark: str
) -> tuple[str, PublishInput]:
    item, _ = two(chance, works)
    text = f"{mark}: it was found to help."
    judgement = WorkJudgement(evidence_id=f"pmid:{numbered(chance)}", answers=3, finding=text)
    return text, drafted(quoting(found(item), (item.evidence_id, found(item))), judgements=(judgement,))


def a_finding_that_the_work_does_not_have(
    chance: random.Random, works: Works, mark: str
) -> tuple[str, PublishInput]:
    item, _ = two(chance, works)
    text = f"{mark}: it reduced events by {numbered(chance)}%."
    support = (Support(evidence_id=item.evidence_id, quote=found(item)),)
    judgement = WorkJudgement(evidence_id=item.evidence_id, answers=3, finding=text, support=support)
    return text, drafted(quoting(found(item), (item.evidence_id, found(item))), judgements=(judgement,))


KINDS: tuple[Lie, ...] = (
    a_number_changed,
    a_direction_turned,
    a_denial,
    a_quote_of_another_work,
    a_work_that_does_not_exist,
    two_works_merged,
    a_fact_of_the_editor,
    a_cell_of_another_work,
    a_judgement_of_a_work_not_shown,
    a_finding_that_the_work_does_not_have,
)


def stated(report: Report) -> str:
    """Everything that a report says but the list of what was refused."""
    clean = report.verification.model_copy(update={"dropped": ()})
    return report.model_copy(update={"verification": clean}).model_dump_json()


@pytest.mark.parametrize("lie", KINDS)
def test_a_lie_is_stated_nowhere_and_listed_as_refused(lie: Lie) -> None:
    chance = random.Random(lie.__name__)
    for number in range(LIES_A_KIND):
        works = world(chance)
        mark = f"Lie{number}"
        text, step = lie(chance, works, mark)
        step = step.model_copy(update={"evidence": tuple(map(ref_of, works.values()))})
        report = build_report(step, works)
        assert mark not in stated(report), text
        assert text in {dropped.text for dropped in report.verification.dropped}, text


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_no_format_states_a_lie(name: str) -> None:
    chance = random.Random(name)
    for number, lie in enumerate(KINDS):
        works = world(chance)
        _, step = lie(chance, works, f"Lie{number}")
        update = {"evidence": tuple(map(ref_of, works.values())), "length": "full"}
        report = build_report(step.model_copy(update=update), works)
        assert f"Lie{number}" in words_of(report, name)
        clean = report.verification.model_copy(update={"dropped": ()})
        assert f"Lie{number}" not in words_of(report.model_copy(update={"verification": clean}), name)
