"""The quotes of a second reader's verdicts."""

from activities.contracts.evidence import Evidence
from activities.contracts.write import DraftClaim, VerifyInput
from activities.profiles.loader import load_profile
from activities.roles import verifier
from activities.roles.verifier import VerdictsAnswer

SURGERY = Evidence(
    evidence_id="pmid:1",
    source="library",
    title="Surgery after chemoradiation: FFCD 9102",
    text="The 3-month mortality rate was 9.3% in arm A and 0.8% in arm B (P = .002).",
)
STRATEGY = Evidence(
    evidence_id="pmid:2",
    source="library",
    title="Strategies with and without surgery",
    text="Treatment-related mortality was higher in the surgery group (12.8% v 3.5%, P = .03).",
)


def test_a_work_that_a_sentence_cites_and_its_reader_names_carries_it() -> None:
    """Its quote shares no word with the sentence, a number of which only the rest of that work has."""
    text = "The price was more deaths: early in FFCD 9102, treatment-related in the other trial."
    claim = DraftClaim(id="s1.1", text=text, cites=("pmid:1", "pmid:2"), state="ask")
    step = VerifyInput(run_id="r", question="Surgery?", profile=load_profile("general"), sentences=(claim,))
    prompt = verifier.render(step, (SURGERY, STRATEGY), 20_000)
    (label,) = prompt.claims
    verdicts = [{"claim": label, "supported": "yes", "sentences": [*prompt.sentences]}]
    answer = VerdictsAnswer.model_validate({"verdicts": verdicts})
    (verdict,) = verifier.accept(step, prompt, answer).output.verdicts
    assert verdict.problem is None
    assert [support.evidence_id for support in verdict.support] == ["pmid:1", "pmid:2"]


def test_a_computed_figure_is_of_no_work_that_prints_it_by_chance() -> None:
    text = "The risk ratio is 0.66, and without the largest trial 0.72."
    rows = (
        "risk_ratio(20, 303, 30, 303) = 0.66 (0.39 to 1.14)",
        "risk_ratio(18, 250, 25, 250) = 0.72 (0.40 to 1.28)",
    )
    claim = DraftClaim(id="s1.1", text=text, computed=rows, state="ask")
    step = VerifyInput(run_id="r", question="Cover?", profile=load_profile("general"), sentences=(claim,))
    trial = STRATEGY.replace(text="Three infections occurred in one group and five in the other (p = 0.72).")
    prompt = verifier.render(step, (trial,), 20_000)
    (label,) = prompt.claims
    verdicts = [{"claim": label, "supported": "yes", "sentences": [*prompt.sentences]}]
    answer = VerdictsAnswer.model_validate({"verdicts": verdicts})
    (verdict,) = verifier.accept(step, prompt, answer).output.verdicts
    assert (verdict.problem, verdict.support) == (None, ())
