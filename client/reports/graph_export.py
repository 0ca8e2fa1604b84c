"""What a run found as a graph: the question, works, trials, claims, drugs and targets, for Neo4j and others.

CSV files are for `neo4j-admin database import full` (https://neo4j.com/docs/operations-manual/current/import/);
GraphML is for everything else. Identifiers are made of the run's own, so the graphs of several runs join.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from activities.candidates.types import Candidate
from activities.report.schema import Reference, Report

NODES, EDGES, GRAPHML = "nodes.csv", "relationships.csv", "graph.graphml"
COLUMNS = ("name", "text", "url", "year", "evidence_type", "standing", "source", "identifier")
"""Properties of nodes; empty where a node has none."""
EDGE_COLUMNS = ("quote",)


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    label: str
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    start: str
    end: str
    type: str
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunGraph:
    """Nodes by their id, and edges, each once."""

    nodes: Mapping[str, Node]
    edges: tuple[Edge, ...]


def graph_of(report: Report) -> RunGraph:
    """The graph of a report."""
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str, str, str], Edge] = {}
    for part in _parts(report):
        if isinstance(part, Node):
            nodes.setdefault(part.id, part)
        else:
            quote = part.properties.get("quote", "")
            edges.setdefault((part.start, part.end, part.type, quote), part)
    known = tuple(edge for edge in edges.values() if edge.start in nodes and edge.end in nodes)
    return RunGraph(nodes, known)


def _parts(report: Report) -> Iterator[Node | Edge]:
    run = f"run:{report.run_id}"
    yield Node(run, "Run", {"name": report.title, "text": report.question})
    for reference in report.references:
        yield from _work(run, reference)
    for claim in report.sentences():
        name = f"claim:{report.run_id}/{claim.id}"
        yield Node(name, "Claim", {"text": claim.text})
        yield Edge(run, name, "STATES")
        for support in claim.support:
            yield Edge(name, _work_id(support.evidence_id), "SUPPORTED_BY", {"quote": support.quote})
        for other in claim.contradicts:
            yield Edge(name, f"claim:{report.run_id}/{other}", "CONTRADICTS")
    for candidate in report.candidates:
        yield from _drug(run, candidate)


def _work_id(evidence_id: str) -> str:
    return f"work:{evidence_id}"


def _work(run: str, reference: Reference) -> Iterator[Node | Edge]:
    work = _work_id(reference.evidence_id)
    names = dict(reference.identifiers.items_in_order())
    properties = {
        "name": reference.title,
        "url": reference.url or "",
        "year": str(reference.year or ""),
        "evidence_type": reference.evidence_type,
        "standing": reference.standing,
        "source": reference.source,
        "identifier": reference.evidence_id,
    }
    yield Node(work, "Work", properties)
    yield Edge(run, work, "CITES")
    if nct := names.get("nct"):
        yield Node(f"trial:{nct}", "Trial", {"name": nct, "identifier": nct})
        yield Edge(work, f"trial:{nct}", "REPORTS")


def _drug(run: str, candidate: Candidate) -> Iterator[Node | Edge]:
    drug = f"drug:{(candidate.generic_name or candidate.name).casefold()}"
    yield Node(
        drug, "Drug", {"name": candidate.name, "text": candidate.proposed_mechanism or candidate.mechanism}
    )
    yield Edge(run, drug, "PROPOSES")
    for kind, supports in (("EVIDENCE_FOR", candidate.support), ("EVIDENCE_AGAINST", candidate.against)):
        for support in supports:
            yield Edge(_work_id(support.evidence_id), drug, kind, {"quote": support.quote})
    for name, label, relation in (("targets", "Target", "TARGETS"), ("trials", "Trial", "STUDIED_IN")):
        for found in candidate.fields:
            if found.name != name:
                continue
            for entry in found.entries:
                identifier = entry.values.get("nct") or entry.values.get("genes") or entry.text
                node = f"{label.casefold()}:{identifier}"
                properties = {"name": entry.text, "url": entry.url or "", "identifier": identifier}
                yield Node(node, label, {**properties, "source": entry.source})
                yield Edge(drug, node, relation, {"quote": entry.quote})


def files_of(graph: RunGraph) -> dict[str, bytes]:
    """The files by their names."""
    return {NODES: _nodes_csv(graph), EDGES: _edges_csv(graph), GRAPHML: _graphml(graph)}


def _nodes_csv(graph: RunGraph) -> bytes:
    rows = (
        [node.id, *(node.properties.get(name, "") for name in COLUMNS), node.label]
        for node in graph.nodes.values()
    )
    return _csv([":ID", *COLUMNS, ":LABEL"], rows)


def _edges_csv(graph: RunGraph) -> bytes:
    rows = (
        [e.start, e.end, e.type, *(e.properties.get(name, "") for name in EDGE_COLUMNS)] for e in graph.edges
    )
    return _csv([":START_ID", ":END_ID", ":TYPE", *EDGE_COLUMNS], rows)


def _csv(header: list[str], rows: Iterator[list[str]]) -> bytes:
    out = io.StringIO()
    written = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    written.writerow(header)
    # the importer reads a record a line
    written.writerows([" ".join(value.split()) for value in row] for row in rows)
    return out.getvalue().encode()


def _graphml(graph: RunGraph) -> bytes:
    import networkx

    made: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    for node in graph.nodes.values():
        made.add_node(node.id, labels=node.label, **{k: _xml(v) for k, v in node.properties.items() if v})
    for edge in graph.edges:
        made.add_edge(
            edge.start, edge.end, label=edge.type, **{k: _xml(v) for k, v in edge.properties.items() if v}
        )
    out = io.BytesIO()
    networkx.write_graphml(made, out)
    return out.getvalue()


def _xml(text: str) -> str:
    """A text without what XML cannot hold."""
    return "".join(c for c in text if c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff"))
