"""Records of sources as entries of a candidate's fields. Pure.

Every entry has the address of its record. A quote is what people wrote (a label's section, a function, the
reason why a trial stopped) and stands verbatim in the record's text; data of a database are no quote.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from activities.candidates.fields import STOPPED_TRIALS, application_code, molecule_code
from activities.contracts.candidates import FieldEntry
from activities.contracts.evidence import NOT_STUDIES, Evidence, Support
from activities.credentials import redacted
from activities.sources.drug_names import is_name_of
from activities.sources.openfda import SECTIONS
from activities.text.entities import entities_of_kind, names_drug
from activities.text.normal_form import MIN_QUOTE_CHARS

MAX_QUOTE_CHARS = 420
"""Characters of a quote at most."""
MAX_TRIALS = 8
"""Trials that are listed: stopped ones first, then those with results, then the later phases."""
MAX_REACTIONS = 6
MAX_APPLICATIONS = 3
MAX_PATHWAYS = 8

_HEADINGS = frozenset(SECTIONS.values())
_HEADING = re.compile(rf"^\d+(?:\.\d+)*\s+(?:{'|'.join(SECTIONS.values())})\s+", re.IGNORECASE)
"""Labels number and name their sections: https://www.ecfr.gov/current/title-21/section-201.57"""
_SENTENCE_END = re.compile(r"(?<=[.;])\s")


def shorten(text: str) -> str:
    """Return the beginning of a text, cut after a sentence where one ends in time, else between words.

    What comes out stands in the text as it is.
    """
    if len(text) <= MAX_QUOTE_CHARS:
        return text.strip()
    ends = [match.start() for match in _SENTENCE_END.finditer(text, 0, MAX_QUOTE_CHARS)]
    return text[: ends[-1]].strip() if ends else text[:MAX_QUOTE_CHARS].rsplit(" ", 1)[0].strip()


def section_of(label: Evidence, field: str) -> str:
    """Return a section of a label by openFDA's name for it; empty when it is not there."""
    heading = SECTIONS[field]
    lines = label.text.split("\n")
    for number, line in enumerate(lines):
        if line == heading:
            body = lines[number + 1 :]
            end = next((n for n, text in enumerate(body) if text in _HEADINGS), len(body))
            return "\n".join(body[:end]).strip()
    return ""


def _entry(record: Evidence, text: str, quote: str = "", code: str = "", **values: str) -> FieldEntry:
    return FieldEntry(
        text=" ".join(text.split()),
        code=code,
        values={name: value for name, value in values.items() if value},
        source=record.source,
        url=redacted(record.url) if record.url else None,
        quote=quote,
    )


def _section_entry(label: Evidence, text: str, code: str = "") -> FieldEntry:
    quote = shorten(text)
    return _entry(label, without_heading(quote), quote, code)


def without_heading(text: str) -> str:
    """Return a label's section without its number and name: `1 INDICATIONS AND USAGE Sildenafil is ...`."""
    return _HEADING.sub("", text, count=1)


def records_of_drug(records: Iterable[Evidence], name: str) -> list[Evidence]:
    """Return the records that are about this very drug.

    The names in their facts say so, else their title: a label of a combination is not one of its parts.
    """

    def is_of(record: Evidence) -> bool:
        texts = [record.facts.get(field, "") for field in ("generic_name", "brand_name", "substance_name")]
        if any(texts):
            return any(is_name_of(name, tuple(text.split("; "))) for text in texts)
        return names_drug(record.title, name)

    return [record for record in records if is_of(record)]


def best_label(labels: Sequence[Evidence]) -> Evidence | None:
    """Return the label that says most: a prescription drug's before others, then the newest."""

    def rank(label: Evidence) -> tuple[bool, bool, str]:
        prescription = label.facts.get("product_type", "") == "HUMAN PRESCRIPTION DRUG"
        has_indication = bool(section_of(label, "indications_and_usage"))
        return has_indication, prescription, label.facts.get("effective_date", "")

    return max(labels, key=rank, default=None)


def facts(records: Iterable[Evidence], fact: str, **values: str) -> Iterator[FieldEntry]:
    """Return what records hold under a fact. `values`: name -> the fact with what belongs to it."""
    for record in records:
        if text := record.facts.get(fact, ""):
            details = {name: record.facts.get(key, "") for name, key in values.items()}
            yield _entry(record, text, **details)


def label_mechanism(label: Evidence) -> Iterator[FieldEntry]:
    if text := section_of(label, "mechanism_of_action"):
        yield _section_entry(label, text)


def targets(records: Iterable[Evidence]) -> Iterator[FieldEntry]:
    """Return what a drug acts on, with gene and accession; what UniProt says of it is its function."""
    for record in records:
        name = record.facts.get("target", "") or record.facts.get("targets", "")
        if not name:
            continue
        function = record.text if record.source == "uniprot" else ""
        yield _entry(
            record,
            name,
            shorten(function.split("\n\n")[0].removeprefix("Function: ")) if function else "",
            genes=record.facts.get("genes", ""),
            accessions=record.facts.get("accessions", "") or record.facts.get("accession", ""),
        )


def accessions(records: Iterable[Evidence]) -> tuple[str, ...]:
    codes = (part for r in records for part in r.facts.get("accessions", "").split("; "))
    return tuple(dict.fromkeys(filter(None, codes)))


def indications(label: Evidence, diseases: frozenset[str]) -> Iterator[FieldEntry]:
    """Yield current indications as a label states them, and whether they name a disease asked about.

    `diseases`: ids of `activities.text.entities`.
    """
    if text := section_of(label, "indications_and_usage") or section_of(label, "purpose"):
        named_ids = {entity.id for entity in entities_of_kind(text, ("disease",))}
        yield _section_entry(label, text, "names_disease_asked" if named_ids & diseases else "")


def application_order(record: Evidence) -> tuple[bool, bool, str]:
    """Sort applications: approved ones first, then those of new drugs before generics, then by date."""
    number, date = record.facts.get("application_number", ""), record.facts.get("approval_date", "9")
    return application_code(record.facts) != "approved", number.startswith("ANDA"), date


def applications(records: Iterable[Evidence]) -> Iterator[FieldEntry]:
    """Approvals of Drugs@FDA: new drug and biologics applications before generics, the earliest first."""
    pairs = [(code, r) for r in sorted(records, key=application_order) if (code := application_code(r.facts))]
    for code, record in pairs[:MAX_APPLICATIONS]:
        number, date = record.facts.get("application_number", ""), record.facts.get("approval_date", "")
        yield _entry(record, number, code=code, authority="FDA", application=number, date=date)


def label_entry(label: Evidence) -> FieldEntry:
    """Return a label without an application that was found."""
    return _entry(
        label,
        label.facts.get("product_type", "").lower(),
        code="labelled",
        authority="FDA",
        date=label.facts.get("effective_date", ""),
    )


def phases(records: Iterable[Evidence]) -> Iterator[FieldEntry]:
    for record in records:
        facts = record.facts
        if code := molecule_code(facts):
            phase, date = facts.get("max_phase", ""), facts.get("first_approval", "")
            yield _entry(record, record.title, code=code, phase=phase, date=date)


def is_trial_of(record: Evidence, name: str) -> bool:
    """Tell whether a registration is of a trial of this drug: its title or its interventions name it."""
    text = f"{record.title}\n{record.facts.get('interventions', '')}"
    return names_drug(text, name)


def trials(records: Iterable[Evidence], name: str) -> list[FieldEntry]:
    """Return the trials of a drug, each once: stopped ones with the reason, then those with results."""
    by_nct: dict[str, FieldEntry] = {}
    for record in records:
        facts, nct = record.facts, record.facts.get("nct", "")
        if not nct or nct in by_nct or not is_trial_of(record, name):
            continue
        reason = facts.get("why_stopped", "")
        by_nct[nct] = _entry(
            record,
            record.title,
            reason,
            facts.get("overall_status", ""),
            nct=nct,
            phase=facts.get("phase", ""),
            why_stopped=reason,
            results=facts.get("results", ""),
            enrollment=facts.get("enrollment", ""),
            conditions=facts.get("conditions", ""),
        )
    return sorted(by_nct.values(), key=trial_order)[:MAX_TRIALS]


def trial_order(entry: FieldEntry) -> tuple[bool, bool, str, str]:
    """Sorts trials: stopped ones, then those with posted results, then the later phases."""
    phase = entry.values.get("phase", "")
    last_phase = max((int(c) for c in phase if c.isdigit()), default=0)
    return (
        entry.code not in STOPPED_TRIALS,
        "results" not in entry.values,
        str(9 - last_phase),
        entry.values.get("nct", ""),
    )


def label_safety(label: Evidence) -> Iterator[FieldEntry]:
    for name in ("boxed_warning", "contraindications"):
        if text := section_of(label, name):
            yield _section_entry(label, text, name)


def reactions(records: Iterable[Evidence]) -> Iterator[FieldEntry]:
    """Reactions that are reported most. Reports do not show that a drug caused a reaction."""
    for record in records:
        lines = record.text.split("\n")[1 : MAX_REACTIONS + 1]
        if lines:
            yield _entry(record, " ".join(lines), code="reported_reactions")


def warnings(records: Iterable[Evidence]) -> Iterator[FieldEntry]:
    """Withdrawals and boxed warnings that Open Targets or ChEMBL hold."""
    for record in records:
        for warning in filter(None, record.facts.get("warnings", "").split("; ")):
            code = "withdrawn" if warning.startswith("withdrawn") else "warning"
            yield _entry(record, warning, code=code)
        if record.facts.get("withdrawn"):
            yield _entry(record, record.title, code="withdrawn")
        if record.facts.get("boxed_warning"):
            yield _entry(record, record.title, code="boxed_warning")


@dataclass(frozen=True, slots=True)
class Standing:
    """A drug's label, its foremost application and a trial of it, as far as the items have them."""

    label: Evidence | None = None
    approval: Evidence | None = None
    trial: Evidence | None = None

    @property
    def regulatory_status(self) -> str:
        """A code of `activities.candidates.fields`; empty when no record says anything."""
        code = application_code(self.approval.facts) if self.approval else None
        return code or ("labelled" if self.label else "")

    @property
    def trial_status(self) -> str:
        return facts_of(self.trial, "phase", "overall_status")

    @property
    def indications(self) -> tuple[str, ...]:
        """The first sentence of the label's indications."""
        section = section_of(self.label, "indications_and_usage") if self.label else ""
        text = " ".join(without_heading(section).split())
        first = re.split(r"(?<=[.;])\s", text, maxsplit=1)[0]
        return (shorten(first),) if first else ()

    @property
    def quotes(self) -> tuple[Support, ...]:
        section = section_of(self.label, "indications_and_usage") if self.label else ""
        pairs = (
            (self.label, shorten(section)),
            (self.approval, _line(self.approval, "Original submission")),
            (self.trial, _line(self.trial, "Why the study stopped:") or _line(self.trial, "Study design:")),
        )
        return tuple(
            Support(evidence_id=record.evidence_id, quote=quote)
            for record, quote in pairs
            if record is not None and len(quote) >= MIN_QUOTE_CHARS
        )


def standing_of(name: str, items: Sequence[Evidence]) -> Standing:
    approvals = records_of_drug(_of_type(items, "regulatory"), name)
    return Standing(
        label=best_label(records_of_drug(_of_type(items, "drug_label"), name)),
        approval=min(approvals, key=application_order, default=None),
        trial=next((d for d in _of_type(items, "trial_registration") if is_trial_of(d, name)), None),
    )


def is_record_of_another(item: Evidence, name: str) -> bool:
    """Tell whether an item is a label, an approval or a registration of another drug.

    That it names this one says nothing for it.
    """
    if item.evidence_type not in NOT_STUDIES:
        return False
    return not (records_of_drug([item], name) or is_trial_of(item, name))


def facts_of(record: Evidence | None, *names: str) -> str:
    return ", ".join(filter(None, (record.facts.get(name, "") for name in names))) if record else ""


def _of_type(items: Iterable[Evidence], kind: str) -> list[Evidence]:
    return [item for item in items if item.evidence_type == kind]


def _line(record: Evidence | None, start: str) -> str:
    lines = record.text.split("\n") if record else []
    return next((line for line in lines if line.startswith(start)), "")
