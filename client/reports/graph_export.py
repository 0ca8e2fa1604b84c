"""What a run found as a graph: the question, works, trials, claims, drugs and targets, as GraphML, which
Gephi, Cytoscape, networkx and Neo4j (`apoc.import.graphml`) read. Identifiers are made of the run's own, so
the graphs of several runs join."""

import io
from typing import TYPE_CHECKING

from activities.contracts.candidates import Candidate
from activities.report.schema import Reference, Report

if TYPE_CHECKING:
    from networkx import MultiDiGraph


def graph_of(report: Report) -> "MultiDiGraph[str]":
    """The graph of a report: nodes with `labels`, edges with `label`, as Neo4j names them. Each edge once;
    none to a work that the report does not list."""
    import networkx

    graph: MultiDiGraph[str] = networkx.MultiDiGraph()
    run = _node(graph, f"run:{report.run_id}", "Run", name=report.title, text=report.question)
    for reference in report.references:
        _add_work(graph, run, reference)
    claims = [
        (_node(graph, f"claim:{report.run_id}/{claim.id}", "Claim", text=claim.text), claim)
        for claim in report.sentences()
    ]
    for node, claim in claims:
        _edge(graph, run, node, "STATES")
        for support in claim.support:
            _edge(graph, node, f"work:{support.evidence_id}", "SUPPORTED_BY", support.quote)
        for other in claim.contradicts:
            _edge(graph, node, f"claim:{report.run_id}/{other}", "CONTRADICTS")
    for candidate in report.candidates:
        _add_drug(graph, run, candidate)
    return graph


def graphml(graph: "MultiDiGraph[str]") -> bytes:
    import networkx

    out = io.BytesIO()
    networkx.write_graphml(graph, out)
    return out.getvalue()


def _add_work(graph: "MultiDiGraph[str]", run: str, reference: Reference) -> None:
    work = _node(
        graph,
        f"work:{reference.evidence_id}",
        "Work",
        name=reference.title,
        url=reference.url or "",
        year=str(reference.year or ""),
        evidence_type=reference.evidence_type,
        standing=reference.standing,
        source=reference.source,
        identifier=reference.evidence_id,
    )
    _edge(graph, run, work, "CITES")
    if nct := dict(reference.identifiers.items_in_order()).get("nct"):
        _edge(graph, work, _node(graph, f"trial:{nct}", "Trial", name=nct, identifier=nct), "REPORTS")


def _add_drug(graph: "MultiDiGraph[str]", run: str, candidate: Candidate) -> None:
    name = f"drug:{(candidate.generic_name or candidate.name).casefold()}"
    mechanism = candidate.proposed_mechanism or candidate.mechanism
    drug = _node(graph, name, "Drug", name=candidate.name, text=mechanism)
    _edge(graph, run, drug, "PROPOSES")
    for relation, supports in (("EVIDENCE_FOR", candidate.support), ("EVIDENCE_AGAINST", candidate.against)):
        for support in supports:
            _edge(graph, f"work:{support.evidence_id}", drug, relation, support.quote)
    for field_name, label, relation in (("targets", "Target", "TARGETS"), ("trials", "Trial", "STUDIED_IN")):
        for entry in (e for f in candidate.fields if f.name == field_name for e in f.entries):
            identifier = entry.values.get("nct") or entry.values.get("genes") or entry.text
            node = _node(
                graph,
                f"{label.casefold()}:{identifier}",
                label,
                name=entry.text,
                url=entry.url or "",
                identifier=identifier,
                source=entry.source,
            )
            _edge(graph, drug, node, relation, entry.quote)


def _node(graph: "MultiDiGraph[str]", node: str, label: str, **properties: str) -> str:
    if node not in graph:
        graph.add_node(node, labels=label, **{key: _xml(text) for key, text in properties.items() if text})
    return node


def _edge(graph: "MultiDiGraph[str]", start: str, end: str, relation: str, quote: str = "") -> None:
    if start in graph and end in graph:
        words = _xml(quote)
        properties = {"quote": words} if words else {}
        graph.add_edge(start, end, key=f"{relation} {words}", label=relation, **properties)


def _xml(text: str) -> str:
    """A text without what XML cannot hold."""
    return "".join(c for c in text if c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff"))
