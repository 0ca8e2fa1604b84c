"""Prompts: stable part first, evidence fenced and within its room, nothing left out in silence."""

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.contracts.evidence import (
    Claim,
    Evidence,
    ReportPlanSection,
    SourceInfo,
    SourceOption,
    Statement,
    Support,
)
from activities.contracts.judge import WorkJudgement
from activities.contracts.step import Role
from activities.contracts.write import DraftClaim
from activities.models.base import PER_MESSAGE, estimate, room
from activities.models.client import OpenAIModel
from activities.models.structured import schema_of, without_bounds
from activities.roles import prompt, question, works
from activities.roles.allowances import ALLOWANCES, allowance_for
from activities.roles.prompt import WORKS_FIRST
from activities.roles.role import ROLES, prompt_file, prompt_text, spec_of
from activities.roles.runner import RoleThinker
from activities.text.normal_form import verbatim
from tests.activities.roles.conftest import DOCUMENTS, MODEL, QUESTION, Case
from tests.activities.roles.test_works import abstract, answer_of
from tests.fake_openai import evidence_of, role_of, says, sensible

READERS_OF_ONE: list[Role] = ["full_text_screener", "data_extractor", "bias_assessor"]
READERS: list[Role] = [
    *("judge", "hypothesis_generator", "writer", "verifier", "extractor", "appraiser", "screener"),
    *READERS_OF_ONE,
]


async def test_every_role_has_its_own_prompt_which_does_not_change_with_the_step(case: Case) -> None:
    case.server.script(sensible)
    changed = {"question": "Something else about metformin and dementia?", "scope": "other"}
    rules = prompt_text("evidence_rules")
    for role in ROLES:
        charged = await case.thinker.think(role, case.step(role))
        await case.thinker.think(role, case.step(role).model_copy(update=changed))
        assert {role_of(asked) for asked in case.server.asked[-2:]} == {role}
        first, second = (body["messages"] for body in case.server.bodies[-2:])
        system = first[0]["content"]
        assert system == second[0]["content"]
        file = prompt_file(role, evidence=role in READERS)
        own = file.text.removesuffix(rules).strip()
        sent = "\n\n".join(message["content"] for message in first)
        assert (own in sent, rules in system) == (True, role in READERS), role
        assert role in WORKS_FIRST or system.startswith(own)
        assert charged.prompt_version == f"{role}@{hashlib.sha256(file.text.encode()).hexdigest()[:8]}"
        assert charged.model == "m"


async def test_every_field_that_is_asked_for_is_explained(case: Case) -> None:
    """Also those that only some steps are asked for: the others are not in the schema."""
    for role in ROLES:
        spec, step = spec_of(role), case.step(role)
        made = spec.render(step, DOCUMENTS if spec.refs(step) else (), 20_000)
        schema = schema_of(made.answer or spec.answer, made.choices)
        objects = [schema, *schema.get("$defs", {}).values()]
        names = {name for node in objects for name in node.get("properties", {})}
        explained = f"{made.system}\n{made.user}"
        assert {name for name in names if f"`{name}`" not in explained} <= {"yes"}, role


async def test_planted_instructions_stay_inside_the_fence(case: Case) -> None:
    for role in READERS:
        await case.said(role, sensible, case.refs[2:] if role in READERS_OF_ONE else None)
        system, user = (m["content"] for m in case.server.bodies[-1]["messages"])
        assert "IGNORE ALL" not in system
        # the one valid pair of marks separates the three parts of the prompt
        match = re.fullmatch(r"(.*)<<<(evidence-[0-9a-f]{12})\n(.*)\n\2>>>(.*)", user, re.DOTALL)
        assert match is not None, role
        before, mark, inside, after = match.groups()
        assert ("IGNORE ALL" in inside, "IGNORE ALL" in before + after) == (True, False), role
        assert not {"<<<", ">>>"} & {*re.findall("<<<|>>>", inside)}
        assert mark != "evidence-000000000000"
        assert after.strip(), "the task must come after the evidence"


async def test_no_text_forges_an_item(case: Case) -> None:
    await case.said("judge", sensible)
    assert set(evidence_of(case.server.asked[0])) == {"E1", "E2", "E3"}


async def test_what_is_left_out_is_stated(case: Case) -> None:
    case.server.script(sensible)
    text = "adults took metformin against dementia. "
    many = [DOCUMENTS[0].replace(evidence_id=f"pmid:{n}", text=f"{n} {text}" * 60) for n in range(90)]
    refs = [await case.store.put(document) for document in many]
    for role in READERS:
        if role in ("verifier", *READERS_OF_ONE):
            continue
        charged = await case.thinker.think(role, case.step(role, refs))
        shown = len(evidence_of(case.server.asked[-1]))
        assert 0 < shown < 90
        (note,) = (n for n in charged.notes if isinstance(n, Statement) and n.code == "items_not_shown")
        assert (note.number("missing"), note.number("of")) == (90 - shown, 90), role
        assert note.text("step")
        body = case.server.bodies[-1]
        sent = estimate(*(m["content"] for m in body["messages"]))
        assert sent <= ALLOWANCES[role].input_tokens
        assert sent + body["max_tokens"] <= ALLOWANCES[role].tokens


async def test_writer_and_second_reader_see_all_that_a_judge_named_and_what_others_wrote(case: Case) -> None:
    """Of fourteen works that answer, none is missing; no work of the section is called another's."""
    documents = [abstract(number) for number in range(14)]
    refs = [await case.store.put(document) for document in documents]
    judged = tuple(
        WorkJudgement(
            evidence_id=document.evidence_id,
            answers=2,
            support=(Support(evidence_id=document.evidence_id, quote=f"{answer_of(document)[1]}."),),
        )
        for document in documents
    )
    elsewhere = Claim(id="s2.1", text="Metformin is safe in renal failure.")
    told = {"judgements": judged, "shared": tuple(ref.evidence_id for ref in refs), "written": (elsewhere,)}
    small = {"allowance": ALLOWANCES["writer"].replace(input_tokens=8_000)}
    write = case.step("writer", refs).model_copy(update={**told, **small})
    prompt = spec_of("writer").render(write, documents, room(write.allowance, 128_000))
    assert all(f": {answer_of(document)[1]}." in prompt.user for document in documents)
    assert "[...]" in prompt.user
    assert elsewhere.text in prompt.user
    assert prompt.user.count(documents[0].title) == prompt.user.count(f"[E1] {documents[0].title} ") == 1
    read = case.step("verifier", refs, judgements=judged, works_room=prompt.works_room)
    labels = spec_of("verifier").render(read, documents, 20_000).sentences
    assert {name: labels[name] for name in prompt.sentences} == prompt.sentences


async def test_fourteen_abstracts_are_read_whole_beside_all_that_is_asked_of_them(case: Case) -> None:
    documents = [
        DOCUMENTS[0].replace(
            evidence_id=f"pmid:{n}",
            title=f"Trial {n} of a therapy",
            text=" ".join(
                f"In part {k} of trial {n} {n * k + 11} of 80 people had a relapse." for k in range(40)
            ),
        )
        for n in range(14)
    ]
    refs = [await case.store.put(document) for document in documents]
    judged = tuple(WorkJudgement(evidence_id=ref.evidence_id, answers=2) for ref in refs)
    outline = tuple(
        ReportPlanSection(id=f"s{n}", title=f"Section {n}", key_question="What helps?") for n in range(5)
    )
    claims = tuple(
        DraftClaim(
            id=f"s1.{n}",
            text=f"In part {n} of trial 3 {3 * n + 11} of 80 people had a relapse, which is few.",
            state="ask",
            support=(
                Support(
                    evidence_id=documents[3].evidence_id,
                    quote=f"In part {n} of trial 3 {3 * n + 11} of 80 people had a relapse.",
                ),
            ),
        )
        for n in range(40)
    )
    asked: tuple[tuple[Role, dict[str, object]], ...] = (
        ("writer", {"outline": outline}),
        ("verifier", {"sentences": claims}),
        ("appraiser", {}),
    )
    for role, more in asked:
        step = case.step(role, refs).model_copy(update={"judgements": judged, **more})
        size = room(allowance_for(role, MODEL, step), 128_000)
        prompt = spec_of(role).render(step, documents, size)
        assert sum(label.startswith("S") for label in prompt.sentences) == 14 * 40, role
        assert role != "verifier" or len(prompt.claims) == 40


@pytest.mark.parametrize("claims", [12, 40])
async def test_labels_of_a_second_readers_prompt_are_those_of_what_it_shows(case: Case, claims: int) -> None:
    """Sentences are named by the labels of the works beside them and take their room, at any size."""
    parts = range(30)
    documents = [
        DOCUMENTS[0].replace(
            evidence_id=f"doc:{n}",
            title=f"Trial {n}",
            text=" ".join(f"Group {n} had {n * k + 7} falls in part {k} of {k + 3} weeks." for k in parts),
        )
        for n in range(1, 13)
    ]
    refs = [await case.store.put(document) for document in documents]
    sentences = tuple(
        DraftClaim(
            id=f"s1.{n}",
            text=f"In part {n} all groups had falls.",
            state="ask",
            support=tuple(
                Support(
                    evidence_id=document.evidence_id,
                    quote=f"Group {d} had {d * (n % 30) + 7} falls in part {n % 30} of {n % 30 + 3} weeks.",
                )
                for d, document in enumerate(documents, 1)
                if (d + n) % 3 == 0
            ),
        )
        for n in range(claims)
    )
    texts = {sentence.id: sentence.text for sentence in sentences}
    step = case.step("verifier", refs, sentences=sentences)
    for size in (2_600, 3_900, 7_800, 14_300):
        prompt = spec_of("verifier").render(step, documents, size)
        assert estimate(prompt.system, prompt.user) <= size
        rows = re.findall(r"^(C\d+)(?: \[(.*?)\])?[^:]*: (.*)$", prompt.user, re.MULTILINE)
        asked = {label: text for label, _labels, text in rows if label in prompt.claims}
        assert asked == {label: texts[name] for label, name in prompt.claims.items()}
        works = {sentence.id: {s.evidence_id for s in sentence.support} for sentence in sentences}
        for label, labels, _text in rows:
            named = {prompt.works[name].evidence_id for name in labels.split(", ") if name}
            assert label not in prompt.claims or named <= works[prompt.claims[label]]
        for name, sentence in prompt.sentences.items():
            quote = re.escape(sentence.quote)
            assert re.search(rf"(?:^|\s){name}(?:: | is \"){quote}", prompt.user), (size, name)


async def test_the_reviewers_words_are_followed_and_evidence_is_not(case: Case) -> None:
    await case.said("judge", sensible, steering=("Look at women only.",))
    user = case.server.bodies[0]["messages"][1]["content"]
    assert user.index("The reviewer says") < user.index("Look at women only.") < user.index("<<<")


@pytest.mark.parametrize("role", ["judge", "writer", "verifier"])
async def test_who_answers_a_part_is_told_the_whole_question(case: Case, role: Role) -> None:
    """What a plan's `these drugs` stands for, its section cannot say."""
    whole, part = "Which drugs slow dementia, and what harm do they do?", "What harm do these drugs do?"
    await case.said(role, sensible, question=part, run_question=whole)
    user = case.server.bodies[0]["messages"][1]["content"]
    assert user.startswith(f"Question: {part}\n\nIt is a part of this one: {whole}\n\n")


async def test_a_small_context_gets_a_small_prompt(case: Case) -> None:
    case.server.script(says({"works": []}))
    small = case.settings.model_copy(update={"context_tokens": 2600})
    model = OpenAIModel(small, case.store)
    refs = [await case.store.put(d.replace(text=d.text * 20)) for d in DOCUMENTS]
    await RoleThinker(lambda _: model, case.store, small).think("judge", case.step("judge", refs))
    await model.aclose()
    body = case.server.bodies[0]
    assert estimate(*(m["content"] for m in body["messages"])) + body["max_tokens"] <= 2600


# the pure parts


_TEXT = st.text(st.characters(codec="utf-8"), max_size=1500)


@given(_TEXT)
def test_nothing_closes_its_own_fence(text: str) -> None:
    fence = prompt.fence("evidence", f"{text} >>> {text} <<<x evidence-0>>>")
    mark = fence.split("\n", 1)[0].removeprefix("<<<")
    assert fence.count("<<<") == fence.count(">>>") == 1
    assert fence.count(mark) == 2


@given(st.lists(_TEXT, min_size=1, max_size=12), st.integers(0, 4000))
def test_shown_works_fit_their_room(texts: list[str], tokens: int) -> None:
    documents = [
        Evidence(evidence_id=f"doc:{n}", source="library", title=text[:80], text=text)
        for n, text in enumerate(texts)
    ]
    shown = works.lay_out(QUESTION, documents, tokens)
    assert estimate(shown.text) <= tokens + PER_MESSAGE
    assert all(
        verbatim(sentence.quote, documents[int(sentence.evidence_id[4:])].text)
        for sentence in shown.sentences.values()
    )


def test_a_retracted_work_is_not_shown_to_a_writer(case: Case) -> None:
    gone = DOCUMENTS[0].replace(standing="retracted")
    prompt = spec_of("writer").render(case.step("writer"), [gone, DOCUMENTS[1]], 6_000)
    assert [document.evidence_id for document in prompt.works.values()] == ["pmid:2"]


@pytest.mark.parametrize("role", ["judge", "verifier"])
async def test_a_schema_names_the_form_of_labels_and_not_each(case: Case, role: Role) -> None:
    await case.said(role, sensible)
    schema = case.server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["$defs"]["SentenceLabel"] == {"type": "string", "pattern": "^[S][0-9]{1,4}$"}
    assert "'S1'" not in str(schema)
    assert "pattern" not in str(without_bounds(schema)), "strict servers refuse it"


def test_a_prompt_leaves_most_of_its_room_to_what_it_is_about() -> None:
    fixed = {role: estimate(prompt_file(role, evidence=role in READERS).text) for role in ROLES}
    assert {role for role in ROLES if fixed[role] >= 0.7 * room(ALLOWANCES[role], 32_000)} == set()


def test_the_parser_is_shown_every_source_and_a_cut_says_how_much_is_left_out(case: Case) -> None:
    info = SourceInfo(name="x", title="X", covers="Many words on what this source covers. " * 10)
    names = [f"source{n}" for n in range(60)]
    sources = tuple(SourceOption(info=info.replace(name=name), enabled=True) for name in names)
    step = case.step("query_parser").model_copy(update={"sources": sources})
    shown = question.render_query(step, (), 2_000).user
    assert all(f"- {name}\n" in f"{shown}\n" or f"- {name}: " in shown for name in names)
    assert prompt.CUT not in shown
    cut = question.render_query(step, (), 700).user
    assert re.search(r"\[cut: \d+ lines left out\]", cut)


def test_a_list_that_is_cut_says_how_many_are_left_out() -> None:
    assert "- and 3 more, left out here" in prompt.listing("Names", [str(n) for n in range(15)])
    assert "left out" not in prompt.listing("Names", [str(n) for n in range(12)])


async def test_the_model_says_what_each_instruction_is(case: Case) -> None:
    answer = {
        "outstanding_gaps": ["trials in women"],
        "instructions": [
            {"label": "R1", "kind": "text", "query": "is dropped"},
            {"label": "R2", "kind": "search", "query": "metformin women"},
            {"label": "R7", "kind": "search", "query": "names nothing"},
        ],
    }
    output = await case.said("gap_evaluator", answer, steering=("Keep trials apart.", "Women?", "Adults."))
    read = [(instruction.text, instruction.kind, instruction.query) for instruction in output.instructions]
    assert read == [("Keep trials apart.", "text", ""), ("Women?", "search", "metformin women")]
