"""Where a drug stands with regulators, as codes.

The code follows from a record's own fields. Drugs@FDA gives submission and marketing status
(https://open.fda.gov/apis/drug/drugsfda/searchable-fields/), ChEMBL the highest clinical phase.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

RegulatoryCode = Literal[
    "approved",
    "tentatively_approved",
    "discontinued",
    "labelled",
    "withdrawn",
    "investigational",
]
"""`discontinued`: approved, and no product is marketed. `labelled`: a label is on file, and no application
was found (monograph or unapproved)."""
CODES: tuple[RegulatoryCode, ...] = get_args(RegulatoryCode)
"""The one that says most of what may be prescribed first."""
APPROVED_PHASE = 4.0
"""The phase in ChEMBL of a drug that some authority has approved for some disease."""
STOPPED_TRIALS = ("TERMINATED", "WITHDRAWN", "SUSPENDED")
"""https://clinicaltrials.gov/data-api/about-api/study-data-structure, overall status"""


def of_application(facts: Mapping[str, str]) -> RegulatoryCode | None:
    """Return the code of a Drugs@FDA application; None when it was not approved."""
    approval = facts.get("approval_status", "")
    if approval == "tentatively approved":
        return "tentatively_approved"
    if approval != "approved":
        return None
    marketed = [part.strip() for part in facts.get("marketing_status", "").split(";") if part.strip()]
    return "discontinued" if marketed and all(part == "Discontinued" for part in marketed) else "approved"


def of_molecule(facts: Mapping[str, str]) -> RegulatoryCode | None:
    """Return the code of a ChEMBL molecule; None when its phase is not known."""
    if facts.get("withdrawn"):
        return "withdrawn"
    try:
        phase = float(facts.get("max_phase", ""))
    except ValueError:
        return None
    if phase < 0:
        return None
    return "approved" if phase >= APPROVED_PHASE else "investigational"


def foremost(codes: Iterable[str]) -> str:
    """Return the code that comes first in `CODES`; empty without any."""
    present = {code for code in codes if code in CODES}
    return next((code for code in CODES if code in present), "")
