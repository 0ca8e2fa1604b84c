"""The checklist of PRISMA 2020 (Page et al., doi:10.1136/bmj.n71): where a review's report answers each item.

An item is answered where the chapter that answers it holds what the item asks for; else it is `not reported`,
so that authors see what they have to write. The items are worded shortly; the published checklist is the one
to read.
"""

from collections.abc import Iterator

from activities.review.archive import Published
from activities.review.findings import Findings

NOT_REPORTED = "not reported"
ITEMS: tuple[tuple[str, str, str], ...] = (
    ("1", "Identified as a systematic review in the title", "title"),
    ("2", "Abstract", ""),
    ("3", "Rationale", ""),
    ("4", "Objectives or questions", "question"),
    ("5", "Eligibility criteria, and how studies are grouped", "criteria"),
    ("6", "Information sources and when each was searched", "searches"),
    ("7", "Full search strategies", "queries"),
    ("8", "Selection process: how many screened, tools used", "selection"),
    ("9", "Data collection process", "extraction"),
    ("10a", "Outcomes for which data were sought", "outcomes"),
    ("10b", "Other variables for which data were sought", "fields"),
    ("11", "Risk of bias assessment: the tool and who used it", "bias"),
    ("12", "Effect measures", "outcomes"),
    ("13a", "Which studies each synthesis holds", "results"),
    ("13b", "How data were prepared for synthesis", "results"),
    ("13c", "How results are tabulated and shown", "results"),
    ("13d", "Methods of synthesis", "pool"),
    ("13e", "How heterogeneity was explored", ""),
    ("13f", "Sensitivity analyses", "sensitivity"),
    ("14", "Reporting bias assessment", "small_studies"),
    ("15", "How certainty was assessed", "results"),
    ("16a", "Results of search and selection, with a flow diagram", "flow"),
    ("16b", "Studies excluded by their full text, with the reason", "excluded"),
    ("17", "Characteristics of each study", "studies"),
    ("18", "Risk of bias of each study", "bias"),
    ("19", "Results of each study", "effects"),
    ("20a", "Characteristics and risk of bias of the studies of each synthesis", "studies"),
    ("20b", "Results of each synthesis", "results"),
    ("20c", "Results of what was explored of heterogeneity", ""),
    ("20d", "Results of sensitivity analyses", "sensitivity"),
    ("21", "Risk of bias due to missing results", "small_studies"),
    ("22", "Certainty of the evidence on each outcome", "results"),
    ("23a", "Interpretation in the context of other evidence", ""),
    ("23b", "Limitations of the evidence", "limitations"),
    ("23c", "Limitations of the review's processes", "limitations"),
    ("23d", "Implications for practice, policy and research", ""),
    ("24a", "Registration", "registration"),
    ("24b", "Where the protocol can be read", "criteria"),
    ("24c", "Amendments of the protocol", "amendments"),
    ("25", "Support, funders", ""),
    ("26", "Competing interests", ""),
    ("27", "Availability of data, code and other materials", "data"),
)
"""Number, subject, and what answers it; empty for what only the authors can write."""


def places(published: Published, findings: Findings) -> dict[str, str]:
    """Return what answers an item -> the chapter that holds it, as far as this report does."""
    pools = [one.pool for one in findings.syntheses if one.pool]
    state, protocol, flow = published.state, published.protocol, published.report.flow
    chapters: dict[str, dict[str, bool]] = {
        "Title": {"title": "systematic review" in protocol.title.casefold()},
        "Protocol": {
            "question": True,
            "criteria": True,
            "registration": bool(protocol.registration),
            "amendments": bool(state.amendments) or state.version == 1,
        },
        "Studies": {
            "fields": bool(protocol.extraction),
            "extraction": bool(findings.rows),
            "studies": bool(findings.studies),
        },
        "Results by outcome": {
            "outcomes": bool(protocol.outcomes),
            "results": bool(findings.syntheses),
            "effects": any(work.result for one in findings.syntheses for work in one.conclusion.works),
            "pool": bool(pools),
            "sensitivity": any(pool.left_out for pool in pools),
            "small_studies": any(pool.small_studies for pool in pools),
        },
        "Search (PRISMA-S)": {
            "searches": bool(state.searches),
            "queries": any(row.query for row in state.searches),
        },
        "Screening": {"selection": flow.screened > 0},
        "Flow of records (PRISMA 2020)": {"flow": flow.given > 0},
        "Full texts": {
            "excluded": bool(findings.excluded) or (flow.assessed > 0 and not flow.excluded_full_texts)
        },
        "Risk of bias": {"bias": bool(findings.bias)},
        "Limitations": {"limitations": True},
        "Statement on the use of tools": {"data": True},
    }
    return {name: chapter for chapter, held in chapters.items() for name, holds in held.items() if holds}


def checklist(published: Published, findings: Findings) -> Iterator[tuple[str, str, str]]:
    """Yield number, subject and place of each item."""
    where = places(published, findings)
    for number, subject, by in ITEMS:
        yield number, subject, where.get(by, NOT_REPORTED)
