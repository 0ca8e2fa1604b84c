"""The protocol of a question: drafted by the connected model, or a template."""

from activities.contracts.evidence import Allowance
from activities.evidence_store import EvidenceStore
from activities.review.protocol import (
    Criterion,
    Protocol,
    ReviewQuestion,
    Screener,
    SourceQuery,
    as_toml,
)
from activities.roles.fields import Loose, Text, Texts, limits
from activities.roles.validation import line, lines
from activities.settings import Settings

SOURCES = ("pubmed", "europepmc", "openalex", "clinicaltrials")
ALLOWANCE = Allowance(input_tokens=3_000, output_tokens=2_500)
SYSTEM = """You draft the protocol of a systematic review, which a person will change and approve.
- `title`; the question by its parts: `population`, `intervention` (or exposure), `comparator`,
  `outcomes`, `designs` of studies that count.
- `criteria`: what a work has to meet (`include`) and what leaves it out (`exclude`), each decidable from
  a title and an abstract where that is possible, each about one thing.
- `queries`: one search a source, sensitive rather than precise: synonyms joined by OR, concepts by AND,
  in the syntax of that source (field tags and subject headings for PubMed)."""


class CriterionAnswer(Loose):
    kind: Text = "include"
    text: Text = ""


class QueryAnswer(Loose):
    source: Text = ""
    query: Text = ""


class DraftAnswer(Loose):
    title: Text = ""
    population: Text = ""
    intervention: Text = ""
    comparator: Text = ""
    outcomes: Texts = limits(items=12, default_factory=list)
    designs: Texts = limits(items=8, default_factory=list)
    criteria: list[CriterionAnswer] = limits(items=12, default_factory=list)
    queries: list[QueryAnswer] = limits(items=4, default_factory=list)


async def drafted(settings: Settings, question: str, *, empty: bool = False) -> tuple[str, str]:
    """Return the text of a protocol file, and who wrote it. Raises ModelError."""
    choice = settings.model_choices()["default"]
    if empty or choice.backend == "extractive":
        return as_toml(template(question)), "a template; fill in its parts in capitals"
    from activities.models.client import OpenAIModel

    model = OpenAIModel(settings, EvidenceStore.at(settings.evidence_url))
    try:
        answer, done = await model.ask(
            choice,
            system=SYSTEM,
            user=f"Question: {question}\n\nDraft the protocol. Answer with JSON.",
            answer=DraftAnswer,
            allowance=ALLOWANCE,
            scope="review draft",
            choices={"queries.source": SOURCES, "criteria.kind": ("include", "exclude")},
        )
    finally:
        await model.aclose()
    return as_toml(protocol_of(question, answer)), f"drafted by {done.model}"


def protocol_of(question: str, answer: DraftAnswer) -> Protocol:
    """Return the protocol of a draft; what the draft lacks is as in the template."""
    usual = template(question)
    criteria = []
    for kind, letter in (("include", "I"), ("exclude", "E")):
        texts = [line(row.text, 400) for row in answer.criteria if row.kind == kind and row.text.strip()]
        for number, text in enumerate(dict.fromkeys(texts), start=1):
            rule = {"id": f"{letter}{number}", "kind": kind, "text": text}
            criteria.append(Criterion.model_validate(rule))
    sources = [
        SourceQuery(source=row.source, query=line(row.query, 2_000))
        for row in answer.queries
        if row.source in SOURCES and row.query.strip()
    ]
    return usual.replace(
        title=line(answer.title, 200) or usual.title,
        question=ReviewQuestion(
            population=line(answer.population, 400) or usual.question.population,
            intervention=line(answer.intervention, 400) or usual.question.intervention,
            comparator=line(answer.comparator, 400),
            outcomes=lines(answer.outcomes, 12),
            designs=lines(answer.designs, 8),
        ),
        criteria=tuple(criteria) or usual.criteria,
        sources=tuple(sources) or usual.sources,
        screeners=(Screener(name="model", kind="model"), Screener(name="person", kind="person")),
    )


def template(question: str) -> Protocol:
    return Protocol(
        title=question,
        question=ReviewQuestion(population="POPULATION", intervention="INTERVENTION"),
        criteria=(
            Criterion(id="I1", text="WHAT A WORK HAS TO MEET"),
            Criterion(id="E1", kind="exclude", text="WHAT LEAVES A WORK OUT"),
        ),
        sources=(SourceQuery(source="pubmed", query="QUERY IN THE SYNTAX OF PUBMED"),),
        screeners=(Screener(name="first"), Screener(name="second")),
    )
