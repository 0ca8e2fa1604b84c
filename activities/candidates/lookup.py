"""Looking one candidate up: which source is asked what, and which field its answer belongs to.

Invariants:

- Only the sources that are given are asked; with none, nothing leaves the machine.
- A source that fails costs only its own entries: the field says that it did not answer.
- Every entry has the address of its record.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from activities.candidates import reading
from activities.candidates.fields import ANSWERS, FIELDS, SOURCES, STOPPED_TRIALS
from activities.contracts.candidates import (
    CandidateField,
    CandidateFieldName,
    CandidateFindings,
    CandidateLookUp,
    FieldEntry,
)
from activities.contracts.errors import SourceError, TooSlow
from activities.contracts.evidence import Evidence, Filters, Query
from activities.sources.base import Source, exchanges_of
from activities.text.entities import entities_of_kind, resolve

SOURCE_SECONDS = 35.0
"""The longest that one source is waited for, its rate included. Two are asked one after the other, so that
the answers of the others are stored before the activity's own time-out."""
MAX_LABELS = 10
MAX_APPLICATIONS = 20
MAX_TRIALS = 20
MAX_PROTEINS = 4
"""Targets whose function and pathways are asked for; a drug's first targets are its main ones."""
MAX_PATHS = 20
"""Paths of a knowledge graph that are asked for."""
MAX_SYNONYMS = 4
"""Other names of a disease that trials are looked for by."""


@dataclass
class _Asker:
    sources: Mapping[str, Source]
    asked_sources: dict[str, None] = field(default_factory=dict)
    failures: dict[str, SourceError] = field(default_factory=dict)

    async def ask(self, source: str, text: str, limit: int, **options: str) -> list[Evidence]:
        """Make every exchange of a search; what came before a failure is kept."""
        records: list[Evidence] = []
        if source not in self.sources:
            return records
        self.asked_sources[source] = None
        query = Query(text=text, limit=limit, filters=Filters(options=options))
        try:
            async with asyncio.timeout(SOURCE_SECONDS):
                async for exchange in exchanges_of(self.sources[source], query):
                    records += exchange.records
                    if len(records) >= limit:
                        break
        except (TimeoutError, SourceError) as error:
            timeout = TooSlow(f"{source} did not answer within {SOURCE_SECONDS:g} s")
            failure = error if isinstance(error, SourceError) else timeout
            # a temporary failure has priority: it is worth another attempt
            if source not in self.failures or failure.retryable:
                self.failures[source] = failure
        return records


@dataclass(frozen=True)
class LookUpResult:
    """The result of a look-up, and the failures that another attempt may resolve."""

    findings: CandidateFindings
    failures: Mapping[str, SourceError]

    @property
    def temporary_failure(self) -> SourceError | None:
        """The first failure that may not occur again; None when another attempt would change nothing."""
        return next((error for error in self.failures.values() if error.retryable), None)


async def look_up(step: CandidateLookUp, sources: Mapping[str, Source]) -> LookUpResult:
    """Ask every permitted source at the same time. `sources`: all that the worker has, by name."""
    asker = _Asker({name: sources[name] for name in step.sources if name in sources and name in SOURCES})
    name = preferred_name(step)
    diseases = entities_of_kind(step.question, ("disease", "phenotype"))
    regulator, trials, molecule = await asyncio.gather(
        _regulator(asker, name, frozenset(entity.id for entity in diseases)),
        _trials(asker, name, [(e.name, *e.synonyms[:MAX_SYNONYMS]) for e in diseases]),
        _molecule(asker, name),
    )
    entries: dict[CandidateFieldName, list[FieldEntry]] = {name: [] for name in ANSWERS}
    for part in (regulator, molecule, trials):
        for key, rows in part.items():
            entries[key] += rows
    fields = tuple(_field(key, rows, asker) for key, rows in entries.items())
    findings = CandidateFindings(
        name=step.name,
        fields=fields,
        silent={source: str(error)[:200] for source, error in sorted(asker.failures.items())},
    )
    return LookUpResult(findings, asker.failures)


Part = dict[CandidateFieldName, list[FieldEntry]]


def preferred_name(step: CandidateLookUp) -> str:
    """Return the name that sources are asked for: the vocabularies' preferred one when they know the drug."""
    entity = resolve(step.generic_name or step.name) or resolve(step.name)
    return entity.name if entity is not None and entity.kind == "drug" else step.generic_name or step.name


def _field(key: CandidateFieldName, entries: Iterable[FieldEntry], asker: _Asker) -> CandidateField:
    rows = tuple(entries)
    definition = FIELDS[key]
    is_asked = any(source in asker.asked_sources for source in definition.sources)
    silent = tuple(source for source in (*definition.sources, *definition.led_by) if source in asker.failures)
    is_permitted = any(source in asker.sources for source in definition.sources)
    if rows:
        return CandidateField(name=key, status="found", entries=rows, silent=silent)
    if silent and is_permitted:
        return CandidateField(name=key, status="unreachable", silent=silent)
    # Where no protein is known its pathways cannot be asked for, and that is an answer.
    is_led = is_permitted and any(source in asker.asked_sources for source in definition.led_by)
    return CandidateField(name=key, status="not_found" if is_asked or is_led else "not_looked_up")


async def _regulator(asker: _Asker, name: str, diseases: frozenset[str]) -> Part:
    """openFDA: labels, applications, reported reactions."""
    query = f'openfda.generic_name:"{name}" OR openfda.brand_name:"{name}"'
    labels, applications, reports = await asyncio.gather(
        asker.ask("openfda", query, MAX_LABELS, endpoint="label"),
        asker.ask("openfda", query, MAX_APPLICATIONS, endpoint="drugsfda"),
        asker.ask("openfda", name, 1, endpoint="event"),
    )
    label = reading.best_label(reading.records_of_drug(labels, name))
    approvals = list(reading.applications(reading.records_of_drug(applications, name)))
    part: Part = {"regulatory": approvals, "safety": []}
    if label is not None:
        part["mechanism"] = list(reading.label_mechanism(label))
        part["indications"] = list(reading.indications(label, diseases))
        part["safety"] = list(reading.label_safety(label))
        if not approvals:
            part["regulatory"] = [reading.label_entry(label)]
    part["safety"] += reading.reactions(reports)
    return part


async def _trials(asker: _Asker, name: str, diseases: Iterable[tuple[str, ...]]) -> Part:
    """ClinicalTrials.gov: the most relevant trials, and those that were stopped."""
    names = [f'"{synonym}"' for disease in diseases for synonym in disease]
    options = {"intervention": f'"{name}"', "condition": " OR ".join(dict.fromkeys(names))}
    stopped_options = options | {"trial_status": ",".join(STOPPED_TRIALS)}
    relevant_trials, stopped_trials = await asyncio.gather(
        asker.ask("clinicaltrials", "", MAX_TRIALS, **options),
        asker.ask("clinicaltrials", "", MAX_TRIALS, **stopped_options),
    )
    return {"trials": reading.trials([*stopped_trials, *relevant_trials], name)}


async def _molecule(asker: _Asker, name: str) -> Part:
    """Ask ChEMBL, Open Targets and a knowledge graph for mechanism and targets, then UniProt and Reactome."""
    chembl, platform, paths = await asyncio.gather(
        asker.ask("chembl", name, 200),
        asker.ask("opentargets", name, 20),
        asker.ask("neo4j", name, MAX_PATHS),
    )
    molecules = [record for record in chembl if "max_phase" in record.facts or "synonyms" in record.facts]
    proteins = reading.accessions([*chembl, *platform])[:MAX_PROTEINS]
    entries: list[Evidence] = []
    routes: list[list[Evidence]] = []
    if proteins:
        query = " OR ".join(f"accession:{accession}" for accession in proteins)
        entries, *routes = await asyncio.gather(
            asker.ask("uniprot", query, MAX_PROTEINS),
            *(asker.ask("reactome", accession, reading.MAX_PATHWAYS) for accession in proteins),
        )
    targets = [record for record in chembl if "target" in record.facts]
    by_target = {path.facts["target"]: path for path in paths if "target" in path.facts}
    by_name = {e.text: e for route in routes for e in reading.facts(route, "pathway", stable_id="stable_id")}
    return {
        "names": list(reading.facts(molecules, "synonyms")),
        "mechanism": list(reading.facts([*chembl, *platform], "mechanism", action="action_type")),
        "targets": list(reading.targets([*targets, *platform, *entries, *by_target.values()])),
        "pathways": list(by_name.values())[: reading.MAX_PATHWAYS],
        "indications": list(reading.facts(platform, "approved_for")),
        "regulatory": list(reading.phases(molecules[:1])),
        "safety": list(reading.warnings([*molecules, *platform])),
    }
