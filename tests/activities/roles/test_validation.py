"""Nothing invented by a model is accepted: no id, source, number or field that it was not given."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.drafts import Proofread, SectionDraft
from activities.profiles.loader import load_profile
from activities.roles.registry import SPECS
from activities.roles.role import Prompt
from activities.roles.validation import Loose, grounded, names
from activities.steps import (
    AgentSelectionPlan,
    Hypotheses,
    JudgeAssessment,
    JudgeInput,
    KnowledgeGapOutput,
    Observation,
    ParsedQuery,
    Reflection,
    Role,
    TeamLedger,
)
from activities.types import ReportPlan
from activities.verification.quote_check import verbatim
from tests.activities.roles.conftest import DOCUMENTS, DRAFTS, QUESTION, Case
from tests.fake_openai import LIES, lying, says, sensible

SHOWN = {d.evidence_id: d.text for d in DOCUMENTS}


async def test_a_lying_parser_cannot_change_the_question(case: Case) -> None:
    case.server.script(lying)
    parsed = (await case.thinker.think("query_parser", case.step("query_parser"))).output
    assert isinstance(parsed, ParsedQuery)
    assert parsed.improved_query == QUESTION
    assert parsed.profile == "drug_repurposing", "a profile that is not on offer was accepted"
    assert parsed.key_entities == ()


async def test_a_lying_planner_cannot_change_the_subject(case: Case) -> None:
    case.server.script(lying)
    plan = (await case.thinker.think("planner", case.step("planner"))).output
    assert isinstance(plan, ReportPlan)
    assert "Wonderpill" not in plan.model_dump_json(), "what has no quote must keep to the question"
    assert [s.key_question for s in plan.report_outline] == [QUESTION]


async def test_a_planner_is_held_to_its_number_of_sections(case: Case) -> None:
    sections = [
        {"title": f"Part {n}", "key_question": f"Does metformin help in group {n}?"} for n in range(9)
    ]
    case.server.script(says({"report_title": "Metformin", "background_context": "", "sections": sections}))
    plan = (await case.thinker.think("planner", case.step("planner"))).output
    assert len(plan.report_outline) == 4
    assert plan.report_title == "Metformin"


async def test_a_lying_observer_cannot_name_what_it_was_not_shown(case: Case) -> None:
    case.server.script(lying)
    seen = (await case.thinker.think("observer", case.step("observer"))).output
    assert isinstance(seen, Observation)
    assert "E999" not in seen.text
    assert "[pmid:" in seen.text or "[url:" in seen.text


async def test_a_lying_gap_evaluator_is_held_to_its_number(case: Case) -> None:
    case.server.script(lying)
    gaps = (await case.thinker.think("gap_evaluator", case.step("gap_evaluator"))).output
    assert isinstance(gaps, KnowledgeGapOutput)
    assert len(gaps.outstanding_gaps) == 3
    assert not gaps.research_complete, "complete and with gaps"


async def test_a_lying_selector_reaches_registered_sources_only(case: Case) -> None:
    case.server.script(lying)
    charged = await case.thinker.think("tool_selector", case.step("tool_selector"))
    plan = charged.output
    assert isinstance(plan, AgentSelectionPlan)
    assert {t.agent for t in plan.tasks} == {"library"}
    for gap in ("Does it help in trials?", "What of harms?"):
        assert 1 <= sum(t.gap == gap for t in plan.tasks) <= 3
    assert any("not there" in note for note in charged.notes)


async def test_a_closed_or_lookup_source_is_not_searched_however_it_is_named(case: Case) -> None:
    searches = [
        {"gap": 1, "source": s, "query": "x"} for s in ("brave", "by_doi", "LIBRARY", "search_library")
    ]
    case.server.script(says({"searches": searches}))
    plan = (await case.thinker.think("tool_selector", case.step("tool_selector"))).output
    assert {t.agent for t in plan.tasks} == {"library"}


async def test_a_search_that_was_answered_is_not_made_again(case: Case) -> None:
    case.server.script(says({"searches": [{"gap": 1, "source": "library", "query": "Metformin  DEMENTIA"}]}))
    plan = (await case.thinker.think("tool_selector", case.step("tool_selector"))).output
    assert all(t.query.casefold() != "metformin  dementia" for t in plan.tasks)


async def test_a_lying_judge_scores_within_bounds_and_names_what_it_saw(case: Case) -> None:
    case.server.script(lying)
    charged = await case.thinker.think("judge", case.step("judge"))
    judged = charged.output
    assert isinstance(judged, JudgeAssessment)
    assert judged.scores == {"mechanism": 10, "candidates": 0, "clinical_evidence": 0, "sources": 0}
    assert judged.reported_confidence < 1.0, "the model's word alone counted"
    assert len(judged.relevant) == 1
    assert set(judged.relevant) <= SHOWN.keys()
    assert len(judged.gaps) == len(judged.recommended_searches) == 5
    assert any("candidates" in note for note in charged.notes), "a missing score was not said"


async def test_a_lying_reflector_is_held_to_its_number(case: Case) -> None:
    case.server.script(lying)
    seen = (await case.thinker.think("reflector", case.step("reflector"))).output
    assert isinstance(seen, Reflection)
    assert len(seen.better_searches) == 5


async def test_no_candidate_that_the_evidence_does_not_name_and_support(case: Case) -> None:
    case.server.script(lying)
    refs = case.refs[:2]
    found = (await case.thinker.think("hypothesis_generator", case.step("hypothesis_generator", refs))).output
    assert found == Hypotheses()
    quote = "metformin was associated with a lower risk of dementia"
    true = {
        "drug": "Metformin",
        "generic_name": "wonderol",
        "confidence": 0.6,
        "supporting": [{"item": "E1", "quote": quote}, {"item": "E2", "quote": quote}],
        "current_indications": ["type 9 immortality"],
        "regulatory_status": "approved in 2031",
        "trial_status": "a randomised trial of 80 adults",
    }
    case.server.script(says({"hypotheses": [true]}))
    step = case.step("hypothesis_generator", refs).model_copy(update={"scope": "another"})
    [kept] = (await case.thinker.think("hypothesis_generator", step)).output.hypotheses
    assert kept.generic_name == kept.regulatory_status == ""
    assert kept.current_indications == ()
    assert kept.trial_status == "a randomised trial of 80 adults"


@pytest.mark.parametrize("role", ["writer", "long_writer"])
async def test_a_lying_writer_cites_nothing_that_was_not_shown(case: Case, role: Role) -> None:
    case.server.script(lying)
    charged = await case.thinker.think(role, case.step(role))
    draft = charged.output
    assert isinstance(draft, SectionDraft)
    claims = [c for p in draft.paragraphs for c in p.claims]
    cited = [s for c in claims for s in c.support if not c.added_by_code]
    assert {s.evidence_id for s in cited} <= SHOWN.keys()
    assert not [s for s in cited if verbatim(s.quote, SHOWN[s.evidence_id])], (
        "a lie that passes the quote check"
    )
    assert any("cited nothing" in note for note in charged.notes)


@pytest.mark.parametrize(
    ("limitation", "kept"),
    [
        ("Most studies were small and observational.", True),
        ("Whether metformin changes the risk of dementia in the long term is unclear.", True),
        ("Wonderpill cures dementia.", False),
        ("Metformin prevents dementia in patients.", False),
        ("Patients should take 5000 mg of metformin.", False),
        ("The hazard ratio was 0.81 in adults.", False),
    ],
)
async def test_a_limitation_is_no_place_for_a_claim(case: Case, limitation: str, kept: bool) -> None:
    case.server.script(says({"title": "", "claims": [], "limitations": [limitation]}))
    charged = await case.thinker.think("writer", case.step("writer"))
    assert charged.output.limitations == ((limitation,) if kept else ())
    assert kept or any("without a quote" in note for note in charged.notes)


async def test_a_manager_can_name_members_of_the_team_only_and_lose_no_fact(case: Case) -> None:
    case.server.script(lying)
    ledger = (await case.thinker.think("manager", case.step("manager"))).output
    assert isinstance(ledger, TeamLedger)
    assert ledger.next_speaker == ""
    assert ledger.facts[0] == "Metformin is cheap."
    assert len(ledger.facts) <= 10
    # the plan is the manager's only when one was asked for
    assert ledger.plan == ()


@pytest.mark.parametrize(("said", "mode"), [("team", "team"), (" Team ", "team"), ("deep", "iterative")])
async def test_a_parser_chooses_only_a_mode_that_is_offered(case: Case, said: str, mode: str) -> None:
    case.server.script(says({"improved_query": QUESTION, "research_mode": said}))
    modes = {"iterative": "one question", "team": "open questions"}
    step = case.step("query_parser").model_copy(update={"modes": modes})
    parsed = (await case.thinker.think("query_parser", step)).output
    assert isinstance(parsed, ParsedQuery)
    assert parsed.research_mode == mode
    assert all(name in str(case.server.bodies[0]) for name in modes)


async def test_a_lying_proofreader_drops_no_claim_that_repeats_none(case: Case) -> None:
    case.server.script(lying)
    checked = (await case.thinker.think("proofreader", case.step("proofreader"))).output
    assert isinstance(checked, Proofread)
    texts = [c.text for d in checked.drafts.values() for p in d.paragraphs for c in p.claims]
    assert texts == [
        "Metformin lowered the risk of dementia in adults.",
        "Metformin did not change cognition in a trial.",
        "Harms were mild in the groups studied.",
    ]


async def test_a_proofreader_changes_no_quote(case: Case) -> None:
    case.server.script(says({"drop": [], "contradictions": [{"one": "C1", "other": "C2"}]}))
    checked = (await case.thinker.think("proofreader", case.step("proofreader"))).output
    for section, draft in DRAFTS.items():
        for before, after in zip(draft.paragraphs, checked.drafts[section].paragraphs, strict=True):
            for old, new in zip(before.claims, after.claims, strict=True):
                assert (old.text, old.support) == (new.text, new.support)
    one, other = (p.claims[0] for p in checked.drafts["s1"].paragraphs)
    assert one.contradicts == (other.text,)
    assert other.contradicts == (one.text,)


async def test_a_correct_answer_is_accepted(case: Case) -> None:
    """The gate would be worthless if it dropped everything."""
    case.server.script(sensible)
    draft = (await case.thinker.think("writer", case.step("writer"))).output
    cited = [s for p in draft.paragraphs for c in p.claims for s in c.support]
    assert {s.evidence_id for s in cited} >= {"pmid:1", "pmid:2"}
    assert all(verbatim(s.quote, SHOWN[s.evidence_id]) for s in cited)
    judged = (await case.thinker.think("judge", case.step("judge"))).output
    assert min(judged.scores.values()) >= 7
    assert set(judged.relevant) == SHOWN.keys()


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(list(LIES)), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150)
@given(st.dictionaries(st.sampled_from(list(LIES)), _VALUES))
def test_whatever_validates_comes_out_within_bounds(answer: dict[str, object]) -> None:
    judge = SPECS["judge"]
    step = JudgeInput(
        run_id="r", question=QUESTION, profile=load_profile("drug_repurposing"), iteration=1, evidence=()
    )
    shown = {f"E{n}": d for n, d in enumerate(DOCUMENTS, 1)}
    try:
        read = judge.answer.model_validate(answer)
    except ValueError:
        return
    out = judge.accept(step, Prompt("", "", "", shown), read).output
    assert set(out.scores) == {c.name for c in step.profile.criteria}
    assert all(0 <= score <= 10 for score in out.scores.values())
    assert 0 <= out.confidence <= 1
    assert set(out.relevant) <= SHOWN.keys()
    JudgeAssessment.model_validate_json(out.model_dump_json())


@given(st.text(max_size=40))
def test_a_name_stands_in_the_text_word_by_word(name: str) -> None:
    assert names(name, f"before {name} after") or not name.strip() or not any(c.isalnum() for c in name)
    assert not names(f"{name}wonderpill", DOCUMENTS[0].text)


def test_a_fact_needs_its_numbers_in_the_text() -> None:
    corpus = "The drug was approved in 1995 for type 2 diabetes."
    assert grounded("approved 1995", corpus)
    assert not grounded("approved 2031", corpus)
    assert not grounded("approved everywhere forever", corpus)


def test_what_models_are_asked_for_is_small_and_closed() -> None:
    for spec in SPECS.values():
        assert issubclass(spec.answer, Loose)
        assert len(json.dumps(spec.answer.model_json_schema())) < 4_000
        assert len(spec.answer.model_fields) <= 8
