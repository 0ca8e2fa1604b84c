"""What cited works state of a candidate where no register was asked."""

from activities.candidates import stated
from activities.text.uses import asked_about
from activities.types import Evidence, EvidenceType

TITLE = "Exenatide in Parkinson's disease: a phase II trial"
ACTS = "Exenatide is a glucagon-like peptide-1 receptor agonist that crosses into the brain."
HARM = "Nausea occurred in 46% of participants and vomiting in 13%."
TEXT = f"BACKGROUND: {ACTS}\nRESULTS: {HARM} Motor scores improved in most of the participants."


def work(title: str = TITLE, text: str = TEXT, kind: EvidenceType = "article") -> Evidence:
    return Evidence(evidence_id="pmid:1", source="library", title=title, text=text, evidence_type=kind)


def test_mechanism_phase_and_harm_are_those_that_the_works_state_each_with_its_place() -> None:
    (acts,) = stated.mechanisms([work()], "exenatide")
    (trial,) = stated.trials([work()], "exenatide")
    (harm,) = stated.safety([work()], "exenatide")
    assert (acts.text, acts.quote, acts.evidence_id) == (ACTS, ACTS, "pmid:1")
    assert (trial.text, trial.values, trial.quote) == (TITLE, {"phase": "PHASE2"}, "")
    assert (harm.text, harm.quote) == (HARM, HARM)


def test_what_a_work_states_of_another_drug_is_not_stated_of_this_one() -> None:
    beside = work(title="Exenatide or isradipine in Parkinson's disease", text=f"RESULTS: {HARM}")
    assert stated.safety([beside], "exenatide") == []
    for read in (stated.mechanisms, stated.trials, stated.safety):
        assert read([work()], "isradipine") == []


def test_labels_and_registrations_are_read_as_records_and_not_as_works() -> None:
    label = work(kind="drug_label")
    for read in (stated.mechanisms, stated.trials, stated.safety):
        assert read([label], "exenatide") == []


def test_a_drug_that_is_a_line_of_treatment_for_the_disease_asked_about_is_in_use() -> None:
    asked = asked_about("Which drugs could be repurposed for cancer?")
    title = "Is first-line mitoxantrone in the treatment of breast cancer as good as a combination?"
    (entry,) = stated.established([work(title, "RESULTS: It was as good as that.")], "mitoxantrone", asked)
    assert (entry.text, entry.code, entry.quote) == ("breast cancer", "names_disease_asked", "")
    assert stated.established([work()], "exenatide", asked) == []
