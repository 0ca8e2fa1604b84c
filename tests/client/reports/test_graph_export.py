"""A run's report as a graph."""

import io

import networkx

from activities.contracts.candidates import Candidate, CandidateField, FieldEntry
from activities.contracts.evidence import Claim, Identifiers, Support
from activities.report.schema import Reference, ReportSection
from client.reports.graph_export import graph_of, graphml
from tests.client.seen import a_report

QUOTE = 'Metformin, "a biguanide",\nreduced adenomas\x00.'
REPORT = a_report(
    run_id="ask-x",
    sections=(
        ReportSection(
            id="s1",
            title="t",
            key_question="k",
            markdown="",
            status="complete",
            claims=(
                Claim(
                    id="c1",
                    text="It helps.",
                    support=(Support(evidence_id="pmid:1", quote=QUOTE),),
                    contradicts=("c2",),
                ),
                Claim(id="c2", text="It does not.", support=(Support(evidence_id="pmid:9", quote="x"),)),
            ),
        ),
    ),
    candidates=(
        Candidate(
            name="Metformin",
            support=(Support(evidence_id="pmid:1", quote=QUOTE),),
            fields=(
                CandidateField(
                    name="targets",
                    status="found",
                    entries=(FieldEntry(text="AMPK", source="chembl", values={"genes": "PRKAB1"}),),
                ),
            ),
        ),
    ),
    references=(
        Reference(
            number=1,
            evidence_id="pmid:1",
            source="pubmed",
            title="A trial",
            identifiers=Identifiers(pmid="1", nct="NCT01"),
        ),
    ),
)


def test_the_graph_has_what_the_report_has() -> None:
    graph = graph_of(REPORT)
    assert {name: graph.nodes[name]["labels"] for name in graph} == {
        "run:ask-x": "Run",
        "work:pmid:1": "Work",
        "trial:NCT01": "Trial",
        "claim:ask-x/c1": "Claim",
        "claim:ask-x/c2": "Claim",
        "drug:metformin": "Drug",
        "target:PRKAB1": "Target",
    }
    made = {(start, data["label"], end) for start, end, data in graph.edges(data=True)}
    assert ("claim:ask-x/c1", "SUPPORTED_BY", "work:pmid:1") in made
    assert ("claim:ask-x/c1", "CONTRADICTS", "claim:ask-x/c2") in made
    assert ("work:pmid:1", "REPORTS", "trial:NCT01") in made
    assert ("drug:metformin", "TARGETS", "target:PRKAB1") in made
    assert ("work:pmid:1", "EVIDENCE_FOR", "drug:metformin") in made
    # a work that the report does not list is no node, so nothing leads to it
    assert not [edge for edge in made if "pmid:9" in edge[2]]


def test_the_file_is_one_that_importers_read() -> None:
    graph = graph_of(REPORT)
    read = networkx.read_graphml(io.BytesIO(graphml(graph)))
    assert set(read.nodes) == set(graph.nodes)
    assert read.number_of_edges() == len(graph.edges)
    quotes = {data["quote"] for _, _, data in read.edges(data=True) if "quote" in data}
    assert quotes == {'Metformin, "a biguanide",\nreduced adenomas.'}
