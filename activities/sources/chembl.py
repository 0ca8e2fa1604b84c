"""ChEMBL's web services (https://chembl.gitbook.io/chembl-interface-documentation/web-services).

One search is up to three exchanges: the molecule by its name, its mechanisms of action, their targets with
the UniProt accessions. The molecule search matches similar names, so only molecules with exactly that name
are kept. Mechanisms may be recorded for a salt or for its parent, and both are asked for.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from functools import partial

from pydantic import JsonValue

from activities.contracts.evidence import Evidence, Query
from activities.sources.base import Exchange
from activities.sources.drug_names import drug_of_query, is_name_of
from activities.sources.names import info_of
from activities.sources.records import ApiSource, Json, SetAside, database_record, read_records

NAME = "chembl"
TITLE = "ChEMBL"
SITE = "https://www.ebi.ac.uk/chembl/explore"
API = "https://www.ebi.ac.uk/chembl/api/data"
MAX_MOLECULES = 20
"""Molecules of the search by similarity that are examined."""
MAX_ROWS = 100
"""Mechanisms or targets of one exchange."""
MAX_NAMES = 12


class Chembl(ApiSource):
    url = API
    info = info_of(NAME)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        name = drug_of_query(query.text)
        params: dict[str, str | int] = {"q": name, "limit": MAX_MOLECULES}
        molecules = await self.list_items("molecule/search.json", params, "/molecules")
        drugs = [molecule for molecule in map(Json, molecules.items) if is_name_of(name, names(molecule))]
        yield read_records(NAME, query, drugs, read_molecule, sent=name)
        parents = "/molecule_hierarchy/parent_chembl_id"
        ids = [drug.text(at) for drug in drugs for at in ("/molecule_chembl_id", parents)]
        if not any(ids):
            return
        shown_name = display_name(drugs[0].text("/pref_name") or name)
        exchange = await self._details(query, shown_name, "mechanism", "molecule_chembl_id", ids)
        yield exchange
        if any(ids := [record.facts.get("target_chembl_id", "") for record in exchange.records]):
            yield await self._details(query, shown_name, "target", "target_chembl_id", ids)

    async def _details(self, query: Query, name: str, kind: str, key: str, ids: Iterable[str]) -> Exchange:
        """Return the mechanisms or the targets of a drug with this name. Raises SourceError."""
        params = {f"{key}__in": ",".join(dict.fromkeys(filter(None, ids))), "limit": str(MAX_ROWS)}
        rows = await self.list_items(f"{kind}.json", params, f"/{kind}s")
        reader = partial(read_mechanism if kind == "mechanism" else read_target, name=name)
        return read_records(NAME, query, rows.items, reader, hits=rows.total)


def names(molecule: Json) -> tuple[str, ...]:
    """Return the names of a molecule, the preferred one first; none for another shape."""
    try:
        synonyms = molecule.texts("/molecule_synonyms", "/molecule_synonym")
        return tuple(dict.fromkeys(filter(None, (molecule.text("/pref_name"), *synonyms))))
    except ValueError:
        return ()


def display_name(name: str) -> str:
    """Return a name as a reader expects it: ChEMBL writes preferred names in capitals."""
    return name.capitalize() if name.isupper() else name


def read_molecule(molecule: Json) -> Evidence:
    number = molecule.required("/molecule_chembl_id")
    name = display_name(molecule.text("/pref_name") or number)
    approval = molecule.number("/first_approval")
    phase = molecule.text("/max_phase")
    return database_record(
        NAME,
        url=f"{SITE}/compound/{number}",
        title=f"{name} - {TITLE} compound {number}",
        text="\n".join(_molecule_lines(molecule, number, name)),
        year=approval,
        venue=TITLE,
        molecule_chembl_id=number,
        generic_name=name,
        synonyms=names(molecule)[1 : MAX_NAMES + 1],
        max_phase=f"{float(phase):g}" if phase else "",
        first_approval=approval,
        withdrawn="yes" if molecule.is_true("/withdrawn_flag") else "",
        boxed_warning="yes" if molecule.text("/black_box_warning") == "1" else "",
    )


def _molecule_lines(molecule: Json, number: str, name: str) -> Iterator[str]:
    kind = molecule.text("/molecule_type").lower()
    yield f"{name}{f' ({kind})' if kind else ''}, ChEMBL identifier {number}."
    if synonyms := names(molecule)[1 : MAX_NAMES + 1]:
        yield f"Other names: {'; '.join(synonyms)}."
    # 4 approved, 3, 2, 1 and 0.5 (early phase 1) trials, -1 not known
    if (phase := float(molecule.text("/max_phase") or -1)) >= 0:
        yield f"Highest clinical phase reached for any disease: {phase:g} (4 is approved)."
    if approval := molecule.number("/first_approval"):
        yield f"First approved in {approval}."
    if molecule.is_true("/withdrawn_flag"):
        yield f"{name} has been withdrawn from the market in at least one country."
    if molecule.text("/black_box_warning") == "1":
        yield f"The US label of {name} carries a boxed warning."


def read_mechanism(item: JsonValue, name: str) -> Evidence:
    """Read a mechanism of action. Raises ValueError for another shape, SetAside when it is not named."""
    mechanism = Json(item)
    number, description = mechanism.required("/mec_id"), mechanism.text("/mechanism_of_action")
    if not description:
        raise SetAside("without text to quote")
    action = mechanism.text("/action_type").lower()
    kind = f"Type of action: {action}." if action else ""
    lines = (f"Mechanism of action of {name}: {description}.", kind, mechanism.text("/mechanism_comment"))
    return database_record(
        NAME,
        url=f"{API}/mechanism/{number}",
        title=f"{name} - mechanism of action in {TITLE}",
        text="\n".join(filter(None, lines)),
        venue=TITLE,
        generic_name=name,
        mechanism=description,
        action_type=action,
        target_chembl_id=mechanism.text("/target_chembl_id"),
        molecule_chembl_id=mechanism.text("/molecule_chembl_id"),
    )


def read_target(item: JsonValue, name: str) -> Evidence:
    """Read what a drug acts on. Raises ValueError for another shape, SetAside without a name."""
    target = Json(item)
    number, target_name = target.required("/target_chembl_id"), target.text("/pref_name")
    if not target_name:
        raise SetAside("without text to quote")
    parts = [part for part in target.objects("/target_components") if part.text("/accession")]
    synonyms = (json for part in parts for json in part.objects("/target_component_synonyms"))
    symbols = (
        synonym.text("/component_synonym")
        for synonym in synonyms
        if synonym.text("/syn_type") == "GENE_SYMBOL"
    )
    genes = list(dict.fromkeys(filter(None, symbols)))
    kind, organism = target.text("/target_type").lower(), target.text("/organism")
    of = f" of {organism}" if organism else ""
    gene_text = f", gene {', '.join(genes)}" if genes else ""
    return database_record(
        NAME,
        url=f"{SITE}/target/{number}",
        title=f"{target_name} - {TITLE} target {number}",
        text=f"{name} acts on {target_name}{of}{f' ({kind})' if kind else ''}{gene_text}.",
        venue=TITLE,
        target=target_name,
        target_chembl_id=number,
        organism=organism,
        genes=genes,
        accessions=[part.text("/accession") for part in parts],
    )
