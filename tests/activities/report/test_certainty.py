"""Certainty by outcome: computed from what was read, each step with its reason, and left out otherwise."""

import io

import docx
import pypdf

from activities.report.certainty import certainty
from activities.report.formats import render
from activities.report.formats.model import CERTAINTY_HEAD, CERTAINTY_NOTE
from activities.report.schema import OutcomeCertainty, Reference
from activities.types import ComputedEffect, EvidenceType, WorkDirection, WorkRow
from tests.activities.report.wide import RICH

QUESTION = "Does early surgery reduce mortality in adults with hip fracture?"


def row(
    number: int,
    *,
    outcome: str = "30-day mortality",
    n: int | None = 300,
    direction: WorkDirection | None = "affirms",
    population: str = "adults with hip fracture",
    **more: object,
) -> WorkRow:
    return WorkRow.model_validate(
        {
            "evidence_id": f"pmid:{number}",
            "outcome": outcome,
            "n": n,
            "direction": direction,
            "population": population,
            **more,
        }
    )


def reference(number: int, kind: EvidenceType = "randomized_trial", study: int = 0) -> Reference:
    return Reference(
        number=number,
        evidence_id=f"pmid:{number}",
        source="pubmed",
        title="Early surgery",
        evidence_type=kind,
        study=study,
    )


def line(*rows: WorkRow, kind: EvidenceType = "randomized_trial") -> OutcomeCertainty:
    numbers = range(1, len(rows) + 1)
    (made,) = certainty(QUESTION, rows, [reference(number, kind) for number in numbers])
    return made


def steps(made: OutcomeCertainty) -> dict[str, int]:
    return {reason.domain: reason.steps for reason in made.reasons}


def test_randomized_trials_that_agree_on_enough_people_stay_high() -> None:
    made = line(row(1), row(2))
    assert (made.outcome, made.level, made.works) == ("Mortality", "high", ("pmid:1", "pmid:2"))
    assert set(steps(made).values()) == {0}
    assert all(reason.text for reason in made.reasons)


def test_other_studies_start_at_low_and_case_reports_at_very_low() -> None:
    assert line(row(1), row(2), kind="observational").level == "low"
    assert line(row(1), row(2), kind="case_report").level == "very low"


def test_each_domain_lowers_the_level_for_what_was_read() -> None:
    assert steps(line(row(1), row(2, direction="denies")))["inconsistency"] == -1
    assert steps(line(row(1, n=30), row(2, n=40)))["imprecision"] == -2
    assert steps(line(row(1, n=100), row(2, n=200)))["imprecision"] == -1
    assert (
        steps(line(row(1, conduct=("open-label",)), row(2, conduct=("12 withdrew",))))["risk_of_bias"] == -1
    )
    mice = line(row(1, population="40 mice"), row(2, population="60 rats with fracture"))
    assert steps(mice)["indirectness"] == -1
    children = line(row(1, population="newborns"), row(2, population="pregnant women"))
    assert steps(children)["indirectness"] == -1


def test_intervals_that_all_include_no_effect_are_imprecise() -> None:
    wide = ("OR 0.9 (95% CI 0.6-1.3)",)
    assert steps(line(row(1, numbers=wide), row(2, numbers=wide)))["imprecision"] == -1
    narrow = ("OR 0.7 (95% CI 0.5-0.9)",)
    assert steps(line(row(1, numbers=wide), row(2, numbers=narrow)))["imprecision"] == 0
    computed = ComputedEffect(
        text="", events=1, total=9, other_events=2, other_total=9, difference=-11.1, low=-46.0, high=26.4
    )
    both = line(row(1, computed=(computed,)), row(2, computed=(computed,)))
    assert steps(both)["imprecision"] == -1


def test_what_is_not_stated_changes_nothing_and_is_said() -> None:
    made = line(row(1, n=None, direction=None, population=""), row(2, n=None, direction=None, population=""))
    assert made.level == "high"
    said = {reason.domain: reason.text for reason in made.reasons}
    assert all("not judged" in said[domain] for domain in ("inconsistency", "imprecision", "indirectness"))


def test_the_best_design_is_rated_and_each_study_once() -> None:
    rows = [row(1), row(2), row(3)]
    kinds = [reference(1, study=7), reference(2, study=7), reference(3, "observational")]
    (made,) = certainty(QUESTION, rows, kinds)
    assert made.works == ("pmid:1",)


def test_without_a_study_of_people_or_a_shared_outcome_there_is_no_line() -> None:
    reviews = [reference(1, "review"), reference(2, "guideline")]
    assert certainty(QUESTION, [row(1), row(2)], reviews) == ()
    apart = [row(1, outcome="pain"), row(2, outcome="costs")]
    assert certainty(QUESTION, apart, [reference(1), reference(2)]) == ()


def test_every_format_shows_the_certainty_with_what_it_is() -> None:
    made = line(row(1), row(2, direction="denies"))
    report = RICH.model_copy(update={"certainty": (made,)})
    printed = render(report, "md").decode()
    assert "## Certainty" in printed
    assert CERTAINTY_NOTE in printed
    assert "| Mortality | moderate | " in printed
    assert "inconsistency: 1 of 2 affirm what is asked, 1 deny it (\u22121)" in printed
    assert "no replacement for a person" in render(report, "html").decode()
    document = docx.Document(io.BytesIO(render(report, "docx")))
    assert [*CERTAINTY_HEAD] in [[cell.text for cell in table.rows[0].cells] for table in document.tables]
    pages = pypdf.PdfReader(io.BytesIO(render(report, "pdf"))).pages
    assert any("Publication bias is not assessed" in " ".join(page.extract_text().split()) for page in pages)
    assert "Certainty" not in render(RICH, "md").decode()
