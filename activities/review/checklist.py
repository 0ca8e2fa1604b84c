"""The checklist of PRISMA 2020 (Page et al., doi:10.1136/bmj.n71): where a review's report answers each item.

An item is answered where the chapter that answers it holds what the item asks for; else it is `not reported`,
so that authors see what they have to write. The items are worded shortly; the published checklist is the one
to read.
"""

from collections.abc import Iterator

from activities.messages import N_, _
from activities.review.archive import Published
from activities.review.findings import Findings

NOT_REPORTED = N_("not reported")
ITEMS: tuple[tuple[str, str, str], ...] = (
    ("1", N_("Identified as a systematic review in the title"), "title"),
    ("2", N_("Abstract"), ""),
    ("3", N_("Rationale"), ""),
    ("4", N_("Objectives or questions"), "question"),
    ("5", N_("Eligibility criteria, and how studies are grouped"), "criteria"),
    ("6", N_("Information sources and when each was searched"), "searches"),
    ("7", N_("Full search strategies"), "queries"),
    ("8", N_("Selection process: how many screened, tools used"), "selection"),
    ("9", N_("Data collection process"), "extraction"),
    ("10a", N_("Outcomes for which data were sought"), "outcomes"),
    ("10b", N_("Other variables for which data were sought"), "fields"),
    ("11", N_("Risk of bias assessment: the tool and who used it"), "bias"),
    ("12", N_("Effect measures"), "outcomes"),
    ("13a", N_("Which studies each synthesis holds"), "results"),
    ("13b", N_("How data were prepared for synthesis"), "results"),
    ("13c", N_("How results are tabulated and shown"), "results"),
    ("13d", N_("Methods of synthesis"), "pool"),
    ("13e", N_("How heterogeneity was explored"), ""),
    ("13f", N_("Sensitivity analyses"), "sensitivity"),
    ("14", N_("Reporting bias assessment"), "small_studies"),
    ("15", N_("How certainty was assessed"), "results"),
    ("16a", N_("Results of search and selection, with a flow diagram"), "flow"),
    ("16b", N_("Studies excluded by their full text, with the reason"), "excluded"),
    ("17", N_("Characteristics of each study"), "studies"),
    ("18", N_("Risk of bias of each study"), "bias"),
    ("19", N_("Results of each study"), "effects"),
    ("20a", N_("Characteristics and risk of bias of the studies of each synthesis"), "studies"),
    ("20b", N_("Results of each synthesis"), "results"),
    ("20c", N_("Results of what was explored of heterogeneity"), ""),
    ("20d", N_("Results of sensitivity analyses"), "sensitivity"),
    ("21", N_("Risk of bias due to missing results"), "small_studies"),
    ("22", N_("Certainty of the evidence on each outcome"), "results"),
    ("23a", N_("Interpretation in the context of other evidence"), ""),
    ("23b", N_("Limitations of the evidence"), "limitations"),
    ("23c", N_("Limitations of the review's processes"), "limitations"),
    ("23d", N_("Implications for practice, policy and research"), ""),
    ("24a", N_("Registration"), "registration"),
    ("24b", N_("Where the protocol can be read"), "criteria"),
    ("24c", N_("Amendments of the protocol"), "amendments"),
    ("25", N_("Support, funders"), ""),
    ("26", N_("Competing interests"), ""),
    ("27", N_("Availability of data, code and other materials"), "data"),
)
"""Number, subject, and what answers it; empty for what only the authors can write."""


def places(published: Published, findings: Findings) -> dict[str, str]:
    """Return what answers an item -> the chapter that holds it, as far as this report does."""
    pools = [synthesis.pool for synthesis in findings.syntheses if synthesis.pool]
    state, protocol, flow = published.state, published.protocol, published.report.flow
    chapters: dict[str, dict[str, object]] = {
        N_("Title"): {"title": "systematic review" in protocol.title.casefold()},
        N_("Protocol"): {
            "question": True,
            "criteria": True,
            "registration": protocol.registration,
            "amendments": state.amendments or state.version == 1,
        },
        N_("Studies"): {
            "fields": protocol.extraction,
            "extraction": findings.rows,
            "studies": findings.studies,
        },
        N_("Results by outcome"): {
            "outcomes": protocol.outcomes,
            "results": findings.syntheses,
            "effects": [work for row in findings.syntheses for work in row.conclusion.works if work.result],
            "pool": pools,
            "sensitivity": any(pool.left_out for pool in pools),
            "small_studies": any(pool.small_studies for pool in pools),
        },
        N_("Search (PRISMA-S)"): {
            "searches": state.searches,
            "queries": any(row.query for row in state.searches),
        },
        N_("Screening"): {"selection": flow.screened},
        N_("Flow of records (PRISMA 2020)"): {"flow": flow.given},
        N_("Full texts"): {"excluded": findings.excluded or (flow.assessed and not flow.excluded_full_texts)},
        N_("Risk of bias"): {"bias": findings.bias},
        N_("Limitations"): {"limitations": True},
        N_("Statement on the use of tools"): {"data": True},
    }
    return {name: chapter for chapter, held in chapters.items() for name, holds in held.items() if holds}


def checklist(published: Published, findings: Findings) -> Iterator[tuple[str, str, str]]:
    """Yield number, subject and place of each item."""
    where = places(published, findings)
    for number, subject, by in ITEMS:
        yield number, _(subject), _(where.get(by, NOT_REPORTED))
