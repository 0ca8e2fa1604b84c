"""The page of a candidate and its row in the table, which says the same in short."""

from collections.abc import Iterator, Mapping, Sequence

from activities.candidates.fields import FIELDS, STOPPED_TRIALS
from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.candidates import Candidate, CandidateField, CandidateFieldName, FieldEntry
from activities.messages import N_, _, day, join_names, ngettext
from activities.report.formats.blocks import (
    Block,
    Cell,
    Fields,
    Group,
    Heading,
    Parts,
    Run,
    Table,
    cell,
    trim,
)
from activities.report.formats.references import Quotes, same_words
from activities.report.formats.statements import sentences, source_title
from activities.report.formats.text import clean, safe_url, shortened
from activities.report.schema import Report

HEAD = (
    *(N_("Candidate"), N_("Mechanism or effect"), N_("Current indications"), N_("Approval"), N_("Trials")),
    *(N_("Literature"), N_("Safety"), N_("Evidence"), N_("Sources")),
)
CHECKED_NOTE = N_(
    "Names, sources and grades of evidence were checked automatically. An entry stands only "
    "where a cited work or a register says so; otherwise it reads “not found”."
)
NAMED_NOTE = N_(
    "Known drugs, each with the passages that name it and its entries in registers. Whether "
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
    "reported_reactions": N_("Reactions most often reported (a report does not prove a cause)"),
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
NOT_FOUND = N_("not found")
NOT_LOOKED_FOR = N_("not looked for")
NOT_IN_WORKS = N_("not found in the works read")
NOT_ASKED = N_(
    "Registers of drugs and trials were not searched: none was among the sources available to this run."
)
SHORT = 160
"""Characters of a cell of the table."""


COLUMNS: tuple[CandidateFieldName, ...] = ("mechanism", "indications", "regulatory", "trials", "safety")
"""Fields of the page that have a column."""


def absence_note(field: CandidateField) -> str:
    if field.status == "unreachable":
        sources = join_names(map(source_title, field.silent))
        return _("not found ({sources} could not be reached)").format(sources=sources)
    if field.status != "not_looked_up":
        return _(NOT_FOUND)
    return _(NOT_IN_WORKS if field.read else NOT_LOOKED_FOR)


def entry_text(field: CandidateFieldName, entry: FieldEntry) -> str:
    """Word an entry: what its source says, with what its code and its values mean."""
    text, values = clean(entry.text), entry.values
    code = clean(entry.code.replace("_", " "))
    if field == "safety":
        kind = _(SAFETY.get(entry.code, code.capitalize()))
        return f"{kind}: {text}" if kind else text
    if field in ("regulatory", "trials") and entry.code == "stated":
        stated = _("according to a cited work: {text}").format(text=text)
        return _with("", [phases(values.get("phase", "")), stated])
    if field == "regulatory":
        name = f"{values.get('authority', '')} {values.get('application', '')}".strip()
        application = _("application {number}").format(number=name) if values.get("application") else ""
        phase = _("highest clinical phase {phase}").format(**values) if values.get("phase") else ""
        status = _(REGULATORY.get(entry.code, code or text))
        return _with(status, [application, phase, day(values.get("date", ""))])
    if field == "trials":
        return _trial(entry, text, code)
    if field == "indications" and entry.code == "names_disease_asked":
        template = _("{text} (asked about)") if entry.evidence_id else _("{text} (the disease asked about)")
        return template.format(text=text)
    if field == "targets":
        genes = _("gene {genes}").format(**values) if values.get("genes") else ""
        return _with(text, [genes, values.get("accessions", "")])
    return text


def _with(text: str, details: Sequence[str]) -> str:
    extra = clean(", ".join(filter(None, details)))
    return f"{text} ({extra})" if text and extra else text or extra


def _trial(entry: FieldEntry, text: str, code: str) -> str:
    values = entry.values
    reason = values.get("why_stopped", "")
    state = _(TRIAL_STATES.get(entry.code.upper(), code.lower()))
    parts = [
        phases(values.get("phase", "")),
        f'{state} ("{clean(reason)}")' if reason else state,
        _("results posted") if values.get("results") else _("no results posted"),
        _("{count} participants").format(count=values["enrollment"]) if values.get("enrollment") else "",
    ]
    extra = clean("; ".join(filter(None, parts)))
    return f"{values.get('nct', '')}, {text}: {extra}".lstrip(", ")


def phases(codes: str) -> str:
    """`PHASE2; PHASE3` -> `phase 2/3`; empty for trials without a phase."""
    numbers = [code.strip() for code in codes.split(";") if code.strip() not in ("", "NA")]
    text = "/".join(n.replace("EARLY_", _("early ")).replace("PHASE", "") for n in numbers)
    return _("phase {number}").format(number=text) if text else ""


def cells(candidate: Candidate, *, by_model: bool = True) -> tuple[str, ...]:
    """Make the cells between name and sources, under `HEAD`: the entries of the page in short."""
    fields = {field.name: field for field in candidate.fields}
    mechanism, indications, regulatory, trials, safety = (_cell(fields[name]) for name in COLUMNS)
    pro, con = (len({s.evidence_id for s in quotes}) for quotes in (candidate.support, candidate.against))
    literature = _("{pro} for, {con} against").format(pro=pro, con=con) if by_model else ""
    chain = shortened(clean(candidate.proposed_mechanism or candidate.mechanism), SHORT)
    quality = _(candidate.evidence_quality) if by_model else ""
    return (chain or mechanism, indications, regulatory, trials, literature, safety, quality)


def _cell(field: CandidateField) -> str:
    """Show the entries of a field; nothing where there is none, of which the page says why."""
    registered = [entry for entry in field.entries if entry.values.get("nct")]
    if field.name != "trials" or not registered:
        return shortened("; ".join(entry_text(field.name, entry) for entry in field.entries), SHORT)
    stops = sum(entry.code in STOPPED_TRIALS for entry in registered)
    results = sum(bool(entry.values.get("results")) for entry in registered)
    phase = max((int(c) for e in registered for c in e.values.get("phase", "") if c.isdigit()), default=0)
    parts = [
        ngettext("{count} trial", "{count} trials", len(registered)).format(count=len(registered)),
        _("up to phase {number}").format(number=phase) if phase else "",
        _("{count} with results").format(count=results) if results else _("none with results"),
        _("{count} stopped early").format(count=stops) if stops else "",
    ]
    return ", ".join(filter(None, parts))


def note(report: Report) -> str:
    """State once for all candidates how they are checked, and that registers were not asked."""
    note = NAMED_NOTE if report.written_by == "extractive" else CHECKED_NOTE
    fields = (field for candidate in CANDIDATES.of_report(report) for field in candidate.fields)
    is_silent = any(field.status == "not_looked_up" for field in fields)
    return f"{_(note)} {_(NOT_ASKED)}" if is_silent else _(note)


def blocks(report: Report, quotes: Quotes) -> Iterator[Block]:
    """Show the table of candidates, without columns in which nothing was found, and a page of each."""
    by_model, candidates = report.written_by == "model", CANDIDATES.of_report(report)
    if candidates:
        rows = [_row(row, number, quotes, by_model=by_model) for number, row in enumerate(candidates, 1)]
        yield Table(*trim(tuple(map(_, HEAD)), rows), note(report), sortable=True)
    for number, candidate in enumerate(candidates, start=1):
        heading = Heading(_title(candidate), anchor=f"candidate-{number}-page", new_page=True)
        yield Group((heading, Fields((*_fields(candidate, quotes, by_model=by_model),))), "candidate")


def _title(candidate: Candidate) -> str:
    name, generic = clean(candidate.name), clean(candidate.generic_name)
    return f"{name} ({generic})" if generic and generic.casefold() != name.casefold() else name


def _row(candidate: Candidate, number: int, quotes: Quotes, *, by_model: bool) -> tuple[Cell, ...]:
    link = Run(_title(candidate), anchor=f"candidate-{number}-page")
    texts = (cell(text) for text in cells(candidate, by_model=by_model))
    return (Cell((link,), anchor=f"candidate-{number}"), *texts, Cell((quotes.numbers(candidate.quotes),)))


def _fields(
    candidate: Candidate, quotes: Quotes, *, by_model: bool
) -> Iterator[tuple[str, tuple[Parts, ...]]]:
    """Yield fields with an entry, those missing by reason, searches that would test it, and quality."""
    alike: dict[str, list[str]] = {}
    for field in candidate.fields:
        about = FIELDS[field.name]
        if field.entries:
            label = about.label if by_model else about.unjudged or about.label
            yield _(label), tuple(_line(field.name, entry, quotes) for entry in field.entries)
        else:
            alike.setdefault(absence_note(field), []).append(_(about.label))
    for reason, names in alike.items():
        yield ", ".join(names), ((Run(reason, "around"),),)
    if tests := tuple(map(clean, candidate.search_suggestions)):
        by_run = Run(_("suggested by the run"), "source")
        yield _("Searches that would test this"), tuple((Run(text), by_run) for text in tests)
    if by_model:
        grade = candidate.evidence_quality
        reasons = map(Run, sentences(candidate.quality_reasons))
        yield _("Quality of the evidence"), ((Run(_(grade), "grade", grade=grade), *reasons),)


def _line(field: CandidateFieldName, entry: FieldEntry, quotes: Quotes) -> Parts:
    text, quote = entry_text(field, entry), clean(entry.quote)
    number = quotes.number(entry.evidence_id)
    runs = () if not quote or quote in text or same_words(clean(entry.text), quote) else (Run(quote, "said"),)
    source = quotes.mark(number) if number else Run(source_title(entry.source), "source", safe_url(entry.url))
    return (Run(text), *runs, source)
