"""A candidate's page and its row in the table: codes and values become words here."""

from collections.abc import Iterator, Mapping, Sequence

from activities.candidates.fields import FIELDS
from activities.candidates.status import STOPPED_TRIALS
from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.candidates import Candidate, CandidateField, CandidateFieldName, FieldEntry
from activities.messages import N_, _, day, listed, ngettext
from activities.report.formats.blocks import Block, Cell, Fields, Group, Heading, Parts, Run, Table
from activities.report.formats.quotes import Quotes, same_words
from activities.report.formats.statements import sentences, source_title
from activities.report.formats.text import clean, safe_url
from activities.report.schema import Report

HEAD = (
    *(N_("Candidate"), N_("Mechanism or effect"), N_("Current indications"), N_("Approval"), N_("Trials")),
    *(N_("Literature"), N_("Safety"), N_("Evidence"), N_("Sources")),
)
CHECKED_NOTE = N_(
    "Names, sources and the grade of the evidence are checked by code. A field is filled only where a cited "
    "work or a record that was looked up says so; otherwise it reads “not found”."
)
NAMED_NOTE = N_(
    "Drugs named in vocabularies, each with the passages that name it and what registers say about it. "
    "Whether "
    "any of them helps was not judged."
)
REGULATORY: Mapping[str, str] = {
    "approved": N_("approved"),
    "tentatively_approved": N_("tentatively approved"),
    "discontinued": N_("approved, no product marketed"),
    "labelled": N_("label on file, no application found"),
    "withdrawn": N_("withdrawn in at least one country"),
    "investigational": N_("not approved, in trials"),
}
SAFETY: Mapping[str, str] = {
    "boxed_warning": N_("Boxed warning"),
    "contraindications": N_("Contraindications"),
    "reported_reactions": N_("Reactions most often reported (reports do not show a cause)"),
    "withdrawn": N_("Withdrawn"),
    "warning": N_("Warning"),
    "stated": N_("Reported in a cited work"),
}
TRIAL_STATES: Mapping[str, str] = {
    "COMPLETED": N_("completed"),
    "RECRUITING": N_("recruiting"),
    "NOT_YET_RECRUITING": N_("not yet recruiting"),
    "ACTIVE_NOT_RECRUITING": N_("active, not recruiting"),
    "ENROLLING_BY_INVITATION": N_("enrolling by invitation"),
    "TERMINATED": N_("terminated"),
    "WITHDRAWN": N_("withdrawn"),
    "SUSPENDED": N_("suspended"),
    "UNKNOWN": N_("status unknown"),
}
TESTS = N_("Searches that would test it")
BY_THE_RUN = N_("suggested by the run")
NOT_FOUND = N_("not found")
NOT_LOOKED_FOR = N_("not looked for")
NOT_IN_WORKS = N_("not found in the works read")
NOT_ASKED = N_(
    "Registers of drugs and trials were not searched: none was among the sources available to this run."
)
JUDGED_COLUMNS = ("Literature", "Evidence")
"""Not shown without a model."""
SHORT = 160
"""Characters of a cell of the table."""


def missing(field: CandidateField) -> str:
    if field.status == "unreachable":
        sources = listed(map(source_title, field.silent))
        return _("not found ({sources} could not be reached)").format(sources=sources)
    if field.status != "not_looked_up":
        return _(NOT_FOUND)
    return _(NOT_IN_WORKS if field.read else NOT_LOOKED_FOR)


def entry_text(field: CandidateFieldName, entry: FieldEntry) -> str:
    text = clean(entry.text)
    if field == "regulatory":
        return _regulatory(entry, text)
    if field == "trials":
        return _trial(entry, text)
    if field == "safety":
        kind = _(SAFETY.get(entry.code, clean(entry.code.replace("_", " ")).capitalize()))
        return f"{kind}: {text}" if kind else text
    if field == "indications" and entry.code == "names_disease_asked":
        named = _("{text} (asked about)") if entry.evidence_id else _("{text} (names a disease asked about)")
        return named.format(text=text)
    if field == "targets":
        genes, accessions = entry.values.get("genes", ""), entry.values.get("accessions", "")
        extra = ", ".join(filter(None, (_("gene {genes}").format(genes=genes) if genes else "", accessions)))
        return f"{text} ({clean(extra)})" if extra else text
    return text


def _regulatory(entry: FieldEntry, text: str) -> str:
    if entry.code == "stated":
        return _("according to a cited work: {text}").format(text=text)
    status = _(REGULATORY.get(entry.code, clean(entry.code.replace("_", " ")) or text))
    values = entry.values
    name = values.get("application", "")
    details = [
        _("application {number}").format(number=f"{values.get('authority', '')} {name}".strip())
        if name
        else "",
        _("highest clinical phase {phase}").format(phase=values["phase"]) if values.get("phase") else "",
        day(values.get("date", "")),
    ]
    extra = clean(", ".join(filter(None, details)))
    return f"{status} ({extra})" if extra else status


def _trial(entry: FieldEntry, text: str) -> str:
    values = entry.values
    if entry.code == "stated":
        stated = _("according to a cited work: {text}").format(text=text)
        return ", ".join(filter(None, (phases(values.get("phase", "")), stated)))
    state = _(TRIAL_STATES.get(entry.code.upper(), clean(entry.code.replace("_", " ").lower())))
    if reason := values.get("why_stopped", ""):
        state += f' ("{clean(reason)}")'
    parts = [
        phases(values.get("phase", "")),
        state,
        _("results posted") if values.get("results") else _("no results posted"),
        _("{count} participants").format(count=values["enrollment"]) if values.get("enrollment") else "",
    ]
    extra = clean("; ".join(filter(None, parts)))
    return f"{values.get('nct', '')}, {text}: {extra}".lstrip(", ")


def phases(codes: str) -> str:
    """`PHASE2; PHASE3` -> `phase 2/3`; empty for trials without a phase."""
    numbers = [code.strip() for code in codes.split(";") if code.strip() not in ("", "NA")]
    if not numbers:
        return ""
    named = "/".join(n.replace("EARLY_", _("early ")).replace("PHASE", "") for n in numbers)
    return _("phase {number}").format(number=named)


def cells(candidate: Candidate) -> tuple[str, ...]:
    """The cells between the name and the sources, under `HEAD`."""
    fields = {field.name: field for field in candidate.fields}
    pro, con = (len({s.evidence_id for s in quotes}) for quotes in (candidate.support, candidate.against))
    return (
        _short(candidate.proposed_mechanism or candidate.mechanism, fields.get("mechanism")),
        _entries_cell("; ".join(candidate.current_indications), fields.get("indications")),
        _regulatory_cell(candidate, fields.get("regulatory")),
        _trials_cell(candidate, fields.get("trials")),
        _("{pro} for, {con} against").format(pro=pro, con=con),
        _safety_cell(fields.get("safety")),
        _(candidate.evidence_quality),
    )


def _short(text: str, field: CandidateField | None) -> str:
    plain = clean(text)
    if not plain:
        return missing(field) if field and not field.entries else _(NOT_FOUND)
    return plain if len(plain) <= SHORT else plain[:SHORT].rsplit(" ", 1)[0] + " \u2026"


def _entries_cell(text: str, field: CandidateField | None) -> str:
    """The entries that the page below lists; `text` of a candidate without a page."""
    return _short("; ".join(e.text for e in field.entries) if field else text, field)


def _regulatory_cell(candidate: Candidate, field: CandidateField | None) -> str:
    if field is None:
        return _short(_(REGULATORY.get(candidate.regulatory_status, candidate.regulatory_status)), None)
    codes = [entry.code for entry in field.entries if entry.code in REGULATORY]
    stated = field.entries[0].text if field.entries else ""
    return _short(_(REGULATORY[codes[0]]) if codes else stated, field)


def _trials_cell(candidate: Candidate, field: CandidateField | None) -> str:
    if field is None:
        return _short(candidate.trial_status, None)
    entries: Sequence[FieldEntry] = [entry for entry in field.entries if entry.code != "stated"]
    if not entries:
        named = (phases(e.values.get("phase", "")) or clean(e.text) for e in field.entries)
        return _short("; ".join(dict.fromkeys(named)), field)
    stopped = sum(entry.code in STOPPED_TRIALS for entry in entries)
    results = sum(bool(entry.values.get("results")) for entry in entries)
    latest = max((int(c) for e in entries for c in e.values.get("phase", "") if c.isdigit()), default=0)
    parts = [
        ngettext("{count} trial", "{count} trials", len(entries)).format(count=len(entries)),
        _("up to phase {number}").format(number=latest) if latest else "",
        _("{count} with results").format(count=results) if results else _("none with results"),
        _("{count} stopped early").format(count=stopped) if stopped else "",
    ]
    return ", ".join(filter(None, parts))


def _safety_cell(field: CandidateField | None) -> str:
    if field is None or not field.entries:
        return missing(field) if field else _(NOT_FOUND)
    kinds = dict.fromkeys(SAFETY.get(entry.code, "") for entry in field.entries)
    named = [_(kind).split(" (")[0] for kind in kinds if kind]
    if all(entry.code == "stated" for entry in field.entries):
        return _short(field.entries[0].text, field)
    return "; ".join(named) or _short(field.entries[0].text, field)


def note(report: Report) -> str:
    """What is checked of candidates, and once for all of them that registers were not asked."""
    note = NAMED_NOTE if report.written_by == "extractive" else CHECKED_NOTE
    silent = any(field.status == "not_looked_up" for c in CANDIDATES.shown(report) for field in c.fields)
    return f"{_(note)} {_(NOT_ASKED)}" if silent else _(note)


def blocks(report: Report, quotes: Quotes) -> Iterator[Block]:
    """The table of candidates without columns in which nothing was found of any, nor, without a model, those
    that judge; then a page for each that was looked up."""
    judged = report.written_by == "model"
    made = [_row(one, number, quotes) for number, one in enumerate(CANDIDATES.shown(report), start=1)]
    used = [
        place
        for place, name in enumerate(HEAD)
        if (judged or name not in JUDGED_COLUMNS)
        and not all(row[place].text.startswith((_(NOT_FOUND), _(NOT_LOOKED_FOR))) for row in made)
    ]
    if made:
        rows = tuple(tuple(row[place] for place in used) for row in made)
        yield Table(tuple(_(HEAD[place]) for place in used), rows, note(report), sortable=True, wide=False)
    for number, candidate in enumerate(CANDIDATES.shown(report), start=1):
        if candidate.fields:
            heading = Heading(_title(candidate), anchor=f"candidate-{number}-page", new_page=True)
            fields = Fields((*_fields(candidate, quotes, judged=judged),))
            yield Group((heading, fields), "candidate")


def _title(candidate: Candidate) -> str:
    generic = clean(candidate.generic_name)
    other = generic and generic.casefold() != clean(candidate.name).casefold()
    return f"{clean(candidate.name)} ({generic})" if other else clean(candidate.name)


def _row(candidate: Candidate, number: int, quotes: Quotes) -> tuple[Cell, ...]:
    page = f"candidate-{number}-page" if candidate.fields else ""
    name = Cell((Run(_title(candidate), anchor=page),), anchor=f"candidate-{number}")
    texts = (Cell((Run(text),)) for text in cells(candidate))
    return (name, *texts, Cell((quotes.cite(candidate.quotes),)))


def _fields(candidate: Candidate, quotes: Quotes, *, judged: bool) -> Iterator[tuple[str, tuple[Parts, ...]]]:
    """The fields with an entry; those without one, a line for all that are missing for the same reason; the
    searches that would test it; the quality of its evidence."""
    alike: dict[str, list[str]] = {}
    for field in candidate.fields:
        if field.entries:
            about = FIELDS[field.name]
            label = about.label if judged else about.unjudged or about.label
            yield _(label), tuple(_line(field.name, entry, quotes) for entry in field.entries)
        else:
            alike.setdefault(missing(field), []).append(_(FIELDS[field.name].label))
    for why, names in alike.items():
        yield ", ".join(names), ((Run(why, "around"),),)
    if tests := tuple(map(clean, candidate.search_suggestions)):
        yield _(TESTS), tuple((Run(text), Run(_(BY_THE_RUN), "source")) for text in tests)
    if judged:
        reasons = map(Run, sentences(candidate.quality_reasons))
        grade = candidate.evidence_quality
        yield _("Quality of the evidence"), ((Run(_(grade), "grade", grade=grade), *reasons),)


def _line(field: CandidateFieldName, entry: FieldEntry, quotes: Quotes) -> Parts:
    text, quote = entry_text(field, entry), clean(entry.quote)
    number = quotes.number(entry.evidence_id)
    runs = () if not quote or quote in text or same_words(clean(entry.text), quote) else (Run(quote, "said"),)
    where = quotes.mark(number) if number else Run(source_title(entry.source), "source", safe_url(entry.url))
    return (Run(text), *runs, where)
