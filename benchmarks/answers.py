"""Measure any model: does it judge works rightly, and does what it writes stand and answer?

    python -m benchmarks.answers --model NAME [--base-url URL] [--set pubmedqa|bioasq|FILE] [--corpus FILE]
        [--questions 30] [--seed 1] [--effort small|normal|large] [--skip-writing | --pairs [--write FILE]]
        [--plain]

Each question has works of four kinds, shuffled:

    answers     the work that the question was made from (PubMedQA), or that experts answered from (BioASQ)
    exchanged   the same work, with a drug or disease of the question exchanged
    near        the work of another question that is nearest to this one
    absent      the work of another question, chosen at random

A work of the first kind is judged right with `answers` 2 or 3, the others with 0 or 1. The titles of works
are hidden, since PubMedQA's questions are titles. Printed are the works judged right by kind, the share of
works for which a direction is given and how often it is the label's, what became of the sentences written,
the share of questions whose answer cites the work that answers, the exact answers of the experts that the
answer contains, and tokens, money and seconds.

`--plain` asks the same model each question in one call that shows it the same works, and prints beside the
product how often its direction is the label's, and its answer names a work that answers and has the exact
answers.

`--pairs` measures a small model as the product asks it, one word of one work a call: each work is asked about
its own question (answers, by the answer that it gives: yes, no, maybe), about that question with a drug or
disease exchanged, and about the question of another work (absent), one after the other, so that a server with
a prompt cache reads each work once. It prints a table, and with `--write FILE` puts it between the two marks
`<!-- pairs -->` of a document.

FILE holds one JSON object a line: `{"question", "works": [{"title", "text", "answers": true}], "label"?,
"exact"?: [["synonym", ...], ...]}`. BioASQ's golden files and PubMedQA's `ori_pqal.json` are read with
`--corpus`; without it PubMedQA's part of the bundled sample is used, which has no labels.
"""

import argparse
import asyncio
import gzip
import json
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from openai import OpenAI
from pydantic import BaseModel

from activities.contracts.errors import ModelError
from activities.contracts.evidence import Evidence, EvidenceRef, ModelChoice, Usage
from activities.contracts.judge import JudgeInput, WeighInput, WorkJudgement
from activities.contracts.step import Role, StepAnswer, StepContext
from activities.contracts.write import SectionDraft, Verdicts, VerifyInput, WriteInput, with_ids
from activities.evidence_store import EvidenceStore
from activities.models.client import OpenAIModel
from activities.models.prices import effort_of
from activities.profiles.loader import load_profile
from activities.roles.allowances import allowance_of, asks_model, judge_batches
from activities.roles.assessment import MIN_ANSWERS
from activities.roles.runner import RoleThinker
from activities.settings import Settings
from activities.text.entities import link
from activities.text.ranking import rank
from activities.verification.verdicts import (
    open_sentences,
    printable_draft,
    rewordable_paragraphs,
    sentences_with_context,
    with_rewordings,
    with_verdicts,
)
from benchmarks.plain import ask as ask_plainly
from benchmarks.plain import client_of, works_text
from workflows.steps.ordering import BESIDE

MARK = "<!-- pairs -->"
Kind = Literal["answers", "exchanged", "near", "absent"]
SAMPLE = Path(__file__).parents[1] / "activities" / "sources" / "sample" / "documents" / "pubmedqa.jsonl.gz"
PROFILE = load_profile("biomedical")
EXCHANGES = {"drug": ("metformin", "sildenafil", "warfarin"), "disease": ("psoriasis", "asthma", "glaucoma")}


@dataclass(frozen=True)
class Entry:
    """A question with the work that answers it."""

    question: str
    works: tuple[tuple[Evidence, Kind], ...]
    label: str = ""
    exact: tuple[tuple[str, ...], ...] = ()


PLAIN = (
    "Answer the question from the works below only; not all of them are on it.\n\n"
    "Question: {question}\n\n{works}\n\n"
    "`direction`: yes, no or maybe for a yes-or-no question, else empty. `answer`: two to five sentences "
    "with the exact names and numbers. `works`: the numbers of the works that it rests on."
)


class PlainAnswer(BaseModel):
    """What a plain model answers."""

    direction: str = ""
    answer: str = ""
    works: list[int] = []


@dataclass
class Tally:
    """What was counted."""

    judged: dict[Kind, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    chances: dict[str, list[float | None]] = field(default_factory=lambda: defaultdict(list))
    """Kind -> probabilities of a small model that a work answers."""
    failed: Counter[str] = field(default_factory=Counter)
    directions: Counter[str] = field(default_factory=Counter)
    sentences: Counter[str] = field(default_factory=Counter)
    answered: Counter[bool] = field(default_factory=Counter)
    exact: Counter[bool] = field(default_factory=Counter)
    plain: dict[str, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    """What is counted of the plain model's answers."""
    usage: dict[str, Usage] = field(default_factory=lambda: defaultdict(Usage))
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))


def entries(
    name: str, corpus: Path | None, count: int, seed: int, *, with_others: bool = True
) -> list[Entry]:
    """The questions of a set with their works, and with works of other questions."""
    chooser = random.Random(seed)
    if name not in ("pubmedqa", "bioasq"):
        rows = [json.loads(row) for row in Path(name).read_text("utf-8").splitlines() if row.strip()]
        return [_of_file(row) for row in rows][:count]
    base = list(_bioasq(corpus) if name == "bioasq" and corpus else _pubmedqa(corpus or SAMPLE))
    chooser.shuffle(base)
    if not with_others:
        return base[:count]
    every = [document for entry in base for document, _ in entry.works]
    return [_with_others(entry, every, chooser) for entry in base[:count]]


def _text(path: Path) -> str:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")


def _pubmedqa(path: Path) -> Iterator[Entry]:
    if ".jsonl" in path.name:
        for row in map(json.loads, _text(path).splitlines()):
            yield Entry(row["title"], ((_work(row["pmid"], row["abstract"], row["year"]), "answers"),))
        return
    for pmid, row in json.loads(_text(path)).items():
        text = "\n\n".join((*row["CONTEXTS"], f"CONCLUSION: {row['LONG_ANSWER']}"))
        year = int(row["YEAR"]) if row.get("YEAR") else None
        yield Entry(row["QUESTION"], ((_work(pmid, text, year), "answers"),), row["final_decision"])


def _bioasq(path: Path) -> Iterator[Entry]:
    for row in json.loads(_text(path))["questions"]:
        texts: dict[str, list[str]] = defaultdict(list)
        for snippet in row["snippets"]:
            texts[snippet["document"].rsplit("/", 1)[-1]].append(" ".join(snippet["text"].split()))
        works = [(_work(pmid, " ".join(parts), None), "answers") for pmid, parts in texts.items()]
        exact = row.get("exact_answer", [])
        label = exact if isinstance(exact, str) else ""
        names = [[one] if isinstance(one, str) else one for one in exact] if not label else []
        if works:
            kept: tuple[tuple[Evidence, Kind], ...] = tuple((work, "answers") for work, _ in works[:4])
            yield Entry(row["body"], kept, label.lower(), tuple(tuple(n) for n in names))


def _of_file(row: dict[str, Any]) -> Entry:
    works: list[tuple[Evidence, Kind]] = []
    for number, work in enumerate(row["works"], 1):
        document = _work(str(number), work["text"], None, title=work.get("title", ""))
        works.append((document, "answers" if work.get("answers") else "near"))
    exact = tuple(tuple(names) for names in row.get("exact", ()))
    return Entry(row["question"], tuple(works), row.get("label", ""), exact)


def _work(name: str, text: str, year: int | None, title: str = "") -> Evidence:
    return Evidence(
        evidence_id=f"pmid:{name}", source="library", title=title or f"Abstract {name}", text=text, year=year
    )


def _with_others(entry: Entry, every: Sequence[Evidence], chooser: random.Random) -> Entry:
    """The entry with a near work and an absent one."""
    own = {document.evidence_id for document, _ in entry.works}
    sample = chooser.sample([d for d in every if d.evidence_id not in own], 60)
    near = max(rank(entry.question, sample), key=lambda item: item.relevance).document
    absent = chooser.choice([d for d in sample if d.evidence_id != near.evidence_id])
    others: list[tuple[Evidence, Kind]] = [(near, "near"), (absent, "absent")]
    works = [*entry.works, *others]
    chooser.shuffle(works)
    return Entry(entry.question, tuple(works), entry.label, entry.exact)


def exchanged(question: str, texts: Sequence[str]) -> str:
    """The question about another drug or disease of the same kind; empty where it names none."""
    for entity in link(question):
        for name in EXCHANGES.get(entity.kind, ()):
            if not any(name in text.lower() for text in texts) and name not in question.lower():
                return question[: entity.start] + name + question[entity.end :]
    return ""


class Measure:
    """Asks one model about every entry."""

    def __init__(self, thinker: RoleThinker, store: EvidenceStore, choice: ModelChoice) -> None:
        self._thinker = thinker
        self._store = store
        self._choice = choice
        self._scope = 0
        self.tally = Tally()

    async def entry(self, entry: Entry, *, writing: bool) -> None:
        refs = {d.evidence_id: await self._store.put(d) for d, _ in entry.works}
        kinds = {d.evidence_id: kind for d, kind in entry.works}
        judged = await self._judge(entry.question, list(refs.values()))
        for name, kind in kinds.items():
            self._count(kind, judged.get(name))
        self._direction(entry, judged, kinds)
        other = exchanged(entry.question, [d.text for d, _ in entry.works])
        own = [refs[name] for name, kind in kinds.items() if kind == "answers"][:1]
        if other and own:
            found = await self._judge(other, own)
            self._count("exchanged", found.get(own[0].evidence_id))
        if writing:
            await self._write(entry, tuple(refs.values()), judged, kinds)

    async def pairs(self, asked: Sequence[Entry]) -> None:
        """Ask of each work whether it answers its own question, that question with a thing exchanged, and the
        question of another work."""
        for place, entry in enumerate(asked):
            own = entry.works[0][0]
            other = asked[(place + 1) % len(asked)].question
            changed = exchanged(entry.question, [own.text])
            ref = await self._store.put(own)
            questions: tuple[tuple[str, Kind], ...] = (
                (entry.question, "answers"),
                (changed, "exchanged"),
                (other, "absent"),
            )
            for question, kind in questions:
                if question:
                    done = await self._ask(
                        "orderer", self._step(WeighInput, "orderer", question, evidence=(ref,))
                    )
                    yes = done.output.yes if done else None
                    name = f"{kind}, {entry.label or 'no label'}" if kind == "answers" else kind
                    self.tally.chances[name].append(yes)
                    said = "-" if yes is None else f"{yes:.2f}"
                    print(f"{place + 1:3} {name:14} {said:5} {question}", file=sys.stderr, flush=True)

    def plain(self, entry: Entry, client: OpenAI) -> None:
        """Ask in one call that shows the works of an entry."""
        works = [(document.title, document.text) for document, _ in entry.works]
        prompt = PLAIN.format(question=entry.question, works=works_text(works))
        said = ask_plainly(client, self._choice.model, prompt, PlainAnswer) or PlainAnswer()
        kinds = dict(enumerate((kind for _, kind in entry.works), 1))
        self.tally.plain["cites a work that answers"][any(kinds.get(n) == "answers" for n in said.works)] += 1
        if entry.label in ("yes", "no"):
            self.tally.plain["direction right"][said.direction.strip().lower() == entry.label] += 1
        for names in entry.exact:
            had = any(name.casefold() in said.answer.casefold() for name in names)
            self.tally.plain["exact answers contained"][had] += 1

    def say(self, number: int) -> None:
        """Print how far it is."""
        every: Counter[bool] = sum(self.tally.judged.values(), Counter())
        print(f"{number}. works judged right so far: {share(every)}", file=sys.stderr, flush=True)

    def _count(self, kind: Kind, judgement: WorkJudgement | None) -> None:
        if judgement is None:
            self.tally.judged[kind][False] += 1
            return
        self.tally.judged[kind][(judgement.answers >= MIN_ANSWERS) == (kind == "answers")] += 1

    def _direction(self, entry: Entry, judged: dict[str, WorkJudgement], kinds: dict[str, Kind]) -> None:
        if entry.label not in ("yes", "no"):
            return
        for name, kind in kinds.items():
            if kind == "answers" and name in judged:
                said = judged[name].direction
                spoken = said in ("yes", "no")
                right = "right" if said == entry.label else "wrong"
                self.tally.directions[right if spoken else "silent"] += 1

    async def _judge(self, question: str, refs: Sequence[EvidenceRef]) -> dict[str, WorkJudgement]:
        found: dict[str, WorkJudgement] = {}
        for batch in judge_batches(refs, self._choice):
            step = self._step(JudgeInput, "judge", question, iteration=1, evidence=batch)
            if (done := await self._ask("judge", step)) is not None:
                found |= {one.evidence_id: one for one in done.output.judgements}
        return found

    async def _write(
        self,
        entry: Entry,
        refs: tuple[EvidenceRef, ...],
        judged: dict[str, WorkJudgement],
        kinds: dict[str, Kind],
    ) -> None:
        given = tuple(sorted(judged.values(), key=lambda one: -one.answers))
        step = self._step(WriteInput, "writer", entry.question, evidence=refs, judgements=given)
        done = await self._ask("writer", step)
        draft: SectionDraft = done.output if done else SectionDraft()
        draft = with_ids("s1", draft)
        written = len(draft.claims) + len(draft.refused)
        asked = open_sentences(sentences_with_context(draft))
        if asked and asks_model("verifier", self._choice):
            more = {"evidence": refs, "judgements": given, "works_room": draft.works_room}
            verify = self._step(VerifyInput, "verifier", entry.question, sentences=asked, **more)
            checked = await self._ask("verifier", verify)
            draft = with_verdicts(draft, checked.output if checked else Verdicts())
        if failed := rewordable_paragraphs(draft):
            again = step.replace(failed=failed, scope=f"{step.scope}/again")
            redone = await self._ask("writer", again)
            draft = with_rewordings(draft, redone.output) if redone else draft
        draft = printable_draft(draft)
        claims = draft.claims
        self.tally.sentences["written"] += written
        self.tally.sentences["refused"] += len(draft.refused)
        self.tally.sentences["in the report"] += len(claims)
        works = {support.evidence_id for claim in claims for support in claim.support}
        self.tally.answered[any(kinds[name] == "answers" for name in works)] += 1
        said = " ".join(text for c in claims for text in (c.text, *(s.quote for s in c.support))).casefold()
        for names in entry.exact:
            self.tally.exact[any(name.casefold() in said for name in names)] += 1

    def _step(self, kind: type[Any], role: Role, question: str, **fields: object) -> Any:  # noqa: ANN401 - by kind
        self._scope += 1
        return kind.model_validate(
            {
                "run_id": "benchmark",
                "question": question,
                "profile": PROFILE,
                "model": self._choice,
                "allowance": allowance_of(role, self._choice),
                "scope": f"{self._scope}/{role}",
                **fields,
            }
        )

    async def _ask(self, role: Role, step: StepContext) -> StepAnswer[Any] | None:
        begun = time.monotonic()
        try:
            done = await self._thinker.think(role, step)
        except ModelError as error:
            self.tally.failed[role] += 1
            self.tally.usage[role] = self.tally.usage[role] + error.usage
            return None
        finally:
            self.tally.seconds[role] += time.monotonic() - begun
        self.tally.usage[role] = self.tally.usage[role] + done.usage
        return done


def share(counter: Counter[bool]) -> str:
    total = sum(counter.values())
    return f"{100 * counter[True] / total:5.1f} % of {total}" if total else "    - of 0"


def report(tally: Tally, questions: int) -> str:
    """The table."""
    every: Counter[bool] = sum(tally.judged.values(), Counter())
    lines = [f"works judged right      {share(every)}"] if every else []
    lines += [f"   {kind:20} {share(tally.judged[kind])}" for kind in sorted(tally.judged)]
    spoken = tally.directions["right"] + tally.directions["wrong"]
    total = spoken + tally.directions["silent"]
    if total:
        right = 100 * tally.directions["right"] / max(spoken, 1)
        lines.append(f"direction               given for {spoken} of {total}, right in {right:.1f} %")
    if tally.sentences:
        lines.append("sentences               " + ", ".join(f"{n} {k}" for k, n in tally.sentences.items()))
        lines.append(f"cites a work that answers {share(tally.answered)}")
    if tally.exact:
        lines.append(f"exact answers contained {share(tally.exact)}")
    lines += [f"plain: {name:26} {share(counted)}" for name, counted in tally.plain.items()]
    for role, used in tally.usage.items():
        cost = "" if not used.cost_microusd else f", ${used.cost_microusd / 1e6:.4f}"
        lines.append(
            f"{role:10} {used.calls} calls, {used.input_tokens} + {used.output_tokens} tokens{cost}, "
            f"{tally.seconds[role]:.0f} s, {tally.failed[role]} failed"
        )
    lines.append(f"seconds a question      {sum(tally.seconds.values()) / max(questions, 1):.1f}")
    return "\n".join(lines)


def table(tally: Tally, model: str) -> str:
    """What a small model calls near and beside the question, by kind of pair."""
    rows = [f"| {model} | pairs | called near | mean probability of yes |", "|---|---|---|---|"]
    for kind in sorted(tally.chances):
        said = [yes for yes in tally.chances[kind] if yes is not None]
        mean = f"{sum(said) / len(said):.2f}" if said else "-"
        near = sum(yes >= BESIDE for yes in said)
        rows.append(f"| {kind} | {len(tally.chances[kind])} | {near} | {mean} |")
    return "\n".join(rows)


def write_table(file: Path, text: str) -> None:
    """Put a table between the two marks of a document."""
    before, _, rest = file.read_text("utf-8").partition(f"{MARK}\n")
    _, mark, after = rest.partition(MARK)
    if not mark:
        raise SystemExit(f"{file} has no two lines {MARK}")
    file.write_text(f"{before}{MARK}\n{text}\n{MARK}{after}", "utf-8")


async def measure(options: argparse.Namespace, home: Path) -> None:
    settings = Settings(home=home, openai_base_url=options.base_url)
    store = EvidenceStore.at(str(home / "evidence"))
    model = OpenAIModel(settings, store)
    choice = ModelChoice(backend="openai", model=options.model, effort=options.effort)
    effort = "small" if options.pairs else await effort_of(settings, choice)
    choice = choice.replace(effort=effort)
    asked = entries(
        options.set, options.corpus, options.questions, options.seed, with_others=not options.pairs
    )
    print(f"{choice.model}, effort {choice.effort}, {len(asked)} questions of {options.set}", flush=True)
    run = Measure(RoleThinker(lambda _: model, store, settings, lambda: True), store, choice)
    if options.pairs:
        await run.pairs(asked)
    else:
        client = client_of(options.base_url) if options.plain else None
        for number, entry in enumerate(asked, 1):
            if client is not None:
                await asyncio.to_thread(run.plain, entry, client)
            await run.entry(entry, writing=not options.skip_writing)
            run.say(number)
    await model.aclose()
    if options.pairs:
        print(pairs := table(run.tally, choice.model))
        if options.write:
            write_table(options.write, pairs)
    print(report(run.tally, len(asked)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url", default=None)
    parser.add_argument("--set", default="pubmedqa", help="pubmedqa, bioasq, or a file of your own")
    parser.add_argument("--corpus", type=Path, default=None)
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--effort", choices=("small", "normal", "large"), default=None)
    parser.add_argument("--skip-writing", action="store_true")
    parser.add_argument("--plain", action="store_true", help="a row of the same model in one call beside it")
    parser.add_argument("--pairs", action="store_true", help="measure a small model, one word a work")
    parser.add_argument("--write", type=Path, help="the document whose table of pairs is replaced")
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(measure(parser.parse_args(), Path(home)))


if __name__ == "__main__":
    main()
