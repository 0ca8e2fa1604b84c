"""Lies of a model reach no report: whatever a role says that its works do not, is refused and listed as
refused.

The lies are made of the sentences of real abstracts. Where a role has a second reader (the verifier after the
writer), this one is honest: what code cannot tell is what it is there for. Editor, extractor and judge have
none.
"""

from collections.abc import Iterator

import pytest

from activities.drafts import (
    DraftClaim,
    EditInput,
    ExtractInput,
    SectionDraft,
    SentenceVerdict,
    Verdicts,
    WriteInput,
)
from activities.judgements import Refused
from activities.profiles.loader import load_profile
from activities.roles.editor import (
    EditAnswer,
    RepeatedAnswer,
    SentenceAnswer,
    TransitionAnswer,
)
from activities.roles.extractor import CellAnswer, ExtractAnswer, RowAnswer
from activities.roles.judge import JudgeAnswer, WorkAnswer
from activities.roles.registry import SPECS
from activities.roles.role import Prompt
from activities.roles.writer import AgainAnswer, DraftAnswer, WrittenAgain, WrittenParagraph
from activities.roles.written import Written
from activities.steps import JudgeInput
from activities.types import Claim, Support
from activities.verification.quote_check import QuoteChecker, normalise
from activities.verification.verdicts import failures, loss, to_verify, with_quotes, with_verdicts
from tests.activities.roles.lies import LIES, Pair, pairs

COUNT = 45
"""Pairs tried of each kind; a kind does not fit every sentence. All kinds and roles make more than 1,000."""
COMMON = {"run_id": "r", "question": "What was found?", "profile": load_profile("general")}


def lies(kind: str, seed: int) -> Iterator[tuple[Pair, str]]:
    told = 0
    for pair in pairs(COUNT, seed, kind):
        lie = LIES[kind](pair)
        # what is left of a sentence may be a true one: a lie has to say something else than both works
        if lie and lie != pair.said.quote:
            told += 1
            yield pair, lie
    assert told > 3, f"{kind} was hardly tried"


def shown(pair: Pair) -> Prompt:
    return Prompt(
        "",
        "",
        "",
        shown={"E1": pair.one, "E2": pair.other},
        sentences={"S1": pair.said, "S2": pair.said_there},
        claims={"C1": "s1.1", "C2": "s2.1"},
    )


def texts(draft: SectionDraft) -> set[str]:
    claims = [*draft.answer, *(claim for paragraph in draft.paragraphs for claim in paragraph.claims)]
    assert all(claim.state == "stands" for claim in claims)
    return {claim.text for claim in claims}


def listed(refused: tuple[Refused, ...], lie: str) -> bool:
    return any(normalise(lie)[:60] in normalise(one.text) for one in refused)


def wrote(pair: Pair, *written: Written) -> SectionDraft:
    answer = DraftAnswer(answer=[written[0]], paragraphs=[WrittenParagraph(sentences=list(written))])
    step = WriteInput.model_validate(COMMON)
    draft: SectionDraft = SPECS["writer"].accept(step, shown(pair), answer).output
    return draft


def honest(draft: SectionDraft, lie: str) -> SectionDraft:
    """What an honest verifier makes of a draft."""
    verdicts = [
        SentenceVerdict(
            id=one.id,
            supported="no" if normalise(one.text)[:60] == normalise(lie)[:60] else "yes",
            reason="not said",
        )
        for one in to_verify(draft)
    ]
    return with_verdicts(draft, Verdicts(verdicts=tuple(verdicts)))


@pytest.mark.parametrize("kind", LIES)
def test_a_lie_of_the_writer_is_replaced_by_its_quote(kind: str) -> None:
    for pair, lie in lies(kind, 1):
        several = ["S1", "S2"] if kind.startswith("two works") else ["S1"]
        draft = honest(wrote(pair, Written(text=lie, rests_on=several)), lie)
        assert failures(draft), lie
        final = with_quotes(draft)
        assert texts(final) <= {pair.said.quote, pair.said_there.quote}, lie
        assert listed(final.refused, lie)
        assert loss(final) == 1.0
        again = AgainAnswer(sentences=[WrittenAgain(refused="C1", text=lie, rests_on=several)])
        step = WriteInput.model_validate({**COMMON, "draft": draft, "failed": failures(draft)})
        stubborn = with_quotes(SPECS["writer"].accept(step, shown(pair), again).output)
        assert texts(stubborn) <= {pair.said.quote, pair.said_there.quote}, lie
        assert listed(stubborn.refused, lie)
        honestly = AgainAnswer(sentences=[WrittenAgain(refused="C1", text=pair.said.quote, rests_on=["S1"])])
        repaired = with_quotes(SPECS["writer"].accept(step, shown(pair), honestly).output)
        assert lie not in texts(repaired)
        assert "reworded" in {one.kind for one in repaired.refused if one.text == lie}, lie


@pytest.mark.parametrize("kind", LIES)
def test_a_sentence_that_nobody_verified_never_stands(kind: str) -> None:
    for pair, lie in lies(kind, 2):
        final = with_quotes(wrote(pair, Written(text=lie, rests_on=["S1"])))
        assert texts(final) <= {pair.said.quote}, lie
        assert listed(final.refused, lie)


def test_a_label_that_does_not_exist_carries_nothing() -> None:
    for pair, lie in lies("a statement of another work", 3):
        draft = with_quotes(wrote(pair, Written(text=lie, rests_on=["S77"])))
        assert texts(draft) == set()
        assert [one.reason.code for one in draft.refused] == ["label_unknown", "label_unknown"]
        half = with_quotes(wrote(pair, Written(text=pair.said.quote, rests_on=["S1", "S77"])))
        assert listed(half.refused, pair.said.quote)


def test_a_reservation_states_no_number_and_no_name() -> None:
    for pair, lie in (*lies("a number changed", 4), *lies("a name put in", 4)):
        if lie.split()[-1].strip(".") in pair.one.text + pair.other.text:
            continue  # a name that a work has
        answer = DraftAnswer(paragraphs=[], reservations=[lie, "Follow-up was short."])
        draft = SPECS["writer"].accept(WriteInput.model_validate(COMMON), shown(pair), answer).output
        assert draft.reservations == ("Follow-up was short.",), lie
        assert listed(draft.refused, lie)


@pytest.mark.parametrize("kind", LIES)
def test_a_lie_of_the_editor_is_left_out_and_its_claims_stand(kind: str) -> None:
    for pair, lie in lies(kind, 5):
        rests = ["C1"] if kind == "a statement of another work" else ["C1", "C2"]
        claims = {
            "s1": (Claim(id="s1.1", text=pair.said.text, support=(_support(pair, 1),)),),
            "s2": (Claim(id="s2.1", text=pair.said_there.text, support=(_support(pair, 2),)),),
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
        sentence = SentenceAnswer(text=lie, rests_on=rests)
        answer = EditAnswer(
            title=lie if kind in ("a number changed", "a name put in") else "",
            answer=[sentence],
            executive_summary=[sentence, SentenceAnswer(text=lie, rests_on=["C9"])],
            mechanism=[sentence],
            transitions=[TransitionAnswer(section="s1", text=lie)],
            repeated=[RepeatedAnswer(claim="C2", repeats="C1")],
        )
        edited = SPECS["editor"].accept(step, shown(pair), answer).output
        stands = {one.text for part in claims.values() for one in part}
        printed = (*edited.answer, *edited.executive_summary, *edited.mechanism)
        assert {one.text for one in printed} <= stands - {lie}, "more than the claims stood in its place"
        assert edited.transitions.get("s1") != lie or lie.rstrip(".") in pair.said.text
        assert edited.title == "T", lie
        assert listed(edited.refused, lie)
        assert edited.repeated == (), "a claim of its own was removed as repetition"


@pytest.mark.parametrize(
    "kind", ["a number changed", "a name put in", "a statement of another work", "a direction turned"]
)
def test_a_lie_of_the_extractor_is_blank(kind: str) -> None:
    for pair, lie in lies(kind, 6):
        words = lie.split()
        at = next((n for n, word in enumerate(words) if word not in pair.said.quote.split()), 7)
        text = " ".join(words[max(at - 7, 0) : at + 7])[:150]
        if text in pair.said.quote or all(word.strip(".,") in pair.one.text for word in text.split()):
            continue  # the work says it
        cells = [
            CellAnswer(column="outcome", text=text, sentence="S1"),
            CellAnswer(column="dose", text=pair.said_there.quote[:150], sentence="S2"),
        ]
        step = ExtractInput.model_validate({**COMMON, "columns": ("outcome", "dose")})
        answer = ExtractAnswer(rows=[RowAnswer(work="E1", cells=cells), RowAnswer(work="E7", cells=cells)])
        found = SPECS["extractor"].accept(step, shown(pair), answer).output
        kept = {cell.text for row in found.table.rows for cell in row.cells.values()}
        assert kept == set(), lie
        assert any("dose" in one.text for one in found.refused), "the cell of another work was not listed"


@pytest.mark.parametrize("kind", [kind for kind in LIES if kind != "a statement of another work"])
def test_a_lie_of_the_judge_is_no_finding(kind: str) -> None:
    for pair, lie in lies(kind, 7):
        answer = JudgeAnswer(
            works=[
                WorkAnswer(
                    work="E1",
                    answers=3,
                    finding=lie,
                    sentences=["S1"],
                    comparator="metformin against Wonderpill",
                    participants=987_123,
                    design="Wonderpill trial",
                    reason="Wonderpill cured 99 of 100",
                ),
                WorkAnswer(work="E9", answers=3, finding=lie, sentences=["S1"]),
            ]
        )
        step = JudgeInput.model_validate({**COMMON, "iteration": 1, "evidence": ()})
        batch = SPECS["judge"].accept(step, shown(pair), answer).output
        (judged,) = batch.judgements
        assert judged.finding == " ".join(pair.said.quote.split()), lie
        assert (judged.participants, judged.comparator, judged.design, judged.reason) == (None, "", "", "")
        assert listed(batch.refused, lie)


def test_a_finding_on_a_sentence_of_another_work_has_no_support() -> None:
    for pair, lie in lies("a statement of another work", 8):
        answer = JudgeAnswer(works=[WorkAnswer(work="E1", answers=3, finding=lie, sentences=["S2"])])
        step = JudgeInput.model_validate({**COMMON, "iteration": 1, "evidence": ()})
        batch = SPECS["judge"].accept(step, shown(pair), answer).output
        assert [(one.finding, one.support) for one in batch.judgements] == [("", ())]
        assert listed(batch.refused, lie)


@pytest.mark.parametrize("kind", ["a number changed", "a name put in", "a direction turned"])
def test_publishing_checks_once_more(kind: str) -> None:
    for pair, lie in lies(kind, 9):
        checker = QuoteChecker({pair.one.evidence_id: pair.one, pair.other.evidence_id: pair.other})
        assert not checker.check(DraftClaim(text=lie, support=(_support(pair, 1),))).kept, lie


def test_more_than_a_thousand_lies_of_ten_kinds_were_told() -> None:
    """The kinds are those of `LIES`, labels that do not exist, and works that were not shown."""
    told = {lie for seed in range(1, 10) for kind in LIES for _, lie in lies(kind, seed)}
    assert len(told) > 1_000
    assert len(LIES) + 2 >= 10


def _support(pair: Pair, which: int) -> Support:
    document, sentence = (pair.one, pair.said) if which == 1 else (pair.other, pair.said_there)
    return Support(evidence_id=document.evidence_id, quote=sentence.quote)
