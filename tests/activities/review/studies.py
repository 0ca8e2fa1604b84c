"""A protocol and two studies that the tests of the later stages of a review read."""

from activities.contracts.evidence import Evidence, Identifiers, ModelChoice
from activities.profiles.loader import load_profile
from activities.review.protocol import (
    Criterion,
    ExtractionField,
    PooledOutcome,
    Protocol,
    ReviewQuestion,
    SourceQuery,
)

PROTOCOL = Protocol(
    title="The drug for adults with the disease",
    question=ReviewQuestion(
        population="adults with the disease", intervention="the drug", comparator="placebo"
    ),
    criteria=(
        Criterion(id="I1", text="Adults with the disease took part."),
        Criterion(id="I2", text="People were allocated by chance."),
        Criterion(id="E1", text="Animals were studied.", kind="exclude"),
    ),
    sources=(SourceQuery(source="pubmed", query="drug AND disease"),),
    extraction=(
        ExtractionField(id="dose", label="Daily dose"),
        ExtractionField(id="adults", label="Participants", kind="number"),
        ExtractionField(id="blinding", label="Blinding", kind="choice", choices=("double blind", "open")),
    ),
    outcomes=(PooledOutcome(id="death", label="death from any cause", measure="RR"),),
    bias="rob2",
)
TRIAL = Evidence(
    evidence_id="pmid:1",
    source="pubmed",
    title="A randomised trial of the drug in adults with the disease",
    text="We randomly allocated 400 adults with the disease to the drug or to placebo by a central computer. "
    "Neither patients nor their doctors knew who received the drug during the trial. "
    "The dose was 20 mg of the drug once a day for twelve weeks in all patients. "
    "Of the 200 given the drug eight died, and of the 200 given placebo 21 died within a year.\n\n"
    "Death from any cause | 8/200 | 21/200 | 0.38",
    identifiers=Identifiers(pmid="1", doi="10.1000/trial.1"),
    evidence_type="randomized_trial",
    full_text=True,
)
OTHER = Evidence(
    evidence_id="pmid:2",
    source="pubmed",
    title="The drug protects the liver of rats from the disease",
    text="We gave the drug to sixty rats with the disease and to sixty others that were healthy. "
    "The livers of the rats given the drug were less damaged than those of all the others.",
    identifiers=Identifiers(pmid="2"),
    evidence_type="preclinical",
)
STEP = {
    "run_id": "review-1",
    "question": PROTOCOL.question.text(),
    "profile": load_profile("general"),
    "model": ModelChoice(backend="openai", model="m"),
}
"""What every step of a role is given."""
