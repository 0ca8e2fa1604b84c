"""What is offered against a candidate speaks against it, or it does not stand there."""

from activities.candidates.counter_evidence import to_read, with_verdicts
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
    first, second = to_read(CANDIDATES)
    assert (first.text, first.support) == ("Metformin did not help here, or did harm.", (LOWER,))
    answers = (
        SentenceVerdict(
            id=first.id,
            problem=Statement(code="not_supported", values={"verdict": "no", "reason": "it helps"}),
        ),
        SentenceVerdict(id=second.id),
    )
    (_, metformin), refused = with_verdicts(CANDIDATES, Verdicts(verdicts=answers), ())
    assert (metformin.against, refused) == ((FAILED,), 1)


def test_a_work_that_was_judged_to_answer_with_yes_is_no_counter_evidence() -> None:
    (_, metformin), refused = with_verdicts(CANDIDATES, Verdicts(), {"pmid:1"})
    assert (metformin.against, refused) == ((FAILED,), 1)
