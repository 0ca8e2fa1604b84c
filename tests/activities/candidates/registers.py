"""One local server that answers for every source that a candidate is looked up in, about sildenafil."""

from collections.abc import Callable, Mapping

from activities.settings import Settings
from activities.sources import chembl, clinicaltrials, openfda, opentargets, reactome, uniprot
from activities.sources.base import Source
from activities.sources.http.client import Http
from tests.replay import ReplayServer, recorded

BUILDS: dict[str, Callable[[Settings, Http], Source]] = {
    "openfda": openfda.OpenFda,
    "clinicaltrials": clinicaltrials.ClinicalTrials,
    "chembl": chembl.Chembl,
    "opentargets": opentargets.OpenTargets,
    "uniprot": uniprot.UniProt,
    "reactome": reactome.Reactome,
}


def answering(server: ReplayServer) -> ReplayServer:
    """The server with its answers."""
    server.on("/drug/label.json", recorded("openfda/label_sildenafil.json"))
    server.on("/drug/drugsfda.json", recorded("openfda/drugsfda_sildenafil.json"))
    server.on("/drug/event.json", recorded("openfda/event_count_pembrolizumab.json"))
    server.on("/studies", recorded("ctgov/search_sildenafil_stopped.json"))
    server.on("/molecule/search.json", recorded("chembl/molecule_search_sildenafil.json"))
    server.on("/mechanism.json", recorded("chembl/mechanism_sildenafil.json"))
    server.on("/target.json", recorded("chembl/target_pde5a.json"))
    server.on(
        "/graphql",
        lambda asked: recorded(
            "opentargets/search_sildenafil.json"
            if "SearchDrug" in str(asked.json()["query"])
            else "opentargets/drug_sildenafil.json"
        ),
    )
    server.on("/uniprotkb/search", recorded("uniprot/search_o76074.json"))
    server.on("/data/mapping/UniProt/O76074/pathways", recorded("reactome/pathways_o76074.json"))
    return server


def addresses(server: ReplayServer) -> dict[str, str]:
    """What points every source at the server."""
    return {f"{name}_url": server.url for name in BUILDS}


def sources(server: ReplayServer, http: Http) -> Mapping[str, Source]:
    settings = Settings.model_validate(addresses(server))
    return {name: build(settings, http) for name, build in BUILDS.items()}
