import pytest

from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.candidates import Candidate
from activities.contracts.evidence import Support
from activities.report.assemble import build_report
from activities.report.formats import render
from activities.report.formats.candidate_words import cells
from tests.activities.cases import FULL, INCREASED, REDUCED, planned, publish_input, pubmed, quoting, ref_of
from tests.activities.report.rendered import built, citation_faults, codes, faults, stated


def test_a_candidate_needs_a_verified_quote_from_an_item_that_names_it() -> None:
    support = (Support(evidence_id="pmid:1", quote=REDUCED),)
    report = built(
        publish_input(
            candidates=(
                Candidate(name="Metformin", support=support, evidence_quality="weak"),
                Candidate(name="Aspirin", support=support),
                Candidate(
                    name="Ibuprofen",
                    support=(Support(evidence_id="pmid:1", quote="made up words of a model"),),
                ),
            )
        )
    )
    assert [(c.name, c.evidence_quality) for c in CANDIDATES.shown(report)] == [("Metformin", "strong")]
    assert [s.text("name") for s in stated(report, "candidate_left_out")] == ["Aspirin", "Ibuprofen"]


def test_what_speaks_against_a_candidate_and_would_test_it_is_shown() -> None:
    candidate = Candidate(
        name="Metformin",
        support=(Support(evidence_id="pmid:1", quote=REDUCED),),
        against=(
            Support(evidence_id="pmid:2", quote=INCREASED),
            Support(evidence_id="pmid:1", quote="Metformin did nothing for anybody at all."),
            Support(evidence_id="pmid:3", quote="Metformin abolished all mortality in every patient"),
        ),
        search_suggestions=("metformin mortality no benefit",),
    )
    report = built(publish_input(candidates=(candidate,)))
    assert [s.evidence_id for s in CANDIDATES.shown(report)[0].against] == ["pmid:2"]
    assert faults(report) == []
    for form in ("md", "html"):
        assert "metformin mortality no benefit" in render(report, form).decode()
    assert citation_faults(render(report, "md").decode()) == []
    forged = candidate.replace(against=(Support(evidence_id="pmid:2", quote=REDUCED),))
    assert faults(report.replace(candidates=(forged,)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mechanism", "Inhibits telomerase"),
        ("proposed_mechanism", "AMPK -> immortality"),
        ("regulatory_status", "approved in 1999 for immortality"),
        ("trial_status", "PHASE4 completed"),
        ("current_indications", ("immortality",)),
    ],
)
def test_verify_finds_a_field_of_a_candidate_that_nothing_cited_says(field: str, value: object) -> None:
    report = built(FULL)
    assert faults(report) == []
    [candidate] = CANDIDATES.shown(report)
    invented = candidate.model_copy(update={field: value})
    [problem] = faults(report.replace(candidates=(invented,)))
    assert field.replace("_", " ") in problem


def test_a_candidate_under_concern_is_weak_and_none_is_said_to_be_missing() -> None:
    support = (Support(evidence_id="pmid:2", quote=INCREASED),)
    report = built(
        publish_input(candidates=(Candidate(name="metformin", support=support, evidence_quality="strong"),))
    )
    assert CANDIDATES.shown(report)[0].evidence_quality == "weak"
    draft = planned("s1", quoting("Metformin does reduce mortality.", ("pmid:1", REDUCED)))
    step = publish_input(draft, candidates=())
    assert "no_candidate" in codes(built(step))
    other = step.replace(profile="biomedical")
    assert "no_candidate" not in codes(built(other))


@pytest.mark.parametrize(
    ("status", "phase", "row"),
    [
        ("licensed by the FDA", "in phase 2", ("licensed by the FDA", "in phase 2")),
        ("licensed in Japan", "", ("", "")),
    ],
)
def test_the_row_of_a_candidate_says_what_its_page_says(
    status: str, phase: str, row: tuple[str, str]
) -> None:
    quote = "Wonderol is licensed by the FDA and in phase 2 for dementia."
    work = pubmed(9, "Wonderol in dementia", quote, "review")
    candidate = Candidate(
        name="Wonderol",
        support=(Support(evidence_id="pmid:9", quote=quote),),
        regulatory_status=status,
        trial_status=phase,
    )
    step = publish_input(candidates=(candidate,), evidence=(ref_of(work),))
    (made,) = CANDIDATES.shown(build_report(step, {"pmid:9": work}))
    _, _, approval, trials, *_ = cells(made)
    assert row[0] in approval
    assert row[1] in trials
    on_page = {field.name: [entry.text for entry in field.entries] for field in made.fields}
    assert on_page["regulatory"] == ([row[0]] if phase else [])
    assert on_page["trials"] == ([row[1]] if phase else [])
