"""What is offered for or against a candidate speaks for that side, or it does not stand there."""

from activities.candidates.both_sides import to_read, with_verdicts
from activities.contracts.candidates import Candidate
from activities.contracts.evidence import Statement, Support
from activities.contracts.write import SentenceVerdict, Verdicts

LOWER = Support(evidence_id="pmid:1", quote="Metformin was associated with a lower risk of dementia.")
FAILED = Support(evidence_id="pmid:2", quote="Metformin did not slow decline in a trial of 80 adults.")
CANDIDATES = (
    Candidate(name="Lithium"),
    Candidate(name="Metformin", support=(LOWER,), against=(LOWER, FAILED)),
)


def test_a_quote_that_speaks_for_a_candidate_is_no_counter_evidence() -> None:
    _, first, second = to_read(CANDIDATES)
    assert (first.text, first.support) == ("Metformin did not help here, or did harm.", (LOWER,))
    answers = (
        SentenceVerdict(
            id=first.id,
            problem=Statement(code="not_supported", values={"verdict": "no", "reason": "it helps"}),
        ),
        SentenceVerdict(id=second.id),
    )
    (_, metformin), left_out = with_verdicts(CANDIDATES, Verdicts(verdicts=answers), ())
    assert (metformin.against, left_out) == ((FAILED,), {"support": 0, "against": 1})
    assert metformin.support == (LOWER,)


def test_a_null_result_does_not_speak_for_a_candidate() -> None:
    offered = (Candidate(name="Metformin", support=(FAILED, LOWER)),)
    first, _ = to_read(offered)
    assert first.text == "Metformin helped here, or there is a reason why it may help."
    no = Statement(code="not_supported", values={"verdict": "no", "reason": "it did not slow decline"})
    answers = (SentenceVerdict(id=first.id, problem=no),)
    (metformin,), left_out = with_verdicts(offered, Verdicts(verdicts=answers), ())
    assert (metformin.support, left_out["support"]) == ((LOWER,), 1)
