"""ChEMBL, Open Targets, UniProt and Reactome: the requests, and the records from the answers."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from activities.errors import Refused, SourceError
from activities.settings import Settings
from activities.sources import chembl, opentargets, reactome, uniprot
from activities.sources.base import SearchResult, Source, search
from activities.sources.http.client import Http
from activities.sources.names_asked import drug_asked
from activities.sources.opentargets import stage
from activities.sources.uniprot import entry_query
from activities.types import Query
from tests.activities.sources.faults import FAULTS, check_retry, client, pointed_at
from tests.replay import RECORDED, ReplayServer, Reply, recorded

Build = Callable[[Settings, Http], Source]
GRAPHQL = "/graphql"
PATHS = {
    "chembl": "/molecule/search.json",
    "opentargets": GRAPHQL,
    "uniprot": "/uniprotkb/search",
    "reactome": "/search/query",
}
BUILDS: dict[str, Build] = {
    "chembl": chembl.Chembl,
    "opentargets": opentargets.OpenTargets,
    "uniprot": uniprot.UniProt,
    "reactome": reactome.Reactome,
}


async def asked(server: ReplayServer, name: str, text: str, limit: int = 10) -> SearchResult:
    async with client() as http:
        return await search(BUILDS[name](pointed_at(server, name), http), Query(text=text, limit=limit))


def sildenafil_at_chembl(server: ReplayServer) -> None:
    server.on("/molecule/search.json", recorded("chembl/molecule_search_sildenafil.json"))
    server.on("/mechanism.json", recorded("chembl/mechanism_sildenafil.json"))
    server.on("/target.json", recorded("chembl/target_pde5a.json"))


async def test_chembl_gives_names_mechanism_and_target_of_the_very_drug() -> None:
    with ReplayServer() as server:
        sildenafil_at_chembl(server)
        found = await asked(server, "chembl", "Does sildenafil help in heart failure?")
        sent = {a.path: a.query for a in server.asked}
    assert sent["/molecule/search.json"]["q"] == ["sildenafil"]
    assert sent["/mechanism.json"]["molecule_chembl_id__in"] == ["CHEMBL192,CHEMBL1737"]
    assert sent["/target.json"]["target_chembl_id__in"] == ["CHEMBL1827"]
    parent, salt, mechanism, target = found.records
    assert (parent.facts["max_phase"], parent.facts["first_approval"]) == ("4", "1998")
    assert "Viagra" in salt.facts["synonyms"]
    assert mechanism.facts["mechanism"] == "Phosphodiesterase 5A inhibitor"
    assert mechanism.text.startswith("Mechanism of action of Sildenafil: Phosphodiesterase 5A inhibitor.")
    assert (target.facts["accessions"], target.facts["genes"]) == ("O76074", "PDE5A")
    assert {record.evidence_type for record in found.records} == {"database_record"}
    assert len({record.evidence_id for record in found.records}) == 4


async def test_a_molecule_that_is_only_alike_is_another_drug() -> None:
    with ReplayServer() as server:
        sildenafil_at_chembl(server)
        found = await asked(server, "chembl", "vardenafil")
        assert (found.status, found.records) == ("empty", ())
        assert server.count("/mechanism.json") == 0
        server.on(GRAPHQL, recorded("opentargets/search_sildenafil.json"))
        assert (await asked(server, "opentargets", "tadalafil")).status == "empty"


def test_a_recorded_mechanism_is_read() -> None:
    rows = json.loads((RECORDED / "chembl/mechanism_pembrolizumab.json").read_text())["mechanisms"]
    record = chembl.read_mechanism(rows[0], "Pembrolizumab")
    assert record.facts["mechanism"] == "Programmed cell death protein 1 inhibitor"
    assert record.facts["action_type"] == "inhibitor"
    assert record.url == "https://www.ebi.ac.uk/chembl/api/data/mechanism/2300"


async def test_open_targets_gives_stages_targets_and_accessions() -> None:
    with ReplayServer() as server:
        server.on(
            GRAPHQL,
            recorded("opentargets/search_sildenafil.json"),
            recorded("opentargets/drug_sildenafil.json"),
        )
        found = await asked(server, "opentargets", "sildenafil")
        variables = [a.json()["variables"] for a in server.asked]
    assert variables == [{"name": "sildenafil"}, {"id": "CHEMBL192"}]
    (record,) = found.records
    assert record.facts["approved_for"] == "pulmonary arterial hypertension; erectile dysfunction"
    assert (record.facts["genes"], record.facts["accessions"]) == ("PDE5A", "O76074")
    stages = [line.split(" for:")[0] for line in record.text.splitlines() if " for: " in line]
    assert stages == ["Approved", "Phase 2/3", "Phase 2", "Unknown"]


async def test_open_targets_names_a_withdrawal() -> None:
    with ReplayServer() as server:
        hit = {"data": {"search": {"hits": [{"id": "CHEMBL122", "name": "ROFECOXIB", "entity": "drug"}]}}}
        answer = Reply(200, json.dumps(hit), {"content-type": "application/json"})
        server.on(GRAPHQL, answer, recorded("opentargets/drug_withdrawn.json"))
        found = await asked(server, "opentargets", "rofecoxib")
    assert found.records[0].facts["warnings"] == "withdrawn (cardiotoxicity), 2004"


async def test_a_field_that_the_schema_does_not_know_is_refused_with_what_was_said() -> None:
    with ReplayServer() as server:
        server.on(GRAPHQL, recorded("opentargets/error_field.json"))
        with pytest.raises(Refused, match="maximumClinicalStage"):
            await asked(server, "opentargets", "sildenafil")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("APPROVAL", "approved"),
        ("PHASE_2_3", "phase 2/3"),
        ("EARLY_PHASE_1", "early phase 1"),
        ("UNKNOWN", "unknown"),
    ],
)
def test_clinical_stages_are_worded(code: str, words: str) -> None:
    assert stage(code) == words


async def test_uniprot_says_what_a_protein_does_without_evidence_marks() -> None:
    with ReplayServer() as server:
        server.on(PATHS["uniprot"], recorded("uniprot/search_o76074.json", x_total_results="1"))
        found = await asked(server, "uniprot", "O76074")
        sent = server.asked[0].query
    assert sent["query"] == ["accession:O76074"]
    (record,) = found.records
    assert record.facts["genes"] == "PDE5A"
    assert record.facts["pathways"] == "R-HSA-418457 cGMP effects"
    assert "PubMed:" not in record.text
    assert record.text.startswith("Function: Plays a role in signal transduction")
    assert "\n\nPathway: Purine metabolism" in record.text


async def test_a_recorded_entry_is_read() -> None:
    with ReplayServer() as server:
        server.on(PATHS["uniprot"], recorded("uniprot/search_braf_reviewed.json"))
        (record,) = (await asked(server, "uniprot", "BRAF")).records
        assert server.asked[0].query["query"] == ["(BRAF) AND reviewed:true AND organism_id:9606"]
    assert record.title == "Serine/threonine-protein kinase B-raf - UniProt P15056"
    assert record.url == "https://www.uniprot.org/uniprotkb/P15056/entry"
    assert record.facts["reviewed"] == "yes"


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("gene_exact:PDE5A", "gene_exact:PDE5A"),
        (
            "insulin receptor AND kinase",
            '("insulin receptor" AND kinase) AND reviewed:true AND organism_id:9606',
        ),
        ("NF-kappa-B/p65", '("NF-kappa-B p65") AND reviewed:true AND organism_id:9606'),
    ],
)
def test_text_is_looked_for_in_reviewed_human_entries(text: str, sent: str) -> None:
    assert entry_query(text) == sent


async def test_reactome_gives_the_pathways_of_a_protein() -> None:
    with ReplayServer() as server:
        server.on("/data/mapping/UniProt/O76074/pathways", recorded("reactome/pathways_o76074.json"))
        found = await asked(server, "reactome", "O76074")
        assert server.asked[0].query == {"species": ["9606"]}
    assert [r.facts["pathway"] for r in found.records] == ["cGMP effects", "Smooth Muscle Contraction"]
    assert found.records[0].url == "https://reactome.org/content/detail/R-HSA-418457"


async def test_reactome_gives_summaries_without_markup() -> None:
    with ReplayServer() as server:
        server.on(PATHS["reactome"], recorded("reactome/search_cgmp.json"))
        found = await asked(server, "reactome", "cGMP AND effects")
    (record,) = found.records
    assert found.set_aside == 1
    assert record.title == "cGMP effects - Reactome pathway R-HSA-418457"
    assert record.text.endswith("mediated by phosphodiesterases & others.")
    assert "<" not in record.text


@pytest.mark.parametrize("text", ["xyzzy", "O99999"])
async def test_a_404_of_reactomes_own_means_that_nothing_matches(text: str) -> None:
    with ReplayServer() as server:
        server.on("/search/query", recorded("reactome/error_404.json", status=404))
        server.on("/data/mapping/UniProt/O99999/pathways", recorded("reactome/error_404.json", status=404))
        assert (await asked(server, "reactome", text)).status == "empty"


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize(("reply", "error"), FAULTS)
async def test_a_failure_is_called_what_it_is(name: str, reply: Reply, error: type[SourceError]) -> None:
    with ReplayServer() as server:
        server.on(PATHS[name], reply)
        with pytest.raises(error) as raised:
            await asked(server, name, "sildenafil")
    check_retry(raised.value)


@pytest.mark.parametrize("name", ["chembl", "opentargets", "uniprot"])
async def test_a_query_without_a_word_is_refused(name: str) -> None:
    with ReplayServer() as server, pytest.raises(Refused):
        await asked(server, name, '"()"')


def test_a_drug_is_asked_for_by_its_preferred_name() -> None:
    assert drug_asked("Does Paracetamol AND asthma") == "acetaminophen"
    assert drug_asked('"compound 17" AND pain') == "compound 17 pain"


def test_a_record_of_another_shape_is_set_aside() -> None:
    bad: Any = {"molecule_chembl_id": None}
    with pytest.raises(ValueError, match="molecule_chembl_id"):
        chembl.read_molecule(bad)
