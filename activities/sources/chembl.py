"""ChEMBL's web services (https://chembl.gitbook.io/chembl-interface-documentation/web-services).

One search is up to three exchanges: the molecule by its name, its mechanisms of action, their targets with
the UniProt accessions. The molecule search matches similar names, so only molecules with exactly that name
are kept. Mechanisms may be recorded for a salt or for its parent, and both are asked for.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Annotated

from pydantic import JsonValue

from activities.contracts.evidence import Evidence, Query
from activities.sources.base import Exchange
from activities.sources.names import info_of
from activities.sources.names_asked import drug_asked, is_name_of
from activities.sources.records import ApiSource, SetAside, Wire, at, database_record, each, read_records

NAME = "chembl"
TITLE = "ChEMBL"
SITE = "https://www.ebi.ac.uk/chembl/explore"
API = "https://www.ebi.ac.uk/chembl/api/data"
FOUND = 20
"""Molecules of the search by similarity that are examined."""
ROWS = 100
"""Mechanisms or targets of one exchange."""
SHOWN_NAMES = 12


class Molecule(Wire):
    molecule_chembl_id: str
    pref_name: str = ""
    molecule_type: str = ""
    max_phase: float | None = None
    """4 approved, 3, 2, 1 and 0.5 (early phase 1) trials, -1 not known."""
    first_approval: int | None = None
    withdrawn_flag: bool = False
    black_box_warning: int = 0
    synonyms: Annotated[tuple[str, ...], each("/molecule_synonym")] = at("/molecule_synonyms", ())
    parent: str = at("/molecule_hierarchy/parent_chembl_id")

    @property
    def names(self) -> tuple[str, ...]:
        """The preferred name first."""
        return tuple(dict.fromkeys(filter(None, (self.pref_name, *self.synonyms))))


class Mechanism(Wire):
    mec_id: int
    mechanism_of_action: str = ""
    action_type: str = ""
    target_chembl_id: str = ""
    mechanism_comment: str = ""
    molecule_chembl_id: str = ""


class ComponentSynonym(Wire):
    component_synonym: str = ""
    syn_type: str = ""


class Component(Wire):
    accession: str = ""
    target_component_synonyms: tuple[ComponentSynonym, ...] = ()

    @property
    def gene(self) -> str:
        return next(
            (s.component_synonym for s in self.target_component_synonyms if s.syn_type == "GENE_SYMBOL"), ""
        )


class Target(Wire):
    target_chembl_id: str
    pref_name: str = ""
    target_type: str = ""
    organism: str = ""
    target_components: tuple[Component, ...] = ()


class Chembl(ApiSource):
    url = API
    info = info_of(NAME)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        asked = drug_asked(query.text)
        similar = await self.items("/molecules", "molecule/search.json", {"q": asked, "limit": FOUND})
        drugs = list(_molecules_of(asked, similar))
        yield read_records(NAME, query, drugs, read_molecule, sent=asked)
        ids = dict.fromkeys(filter(None, (id_ for m in drugs for id_ in (m.molecule_chembl_id, m.parent))))
        if not ids:
            return
        name = shown(drugs[0].pref_name or asked)
        wanted = {"molecule_chembl_id__in": ",".join(ids), "limit": str(ROWS)}
        rows = await self.items("/mechanisms", "mechanism.json", wanted)
        exchange = read_records(NAME, query, rows, partial(read_mechanism, name=name), hits=len(rows))
        yield exchange
        targets = dict.fromkeys(record.facts.get("target_chembl_id", "") for record in exchange.records)
        if ids := dict.fromkeys(filter(None, targets)):
            wanted = {"target_chembl_id__in": ",".join(ids), "limit": str(ROWS)}
            rows = await self.items("/targets", "target.json", wanted)
            yield read_records(NAME, query, rows, partial(read_target, name=name), hits=len(rows))


def _molecules_of(asked: str, items: Iterable[JsonValue]) -> Iterator[Molecule]:
    for item in items:
        with suppress(ValueError):
            molecule = Molecule.model_validate(item)
            if is_name_of(asked, molecule.names):
                yield molecule


def shown(name: str) -> str:
    """A name as a reader expects it: ChEMBL writes preferred names in capitals."""
    return name.capitalize() if name.isupper() else name


def read_molecule(molecule: Molecule) -> Evidence:
    name = shown(molecule.pref_name or molecule.molecule_chembl_id)
    return database_record(
        NAME,
        molecule.molecule_chembl_id,
        url=f"{SITE}/compound/{molecule.molecule_chembl_id}",
        title=f"{name} - {TITLE} compound {molecule.molecule_chembl_id}",
        text="\n".join(_molecule_lines(molecule, name)),
        year=molecule.first_approval,
        venue=TITLE,
        molecule_chembl_id=molecule.molecule_chembl_id,
        generic_name=name,
        synonyms=molecule.names[1 : SHOWN_NAMES + 1],
        max_phase="" if molecule.max_phase is None else f"{molecule.max_phase:g}",
        first_approval=str(molecule.first_approval or ""),
        withdrawn="yes" if molecule.withdrawn_flag else "",
        boxed_warning="yes" if molecule.black_box_warning == 1 else "",
    )


def _molecule_lines(molecule: Molecule, name: str) -> Iterable[str]:
    kind = f" ({molecule.molecule_type.lower()})" if molecule.molecule_type else ""
    yield f"{name}{kind}, ChEMBL identifier {molecule.molecule_chembl_id}."
    if molecule.names[1:]:
        yield f"Other names: {'; '.join(molecule.names[1 : SHOWN_NAMES + 1])}."
    if molecule.max_phase is not None and molecule.max_phase >= 0:
        yield f"Highest clinical phase reached for any disease: {molecule.max_phase:g} (4 is approved)."
    if molecule.first_approval:
        yield f"First approved in {molecule.first_approval}."
    if molecule.withdrawn_flag:
        yield f"{name} has been withdrawn from the market in at least one country."
    if molecule.black_box_warning == 1:
        yield f"The US label of {name} carries a boxed warning."


def read_mechanism(item: JsonValue, name: str) -> Evidence:
    """A mechanism of action. Raises ValueError for another shape, SetAside when it is not named."""
    mechanism = Mechanism.model_validate(item)
    if not mechanism.mechanism_of_action:
        raise SetAside("without text to quote")
    action = mechanism.action_type.lower()
    lines = [f"Mechanism of action of {name}: {mechanism.mechanism_of_action}."]
    if action:
        lines.append(f"Type of action: {action}.")
    if mechanism.mechanism_comment:
        lines.append(mechanism.mechanism_comment)
    return database_record(
        NAME,
        str(mechanism.mec_id),
        url=f"{API}/mechanism/{mechanism.mec_id}",
        title=f"{name} - mechanism of action in {TITLE}",
        text="\n".join(lines),
        venue=TITLE,
        generic_name=name,
        mechanism=mechanism.mechanism_of_action,
        action_type=action,
        target_chembl_id=mechanism.target_chembl_id,
        molecule_chembl_id=mechanism.molecule_chembl_id,
    )


def read_target(item: JsonValue, name: str) -> Evidence:
    """What a drug acts on. Raises ValueError for another shape, SetAside without a name."""
    target = Target.model_validate(item)
    if not target.pref_name:
        raise SetAside("without text to quote")
    parts = [component for component in target.target_components if component.accession]
    genes = list(dict.fromkeys(component.gene for component in parts if component.gene))
    kind = f" ({target.target_type.lower()})" if target.target_type else ""
    of = f" of {target.organism}" if target.organism else ""
    coded = f", gene {', '.join(genes)}" if genes else ""
    return database_record(
        NAME,
        target.target_chembl_id,
        url=f"{SITE}/target/{target.target_chembl_id}",
        title=f"{target.pref_name} - {TITLE} target {target.target_chembl_id}",
        text=f"{name} acts on {target.pref_name}{of}{kind}{coded}.",
        venue=TITLE,
        target=target.pref_name,
        target_chembl_id=target.target_chembl_id,
        organism=target.organism,
        genes=genes,
        accessions=[component.accession for component in parts],
    )
