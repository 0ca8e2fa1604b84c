"""Records of openFDA as evidence: a label, an application for approval, a count of reactions."""

from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from activities.contracts.evidence import Evidence, Identifiers
from activities.sources.records import SetAside, Wire, database_record, year_of

SECTIONS = {
    "boxed_warning": "Boxed warning",
    "indications_and_usage": "Indications and usage",
    "purpose": "Purpose",
    "mechanism_of_action": "Mechanism of action",
    "pharmacodynamics": "Pharmacodynamics",
    "pharmacokinetics": "Pharmacokinetics",
    "clinical_studies": "Clinical studies",
    "dosage_and_administration": "Dosage and administration",
    "contraindications": "Contraindications",
    "warnings_and_cautions": "Warnings and precautions",
    "warnings": "Warnings",
    "precautions": "Precautions",
    "do_not_use": "Do not use",
    "stop_use": "Stop use",
    "adverse_reactions": "Adverse reactions",
    "drug_interactions": "Drug interactions",
    "use_in_specific_populations": "Use in specific populations",
    "pregnancy": "Pregnancy",
    "pregnancy_or_breast_feeding": "Pregnancy or breast-feeding",
    "overdosage": "Overdosage",
}
"""Label sections that are kept, in the order a reader wants them, with their headings.

Tables come a second time as HTML (`..._table`) and are left out.
"""

STATUS = {"AP": "approved", "TA": "tentatively approved"}
"""https://open.fda.gov/apis/drug/drugsfda/searchable-fields/ (submissions.submission_status)."""


class Names(Wire):
    brand_name: tuple[str, ...] = ()
    generic_name: tuple[str, ...] = ()
    substance_name: tuple[str, ...] = ()
    manufacturer_name: tuple[str, ...] = ()
    application_number: tuple[str, ...] = ()
    product_type: tuple[str, ...] = ()
    route: tuple[str, ...] = ()
    pharm_class_epc: tuple[str, ...] = ()
    pharm_class_moa: tuple[str, ...] = ()


class Label(Wire):
    set_id: str
    effective_time: str = ""
    version: str = ""
    openfda: Names = Names()


class Ingredient(Wire):
    name: str = ""
    strength: str = ""


class Product(Wire):
    brand_name: str = ""
    active_ingredients: tuple[Ingredient, ...] = ()
    dosage_form: str = ""
    route: str = ""
    marketing_status: str = ""


class Submission(Wire):
    submission_type: str = ""
    submission_number: str = ""
    submission_status: str = ""
    submission_status_date: str = ""
    review_priority: str = ""
    submission_class_code_description: str = ""


class Application(Wire):
    application_number: str
    sponsor_name: str = ""
    products: tuple[Product, ...] = ()
    submissions: tuple[Submission, ...] = ()
    openfda: Names = Names()


class Reaction(Wire):
    term: str
    count: int


def read_label(item: JsonValue) -> Evidence:
    """A drug's label. Raises ValueError for another shape."""
    label = Label.model_validate(item)
    assert isinstance(item, dict)
    names = label.openfda
    return database_record(
        "openfda",
        label.set_id,
        title=f"{drug_name(names) or label.set_id} - drug label",
        text="\n\n".join(sections_of(item)),
        authors=names.manufacturer_name[:1],
        year=year_of(label.effective_time),
        venue="FDA structured product labeling",
        identifiers=Identifiers(fda=label.set_id),
        url=f"https://dailymed.nlm.nih.gov/dailymed/drugInfo.cfm?setid={label.set_id}",
        evidence_type="drug_label",
        brand_name=names.brand_name,
        generic_name=names.generic_name,
        substance_name=names.substance_name,
        route=names.route,
        product_type=names.product_type,
        application_number=names.application_number,
        pharmacologic_class=names.pharm_class_epc,
        mechanism_class=names.pharm_class_moa,
        effective_date=iso_date(label.effective_time),
        label_version=label.version,
    )


def sections_of(item: dict[str, JsonValue]) -> Iterator[str]:
    for field, heading in SECTIONS.items():
        parts = item.get(field)
        if isinstance(parts, list) and (
            text := "\n".join(p for p in parts if isinstance(p, str) and p.strip())
        ):
            yield f"{heading}\n{text}"


def read_approval(item: JsonValue) -> Evidence:
    """An application with its products and submissions. Raises ValueError for another shape."""
    application = Application.model_validate(item)
    number = application.application_number
    if not (application.products or application.submissions):
        raise SetAside("without text to quote")
    originals = (s for s in application.submissions if s.submission_type == "ORIG")
    original = min(originals, key=_rank, default=None)
    approved = original if original and original.submission_status == "AP" else None
    dates = sorted(s.submission_status_date for s in application.submissions if s.submission_status_date)
    brands = list(dict.fromkeys(p.brand_name for p in application.products if p.brand_name))
    title = drug_name(application.openfda) or ", ".join(brands)
    return database_record(
        "openfda",
        number,
        title=f"{title or number} - FDA application {number}",
        text="\n".join(approval_lines(application)),
        authors=(application.sponsor_name,) if application.sponsor_name else (),
        year=year_of(original.submission_status_date if original else None)
        or year_of(min(dates, default="")),
        venue="Drugs@FDA",
        identifiers=Identifiers(fda=number),
        url="https://www.accessdata.fda.gov/scripts/cder/daf/index.cfm?event=overview.process&ApplNo="
        + "".join(c for c in number if c.isdigit()),
        evidence_type="regulatory",
        application_number=number,
        sponsor=application.sponsor_name,
        approval_status=status_words(original) if original else "",
        approval_date=iso_date(approved.submission_status_date) if approved else "",
        latest_action=iso_date(dates[-1]) if dates else "",
        marketing_status=sorted({p.marketing_status for p in application.products if p.marketing_status}),
        brand_name=brands,
        generic_name=application.openfda.generic_name,
    )


def _rank(s: Submission) -> tuple[bool, str]:
    """Approved submissions first, the earliest of them before the others."""
    return s.submission_status != "AP", s.submission_status_date


def approval_lines(application: Application) -> Iterator[str]:
    """The application as text: number, original submission, products, then the later submissions."""
    sponsor = f", sponsor {application.sponsor_name}" if application.sponsor_name else ""
    yield f"FDA application {application.application_number}{sponsor}."
    submissions = sorted(application.submissions, key=lambda s: s.submission_status_date)
    for s in submissions:
        if s.submission_type == "ORIG":
            yield submission_line("Original submission", s)
    for p in application.products:
        made = ", ".join(" ".join(t for t in (i.name, i.strength) if t) for i in p.active_ingredients)
        form = ", ".join(t.lower() for t in (p.dosage_form, p.route) if t)
        status = f". Marketing status: {p.marketing_status}" if p.marketing_status else ""
        yield f"Product: {p.brand_name}{f' ({made})' if made else ''}{f', {form}' if form else ''}{status}."
    for s in submissions:
        if s.submission_type != "ORIG":
            yield submission_line("Supplement" if s.submission_type == "SUPPL" else s.submission_type, s)


def submission_line(label: str, s: Submission) -> str:
    """`Supplement 11: approved on 2024-03-08 (Efficacy), review priority: priority.`"""
    when = f" on {iso_date(s.submission_status_date)}" if s.submission_status_date else ""
    what = f" ({s.submission_class_code_description})" if s.submission_class_code_description else ""
    priority = (
        f", review priority: {s.review_priority.lower()}" if s.review_priority not in ("", "N/A") else ""
    )
    return f"{label} {s.submission_number}: {status_words(s)}{when}{what}{priority}."


def status_words(s: Submission) -> str:
    """The status of a submission in words; an unknown code as it is."""
    return STATUS.get(
        s.submission_status, f"status {s.submission_status}" if s.submission_status else "no status"
    )


def read_reactions(items: Iterable[JsonValue], asked: str) -> str:
    """The counted reactions as one line each, most frequent first. A malformed count is left out."""
    lines = []
    for item in items:
        try:
            reaction = Reaction.model_validate(item)
        except ValueError:
            continue
        lines.append(f"{reaction.term.capitalize()}: {reaction.count} reports.")
    if not lines:
        return ""
    head = (
        f"Reactions most often named in reports to the FDA Adverse Event Reporting System that match {asked}:"
    )
    return "\n".join([head, *lines])


def drug_name(names: Names) -> str:
    """`KEYTRUDA (PEMBROLIZUMAB)`; one name when both are the same."""
    brand, generic = (next(iter(n), "") for n in (names.brand_name, names.generic_name))
    if brand and generic and brand.casefold() != generic.casefold():
        return f"{brand} ({generic})"
    return brand or generic


def iso_date(date: str) -> str:
    """`20240308` -> `2024-03-08`; anything else as it is."""
    return f"{date[:4]}-{date[4:6]}-{date[6:]}" if len(date) == 8 and date.isdigit() else date
