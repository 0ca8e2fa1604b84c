"""A report that was written without a model: each claim once, by work; the table of works with its places."""

import pytest

from activities.report.formats import render
from activities.report.formats.view import view_of
from activities.report.schema import Report
from activities.types import Candidate, CandidateField, WorkRow
from tests.activities.report.test_html import page_of
from tests.activities.report.wide import RICH

BRIEF = RICH.model_copy(
    update={"methodology": RICH.methodology.model_copy(update={"models": ("extractive",)})}
)


def with_rows(*rows: WorkRow) -> Report:
    return BRIEF.model_copy(update={"works": rows})


def test_a_brief_prints_each_claim_once_in_markdown() -> None:
    text = render(BRIEF, "md").decode()
    view = view_of(BRIEF)
    before = text[: text.index("## Contradictions")]
    claims = [*view.summary, *(c for s in view.sections for c in s.claims)]
    assert sorted(c.anchor for c in claims) == sorted(c.id for s in BRIEF.sections for c in s.claims)
    for claim in claims:
        assert before.count(claim.text.removesuffix(".")) == 1


def test_a_brief_has_the_table_of_works_before_its_sections_and_a_report_with_a_model_after_them() -> None:
    for report, first in ((BRIEF, True), (RICH, False)):
        heads = [line for line in render(report, "md").decode().splitlines() if line.startswith("## ")]
        assert (heads.index("## Works") < heads.index("## Benefit")) is first


def test_works_that_measured_the_same_stand_together() -> None:
    ids = [r.evidence_id for r in BRIEF.references]
    measured = ("all-cause mortality", "quality of life", "mortality rate at one year")
    rows = [WorkRow(evidence_id=i, outcome=what) for i, what in zip(ids, measured, strict=False)]
    groups = view_of(with_rows(*rows)).work_groups
    assert [w.outcome for w in groups[0].works] == [measured[0], measured[2]]
    assert groups[0].name == "Mortality"
    assert sum(len(group.works) for group in groups) == len(ids)


def test_each_field_that_was_read_leads_to_its_sentence() -> None:
    place = "We randomly assigned 40 patients with asthma to one of two diets."
    number = "It was lower (OR 0.5, 95% CI 0.3-0.8; p=0.01)."
    row = WorkRow(
        evidence_id=BRIEF.references[0].evidence_id,
        n=40,
        population="40 patients with asthma",
        numbers=("OR 0.5, 95% CI 0.3-0.8",),
        places={"n": place, "population": place, "numbers": number, "numbers.0": number},
    )
    page = page_of(with_rows(row))
    links = page.xpath("//table[@id='works']//a[@class='read']")
    assert [link.text for link in links] == ["40", "40 patients with asthma", "OR 0.5, 95% CI 0.3-0.8"]
    shown = [page.xpath(f"//aside[@id='{link.get('href')[1:]}']/blockquote")[0] for link in links]
    assert [quote.text_content() for quote in shown] == [place, place, number]
    assert shown[1].xpath("mark/text()") == ["40 patients with asthma"]


@pytest.mark.parametrize("form", ["docx", "pdf"])
def test_a_brief_is_rendered_in_formats_for_printing(form: str) -> None:
    assert len(render(BRIEF, form)) > 5_000


def test_works_that_point_one_way_and_report_one_study_are_named() -> None:
    first, second, *rest = BRIEF.references
    pair = [r.model_copy(update={"study": 7}) for r in (first, second)]
    rows = tuple(WorkRow(evidence_id=r.evidence_id, direction="affirms") for r in pair)
    apart = BRIEF.model_copy(
        update={"references": (*(r.model_copy(update={"study": n}) for n, r in enumerate(pair, 1)), *rest)}
    )
    said, said_apart = (
        view_of(r.model_copy(update={"works": rows})).balance
        for r in (BRIEF.model_copy(update={"references": (*pair, *rest)}), apart)
    )
    assert f"[{first.number}] and [{second.number}] report one study" in said
    assert "one study" not in said_apart


def test_what_was_not_found_of_a_candidate_is_said_once_and_makes_no_column() -> None:
    fields = tuple(
        CandidateField(name=name, entries=(), status="not_looked_up") for name in ("targets", "trials")
    )
    bare = Candidate(name="Metformin", evidence_quality="weak", support=RICH.sections[0].claims[0].support)
    view = view_of(BRIEF.model_copy(update={"candidates": (bare.model_copy(update={"fields": fields}),)}))
    (candidate,) = view.candidates
    assert [field.label for field in candidate.fields] == ["Targets, trials"]
    assert "Trials" not in view.candidate_head
    assert len(view.candidate_head) == len(candidate.cells)
