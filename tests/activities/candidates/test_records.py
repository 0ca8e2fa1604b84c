"""Labels, approvals and registrations among a run's items."""

import json

from activities.candidates.reading import is_record_of_another, standing_of
from activities.sources.clinicaltrials import read_study
from activities.sources.openfda import read_approval, read_label
from tests.replay import RECORDED

LABELS = json.loads((RECORDED / "openfda/label_sildenafil.json").read_text())["results"]
APPROVALS = json.loads((RECORDED / "openfda/drugsfda_sildenafil.json").read_text())["results"]
STUDIES = json.loads((RECORDED / "ctgov/search_sildenafil_stopped.json").read_text())["studies"]
ITEMS = (*map(read_label, LABELS), *map(read_approval, APPROVALS), *map(read_study, STUDIES))


def test_a_drug_has_its_own_records_the_new_drug_application_first() -> None:
    standing = standing_of("sildenafil", ITEMS)
    assert standing.regulatory_status == "approved"
    assert standing.approval is not None
    assert standing.approval.evidence_id == "fda:NDA020895"
    assert standing.trial_status == "PHASE2; PHASE3, TERMINATED"
    (indication,) = standing.indications
    assert indication.startswith(
        "Sildenafil tablets are a phosphodiesterase-5 (PDE-5) inhibitor indicated for"
    )
    texts = {item.evidence_id: " ".join(item.text.split()) for item in ITEMS}
    assert len(standing.quotes) == 3
    for support in standing.quotes:
        assert " ".join(support.quote.split()) in texts[support.evidence_id]


def test_records_of_another_drug_say_nothing_for_one_that_they_mention() -> None:
    label = read_label(LABELS[0])
    assert "bosentan" in label.text
    assert standing_of("bosentan", ITEMS).quotes == ()
    assert is_record_of_another(label, "bosentan")
    assert not is_record_of_another(label, "sildenafil")
