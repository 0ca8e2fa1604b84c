"""A model on a server, role by role, and the same questions without one, side by side.

    .venv/bin/python benchmarks/small_model.py http://127.0.0.1:8080/v1 MODEL [--questions 10] [--effort
    small]

For each role: how many calls were valid at first, after a repair turn, or failed; prompt and answer tokens as
the server reports them; seconds. For the writers: claims written, kept by the publishing checks, on topic,
and chosen by code because the model's were too few. The questions are answered from the bundled sample
library: each is the title of one of its works, with the ten works nearest to it as evidence.

"On topic" means: the work that a claim cites is one that the ranking holds relevant to the question. Exit
code 1 when fewer claims are kept with the model than without, or fewer on topic, over all questions.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from activities.drafts import ProofreadInput, SectionDraft, WriteInput
from activities.errors import ModelError
from activities.evidence_store import EvidenceStore
from activities.models.client import OpenAIModel
from activities.models.sizing import effort_of
from activities.profiles.loader import load_profile
from activities.roles.allowances import allowance_of, asks_model
from activities.roles.runner import RoleThinker
from activities.settings import Settings
from activities.sources.library import SAMPLE
from activities.sources.library.files import list_folder, read_files
from activities.steps import (
    Charged,
    GapsInput,
    HypothesisInput,
    JudgeInput,
    ObserveInput,
    ParsedQuery,
    ParseQueryInput,
    PlanInput,
    ReflectInput,
    Role,
    SelectInput,
    StepContext,
)
from activities.text.ranking import rank, relevant
from activities.types import Evidence, EvidenceRef, ModelChoice, SearchRecord, SourceInfo, SourceOption
from activities.verification.quote_check import QuoteChecker

SHOWN = 10
"""Works a question is answered from."""
LIBRARY = SourceOption(info=SourceInfo(name="library", title="Library", covers="Documents."), enabled=True)


@dataclass
class Row:
    """What became of the calls of one role."""

    steps: int = 0
    by_code: int = 0
    valid: int = 0
    repaired: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    seconds: float = 0.0


@dataclass
class Written:
    """Claims of the writer over all questions."""

    written: int = 0
    kept: int = 0
    on_topic: int = 0
    by_code: int = 0
    works: set[str] = field(default_factory=set)
    seconds: float = 0.0


def steps_for(question: str, refs: tuple[EvidenceRef, ...], draft: SectionDraft) -> dict[Role, StepContext]:
    """One step of each role about a question."""
    common = {"run_id": "benchmark", "question": question, "profile": load_profile("biomedical")}
    tried = (SearchRecord(source="library", query=question, status="ok", hits=len(refs), kept=len(refs)),)
    return {
        "query_parser": ParseQueryInput.model_validate({**common, "profiles": {"biomedical": "Medicine."}}),
        "planner": PlanInput.model_validate(
            {**common, "parsed": ParsedQuery(improved_query=question), "max_sections": 3}
        ),
        "observer": ObserveInput.model_validate({**common, "iteration": 1, "evidence": refs}),
        "gap_evaluator": GapsInput.model_validate(
            {**common, "iteration": 1, "evidence": refs, "tried": tried}
        ),
        "tool_selector": SelectInput.model_validate(
            {**common, "iteration": 1, "gaps": (question,), "sources": (LIBRARY,)}
        ),
        "judge": JudgeInput.model_validate({**common, "iteration": 1, "evidence": refs}),
        "reflector": ReflectInput.model_validate(
            {**common, "iteration": 1, "gaps": (question,), "searches": tried, "new_evidence": refs}
        ),
        "hypothesis_generator": HypothesisInput.model_validate({**common, "evidence": refs}),
        "writer": WriteInput.model_validate({**common, "evidence": refs}),
        "proofreader": ProofreadInput.model_validate({**common, "drafts": {"s1": draft}}),
    }


def count(written: Written, draft: SectionDraft, documents: Sequence[Evidence], question: str) -> None:
    """Add what became of a draft's claims."""
    checker = QuoteChecker({document.evidence_id: document for document in documents})
    helpful = {item.document.evidence_id for item in relevant(rank(question, documents))}
    for claim in (claim for paragraph in draft.paragraphs for claim in paragraph.claims):
        written.written += 1
        written.by_code += claim.added_by_code
        kept = checker.check(claim).kept
        written.kept += kept
        written.on_topic += kept and any(s.evidence_id in helpful for s in claim.support)
        if kept:
            written.works |= {s.evidence_id for s in claim.support}


async def measure(arguments: argparse.Namespace, home: Path) -> tuple[dict[str, Row], Written, Written]:
    """Ask every role about every question."""
    settings = Settings(home=home, openai_base_url=arguments.base_url)
    store = EvidenceStore.at(str(home / "evidence"))
    model = OpenAIModel(settings, store)
    thinker = RoleThinker(model, store, settings, lambda: True)
    choice = ModelChoice(backend="openai", model=arguments.model, effort=arguments.effort)
    choice = choice.model_copy(update={"effort": await effort_of(settings, choice)})
    print(f"model {choice.model}, effort {choice.effort}, context {await model.context(choice)} tokens")
    documents = [d for d in read_files(list_folder(SAMPLE)).documents if d.standing != "retracted"]
    rows: dict[str, Row] = {}
    with_model, without = Written(), Written()
    step_of_works = max(len(documents) // arguments.questions, 1)
    for number, work in enumerate(documents[::step_of_works][: arguments.questions]):
        question = work.title
        nearest = sorted(rank(question, documents), key=lambda item: -item.relevance)[:SHOWN]
        found = [item.document for item in nearest]
        refs = tuple([await store.put(document) for document in found])
        begun = time.monotonic()
        alone = await thinker.think("writer", steps_for(question, refs, SectionDraft())["writer"])
        without.seconds += time.monotonic() - begun
        count(without, alone.output, found, question)
        for role, step in steps_for(question, refs, alone.output).items():
            row = rows.setdefault(role, Row())
            row.steps += 1
            if not asks_model(role, choice):
                row.by_code += 1
                continue
            update = {"model": choice, "allowance": allowance_of(role, choice), "scope": f"{number}/{role}"}
            begun = time.monotonic()
            draft = await one(thinker, role, step.model_copy(update=update), row)
            row.seconds += time.monotonic() - begun
            if role == "writer":
                with_model.seconds += time.monotonic() - begun
                count(with_model, draft.output if draft else alone.output, found, question)
        print(f"  {number + 1}. {question[:90]}", flush=True)
    await model.aclose()
    return rows, with_model, without


async def one(thinker: RoleThinker, role: Role, step: StepContext, row: Row) -> Charged[SectionDraft] | None:
    """One step; None when the model failed."""
    try:
        charged = await thinker.think(role, step)
    except ModelError as error:
        row.failed += 1
        row.prompt_tokens += error.usage.input_tokens
        row.answer_tokens += error.usage.output_tokens
        return None
    failed = charged.model == "extractive" and charged.usage.calls > 0
    row.failed += failed
    row.by_code += charged.usage.calls == 0
    row.valid += charged.usage.calls == 1 and not failed
    row.repaired += charged.usage.calls > 1 and not failed
    row.prompt_tokens += charged.usage.input_tokens
    row.answer_tokens += charged.usage.output_tokens
    return charged


def table(rows: dict[str, Row], with_model: Written, without: Written) -> str:
    """Both tables."""
    lines = [
        f"{'role':22}{'steps':>6}{'code':>6}{'valid':>6}{'rep.':>6}{'failed':>7}{'prompt':>8}{'answer':>8}{'s':>8}"
    ]
    for role, row in rows.items():
        asked = max(row.steps - row.by_code, 1)
        lines.append(
            f"{role:22}{row.steps:>6}{row.by_code:>6}{row.valid:>6}{row.repaired:>6}{row.failed:>7}"
            f"{row.prompt_tokens // asked:>8}{row.answer_tokens // asked:>8}{row.seconds / asked:>8.1f}"
        )
    lines.append("(prompt and answer tokens and seconds: a step)")
    lines.append("")
    lines.append(f"{'writer':22}{'written':>8}{'kept':>6}{'on topic':>10}{'by code':>9}{'works':>7}{'s':>8}")
    for name, one_ in (("with the model", with_model), ("without", without)):
        lines.append(
            f"{name:22}{one_.written:>8}{one_.kept:>6}{one_.on_topic:>10}{one_.by_code:>9}{len(one_.works):>7}"
            f"{one_.seconds:>8.1f}"
        )
    return "\n".join(lines)


def main() -> int:
    """Run and print; see the module."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base_url")
    parser.add_argument("model")
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--effort", choices=["small", "normal", "large"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        rows, with_model, without = asyncio.run(measure(arguments, Path(home)))
    print(table(rows, with_model, without))
    return int(with_model.kept < without.kept or with_model.on_topic < without.on_topic)


if __name__ == "__main__":
    sys.exit(main())
