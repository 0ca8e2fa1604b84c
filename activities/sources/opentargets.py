"""The Open Targets Platform (https://platform-docs.opentargets.org/data-access/graphql-api).

One GraphQL endpoint is asked for a drug by its name and then for the platform's data about it. Only fields
are asked for that current and coming versions of the schema share: a field that it does not know fails the
whole query. The names of a drug, whose shape has changed, come from other sources.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial

import httpx

from activities.contracts.errors import Malformed, Refused
from activities.contracts.evidence import Evidence, Query
from activities.sources.base import Exchange
from activities.sources.chembl import display_name
from activities.sources.drug_names import drug_of_query, is_name_of
from activities.sources.names import info_of
from activities.sources.records import ApiSource, Json, database_record, read_records, read_shape

NAME = "opentargets"
TITLE = "Open Targets Platform"
SITE = "https://platform.opentargets.org"
SEARCH = """
query SearchDrug($name: String!) {
  search(queryString: $name, entityNames: ["drug"], page: {index: 0, size: 5}) {
    hits { id name entity }
  }
}
"""
DRUG = """
query Drug($id: String!) {
  drug(chemblId: $id) {
    id
    name
    maximumClinicalStage
    mechanismsOfAction {
      rows {
        mechanismOfAction
        actionType
        targets { id approvedSymbol approvedName proteinIds { id source } }
      }
    }
    indications { rows { maxClinicalStage disease { id name } } }
    drugWarnings { warningType toxicityClass description year }
  }
}
"""
APPROVED = "APPROVAL"
SWISS_PROT = "uniprot_swissprot"
MAX_DISEASES = 40
"""Diseases of one stage that are listed."""


class OpenTargets(ApiSource):
    """Mechanisms, targets, indications by clinical stage and warnings of one drug."""

    url = "https://api.platform.opentargets.org/api/v4"
    info = info_of(NAME)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        name = drug_of_query(query.text)
        hits = await self._objects(SEARCH, {"name": name}, "/data/search/hits")
        drugs = [hit for hit in hits if hit.text("/entity") == "drug"]
        ids = [drug.required("/id") for drug in drugs if is_name_of(name, (drug.text("/name"),))]
        yield Exchange(hits=len(ids), sent=name)
        if ids:
            rows = await self._objects(DRUG, {"id": ids[0]}, "/data/drug")
            yield read_records(NAME, query, rows, read_drug, hits=len(rows))

    async def _objects(self, query: str, variables: Mapping[str, str], place: str) -> list[Json]:
        """Return the objects that one GraphQL query finds. Raises SourceError."""
        body = {"query": query, "variables": dict(variables)}
        return await self.ask(partial(read_objects, place=place), "graphql", json_body=body)


def read_objects(response: httpx.Response, place: str) -> list[Json]:
    """Return what stands at a place of an answer: a list, or one object. Raises SourceError."""

    def read(body: Json) -> list[Json]:
        if messages := body.texts("/errors", "/message"):
            raise Refused(f"{TITLE} said: {messages[0][:200]}")
        if not isinstance(body.at("/data"), dict):
            raise Malformed(f"{TITLE} sent JSON without data")
        value = body.at(place)
        return [Json(value)] if isinstance(value, dict) else body.objects(place)

    return read_shape(response, read, TITLE)


def read_drug(drug: Json) -> Evidence:
    number = drug.required("/id")
    name = display_name(drug.text("/name") or number)
    actions = drug.objects("/mechanismsOfAction/rows")
    action_targets = (target for action in actions for target in action.objects("/targets"))
    targets = {symbol: target for target in action_targets if (symbol := target.text("/approvedSymbol"))}
    proteins = (protein for target in targets.values() for protein in target.objects("/proteinIds"))
    accessions = (protein.text("/id") for protein in proteins if protein.text("/source") == SWISS_PROT)
    return database_record(
        NAME,
        url=f"{SITE}/drug/{number}",
        title=f"{name} - {TITLE} drug {number}",
        text="\n".join(_lines(drug, name)),
        venue=TITLE,
        generic_name=name,
        molecule_chembl_id=number,
        maximum_clinical_stage=drug.text("/maximumClinicalStage"),
        mechanism=list(dict.fromkeys(action.text("/mechanismOfAction") for action in actions)),
        genes=list(targets),
        targets=[target.text("/approvedName") for target in targets.values()],
        accessions=list(dict.fromkeys(accessions)),
        approved_for=list(dict.fromkeys(_diseases(drug, APPROVED)))[:MAX_DISEASES],
        warnings=list(dict.fromkeys(map(_warning, drug.objects("/drugWarnings")))),
    )


def _diseases(drug: Json, code: str) -> list[str]:
    """Return the diseases for which a drug is at a clinical stage."""
    rows = drug.objects("/indications/rows")
    return [row.text("/disease/name") for row in rows if row.text("/maxClinicalStage") == code]


def _lines(drug: Json, name: str) -> Iterator[str]:
    if highest_stage := drug.text("/maximumClinicalStage"):
        yield f"Highest clinical stage of {name} for any disease: {stage(highest_stage)}."
    for row in drug.objects("/mechanismsOfAction/rows"):
        pairs = ((t.text("/approvedName"), t.text("/approvedSymbol")) for t in row.objects("/targets"))
        targets = ", ".join(f"{target} ({symbol})" for target, symbol in pairs if symbol)
        action = row.text("/actionType").lower()
        details = f"{f' ({action})' if action else ''}{f'; acts on {targets}' if targets else ''}"
        yield f"Mechanism of action of {name}: {row.text('/mechanismOfAction')}{details}."
    stages = dict.fromkeys(row.text("/maxClinicalStage") for row in drug.objects("/indications/rows"))
    for code in sorted(stages, key=_order):
        diseases = _diseases(drug, code)
        remainder = f" and {len(diseases) - MAX_DISEASES} more" if len(diseases) > MAX_DISEASES else ""
        yield f"{stage(code).capitalize()} for: {'; '.join(diseases[:MAX_DISEASES])}{remainder}."
    for warning in drug.objects("/drugWarnings"):
        yield f"Warning: {_warning(warning)}."


def _warning(warning: Json) -> str:
    """Return a warning in words: `withdrawn (cardiotoxicity), 2004`."""
    reason, year = warning.text("/toxicityClass") or warning.text("/description"), warning.text("/year")
    kind = warning.text("/warningType").lower()
    return f"{kind}{f' ({reason})' if reason else ''}{f', {year}' if year else ''}"


def stage(code: str) -> str:
    """Return a clinical stage in words: `APPROVAL` -> `approved`, `PHASE_2_3` -> `phase 2/3`."""
    if code == APPROVED:
        return "approved"
    text = code.lower().replace("early_phase_", "early phase ")
    return (
        text.replace("phase_", "phase ", 1).replace("_", "/") if "phase" in text else text.replace("_", " ")
    )


def _order(code: str) -> tuple[bool, int, int]:
    """Sort approved first, then the later phases, and what is not known last."""
    numbers = [int(character) for character in code if character.isdigit()]
    return code != APPROVED, -max(numbers, default=0), -min(numbers, default=0)
