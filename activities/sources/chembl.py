"""ChEMBL's web services (https://chembl.gitbook.io/chembl-interface-documentation/web-services).

One search is up to three exchanges: the molecule by its name, its mechanisms of action, their targets with
the UniProt accessions. The molecule search matches similar names, so only molecules with exactly that name
are kept. Mechanisms may be recorded for a salt or for its parent, and both are asked for.
"""

from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from activities.settings import Settings
from activities.sources.base import Exchange
from activities.sources.http.client import Http
from activities.sources.names_asked import drug_asked, is_name_of
from activities.sources.records import SetAside, Wire, facts, read_page, read_records, sound_page
from activities.types import Evidence, Identifiers, Query, SourceInfo
from activities.verification.identifiers import evidence_id

NAME = "chembl"
TITLE = "ChEMBL"
SITE = "https://www.ebi.ac.uk/chembl/explore"
API = "https://www.ebi.ac.uk/chembl/api/data"
FOUND = 20
"""Molecules of the search by similarity that are examined."""
ROWS = 100
"""Mechanisms or targets of one exchange."""
SHOWN_NAMES = 12
"""Other names of a molecule that are listed."""


class Synonym(Wire):
    molecule_synonym: str = ""
    syn_type: str = ""


class Hierarchy(Wire):
    parent_chembl_id: str = ""


class Molecule(Wire):
    molecule_chembl_id: str
    pref_name: str = ""
    molecule_type: str = ""
    max_phase: float | None = None
    """4 approved, 3, 2, 1 and 0.5 (early phase 1) trials, -1 not known."""
    first_approval: int | None = None
    withdrawn_flag: bool = False
    black_box_warning: int = 0
    molecule_synonyms: tuple[Synonym, ...] = ()
    molecule_hierarchy: Hierarchy = Hierarchy()

    @property
    def names(self) -> tuple[str, ...]:
        """The preferred name first."""
        others = (synonym.molecule_synonym for synonym in self.molecule_synonyms)
        return tuple(dict.fromkeys(filter(None, (self.pref_name, *others))))


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
    component_description: str = ""
    target_component_synonyms: tuple[ComponentSynonym, ...] = ()

    @property
    def gene(self) -> str:
        """The gene's symbol; empty when it is not given."""
        return next(
            (s.component_synonym for s in self.target_component_synonyms if s.syn_type == "GENE_SYMBOL"), ""
        )


class Target(Wire):
    target_chembl_id: str
    pref_name: str = ""
    target_type: str = ""
    organism: str = ""
    target_components: tuple[Component, ...] = ()


class Total(Wire):
    total_count: int | None = None


class Molecules(Wire):
    molecules: tuple[JsonValue, ...]
    page_meta: Total = Total()


class Mechanisms(Wire):
    mechanisms: tuple[JsonValue, ...]
    page_meta: Total = Total()


class Targets(Wire):
    targets: tuple[JsonValue, ...]
    page_meta: Total = Total()


class Chembl:
    """Names, clinical phase, mechanisms and targets of one drug."""

    info = SourceInfo(
        name=NAME,
        title=TITLE,
        covers="Curated data of drugs: names, highest clinical phase, first approval, withdrawal, mechanism "
        "of action with its targets. Ask for one drug by its name.",
        how_to_enable="No key is needed.",
        rate="not published; kept at 2 requests a second",
        rate_per_second=2,
        domains=("biomedical",),
    )

    def __init__(self, url: str, http: Http) -> None:
        self.address = url
        self._http = http
        http.pace(NAME, 2)

    async def exchange(self, query: Query, cursor: Mapping[str, str] | None = None) -> Exchange:
        """Ask for the molecule, then for its mechanisms, then for their targets. Raises SourceError."""
        if cursor is None:
            return await self._molecules(query)
        if "molecules" in cursor:
            return await self._mechanisms(query, cursor)
        return await self._targets(query, cursor)

    async def _molecules(self, query: Query) -> Exchange:
        asked = drug_asked(query.text)
        response = await self._http.get(
            NAME,
            f"{self.address}/molecule/search.json",
            {"q": asked, "limit": FOUND},
            check=sound_page(Molecules, TITLE),
        )
        page = read_page(Molecules, response, TITLE)
        own = [item for item in page.molecules if _is_molecule_of(item, asked)]
        batch = read_records(NAME, query, own, read_molecule)
        known = [Molecule.model_validate(item) for item in own]
        ids = dict.fromkeys(
            name
            for molecule in known
            for name in (molecule.molecule_chembl_id, molecule.molecule_hierarchy.parent_chembl_id)
            if name
        )
        cursor = {"molecules": ",".join(ids), "name": shown(known[0].pref_name or asked)} if ids else None
        return Exchange(
            records=batch.records,
            hits=len(own),
            set_aside=batch.set_aside,
            sent=asked,
            cursor=cursor,
            detail=batch.detail,
        )

    async def _mechanisms(self, query: Query, cursor: Mapping[str, str]) -> Exchange:
        response = await self._http.get(
            NAME,
            f"{self.address}/mechanism.json",
            {"molecule_chembl_id__in": cursor["molecules"], "limit": ROWS},
            check=sound_page(Mechanisms, TITLE),
        )
        page = read_page(Mechanisms, response, TITLE)
        batch = read_records(NAME, query, page.mechanisms, lambda item: read_mechanism(item, cursor["name"]))
        targets = dict.fromkeys(record.facts.get("target_chembl_id", "") for record in batch.records)
        asked = ",".join(filter(None, targets))
        return Exchange(
            records=batch.records,
            hits=len(page.mechanisms),
            set_aside=batch.set_aside,
            cursor={"targets": asked, "name": cursor["name"]} if asked else None,
            detail=batch.detail,
        )

    async def _targets(self, query: Query, cursor: Mapping[str, str]) -> Exchange:
        response = await self._http.get(
            NAME,
            f"{self.address}/target.json",
            {"target_chembl_id__in": cursor["targets"], "limit": ROWS},
            check=sound_page(Targets, TITLE),
        )
        page = read_page(Targets, response, TITLE)
        batch = read_records(NAME, query, page.targets, lambda item: read_target(item, cursor["name"]))
        return Exchange(
            records=batch.records,
            hits=len(page.targets),
            set_aside=batch.set_aside,
            detail=batch.detail,
        )


def build(settings: Settings, http: Http) -> Chembl:
    """The source as configured."""
    return Chembl(settings.source_url(NAME, API), http)


def _is_molecule_of(item: JsonValue, asked: str) -> bool:
    try:
        return is_name_of(asked, Molecule.model_validate(item).names)
    except ValueError:
        return False


def shown(name: str) -> str:
    """A name as a reader expects it: ChEMBL writes preferred names in capitals."""
    return name.capitalize() if name.isupper() else name


def read_molecule(item: JsonValue) -> Evidence:
    """A molecule with its names and its highest clinical phase. Raises ValueError for another shape."""
    molecule = Molecule.model_validate(item)
    name = shown(molecule.pref_name or molecule.molecule_chembl_id)
    url = f"{SITE}/compound/{molecule.molecule_chembl_id}"
    identifiers = Identifiers(url=url)
    return Evidence(
        evidence_id=evidence_id(identifiers, molecule.molecule_chembl_id),
        source=NAME,
        title=f"{name} - {TITLE} compound {molecule.molecule_chembl_id}",
        text="\n".join(_molecule_lines(molecule, name)),
        year=molecule.first_approval,
        venue=TITLE,
        identifiers=identifiers,
        url=url,
        evidence_type="database_record",
        full_text=True,
        facts=facts(
            molecule_chembl_id=molecule.molecule_chembl_id,
            generic_name=name,
            synonyms=molecule.names[1 : SHOWN_NAMES + 1],
            max_phase="" if molecule.max_phase is None else f"{molecule.max_phase:g}",
            first_approval=str(molecule.first_approval or ""),
            withdrawn="yes" if molecule.withdrawn_flag else "",
            boxed_warning="yes" if molecule.black_box_warning == 1 else "",
        ),
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
    url = f"{API}/mechanism/{mechanism.mec_id}"
    identifiers = Identifiers(url=url)
    action = mechanism.action_type.lower()
    lines = [f"Mechanism of action of {name}: {mechanism.mechanism_of_action}."]
    if action:
        lines.append(f"Type of action: {action}.")
    if mechanism.mechanism_comment:
        lines.append(mechanism.mechanism_comment)
    return Evidence(
        evidence_id=evidence_id(identifiers, str(mechanism.mec_id)),
        source=NAME,
        title=f"{name} - mechanism of action in {TITLE}",
        text="\n".join(lines),
        venue=TITLE,
        identifiers=identifiers,
        url=url,
        evidence_type="database_record",
        full_text=True,
        facts=facts(
            generic_name=name,
            mechanism=mechanism.mechanism_of_action,
            action_type=action,
            target_chembl_id=mechanism.target_chembl_id,
            molecule_chembl_id=mechanism.molecule_chembl_id,
        ),
    )


def read_target(item: JsonValue, name: str) -> Evidence:
    """What a drug acts on. Raises ValueError for another shape, SetAside without a name."""
    target = Target.model_validate(item)
    if not target.pref_name:
        raise SetAside("without text to quote")
    url = f"{SITE}/target/{target.target_chembl_id}"
    identifiers = Identifiers(url=url)
    parts = [component for component in target.target_components if component.accession]
    genes = list(dict.fromkeys(component.gene for component in parts if component.gene))
    kind = f" ({target.target_type.lower()})" if target.target_type else ""
    of = f" of {target.organism}" if target.organism else ""
    coded = f", gene {', '.join(genes)}" if genes else ""
    return Evidence(
        evidence_id=evidence_id(identifiers, target.target_chembl_id),
        source=NAME,
        title=f"{target.pref_name} - {TITLE} target {target.target_chembl_id}",
        text=f"{name} acts on {target.pref_name}{of}{kind}{coded}.",
        venue=TITLE,
        identifiers=identifiers,
        url=url,
        evidence_type="database_record",
        full_text=True,
        facts=facts(
            target=target.pref_name,
            target_chembl_id=target.target_chembl_id,
            organism=target.organism,
            genes=genes,
            accessions=[component.accession for component in parts],
        ),
    )
