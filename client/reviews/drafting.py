"""The protocol of a question: drafted by the connected model, or a template."""

import json
from collections.abc import Iterator, Mapping, Sequence

from activities.contracts.evidence import Allowance
from activities.evidence_store import EvidenceStore
from activities.review.protocol import Protocol
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
COMMENTS = """
# Exports of other databases (RIS, BibTeX, CSV, PubMed XML), named from the folder of this file.
# records = ["embase.ris"]          (above the first [table])

# [searched."embase.ris"]           # how a file was searched
# database = "Embase (Ovid)"
# query = "..."
# date = "2026-11-02"
# kind = "database"                 # or register, or other: citation searching, hand searching

# [columns]                         # where a table has other headings
# title = "Titel"
# abstract = "Zusammenfassung"

[calibration]
half_width = 0.1   # of the interval of each screener's accuracy; or: records = 100

# [[extraction]]
# id = "dose"
# label = "Daily dose"
# kind = "text"                     # text, number, or choice with choices = ["...", "..."]

# [[outcomes]]
# id = "mortality"
# label = "Death from any cause"
# measure = "RR"                    # OR, RR, HR, RD, MD or SMD
"""
EMPTY = {
    "population": "POPULATION",
    "intervention": "INTERVENTION",
    "criteria": [
        {"kind": "include", "text": "WHAT A WORK HAS TO MEET"},
        {"kind": "exclude", "text": "WHAT LEAVES A WORK OUT"},
    ],
    "queries": [{"source": "pubmed", "query": "QUERY IN THE SYNTAX OF PUBMED"}],
}
"""A template, in whose place a draft stands."""


def unfilled_keys(protocol: Protocol) -> list[str]:
    """Name the keys of a protocol that hold the words of the template."""
    template = DraftAnswer.model_validate(EMPTY)
    words = {template.population, template.intervention}
    words |= {rule.text for rule in template.criteria} | {row.query for row in template.queries}
    question = protocol.question
    rows = [("question.population", question.population), ("question.intervention", question.intervention)]
    rows += [(f"criteria.{rule.id}", rule.text) for rule in protocol.criteria]
    rows += [(f"the query of {source.source}", source.query) for source in protocol.sources]
    return [key for key, text in rows if text in words]


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


async def draft_protocol(settings: Settings, question: str, *, empty: bool = False) -> tuple[str, str]:
    """Return the text of a protocol file, and who wrote it. Raises ModelError."""
    choice = settings.model_choices()["default"]
    if empty or choice.backend == "extractive":
        people = {"first": "person", "second": "person"}
        return protocol_text(question, DraftAnswer(), people), "a template; fill in its parts in capitals"
    from activities.models.client import OpenAIModel

    model = OpenAIModel(settings, EvidenceStore.at(settings.evidence_url))
    try:
        answer, completion = await model.ask(
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
    text = protocol_text(question, answer, {"model": "model", "person": "person"})
    return text, f"drafted by {completion.model}"


def protocol_text(question: str, answer: DraftAnswer, screeners: Mapping[str, str]) -> str:
    """Write the protocol of a draft as the commented file that a person edits.

    What the draft lacks stands in capitals.
    """
    queries = [row.model_dump() for row in answer.queries if row.source in SOURCES and row.query.strip()]
    values = {name: value for name, value in (answer.model_dump() | {"queries": queries}).items() if value}
    draft = DraftAnswer.model_validate(EMPTY | {"title": question} | values)
    texts = {name: line(getattr(draft, name), 400) for name in ("population", "intervention", "comparator")}
    lists = {name: lines(getattr(draft, name), 12) for name in ("outcomes", "designs")}
    rows = [
        "# The protocol of a systematic review. `determinator review start FILE` starts it.",
        *_table("", title=line(draft.title, 200)),
        *_table("[question]", **texts, **lists),
    ]
    for letter, kind in (("I", "include"), ("E", "exclude")):
        rules = [line(rule.text, 400) for rule in draft.criteria if rule.kind == kind and rule.text.strip()]
        for number, text in enumerate(dict.fromkeys(rules), start=1):
            rows += _table("[[criteria]]", id=f"{letter}{number}", kind=kind, text=text)
    for row in draft.queries:
        rows += _table("[[sources]]", source=row.source, query=line(row.query, 2_000))
    rows.append("\n# Two screeners decide independently; a person decides where they differ.")
    for name, kind in screeners.items():
        rows += _table("[[screeners]]", name=name, kind=kind)
    return "\n".join(rows) + COMMENTS


def _table(head: str, **values: str | Sequence[str]) -> Iterator[str]:
    """Write texts and lists of texts as a table of TOML; JSON writes them alike."""
    if head:
        yield f"\n{head}"
    for key, value in values.items():
        yield f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "")
