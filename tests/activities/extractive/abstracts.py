"""Invented abstracts in the shape the sources give, and the steps over them."""

from collections.abc import Sequence
from typing import Any

from activities.contracts.evidence import Evidence, EvidenceRef, EvidenceType, SourceInfo, SourceOption
from activities.contracts.judge import JudgeBatch, JudgeInput
from activities.contracts.profile import Aspect, Criterion, Profile
from activities.contracts.write import SectionDraft, WriteInput
from activities.evidence_store import make_ref
from activities.extractive import passages

PROFILE = Profile(
    name="biomedical",
    description="Biomedicine.",
    criteria=(
        Criterion(name="relevance", description="The question is addressed.", minimum=6),
        Criterion(name="clinical_evidence", description="Evidence from people."),
        Criterion(name="mechanism", description="A mechanism is explained."),
        Criterion(name="candidates", description="Drugs are named."),
        Criterion(name="sources", description="Sources are diverse."),
    ),
    sources=("library", "pubmed"),
    aspects=(
        Aspect(title="Mechanism", search="mechanism pathway"),
        Aspect(title="Safety", search="adverse events safety"),
    ),
)

METFORMIN = (
    "BACKGROUND: Metformin is the most common first-line drug for type 2 diabetes.\n"
    "OBJECTIVE: To determine whether metformin lowers the risk of dementia.\n"
    "METHODS: We enrolled 4120 patients with type 2 diabetes in 12 hospitals, e.g. in Leeds.\n"
    "RESULTS: Metformin was associated with a lower risk of dementia (HR 0.81, 95% CI 0.70-0.94; P = .006).\n"
    "CONCLUSIONS: In conclusion, metformin reduced the risk of dementia in patients with type 2 diabetes."
)
METFORMIN_NOT = (
    "BACKGROUND: Whether metformin protects the ageing brain is debated.\n"
    "RESULTS: Over 5 years there was no significant association between metformin and the risk of dementia.\n"
    "CONCLUSIONS: Metformin did not reduce the risk of dementia in patients with type 2 diabetes."
)
METFORMIN_CELLS = (
    "Metformin activates AMPK. In cultured neurons metformin inhibits the mTOR pathway through AMPK and "
    "lowers tau phosphorylation, a mechanism that may slow dementia. "
    "Further research in patients is needed to "
    "establish whether metformin prevents dementia."
)
BREAD = (
    "RESULTS: Sourdough fermented for 16 h gave a softer crumb than yeasted dough in all tasting panels.\n"
    "CONCLUSIONS: Long fermentation improves the texture and the shelf life of wheat bread."
)


def document(
    number: int, text: str, title: str = "", kind: EvidenceType = "article", **more: Any
) -> Evidence:
    return Evidence(
        evidence_id=f"pmid:{number}", source="library", title=title, text=text, evidence_type=kind, **more
    )


def library() -> list[Evidence]:
    return [
        document(1, METFORMIN, "Metformin and dementia: a cohort study", "observational", year=2018),
        document(2, METFORMIN_NOT, "Metformin does not prevent dementia", "randomized_trial", year=2021),
        document(3, METFORMIN_CELLS, "Metformin, AMPK and tau in neurons", "preclinical", year=2015),
        document(4, BREAD, "Sourdough and crumb softness", "article", year=2010),
    ]


def refs(documents: Sequence[Evidence]) -> tuple[EvidenceRef, ...]:
    return tuple(make_ref(d, f"blobs/{n}.json") for n, d in enumerate(documents))


def context(question: str, **more: Any) -> dict[str, Any]:
    return {"run_id": "r", "question": question, "profile": PROFILE, **more}


def judged(question: str, documents: Sequence[Evidence], **more: Any) -> JudgeBatch:
    step = JudgeInput(**context(question, **more), iteration=1, evidence=refs(documents))
    return passages.judge(step, documents)


def written(question: str, documents: Sequence[Evidence], **more: Any) -> SectionDraft:
    fields = {name: more.pop(name) for name in ("title", "shared") if name in more}
    step = WriteInput(**context(question, **more), evidence=refs(documents), **fields)
    return passages.write(step, documents)


def option(name: str, *domains: str, enabled: bool = True) -> SourceOption:
    return SourceOption(info=SourceInfo(name=name, title=name, covers="", domains=domains), enabled=enabled)
