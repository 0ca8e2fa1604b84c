"""A small set of documents and drafts that the tests of claims, reports and formats share."""

from activities.contracts.candidates import Candidate
from activities.contracts.evidence import (
    Evidence,
    EvidenceRef,
    Identifiers,
    ReportPlanSection,
    Statement,
    Support,
)
from activities.contracts.publish import PlannedSection, PublishInput
from activities.contracts.write import DraftClaim, DraftParagraph, SectionDraft


def pubmed(number: int, title: str, text: str, kind: str = "article", **more: object) -> Evidence:
    """A work that PubMed has, of which no notice is known."""
    fields = {"evidence_id": f"pmid:{number}", "source": "pubmed", "title": title, "text": text}
    known = {"identifiers": Identifiers(pmid=f"{number}"), "evidence_type": kind, "standing": "none"}
    return Evidence.model_validate({**fields, **known, **more})


TRIAL = pubmed(
    1,
    "Metformin and mortality: a randomized trial",
    "BACKGROUND: Metformin is a first-line drug. RESULTS: Metformin reduced all-cause mortality by 30% "
    "(95% CI 12-45, p < 0.001) in 1,204 adults with type 2 diabetes over 24 weeks. The mean change in "
    "HbA1c was \u22120.5 points. There was no difference in hospital admissions between the groups. "
    "CONCLUSIONS: TNF-\u03b1 fell, and the \u201cdrug\u201d was inactive against influenza virus in "
    "cells. Lancet. 2020;395(10229):1234-40. doi: 10.1016/S0140-6736(20)1234-5.",
    "randomized_trial",
    authors=("Doe JA", "Roe B"),
    year=2020,
    venue="Lancet",
    identifiers=Identifiers(pmid="1", doi="10.1016/s0140-6736(20)1234-5"),
    facts={"mechanism": "AMPK | activation"},
)
REGISTRY = pubmed(
    2,
    "Metformin in a national registry",
    "Metformin increased all-cause mortality in a national registry of older adults with heart failure.",
    "observational",
    source="europepmc",
    authors=("M\u00fcller K",),
    year=2021,
    standing="concern",
)
RETRACTED = pubmed(
    3,
    "A work that was retracted",
    "Metformin abolished all mortality in every patient who took a single tablet of it.",
    year=2019,
    standing="retracted",
)
DOCUMENTS = {item.evidence_id: item for item in (TRIAL, REGISTRY, RETRACTED)}
REDUCED = "Metformin reduced all-cause mortality by 30%"
INCREASED = "Metformin increased all-cause mortality in a national registry"


def quoting(text: str, *quotes: tuple[str, str], **more: object) -> DraftClaim:
    """A sentence that stands, with `(evidence id, quote)` pairs."""
    support = tuple(Support(evidence_id=e, quote=q) for e, q in quotes)
    return DraftClaim.model_validate({"text": text, "support": support, **more})


def refused(text: str, *quotes: tuple[str, str], code: str = "number_missing", **values: str) -> DraftClaim:
    """A sentence that the gate refused."""
    problem = Statement(code=code, values=dict(values))
    return quoting(text, *quotes, state="refused", problem=problem)


def planned(identity: str, *claims: DraftClaim, title: str = "", **more: object) -> PlannedSection:
    """A section whose claims are one paragraph."""
    paragraphs = (DraftParagraph(claims=claims),) if claims else ()
    return PlannedSection.model_validate(
        {
            "section": ReportPlanSection(
                id=identity, title=title or f"Section {identity}", key_question=f"What of {identity}?"
            ),
            "draft": SectionDraft(paragraphs=paragraphs),
            **more,
        }
    )


def publish_input(*sections: PlannedSection, **more: object) -> PublishInput:
    return PublishInput.model_validate(
        {
            "run_id": "ask-metformin-1",
            "question": "Does metformin reduce mortality?",
            "mode": "deep",
            "profile": "drug_repurposing",
            "title": "Metformin and mortality",
            "sections": sections,
            "generated_at": "2026-01-01T00:00:00Z",
            **more,
        }
    )


def ref_of(item: Evidence, blob: str = "") -> EvidenceRef:
    return EvidenceRef(
        evidence_id=item.evidence_id, blob=blob, source=item.source, title=item.title, standing=item.standing
    )


FULL = publish_input(
    planned(
        "s1",
        quoting("Metformin reduced mortality by 30%.", ("pmid:1", REDUCED)),
        refused("Metformin cured everyone by 99%.", ("pmid:1", REDUCED), number="99%"),
        title="Benefit",
    ),
    planned("s2", quoting("A registry found increased mortality.", ("pmid:2", INCREASED)), title="Harm"),
    candidates=(
        Candidate(
            name="Metformin",
            mechanism="AMPK | activation",
            support=(Support(evidence_id="pmid:1", quote=REDUCED),),
        ),
    ),
)
