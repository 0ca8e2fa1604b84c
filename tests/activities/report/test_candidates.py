"""The candidates of a report and their pages: content, sources, and how each format shows it."""

from collections.abc import Mapping

import pytest

from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.candidates import (
    Candidate,
    CandidateField,
    CandidateFieldName,
    CandidateFindings,
    FieldEntry,
)
from activities.contracts.evidence import Evidence, Identifiers, Support
from activities.report.assemble import build_report
from activities.report.formats import render
from activities.report.formats.candidate_words import cells
from activities.report.parts.candidates import unique_entries
from activities.report.schema import Report
from tests.activities.cases import FULL, INCREASED, REDUCED, planned, publish_input, pubmed, quoting, ref_of
from tests.activities.report.rendered import built, citation_faults, codes, faults, stated, words_of

TRIAL = pubmed(
    10,
    "Riluzole in amyotrophic lateral sclerosis: a randomized trial",
    "Riluzole is approved for amyotrophic lateral sclerosis. Riluzole prolonged survival in 959 patients "
    "with amyotrophic lateral sclerosis. Riluzole inhibits glutamate release from nerve endings.",
    "randomized_trial",
    year=1996,
)
COHORT = pubmed(
    11,
    "Riluzole in a registry",
    "Riluzole did not slow functional decline in a registry of amyotrophic lateral sclerosis.",
    "observational",
    year=2010,
)
LABEL = Evidence(
    evidence_id="fda:1",
    source="library",
    title="RILUTEK (RILUZOLE) - drug label",
    text=(
        "Indications and usage\n1 INDICATIONS AND USAGE RILUTEK is indicated for the treatment of "
        "amyotrophic lateral sclerosis (ALS).\n\nContraindications\nSevere reactions to riluzole."
    ),
    identifiers=Identifiers(fda="1"),
    evidence_type="drug_label",
    facts={"generic_name": "RILUZOLE"},
)
DOCUMENTS = {item.evidence_id: item for item in (TRIAL, COHORT, LABEL)}
PROLONGED = "Riluzole prolonged survival in 959 patients with amyotrophic lateral sclerosis"
APPROVED = "Riluzole is approved for amyotrophic lateral sclerosis."
AGAINST = "Riluzole did not slow functional decline in a registry of amyotrophic lateral sclerosis"
INDICATED = "RILUTEK is indicated for the treatment of amyotrophic lateral sclerosis (ALS)."
RILUZOLE = Candidate(
    name="Riluzole",
    mechanism="glutamate release",
    support=(Support(evidence_id="pmid:10", quote=PROLONGED),),
    against=(Support(evidence_id="pmid:11", quote=AGAINST),),
    records=(Support(evidence_id="pmid:10", quote=APPROVED), Support(evidence_id="fda:1", quote=INDICATED)),
)
STOPPED = FieldEntry(
    text="Riluzole in a trial",
    code="TERMINATED",
    values={"nct": "NCT00000001", "phase": "PHASE2; PHASE3", "why_stopped": "Slow enrollment."},
    source="clinicaltrials",
    url="https://clinicaltrials.gov/study/NCT00000001",
    quote="Slow enrollment.",
)
FINDINGS = CandidateFindings(
    name="Riluzole",
    fields=(
        CandidateField(name="trials", status="found", entries=(STOPPED,)),
        CandidateField(name="targets", status="unreachable", silent=("chembl", "uniprot")),
        CandidateField(name="pathways", status="not_found"),
    ),
)


def report_of(
    candidate: Candidate = RILUZOLE,
    findings: CandidateFindings | None = FINDINGS,
    documents: Mapping[str, Evidence] = DOCUMENTS,
) -> Report:
    step = publish_input(
        planned("s1", quoting("Riluzole prolonged survival in 959 patients.", ("pmid:10", PROLONGED))),
        question="Which drugs might treat amyotrophic lateral sclerosis?",
        candidates=(candidate,),
    )
    stored = {"candidates": {candidate.name: findings}} if findings else {}
    return build_report(step, documents, (), stored)


def field(report: Report, name: CandidateFieldName) -> CandidateField:
    return next(found for found in CANDIDATES.of_report(report)[0].fields if found.name == name)


def test_every_entry_has_its_source() -> None:
    report = report_of()
    numbered = {reference.evidence_id for reference in report.references}
    for found in CANDIDATES.of_report(report)[0].fields:
        assert (found.status == "found") is bool(found.entries)
        for entry in found.entries:
            assert entry.source
            assert entry.url or entry.evidence_id in numbered or entry.source == "vocabulary"
            assert not entry.evidence_id or entry.evidence_id in numbered
            if entry.quote and entry.evidence_id:
                assert entry.quote in DOCUMENTS[entry.evidence_id].text


def test_a_field_is_read_from_a_label_or_says_why_it_is_empty() -> None:
    report = report_of()
    codes = {e.code: e.evidence_id for e in field(report, "regulatory").entries}
    assert codes == {"labelled": "fda:1"}
    (label,) = field(report, "indications").entries
    assert (label.code, label.evidence_id) == ("names_disease_asked", "fda:1")
    assert label.text.startswith("RILUTEK is indicated")
    targets = field(report, "targets")
    assert (targets.status, targets.silent) == ("unreachable", ("chembl", "uniprot"))
    assert field(report, "pathways").status == "not_found"
    assert field(report_of(findings=None), "pathways").status == "not_looked_up"


def test_quality_has_its_reasons_and_records_count_for_nothing_in_it() -> None:
    (candidate,) = CANDIDATES.of_report(report_of())
    assert candidate.evidence_quality == "strong"
    reasons = {reason.code: reason.values for reason in candidate.quality_reasons}
    assert reasons["quality_best"]["design"] == "randomised trial"
    assert (reasons["quality_studies"]["works"], reasons["quality_against"]["works"]) == (1, 1)
    assert reasons["quality_stopped_trials"]["trials"] == 1
    by_label = RILUZOLE.replace(support=(Support(evidence_id="pmid:11", quote=AGAINST),))
    assert CANDIDATES.of_report(report_of(by_label))[0].evidence_quality == "moderate"


def test_a_report_that_is_made_again_keeps_what_was_looked_up() -> None:
    once = report_of()
    again = report_of(CANDIDATES.of_report(once)[0], None)
    assert CANDIDATES.of_report(again)[0].fields == CANDIDATES.of_report(once)[0].fields
    assert CANDIDATES.of_report(again)[0].looked_up == ""


def test_the_page_has_sources_and_reasons() -> None:
    shown = words_of(report_of())
    for text in (
        *("Literature against", "NCT00000001", "Slow enrollment."),
        *("ChEMBL and UniProt could not be reached", "Quality of the evidence"),
    ):
        assert text in shown, text


def test_what_a_register_and_a_cited_record_say_alike_stands_once_with_its_code() -> None:
    text = "RILUTEK is indicated for the treatment of amyotrophic lateral sclerosis (ALS)."
    said = FieldEntry(text=text, code="approved", evidence_id="fda:1", source="openfda")
    whole = said.replace(text=f"{text} Limitation of use: none.", code="")
    others = (whole.replace(evidence_id="fda:2"), said.replace(code="withdrawn"))
    assert unique_entries([said, whole, *others]) == [whole.replace(code="approved"), *others]


def test_an_address_on_a_page_is_a_plain_one_or_none() -> None:
    hostile = STOPPED.replace(url="javascript:alert(1)", text="<b>bold</b> [x](y)")
    trials = CandidateField(name="trials", status="found", entries=(hostile,))
    report = report_of(findings=CandidateFindings(name="Riluzole", fields=(trials,)))
    page = render(report, "html").decode()
    assert "javascript" not in page
    assert "<b>bold</b>" not in page
    assert "](y)" not in render(report, "md").decode().replace(r"\]", "")


def test_what_a_mechanism_names_and_what_works_say_of_harm_stand_on_the_page() -> None:
    harm = "Riluzole raised liver enzymes in 12 patients."
    work = TRIAL.replace(text=f"{TRIAL.text} {harm}")
    said = (Support(evidence_id="pmid:10", quote=harm),)
    made = RILUZOLE.replace(target="glutamate release", pathway="nerve endings", safety=said)
    report = report_of(made, None, {**DOCUMENTS, "pmid:10": work})
    stated: dict[CandidateFieldName, str] = {"targets": "glutamate release", "pathways": "nerve endings"}
    for name, text in (stated | {"safety": harm}).items():
        assert text in [entry.text for entry in field(report, name).entries]
    assert all(entry.quote in work.text for entry in field(report, "targets").entries)


def test_a_candidate_needs_a_verified_quote_from_an_item_that_names_it() -> None:
    support = (Support(evidence_id="pmid:1", quote=REDUCED),)
    invented = (Support(evidence_id="pmid:1", quote="made up words of a model"),)
    candidates = (
        Candidate(name="Metformin", support=support, evidence_quality="weak"),
        Candidate(name="Aspirin", support=support),
        Candidate(name="Ibuprofen", support=invented),
    )
    report = built(publish_input(candidates=candidates))
    assert [(c.name, c.evidence_quality) for c in CANDIDATES.of_report(report)] == [("Metformin", "strong")]
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
    assert [s.evidence_id for s in CANDIDATES.of_report(report)[0].against] == ["pmid:2"]
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
    [candidate] = CANDIDATES.of_report(report)
    invented = candidate.model_copy(update={field: value})
    [problem] = faults(report.replace(candidates=(invented,)))
    assert field.replace("_", " ") in problem


def test_a_candidate_under_concern_is_weak_and_none_is_said_to_be_missing() -> None:
    support = (Support(evidence_id="pmid:2", quote=INCREASED),)
    candidate = Candidate(name="metformin", support=support, evidence_quality="strong")
    report = built(publish_input(candidates=(candidate,)))
    assert CANDIDATES.of_report(report)[0].evidence_quality == "weak"
    draft = planned("s1", quoting("Metformin does reduce mortality.", ("pmid:1", REDUCED)))
    step = publish_input(draft, candidates=())
    assert "no_candidate" in codes(built(step))
    assert "no_candidate" not in codes(built(step.replace(profile="biomedical")))


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
    (made,) = CANDIDATES.of_report(build_report(step, {"pmid:9": work}))
    _, _, approval, trials, *_ = cells(made)
    assert row[0] in approval
    assert row[1] in trials
    on_page = {field.name: [entry.text for entry in field.entries] for field in made.fields}
    assert on_page["regulatory"] == ([row[0]] if phase else [])
    assert on_page["trials"] == ([row[1]] if phase else [])
