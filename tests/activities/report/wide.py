"""A report that has something to show in every part."""

from activities.contracts.candidates import Candidate
from activities.contracts.evidence import Identifiers, SearchRecord, Support, Usage
from activities.contracts.publish import Decision, PrismaCounts
from activities.report.assemble import build_report
from tests.activities.cases import (
    DOCUMENTS,
    INCREASED,
    REDUCED,
    planned,
    publish_input,
    pubmed,
    quoting,
    refused,
)

SECONDARY = pubmed(
    4,
    "Secondary analysis of the metformin trial",
    "In NCT01234567, 912 adults were followed for ten years. Long-term mortality stayed lower under "
    "metformin in this secondary analysis.",
    "clinical_trial",
    authors=("Doe JA",),
    year=2023,
    venue="BMJ",
    identifiers=Identifiers(pmid="4", nct="NCT01234567"),
)
CELLS = pubmed(
    0,
    "Metformin in cells",
    "Metformin activated AMPK in liver cells at therapeutic concentrations, in 48 cases of biopsy.",
    "preclinical",
    evidence_id="doi:10.1000/cells",
    source="europepmc",
    authors=("\u0141ukasz S\u00f8rensen",),
    year=2011,
    identifiers=Identifiers(doi="10.1000/cells"),
    standing="unknown",
)
ALL = {**DOCUMENTS, SECONDARY.evidence_id: SECONDARY, CELLS.evidence_id: CELLS}
LATER = "Long-term mortality stayed lower under metformin"
AMPK = "Metformin activated AMPK in liver cells at therapeutic concentrations"
_FIRST = planned(
    "s2",
    quoting("Mortality was 30% lower with the drug.", ("pmid:1", REDUCED)),
    quoting(f"{LATER}.", ("pmid:4", LATER), ("pmid:1", REDUCED)),
    refused("Mortality fell by 99%.", ("pmid:1", REDUCED), number="99%"),
    title="Benefit",
)
STEP = publish_input(
    planned("s1", quoting(f"{AMPK}.", (CELLS.evidence_id, AMPK)), title="Background"),
    _FIRST,
    planned("s3", quoting("A registry found increased mortality.", ("pmid:2", INCREASED)), title="Harm"),
    planned("s4", title="Open questions", status="partial", note="no new evidence"),
    candidates=(
        Candidate(
            name="Metformin",
            mechanism="AMPK | activation",
            support=(Support(evidence_id="pmid:1", quote=REDUCED),),
        ),
    ),
    searches=(
        SearchRecord(source="pubmed", query='"metformin"[tiab] AND mortality', status="ok", hits=310, kept=9),
        SearchRecord(source="europepmc", query="metformin mortality", status="ok", hits=87, kept=6),
        SearchRecord(source="clinicaltrials", query="metformin", status="rate_limited", attempts=3),
    ),
    counts=PrismaCounts(identified=15, duplicates=3, screened=12),
    iterations=2,
    usage=Usage(calls=9, input_tokens=14200, output_tokens=2100, cost_microusd=31000),
    models=("some-model",),
    approvals=(Decision(gate="plan", action="approved", by="A. Reviewer", at="2026-01-01T00:00:00Z"),),
    stop_reason="sufficient_evidence",
)
RICH = build_report(STEP, ALL)
