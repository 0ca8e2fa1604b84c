"""What kind of evidence a text is: said only for a cue."""

import pytest

from activities.contracts.evidence import EvidenceType
from activities.sources.library.evidence_type import infer
from activities.sources.publication import stated_type

S = "Statins"


@pytest.mark.parametrize(
    ("title", "text", "terms", "kind"),
    [
        ("Statins in sepsis: a meta-analysis", "", (), "meta_analysis"),
        (S, "We conducted a systematic review and meta-analysis of trials.", (), "meta_analysis"),
        ("Statins: a systematic review", "", (), "systematic_review"),
        ("A randomised controlled trial of statins", "", (), "randomized_trial"),
        (S, "DESIGN: Prospective, randomized study.", (), "randomized_trial"),
        (S, "Text.", ("Humans", "Double-Blind Method"), "randomized_trial"),
        (S, "Text.", ("Humans", "Cohort Studies"), "observational"),
        (S, "Text.", ("Animals", "Rats"), "preclinical"),
        ("Rhabdomyolysis: a case report", "", (), "case_report"),
        (S, "We conducted a non-randomized study.", (), "clinical_trial"),
        # no cue of the authors' own
        (S, "Text.", ("Randomized Controlled Trials as Topic", "Humans"), "article"),
        (S, "Text.", ("Meta-Analysis as Topic",), "article"),
        (S, "Earlier meta-analyses disagree.", (), "article"),
        (S, "Patients were selected. A random sample was drawn.", (), "article"),
        (S, "Text.", ("Animals", "Humans"), "article"),
    ],
)
def test_a_kind_is_given_for_a_cue_only(
    title: str, text: str, terms: tuple[str, ...], kind: EvidenceType
) -> None:
    found, because = infer(title, text, terms, "article")
    assert found == kind
    assert bool(because) is (kind != "article")


def test_the_strongest_stated_type_counts() -> None:
    assert stated_type(["Journal Article", "Review", "Meta-Analysis"]) == "meta_analysis"
    assert stated_type(["Journal Article"]) is None  # says nothing of a design
    assert stated_type(["Comment"]) is None
