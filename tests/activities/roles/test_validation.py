"""Nothing invented by a model is accepted: no id, source, number or field that it was not given."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.contracts.evidence import Evidence, Statement
from activities.contracts.judge import Hypotheses, JudgeBatch, JudgeInput, WorkJudgement
from activities.contracts.step import Role
from activities.models.base import YesOrNo
from activities.profiles.loader import load_profile
from activities.roles.fields import Loose
from activities.roles.role import ROLES, Prompt, spec_of
from activities.roles.validation import sentence_text
from activities.roles.works import MAX_RELATED, readable_works
from activities.text.normal_form import verbatim
from tests.activities.roles.conftest import CLAIMS, DOCUMENTS, QUESTION, Case
from tests.fake_openai import LIES, lying, sensible

SHOWN = {d.evidence_id: d.text for d in DOCUMENTS}


async def test_a_lying_parser_and_planner_cannot_change_the_subject(case: Case) -> None:
    parsed = await case.said("query_parser", lying)
    assert parsed.improved_query == QUESTION
    assert parsed.profile == "drug_repurposing", "a profile that is not on offer was accepted"
    assert parsed.key_entities == ()
    plan = await case.said("planner", lying)
    assert "Wonderpill" not in plan.model_dump_json(), "what has no quote must keep to the question"
    assert [s.key_question for s in plan.report_outline] == [QUESTION]


async def test_a_lying_observer_and_gap_evaluator_are_held_to_labels_and_number(case: Case) -> None:
    seen = await case.said("observer", lying)
    assert "E999" not in seen.text
    assert "E1" not in seen.text
    gaps = await case.said("gap_evaluator", lying)
    assert len(gaps.outstanding_gaps) == 3
    assert not gaps.research_complete, "complete and with gaps"


async def test_observer_and_gap_evaluator_read_findings_and_not_texts(case: Case) -> None:
    judged = WorkJudgement(evidence_id="pmid:2", answers=3, direction="no", finding="No change was seen.")
    roles: tuple[Role, ...] = ("observer", "gap_evaluator")
    for role in roles:
        await case.said(role, sensible, judgements=(judged,))
        user = case.server.bodies[-1]["messages"][1]["content"]
        assert "A trial of metformin (answers, no): No change was seen." in user
        assert "Metformin and dementia: a cohort" in user, "a work that nobody judged is not named"
        assert "hazard ratio" not in user


async def test_a_lying_selector_reaches_registered_sources_only(case: Case) -> None:
    case.server.script(lying)
    charged = await case.thinker.think("tool_selector", case.step("tool_selector"))
    plan = charged.output
    assert {t.agent for t in plan.tasks} == {"library"}
    for gap in ("Does it help in trials?", "What of harms?"):
        assert 1 <= sum(t.gap == gap for t in plan.tasks) <= 3
    assert any(isinstance(note, Statement) and note.code == "searches_unknown" for note in charged.notes)


async def test_a_closed_or_lookup_source_is_not_searched_however_it_is_named(case: Case) -> None:
    searches = [
        {"gap": 1, "source": s, "query": "x"} for s in ("brave", "by_doi", "LIBRARY", "search_library")
    ]
    plan = await case.said("tool_selector", {"searches": searches})
    assert {t.agent for t in plan.tasks} == {"library"}


async def test_a_lying_judge_scores_within_bounds_and_judges_what_it_saw(case: Case) -> None:
    case.server.script(lying)
    charged = await case.thinker.think("judge", case.step("judge"))
    batch = charged.output
    assert batch.scores == {"mechanism": 10, "sources": 0}, "a criterion that was not scored has a score"
    assert [(j.evidence_id, j.answers, j.direction, j.role) for j in batch.judgements] == [
        ("pmid:1", 3, "not_asked", "background")
    ]
    assert len(batch.gaps) == 3
    assert batch.recommendation == ""
    assert {refusal.reason.code for refusal in batch.refused} >= {"label_unknown", "not_in_work"}
    assert any(isinstance(note, Statement) and note.code == "not_judged" for note in charged.notes)


@pytest.mark.parametrize("score", [None, "n/a"])
async def test_a_criterion_that_is_named_without_a_score_is_not_met(case: Case, score: str | None) -> None:
    named = {"criterion": "mechanism", "score": score}
    batch = await case.said("judge", {"works": [], "scores": [named]})
    assert batch.scores == {"mechanism": 0}


async def test_no_candidate_that_the_evidence_does_not_name_and_support(case: Case) -> None:
    refs = case.refs[:2]
    assert await case.said("hypothesis_generator", lying, refs) == Hypotheses()
    true = {
        "drug": "Metformin",
        "generic_name": "wonderol",
        "confidence": 0.6,
        "supporting": ["S1", "S3", "S99"],
        "current_indications": ["type 9 immortality"],
        "regulatory_status": "approved in 2031",
        "trial_status": "a randomised trial of 80 adults",
        "target": "cognition of immortals",
    }
    answer = await case.said("hypothesis_generator", {"hypotheses": [true]}, refs, scope="another")
    [kept] = answer.hypotheses
    assert kept.generic_name == kept.regulatory_status == ""
    assert kept.current_indications == ()
    assert kept.target == "", "half of its words are of no work"
    assert kept.trial_status == "a randomised trial of 80 adults"


async def test_a_lying_writer_cites_nothing_that_was_not_shown(case: Case) -> None:
    case.server.script(lying)
    charged = await case.thinker.think("writer", case.step("writer"))
    draft = charged.output
    assert all(verbatim(s.quote, SHOWN[s.evidence_id]) for c in draft.claims for s in c.support)
    states = {claim.text: claim.state for claim in draft.claims}
    assert states.pop("Nothing is cited here.") == "ask", "it is read"
    assert {*states.values()} == {"refused"}
    assert draft.heading is None or draft.heading.state != "stands"
    assert {refusal.kind for refusal in draft.refused} == {"claim"}
    assert {refusal.reason.code for refusal in draft.refused} == {"label_unknown"}


@pytest.mark.parametrize("text", ["Most studies were small.", "Alter wurde nicht erfasst."])
async def test_a_sentence_that_cites_nothing_is_read_in_any_language(case: Case, text: str) -> None:
    (made,) = (await case.said("writer", {"report": text})).claims
    assert (made.text, made.state, made.kind) == (text, "ask", "inference")


async def test_a_sentence_that_cites_nothing_names_no_code_of_no_work(case: Case) -> None:
    texts = ("No work compares metformin with denosumab.", "Kein Werk vergleicht Metformin mit IL-99.")
    draft = await case.said("writer", {"report": "\n\n".join(texts)})
    assert [(sentence.state, sentence.text) for sentence in draft.answer] == [
        ("ask", texts[0]),
        ("refused", texts[1]),
    ]


def asked_label(case: Case) -> str:
    """The label of the one sentence that the second reader is asked about, among the control sentences."""
    prompt = spec_of("verifier").render(case.step("verifier"), DOCUMENTS, 20_000)
    (label,) = prompt.claims
    return label


async def test_a_verifier_counts_for_what_it_was_asked_and_its_stricter_verdict(case: Case) -> None:
    assert (await case.said("verifier", lying)).verdicts == ()
    label = asked_label(case)
    both = [{"claim": label, "supported": "no", "reason": "It is not."}, {"claim": label, "supported": "yes"}]
    (verdict,) = (await case.said("verifier", {"verdicts": both}, scope="another")).verdicts
    assert (verdict.id, verdict.problem.text("verdict")) == ("s1.1", "no")


@pytest.mark.parametrize(
    ("labels", "stands"), [(["S1"], True), (["[S3]", "S1"], True), (["S999"], False), ([], False)]
)
async def test_a_yes_counts_only_with_the_labels_of_sentences_of_its_works(
    case: Case, labels: list[str], stands: bool
) -> None:
    answer = {"verdicts": [{"claim": asked_label(case), "supported": "yes", "sentences": labels}]}
    (verdict,) = (await case.said("verifier", answer)).verdicts
    assert (verdict.problem is None) is stands
    assert stands or verdict.problem.code == "not_carried"


async def test_the_second_readers_prompt_begins_as_the_writers(case: Case) -> None:
    """The same works in the same order under the same labels, so that one cache of prompts serves both."""
    draft = await case.said("writer", sensible)
    await case.said("verifier", sensible, works_room=draft.works_room)
    (system, user), (system_too, user_too) = (
        [message["content"] for message in body["messages"]] for body in case.server.bodies
    )
    assert system == system_too
    works = user[: user.index("# Writer")]
    assert len(works) > 500
    assert user_too.startswith(works)
    assert re.search(r"^C\d+ \[E1, E2\]: Metformin may protect cognition\.$", user_too, re.MULTILINE)


async def test_an_editor_answers_with_the_answers_of_the_sections(case: Case) -> None:
    own = CLAIMS["s1"][0].replace(id="s1.a1", text="Metformin may help.")
    said = [{"text": "Metformin may help.", "rests_on": ["A1"]}]
    answer = {"answer": said, "repeated": [{"claim": "C2", "repeats": "A1"}]}
    other = CLAIMS["s2"][0].replace(id="s2.a1")
    edited = await case.said("editor", answer, answers={"s1": (own,), "s2": (other,)})
    assert [(sentence.text, sentence.claims) for sentence in edited.answer] == [
        ("Metformin may help.", ("s1.a1",))
    ]
    assert edited.repeated == (), "a claim went because an answer says it"


async def test_what_no_work_says_is_read_in_an_answer_of_the_editor(case: Case) -> None:
    missing = CLAIMS["s1"][0].replace(id="s1.a1", text="No work gives the dose.", support=())
    other = CLAIMS["s2"][0].replace(id="s2.a1")
    said = [{"text": "The dose is not known.", "rests_on": ["A1"], "begins": True}]
    edited = await case.said("editor", {"answer": said}, answers={"s1": (missing,), "s2": (other,)})
    (sentence,) = edited.answer
    assert (sentence.state, sentence.after, sentence.begins) == ("ask", "No work gives the dose.", True)
    assert not edited.refused


async def test_a_report_of_one_section_needs_no_editor(case: Case) -> None:
    edited = await case.said("editor", lying, claims={"s1": CLAIMS["s1"]}, asks_mechanism=False)
    assert (edited.title, edited.sentences, case.server.asked) == ("Metformin", (), [])


async def test_an_editor_removes_only_what_another_claim_says(case: Case) -> None:
    pairs = [{"claim": "C2", "repeats": "C1"}, {"claim": "C3", "repeats": "C1"}]
    edited = await case.said("editor", {"repeated": pairs})
    assert edited.repeated == (("s2.1", "s1.1"),)


async def test_a_cell_is_filled_from_a_sentence_of_its_own_work(case: Case) -> None:
    cells = [
        {"column": "Population", "text": "4120 adults", "sentence": "S1"},
        {"column": "dose", "text": "not reported", "sentence": "S1"},
    ]
    answer = await case.said(
        "extractor", {"rows": [{"work": "E1", "cells": cells}, {"work": "E2", "cells": cells}]}
    )
    rows = {row.evidence_id: row.cells for row in answer.table.rows}
    assert list(rows["pmid:1"]) == ["population"]
    assert rows["pmid:1"]["population"].support.evidence_id == "pmid:1"
    assert rows["pmid:2"] == {}
    assert [refusal.reason.code for refusal in answer.refused] == ["other_work"]


async def test_a_manager_can_name_members_of_the_team_only_and_lose_no_fact(case: Case) -> None:
    ledger = await case.said("manager", lying)
    assert ledger.next_speaker == ""
    assert ledger.facts[0] == "Metformin is cheap."
    assert len(ledger.facts) <= 10
    # the plan is the manager's only when one was asked for
    assert ledger.plan == ()


@pytest.mark.parametrize(("said", "mode"), [("team", "team"), (" Team ", "team"), ("deep", "iterative")])
async def test_a_parser_chooses_only_a_mode_that_is_offered(case: Case, said: str, mode: str) -> None:
    modes = {"iterative": "one question", "team": "open questions"}
    answer = {"improved_query": QUESTION, "research_mode": said}
    assert (await case.said("query_parser", answer, modes=modes)).research_mode == mode
    assert all(name in str(case.server.bodies[0]) for name in modes)


async def test_a_correct_answer_is_accepted(case: Case) -> None:
    """The gate would be worthless if it dropped everything."""
    draft = await case.said("writer", sensible)
    cited = [s for c in draft.claims for s in c.support]
    assert {s.evidence_id for s in cited} >= {"pmid:1", "pmid:2"}
    assert all(verbatim(s.quote, SHOWN[s.evidence_id]) for s in cited)
    judged = await case.said("judge", sensible)
    assert min(judged.scores.values()) >= 7
    assert {j.evidence_id for j in judged.judgements if j.answers == 3} == SHOWN.keys()


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(list(LIES)), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(list(LIES)), _VALUES))
def test_whatever_validates_comes_out_within_bounds(answer: dict[str, object]) -> None:
    judge = spec_of("judge")
    step = JudgeInput(
        run_id="r", question=QUESTION, profile=load_profile("drug_repurposing"), iteration=1, evidence=()
    )
    shown = {f"E{n}": d for n, d in enumerate(DOCUMENTS, 1)}
    try:
        read = judge.answer.model_validate(answer)
    except ValueError:
        return
    out = judge.accept(step, Prompt("", "", "", shown), read).output
    assert set(out.scores) <= {c.name for c in step.profile.criteria}
    assert all(0 <= score <= 10 for score in out.scores.values())
    assert {j.evidence_id for j in out.judgements} <= SHOWN.keys()
    JudgeBatch.model_validate_json(out.model_dump_json())


def test_what_models_are_asked_for_is_small_and_closed() -> None:
    for spec in map(spec_of, ROLES):
        if spec.answer is YesOrNo:
            continue  # one word
        assert issubclass(spec.answer, Loose)
        assert len(json.dumps(spec.answer.model_json_schema())) < 4_000
        assert len(spec.answer.model_fields) <= 9


def test_a_writer_reads_a_few_related_works_behind_those_that_answer() -> None:
    works = [Evidence(evidence_id=f"pmid:{n}", source="s", title="T", text="X.") for n in range(1, 11)]
    one, two, three, unread, *more = works
    grades = {"pmid:1": 1, "pmid:2": 3, "pmid:3": 0}
    judged = {name: WorkJudgement(evidence_id=name, answers=grade) for name, grade in grades.items()}
    assert readable_works([one, two, three, unread], judged) == [two, one]
    judged |= {work.evidence_id: WorkJudgement(evidence_id=work.evidence_id, answers=1) for work in more}
    assert readable_works(works, judged) == [two, one, *more[: MAX_RELATED - 1]]
    assert readable_works([one, three], judged) == [one]
    assert readable_works([three], judged) == [three]


@pytest.mark.parametrize(
    ("answer", "removed", "again", "kept"),
    [
        ({"remove": ["C3"]}, ("a1", "s1.2"), {}, ("s1.1",)),
        ({"remove_sections": ["s1", "s9"]}, ("a1", "s1.1", "s1.2"), {}, ()),
        ({"leave_out": ["E2"]}, ("a1", "s1.2"), {"s1.1": "ask"}, ()),
        (
            {"reword": [{"claim": "C2", "text": "In 4120 adults metformin was associated with dementia."}]},
            (),
            {"s1.1": "ask"},
            ("a1", "s1.2"),
        ),
        (
            {"reword": [{"claim": "C2", "text": "Wonderpill prevents dementia in 99 % of 5000 adults."}]},
            (),
            {},
            ("a1", "s1.1", "s1.2"),
        ),
        ({"remove": ["C77"], "title": "Wonderpill cures all"}, (), {}, ("a1", "s1.1", "s1.2")),
    ],
)
async def test_a_reviser_touches_what_it_names_and_what_follows_from_it(
    case: Case,
    answer: dict[str, object],
    removed: tuple[str, ...],
    again: dict[str, str],
    kept: tuple[str, ...],
) -> None:
    """A sentence of the editor goes with the last one it rests on; one on another work too is read again;
    a wording that the gate refuses leaves the old one."""
    revised = await case.said("reviser", answer)
    assert set(revised.removed) == set(removed)
    assert {sentence.id: sentence.state for sentence in (*revised.sentences, *revised.edited)} == again
    assert {"a1", "s1.1", "s1.2"} - set(removed) - set(again) == set(kept)
    assert revised.title == ""


async def test_a_planner_and_a_reflector_are_held_to_their_number(case: Case) -> None:
    sections = [{"title": f"Part {n}", "key_question": f"Does metformin help group {n}?"} for n in range(9)]
    plan = await case.said("planner", {"report_title": "Metformin", "sections": sections})
    assert (len(plan.report_outline), plan.report_title) == (4, "Metformin")
    assert len((await case.said("reflector", lying)).better_searches) == 5


async def test_a_selector_sees_what_was_found_and_repeats_no_search_that_was_answered(case: Case) -> None:
    again = {"gap": 1, "source": "library", "query": "Metformin  DEMENTIA"}
    titles = ("PMID 7: A near miss",)
    plan = await case.said("tool_selector", {"searches": [again]}, titles=titles)
    assert all(task.query.casefold() != "metformin  dementia" for task in plan.tasks)
    assert "PMID 7: A near miss" in case.server.bodies[-1]["messages"][1]["content"]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        *((f"Mortality fell {mark}.", "Mortality fell.")
          for mark in ("[1, 2]", "[^4] [pmid:22663011]", "[s1.2] (pmid: 1)", "[E3]", "[E3, 2023]", "(E12)")),
        ("Mortality fell [1-3], it seems [12].", "Mortality fell, it seems."),
        ("CONCLUSIONS: Mortality fell.", "Mortality fell."),
        (". While mortality  fell", "While mortality fell"),
        *((kept, kept) for kept in (
            "In the cohort of [2023] mortality fell.", "Mortality fell (95% CI [2, 14]).",
            "COVID-19: metformin helps.", ".5 mg was enough",
        )),
    ],
)  # fmt: skip
def test_marks_and_labels_are_no_part_of_a_claim_and_years_and_intervals_are(
    written: str, plain: str
) -> None:
    assert sentence_text(written) == plain
