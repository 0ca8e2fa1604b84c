"""The source `neo4j` by its real driver against a real Bolt server."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from activities.candidates.lookup import look_up
from activities.contracts.candidates import CandidateLookUp
from activities.contracts.errors import Refused, Unavailable
from activities.contracts.evidence import Query
from activities.report.strength import best_grade
from activities.settings import Settings
from activities.sources.base import search
from activities.sources.neo4j import BUNDLED, Neo4jSource, load_schema
from activities.text.normal_form import verbatim
from tests.activities.sources.bolt import bolt_server

HETIONET = """
CREATE (m:Compound {name: 'Metformin', identifier: 'DB00331'}),
 (a:Compound {name: 'Aspirin', identifier: 'DB00945'}),
 (k:Gene {name: 'PRKAB1', identifier: 5564}), (p:Gene {name: 'PTGS2', identifier: 5743}),
 (d:Disease {name: 'type 2 diabetes mellitus', identifier: 'DOID:9352'}),
 (c:Disease {name: 'colon cancer', identifier: 'DOID:219'}),
 (m)-[:BINDS_CbG {sources: ['DrugBank', 'ChEMBL'], year: 2017}]->(k),
 (d)-[:ASSOCIATES_DaG {sources: ['GWAS Catalog'], year: 2016}]->(k),
 (c)-[:ASSOCIATES_DaG {source: 'DISEASES'}]->(k),
 (m)-[:TREATS_CtD {sources: ['PharmacotherapyDB']}]->(d),
 (a)-[:BINDS_CbG {sources: ['DrugBank']}]->(p), (c)-[:ASSOCIATES_DaG]->(p)
"""


class Graph:
    """A graph database with a few nodes, and the sources that search it."""

    def __init__(self, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        from neo4j import GraphDatabase

        self._driver = GraphDatabase.driver(address, auth=("falkordb", ""))
        monkeypatch.setenv("DETERMINATOR_NEO4J_URL", address)
        self.sources: list[Neo4jSource] = []

    def run(self, statement: str, **parameters: object) -> list[dict[str, Any]]:
        with self._driver.session() as session:
            return session.run(statement, **parameters).data()  # type: ignore[arg-type]  # it wants a literal

    def source(self, **settings: Any) -> Neo4jSource:
        self.sources.append(Neo4jSource(Settings(neo4j_user="falkordb", **settings)))
        return self.sources[-1]

    async def close(self) -> None:
        for source in self.sources:
            await source.close()
        self._driver.close()


@pytest.fixture
async def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Graph]:
    with bolt_server(tmp_path) as address:
        made = Graph(address, monkeypatch)
        made.run(HETIONET)
        yield made
        await made.close()


def source(address: str, monkeypatch: pytest.MonkeyPatch) -> Neo4jSource:
    monkeypatch.setenv("DETERMINATOR_NEO4J_URL", address)
    return Neo4jSource(Settings())


async def test_a_drug_and_a_disease_are_joined_by_their_paths(graph: Graph) -> None:
    result = await search(graph.source(), Query(text="Can metformin help in colon cancer?"))
    assert result.status == "ok"
    first = result.records[0]
    assert first.facts["path"] == "drug - gene - disease"
    assert first.facts["relations"] == "BINDS_CbG, ASSOCIATES_DaG"
    stated = "Metformin (drug DB00331) binds PRKAB1 (gene 5564) in Hetionet"
    assert f"{stated} (sources: DrugBank, ChEMBL; year: 2017)." in first.text
    assert first.facts["provenance"] == "sources: DrugBank, ChEMBL; source: DISEASES"
    assert first.year == 2017
    assert verbatim("Metformin (drug DB00331) binds PRKAB1 (gene 5564)", first.text)
    assert all("Aspirin" not in record.text for record in result.records if "Metformin" in record.text)


async def test_what_a_drug_leads_to_is_weak_evidence_and_what_the_graph_does_not_know_is_empty(
    graph: Graph,
) -> None:
    result = await search(graph.source(), Query(text="metformin and type 2 diabetes mellitus"))
    assert {record.evidence_type for record in result.records} == {"knowledge_graph"}
    assert best_grade(result.records * 20, {}) == "weak"
    result = await search(graph.source(), Query(text="What does ASPIRIN do?"))
    assert {record.title for record in result.records} == {
        "Aspirin \u2013 PTGS2 \u2013 colon cancer (Hetionet)"
    }
    result = await search(graph.source(), Query(text="influenza in ferrets"))
    assert (result.status, result.records) == ("empty", ())


INJECTIONS = (
    *("metformin') DETACH DELETE n0 //", 'metformin"}) MATCH (n) DETACH DELETE n //'),
    "`metformin` MATCH (n) SET n.name = 'x' RETURN n",
    *("metformin] RETURN n UNION MATCH (n) DETACH DELETE n", "$names metformin {limit: 1}"),
    *("\\u0027 OR 1=1 //", "CREATE (n:Compound {name: 'metformin'})"),
    *("'] DETACH DELETE n0 // metformin", "metformin'x' AS y, n0 DETACH DELETE n0 //", "metformin \\"),
)


async def test_a_question_adds_no_clause(graph: Graph) -> None:
    everything = "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN n, type(r) ORDER BY n.name, type(r)"
    before, source = graph.run(everything), graph.source()
    for text in INJECTIONS:
        result = await search(source, Query(text=text, limit=50))
        assert all("etformin" in record.text for record in result.records), text
        assert graph.run(everything) == before, text


async def test_names_of_the_graph_are_only_text_with_apostrophes_and_all(graph: Graph) -> None:
    name = "evil\x1b[31m' }) DETACH DELETE n //"
    graph.run(f"""CREATE (:Compound {{name: "{name}"}})-[:TREATS_CtD]->(:Disease {{name: 'gout'}})""")
    result = await search(graph.source(), Query(text="gout"))
    assert "\x1b" not in result.records[0].text
    graph.run(
        """CREATE (:Compound {name: 'L-dopa'})-[:TREATS_CtD]->(:Disease {name: "Parkinson's disease"})"""
    )
    for text in ("Which drugs treat Parkinson's disease?", "drugs for Parkinson\u2019s disease"):
        result = await search(graph.source(), Query(text=text))
        assert "L-dopa (drug) treats Parkinson's disease (disease)" in result.records[0].text


SCHEMA = (BUNDLED / "hetionet.toml").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HETIONET, "not TOML"),
        (SCHEMA.replace('drug = "Compound"', 'drug = "Compound) DELETE n //"'), "no name of a label"),
        (SCHEMA.replace('name = "name"', 'name = "x` OR true //"'), "name: 'x` OR true //' is no name"),
        (SCHEMA.replace("TREATS_CtD =", '"T`]-() DELETE n //" ='), "no name of a label"),
        (SCHEMA.replace('kinds = ["drug", "disease"]', 'kinds = ["drug", "x"]'), "the kind 'x'"),
        (SCHEMA + '\nquery = "MATCH (n) DELETE n"\n', "query: there is no such key"),
        (SCHEMA.replace('kinds = ["drug", "disease"]', 'kinds = ["drug"]'), "kinds: it has 1 entry"),
    ],
)
def test_a_schema_that_is_more_than_names_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "graph.toml"
    path.write_text(text)
    with pytest.raises(Refused, match=re.escape(said)) as raised:
        load_schema(str(path))
    assert "paths: " not in str(raised.value), "a list is not too short where an entry of it is wrong"


@pytest.mark.parametrize("name", ["hetionet", "primekg"])
def test_the_statements_of_a_schema_only_read(name: str) -> None:
    for statement in load_schema(name).statements:
        assert statement.cypher.startswith("MATCH ")
        words = set(statement.cypher.upper().replace("(", " ").split())
        assert not words & {"CREATE", "MERGE", "DELETE", "DETACH", "SET", "REMOVE", "DROP", "CALL", "LOAD"}


async def test_another_schema_finds_its_own_names(graph: Graph) -> None:
    graph.run(
        "CREATE (:drug {name: 'Sildenafil', id: 'DB00203'})-[:drug_protein {source: 'DrugBank'}]->"
        "(:gene_protein {name: 'PDE5A'})-[:disease_protein]->(:disease {name: 'pulmonary hypertension'})"
    )
    result = await search(
        graph.source(neo4j_schema="primekg"), Query(text="sildenafil in pulmonary hypertension")
    )
    assert {record.facts["graph"] for record in result.records} == {"PrimeKG"}
    assert "Sildenafil (drug DB00203) acts on PDE5A (gene)" in result.records[0].text


async def test_a_server_that_is_down_is_no_empty_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    made = source("bolt://127.0.0.1:9", monkeypatch)
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:9 cannot be reached") as raised:
        await search(made, Query(text="metformin"))
    assert len(str(raised.value)) < 200
    assert "\n" not in str(raised.value)
    await made.close()


UNAUTHORIZED = "Neo.ClientError.Security.Unauthorized"


def failure(code: str) -> bytes:
    """Bolt's `FAILURE {code: ...}` as one message."""
    packed = b"\xb1\x7f\xa1\x84code\xd0" + bytes([len(code)]) + code.encode()
    return len(packed).to_bytes(2, "big") + packed + b"\x00\x00"


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [(b"", Unavailable, "at bolt://127.0.0.1"), (failure(UNAUTHORIZED), Refused, "NEO4J_PASSWORD")],
)
async def test_a_connection_that_hangs_is_an_outage_and_a_wrong_password_is_named(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, error: type[Exception], said: str
) -> None:
    """A server that takes a connection, agrees on Bolt 4.4 where it answers at all, and says one thing."""
    taken = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.append(writer)
        await reader.readexactly(20)
        if answer:
            writer.write(bytes([0, 0, 4, 4]) + answer)
        await reader.read()

    monkeypatch.setattr("activities.sources.neo4j.SECONDS", 0.5)
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        made = source(f"bolt://127.0.0.1:{server.sockets[0].getsockname()[1]}", monkeypatch)
        with pytest.raises(error, match=said):
            await search(made, Query(text="metformin"))
        await made.close()
        for writer in taken:
            writer.close()
            await writer.wait_closed()


@pytest.mark.parametrize("address", ["http://localhost:7687", "bolt://", "localhost:7687", "bolt://h:port"])
async def test_an_address_that_is_not_bolts_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    made = source(address, monkeypatch)
    assert "DETERMINATOR_NEO4J_URL" in made.missing
    with pytest.raises(Refused):
        await search(made, Query(text="metformin"))


async def test_candidates_are_looked_up_in_the_graph(graph: Graph) -> None:
    step = CandidateLookUp(run_id="r", name="Metformin", question="metformin in cancer?", sources=("neo4j",))
    answered = await look_up(step, {"neo4j": graph.source()})
    (targets,) = [field for field in answered.findings.fields if field.name == "targets"]
    assert targets.status == "found"
    assert "PRKAB1" in targets.entries[0].text
    assert targets.entries[0].source == "neo4j"
