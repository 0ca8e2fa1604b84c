"""Where a drug stands with regulators, as codes.

The code follows from a record's own fields. Drugs@FDA gives submission and marketing status
(https://open.fda.gov/apis/drug/drugsfda/searchable-fields/), ChEMBL the highest clinical phase.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

RegulatoryCode = Literal[
    "approved",
    "tentatively_approved",
    "discontinued",
    "labelled",
    "stated_approved",
    "withdrawn",
    "investigational",
]
"""`discontinued`: approved, and no product is marketed. `labelled`: a label is on file, and no application
was found (monograph or unapproved). `stated_approved`: a cited work says so."""
CODES: tuple[RegulatoryCode, ...] = get_args(RegulatoryCode)
"""The one that says most of what may be prescribed first."""
APPROVED_PHASE = 4.0
"""Of ChEMBL: approved for some disease by some authority."""
STOPPED_TRIALS = ("TERMINATED", "WITHDRAWN", "SUSPENDED")
"""https://clinicaltrials.gov/data-api/about-api/study-data-structure, overall status"""

_AUTHORITY = (
    r"(?:FDA|EMA|MHRA|PMDA|NMPA|(?:US |U\.S\. )?Food and Drug Administration"
    r"|European (?:Medicines Agency|Commission|Union)|Health Canada|authorities)"
)
_STATED = re.compile(
    r"\b(?:approved|licen[sc]ed|authori[sz]ed)\s+(?:[\w.,()-]+\s+){0,7}?"
    r"(?:for(?! (?:the |this )?stud)|in|to treat|as)\b"
    rf"|\b(?:approved|licen[sc]ed|authori[sz]ed) by (?:the )?{_AUTHORITY}"
    rf"|\b{_AUTHORITY}(?:'s)?[ -](?:has |have )?(?:recently |fully |first )?"
    r"(?:approved|licen[sc]ed|authori[sz]ed|approval)\b"
    r"|\b(?:currently|recently|newly|only|first|an?|already|clinically) (?:approved|licen[sc]ed) "
    r"(?:drug|treatment|therap|agent|medic|indication|oral|antibod)\w*"
    r"|\b(?:granted|gained|received|obtained|won) (?:\w+ ){0,3}(?:approval|marketing authori[sz]ation)\b",
    re.IGNORECASE,
)
_ETHICS = re.compile(
    r"\b(?:ethic\w*|institutional|review board|committee|IRB|protocol)\b|\bapproved in (?:all|each|every)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|never|no|nor|neither|without|yet to be|await\w*|pending|if|whether"
    r"|(?:will|may|might|could|should) be|expected|until|before|were it)\b"
    r"[^.;]{0,40}$",
    re.IGNORECASE,
)


def of_application(facts: Mapping[str, str]) -> RegulatoryCode | None:
    """The code of a Drugs@FDA application; None when it was not approved."""
    approval = facts.get("approval_status", "")
    if approval == "tentatively approved":
        return "tentatively_approved"
    if approval != "approved":
        return None
    marketed = [part.strip() for part in facts.get("marketing_status", "").split(";") if part.strip()]
    return "discontinued" if marketed and all(part == "Discontinued" for part in marketed) else "approved"


def of_molecule(facts: Mapping[str, str]) -> RegulatoryCode | None:
    """The code of a ChEMBL molecule; None when its phase is not known."""
    if facts.get("withdrawn"):
        return "withdrawn"
    try:
        phase = float(facts.get("max_phase", ""))
    except ValueError:
        return None
    if phase < 0:
        return None
    return "approved" if phase >= APPROVED_PHASE else "investigational"


def states_approval(clause: str) -> bool:
    """Whether a clause says that something is approved, and does not deny it or make it a condition."""
    if _ETHICS.search(clause):
        return False
    return any(not _DENIED.search(clause[: match.start()]) for match in _STATED.finditer(clause))


def foremost(codes: Iterable[str]) -> str:
    """The code that comes first in `CODES`; empty without any."""
    known = {code for code in codes if code in CODES}
    return next((code for code in CODES if code in known), "")
