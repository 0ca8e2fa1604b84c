"""Lies at the gate: whatever a model says that its works do not, is refused by code or left to a reader.

The lies are made of the sentences of real abstracts (`tests.activities.roles.lies`). A lying writer goes
through the roles themselves, with second readers of four kinds: an honest one, one who says yes to all, one
who says yes and names the labels of the sentence, and one who does so for every second sentence. The table of
what is printed then is in docs/guarantees.md; `python -m tests.activities.verification.test_lies` prints it.
"""

import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from activities.contracts.evidence import Claim, Support, Vigilance
from activities.contracts.judge import JudgeInput
from activities.contracts.step import Role, StepContext
from activities.contracts.write import (
    EditInput,
    ExtractInput,
    SectionDraft,
    VerifyInput,
    WriteInput,
    with_ids,
)
from activities.profiles.loader import load_profile
from activities.roles.editor import EditAnswer, RepeatedAnswer, SentenceAnswer
from activities.roles.extractor import CellAnswer, ExtractAnswer, RowAnswer
from activities.roles.fields import Loose
from activities.roles.judge import JudgeAnswer, WorkAnswer
from activities.roles.rewording import AgainAnswer, WrittenAgain
from activities.roles.role import Prompt, spec_of
from activities.roles.verifier import VerdictAnswer, VerdictsAnswer
from activities.roles.writer import DraftAnswer
from activities.text.normal_form import normalise
from activities.verification.gate import works_of
from activities.verification.verdicts import (
    open_sentences,
    printable_draft,
    rewordable_paragraphs,
    with_rewordings,
    with_verdicts,
)
from tests.activities.roles.lies import LIES, Pair, pairs
from tests.fake_openai import cited

COUNT = 10
"""Pairs tried of each kind for the table; a kind does not fit every sentence."""
FEW = 25
"""Pairs tried of each kind elsewhere, until so many lies were told as `TOLD` says."""
TOLD = 4
COMMON = {"run_id": "r", "question": "What was found?", "profile": load_profile("general")}
TWO_WORKS = "two works joined into one result"
GUARANTEES = Path(__file__).parents[3] / "docs" / "guarantees.md"


def lies(kind: str, seed: int, count: int = FEW, most: int = TOLD) -> Iterator[tuple[Pair, str]]:
    told = 0
    for pair in pairs(count, seed, kind):
        lie = LIES[kind](pair)
        # what is left of a sentence may be a true one: a lie has to say something else than both works
        if lie and lie not in (pair.said.quote, pair.said_there.quote if kind == TWO_WORKS else ""):
            told += 1
            yield pair, lie
        if told == most:
            break
    assert told > 3, f"{kind} was hardly tried"


def shown(pair: Pair) -> Prompt:
    return Prompt(
        "",
        "",
        "",
        works={"E1": pair.one, "E2": pair.other},
        sentences={"S1": pair.said, "S2": pair.said_there},
        claims={"C1": "s1.1", "C2": "s2.1"},
        choices={"works.role": ("clinical", "background")},
    )


def accepted(role: Role, step: StepContext, prompt: Prompt, answer: Loose) -> Any:
    return spec_of(role).accept(step, prompt, answer).output


def wrote(pair: Pair, text: str, *works: str) -> SectionDraft:
    """The draft of a writer who writes one sentence that cites these works."""
    report = cited(text, *works) if works else cited(text).replace(" [].", ".")
    draft = accepted(
        "writer", WriteInput.model_validate(COMMON), shown(pair), DraftAnswer(report=f"# T\n\n{report}")
    )
    assert isinstance(draft, SectionDraft)
    return with_ids("s1", draft)


Reader = Callable[[int, bool], tuple[bool, bool]]
"""(place of a sentence, whether it is true) -> (whether it is confirmed, whether its labels are named)."""


def honest(_place: int, is_true: bool) -> tuple[bool, bool]:
    return is_true, True


def always_yes(_place: int, _is_true: bool) -> tuple[bool, bool]:
    return True, False


def yes_with_labels(_place: int, _is_true: bool) -> tuple[bool, bool]:
    return True, True


def every_second(place: int, is_true: bool) -> tuple[bool, bool]:
    return is_true or place % 2 == 0, True


def read(pair: Pair, lie: str, draft: SectionDraft, reader: Reader) -> SectionDraft:
    """A draft after a second reader, by the role itself, with its control sentences."""
    asked = open_sentences(draft.sentences)
    if not asked:
        return draft
    step = VerifyInput.model_validate({**COMMON, "sentences": asked})
    prompt = spec_of("verifier").render(step, [pair.one, pair.other], 30_000)
    by_id = {one.id: one for one in asked}
    answers = []
    for place, label in enumerate([*prompt.claims, *prompt.controls]):
        control = prompt.controls.get(label)
        sentence = control.sentence if control else by_id[prompt.claims[label]]
        is_true = control.is_true if control else normalise(sentence.text)[:60] != normalise(lie)[:60]
        yes, labels = reader(place, is_true)
        works = works_of(sentence)
        carrying = {s.evidence_id: label for label, s in reversed(prompt.sentences.items())}
        named = [carrying[name] for name in works] if labels else []
        answers.append(VerdictAnswer(claim=label, supported="yes" if yes else "no", sentences=named))
    return with_verdicts(draft, accepted("verifier", step, prompt, VerdictsAnswer(verdicts=answers)))


def works(kind: str) -> list[str]:
    return ["E1", "E2"] if kind == TWO_WORKS else ["E1"]


def texts(draft: SectionDraft) -> set[str]:
    return {claim.text for claim in printable_draft(draft).claims}


def listed(draft: SectionDraft, lie: str) -> bool:
    return any(normalise(lie)[:60] in normalise(refusal.text) for refusal in printable_draft(draft).refused)


@pytest.mark.parametrize("kind", LIES)
def test_with_an_honest_reader_a_lie_is_not_printed(kind: str) -> None:
    for pair, lie in lies(kind, 1):
        draft = read(pair, lie, wrote(pair, lie, *works(kind)), honest)
        assert lie not in texts(draft)
        assert listed(draft, lie)
        failed = rewordable_paragraphs(draft)
        step = WriteInput.model_validate({**COMMON, "failed": failed})
        again = [WrittenAgain(claim="C1", text=cited(lie, *works(kind)))]
        stubborn = accepted("writer", step, shown(pair), AgainAnswer(sentences=again))
        assert isinstance(stubborn, SectionDraft)
        assert lie not in texts(read(pair, lie, with_rewordings(draft, stubborn), honest))
        left_out = accepted("writer", step, shown(pair), AgainAnswer(sentences=[]))
        assert isinstance(left_out, SectionDraft)
        assert texts(with_rewordings(draft, left_out)) == set(), "left out means out"


@pytest.mark.parametrize("kind", LIES)
def test_a_lie_that_nobody_read_is_never_printed(kind: str) -> None:
    for pair, lie in lies(kind, 2):
        for cites in ([], ["E1"]):
            draft = wrote(pair, lie, *cites)
            assert lie not in texts(draft)
            assert listed(draft, lie)


def test_a_label_that_does_not_exist_carries_nothing() -> None:
    for pair, lie in lies("a statement of another work", 3):
        draft = wrote(pair, lie, "E77")
        assert texts(draft) == set()
        assert [refusal.reason.code for refusal in draft.refused] == ["label_unknown"]


@pytest.mark.parametrize("kind", LIES)
def test_a_lie_of_the_editor_stands_nowhere_by_code(kind: str) -> None:
    for pair, lie in lies(kind, 5):
        claims = {
            "s1": (Claim(id="s1.1", text=pair.said.quote, support=(_support(pair, 1),)),),
            "s2": (Claim(id="s2.1", text=pair.said_there.quote, support=(_support(pair, 2),)),),
        }
        step = EditInput.model_validate(
            {
                **COMMON,
                "title": "T",
                "outline": {"s1": "One", "s2": "Two"},
                "claims": claims,
                "asks_mechanism": True,
            }
        )
        rests = ["C1"] if kind == "a statement of another work" else ["C1", "C2"]
        sentence = SentenceAnswer(text=lie, rests_on=rests)
        answer = EditAnswer(
            title=lie,
            answer=[sentence, SentenceAnswer(text=lie, rests_on=["C9"])],
            mechanism=[sentence],
            repeated=[RepeatedAnswer(claim="C2", repeats="C1")],
        )
        edited = spec_of("editor").accept(step, shown(pair), answer).output
        assert not [one for one in edited.sentences if one.state == "stands"], lie
        assert edited.title == "T", lie
        assert edited.repeated == (), "a claim of its own was removed"


@pytest.mark.parametrize(
    "kind", ["a number changed", "a name put in", "a statement of another work", "a direction turned"]
)
def test_a_lie_of_the_extractor_is_blank(kind: str) -> None:
    for pair, lie in lies(kind, 6):
        said = lie.split()
        at = next((n for n, word in enumerate(said) if word not in pair.said.quote.split()), 7)
        text = " ".join(said[max(at - 7, 0) : at + 7])[:150]
        if text in pair.said.quote or all(word.strip(".,") in pair.one.text for word in text.split()):
            continue  # the work says it
        cells = [
            CellAnswer(column="finding", text=text, sentence="S1"),
            CellAnswer(column="dose", text=pair.said_there.quote[:150], sentence="S2"),
        ]
        step = ExtractInput.model_validate({**COMMON, "columns": ("finding", "dose")})
        answer = ExtractAnswer(rows=[RowAnswer(work="E1", cells=cells), RowAnswer(work="E7", cells=cells)])
        found = spec_of("extractor").accept(step, shown(pair), answer).output
        kept = {cell.text for row in found.table.rows for cell in row.cells.values()}
        assert kept == set(), lie
        assert any("dose" in refusal.text for refusal in found.refused), (
            "the cell of another work was not listed"
        )


@pytest.mark.parametrize("kind", [kind for kind in LIES if kind != "a statement of another work"])
def test_a_lie_of_the_judge_is_no_finding(kind: str) -> None:
    for pair, lie in lies(kind, 7):
        work = WorkAnswer(
            work="E1",
            answers=3,
            finding=lie,
            sentences=["S1"],
            comparator="metformin against Wonderpill",
            participants=987_123,
            design="Wonderpill trial",
            design_from=["S1"],
            reason="Wonderpill cured 99 of 100",
        )
        answer = JudgeAnswer(works=[work, WorkAnswer(work="E9", answers=3, finding=lie, sentences=["S1"])])
        step = JudgeInput.model_validate({**COMMON, "iteration": 1, "evidence": ()})
        (judged,) = spec_of("judge").accept(step, shown(pair), answer).output.judgements
        assert judged.finding == " ".join(pair.said.quote.split()), lie
        assert (judged.participants, judged.comparator, judged.design, judged.reason) == (None, "", "", "")


UNCITED_NUMBER, UNCITED_DENIAL = "a number changed, without a citation", "a false denial, without a citation"
ELSEWHERE = {UNCITED_NUMBER: "a number changed", UNCITED_DENIAL: "a denial put in or left out"}
"""Lies that cite nothing, and the kind that they are made of."""


@cache
def printed_by(reader: Reader | None, kind: str) -> tuple[int, int, Vigilance]:
    """How many lies of a kind were told, how many are printed after a second reader, and how well it read."""
    told = stands = 0
    vigilance = Vigilance()
    for pair, lie in lies(ELSEWHERE.get(kind, kind), 11, COUNT, COUNT):
        draft = wrote(pair, lie, *([] if kind in ELSEWHERE else works(kind)))
        draft = printable_draft(read(pair, lie, draft, reader) if reader else draft)
        told += 1
        stands += lie in {sentence.text for sentence in draft.sentences}
        vigilance += draft.vigilance
    return told, stands, vigilance


def table() -> str:
    """What of a lying writer is printed as standing, by kind and by second reader."""
    readers: tuple[Reader | None, ...] = (None, honest, always_yes, yes_with_labels, every_second)
    rows = [
        "| lie | told | no reader | honest | always yes | always yes, with labels | every second yes |",
        "|---|---|---|---|---|---|---|",
    ]
    total = [0] * (len(readers) + 1)
    read = [Vigilance()] * len(readers)
    for kind in (*LIES, *ELSEWHERE):
        made = [printed_by(reader, kind) for reader in readers]
        counts = [made[0][0], *(stands for _, stands, _ in made)]
        read = [one + new for one, (_, _, new) in zip(read, made, strict=True)]
        total = [sum(pair) for pair in zip(total, counts, strict=True)]
        rows.append(f"| {kind} | {' | '.join(map(str, counts))} |")
    rows.append(f"| all | {' | '.join(map(str, total))} |")
    shares = (f"{record.noticed / record.planted:.0%}" if record.planted else "" for record in read)
    rows.append(f"| planted errors that it found | | {' | '.join(shares)} |")
    return "\n".join(rows)


def test_the_table_in_the_guarantees_is_what_is_measured() -> None:
    """And none of them stands without a reader, nor by one that says yes to all."""
    measured = table()
    assert measured in GUARANTEES.read_text("utf-8"), measured
    for reader in (None, honest, always_yes, yes_with_labels):
        assert all(printed_by(reader, kind)[1] == 0 for kind in (*LIES, *ELSEWHERE))


def _support(pair: Pair, which: int) -> Support:
    document, sentence = (pair.one, pair.said) if which == 1 else (pair.other, pair.said_there)
    return Support(evidence_id=document.evidence_id, quote=sentence.quote)


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
