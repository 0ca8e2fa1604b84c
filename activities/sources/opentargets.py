"""The Open Targets Platform (https://platform-docs.opentargets.org/data-access/graphql-api): one GraphQL
endpoint, asked for a drug by its name and then for the platform's data about it.

Only fields are asked for that current and coming versions of the schema share: a field that it does not know
fails the whole query. The names of a drug, whose shape has changed, come from other sources.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from typing import Annotated, TypeVar

import httpx
from pydantic import JsonValue

from activities.contracts.errors import Malformed, Refused
from activities.contracts.evidence import Evidence, Query
from activities.sources.base import Exchange
from activities.sources.chembl import shown
from activities.sources.names import info_of
from activities.sources.names_asked import drug_asked, is_name_of
from activities.sources.records import (
    ApiSource,
    CamelWire,
    Wire,
    at,
    database_record,
    each,
    read_page,
    read_records,
)

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
LISTED = 40
"""Diseases of one stage that are listed."""


class Answer(Wire):
    errors: Annotated[tuple[str, ...], each("/message")] = ()
    data: Mapping[str, JsonValue] | None = None


class Hit(Wire):
    id: str
    name: str = ""
    entity: str = ""


class SearchAnswer(Answer):
    hits: tuple[Hit, ...] = at("/data/search/hits", ())


class ProteinId(Wire):
    id: str
    source: str = ""


class Target(CamelWire):
    approved_symbol: str = ""
    approved_name: str = ""
    protein_ids: tuple[ProteinId, ...] = ()


class Action(CamelWire):
    mechanism_of_action: str = ""
    action_type: str = ""
    targets: tuple[Target, ...] = ()


class Indication(CamelWire):
    max_clinical_stage: str = ""
    disease: str = at("/disease/name")


class DrugWarning(CamelWire):
    warning_type: str = ""
    toxicity_class: str = ""
    description: str = ""
    year: int | None = None


class Drug(CamelWire):
    id: str
    name: str = ""
    maximum_clinical_stage: str = ""
    actions: tuple[Action, ...] = at("/mechanismsOfAction/rows", ())
    indications: tuple[Indication, ...] = at("/indications/rows", ())
    drug_warnings: tuple[DrugWarning, ...] = ()

    @property
    def approved(self) -> tuple[str, ...]:
        rows = self.indications
        return tuple(dict.fromkeys(row.disease for row in rows if row.max_clinical_stage == APPROVED))

    @property
    def targets(self) -> tuple[Target, ...]:
        every = (target for action in self.actions for target in action.targets)
        return tuple({target.approved_symbol: target for target in every if target.approved_symbol}.values())


class DrugAnswer(Answer):
    drug: Drug | None = at("/data/drug", None)


A = TypeVar("A", bound=Answer)


class OpenTargets(ApiSource):
    """Mechanisms, targets, indications by clinical stage and warnings of one drug."""

    url = "https://api.platform.opentargets.org/api/v4"
    info = info_of(NAME)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        asked = drug_asked(query.text)
        answer = await self._ask(SearchAnswer, SEARCH, {"name": asked})
        own = [hit.id for hit in answer.hits if hit.entity == "drug" and is_name_of(asked, (hit.name,))]
        yield Exchange(hits=len(own), sent=asked)
        if own:
            held = await self._ask(DrugAnswer, DRUG, {"id": own[0]})
            drugs = [held.drug] if held.drug else []
            yield read_records(NAME, query, drugs, read_drug, hits=len(drugs))

    async def _ask(self, answer: type[A], query: str, variables: Mapping[str, str]) -> A:
        """One GraphQL query. Raises SourceError; Refused when the endpoint reports errors."""
        wish = {"query": query, "variables": dict(variables)}
        return await self.ask(partial(read_graphql, answer), "graphql", json_body=wish)


def read_graphql(answer: type[A], response: httpx.Response) -> A:
    """An answer in its shape. Raises SourceError."""
    page = read_page(answer, response, TITLE)
    if page.errors:
        raise Refused(f"{TITLE} said: {page.errors[0][:200]}")
    if "data" not in page.model_fields_set:
        raise Malformed(f"{TITLE} sent JSON without data")
    return page


def read_drug(drug: Drug) -> Evidence:
    name = shown(drug.name or drug.id)
    proteins = (protein for target in drug.targets for protein in target.protein_ids)
    return database_record(
        NAME,
        drug.id,
        url=f"{SITE}/drug/{drug.id}",
        title=f"{name} - {TITLE} drug {drug.id}",
        text="\n".join(_lines(drug, name)),
        venue=TITLE,
        generic_name=name,
        molecule_chembl_id=drug.id,
        maximum_clinical_stage=drug.maximum_clinical_stage,
        mechanism=list(dict.fromkeys(action.mechanism_of_action for action in drug.actions)),
        genes=[target.approved_symbol for target in drug.targets],
        targets=[target.approved_name for target in drug.targets],
        accessions=list(dict.fromkeys(p.id for p in proteins if p.source == SWISS_PROT)),
        approved_for=drug.approved[:LISTED],
        warnings=list(dict.fromkeys(map(_warning, drug.drug_warnings))),
    )


def _lines(drug: Drug, name: str) -> Iterator[str]:
    if drug.maximum_clinical_stage:
        yield f"Highest clinical stage of {name} for any disease: {stage(drug.maximum_clinical_stage)}."
    for row in drug.actions:
        on = ", ".join(f"{t.approved_name} ({t.approved_symbol})" for t in row.targets if t.approved_symbol)
        action = f" ({row.action_type.lower()})" if row.action_type else ""
        acts = f"; acts on {on}" if on else ""
        yield f"Mechanism of action of {name}: {row.mechanism_of_action}{action}{acts}."
    stages = dict.fromkeys(row.max_clinical_stage for row in drug.indications)
    for code in sorted(stages, key=_order):
        names = [r.disease for r in drug.indications if r.max_clinical_stage == code]
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        yield f"{stage(code).capitalize()} for: {'; '.join(names[:LISTED])}{more}."
    for warning in drug.drug_warnings:
        yield f"Warning: {_warning(warning)}."


def _warning(warning: DrugWarning) -> str:
    """`withdrawn (cardiotoxicity), 2004`."""
    about = warning.toxicity_class or warning.description
    year = f", {warning.year}" if warning.year else ""
    return f"{warning.warning_type.lower()}{f' ({about})' if about else ''}{year}"


def stage(code: str) -> str:
    """A clinical stage in words: `APPROVAL` -> `approved`, `PHASE_2_3` -> `phase 2/3`."""
    if code == APPROVED:
        return "approved"
    text = code.lower().replace("early_phase_", "early phase ")
    return (
        text.replace("phase_", "phase ", 1).replace("_", "/") if "phase" in text else text.replace("_", " ")
    )


def _order(code: str) -> tuple[bool, int, int]:
    """Approved first, then the later phases; what is not known last."""
    numbers = [int(character) for character in code if character.isdigit()]
    return code != APPROVED, -max(numbers, default=0), -min(numbers, default=0)
