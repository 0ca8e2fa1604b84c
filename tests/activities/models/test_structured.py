"""Whatever form an answer comes in, it is read; whatever does not validate is not."""

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from activities.contracts.step import Role
from activities.models.structured import Unreadable, read, schema_of, without_bounds
from activities.roles.role import ROLES, spec_of


class Inner(BaseModel):
    name: str
    value: int


class Wanted(BaseModel):
    title: str
    items: list[Inner]
    note: str = ""


class OneList(BaseModel):
    items: list[Inner]


GOOD = {"title": "T", "items": [{"name": "a", "value": 1}], "note": "n"}
TEXT = json.dumps(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}\n```\nThat is all.",
        f"Sure, here is the JSON you asked for:\n{TEXT}\nLet me know!",
        f'<think>The user wants {{"title": 1}} maybe</think>\n{TEXT}',
        f"I will think first... </think>{TEXT}",
        f"{TEXT}<think>was that right",
        f'<tool_call>{{"name": "answer", "arguments": {TEXT}}}</tool_call>',
        f'[TOOL_CALLS][{{"name": "answer", "arguments": {TEXT}}}]',
        json.dumps({"name": "answer", "parameters": GOOD}),
        json.dumps({"function": {"name": "answer", "arguments": TEXT}}),
        json.dumps({"answer": GOOD}),
        json.dumps([GOOD]),
        f"As shown in [1] and [E2] (see {{curly}}), {TEXT}",
        TEXT.replace('"n"', '"line one\nline two"'),
        json.dumps(TEXT),
        repr(GOOD),
        TEXT.replace("}]", "},]").replace('"n"}', '"n",}'),
        TEXT.replace("{", "{ // my answer\n", 1).replace(', "items"', ', /* "two" */ "items"'),
        f"Here:\n```json\n{TEXT.replace('}]', '},]')}\n```\nLet me know {{really}}.",
        TEXT.replace('"title"', "\u201ctitle\u201d"),
    ],
)
def test_an_answer_is_read_in_whatever_form_it_comes(text: str) -> None:
    answer = read(text, Wanted)
    assert answer.title == "T"
    assert answer.items == [Inner(name="a", value=1)]


@pytest.mark.parametrize("cut", [False, True])
def test_a_backslash_of_latex_stays_in_the_text(cut: bool) -> None:
    text = TEXT.replace('"n"', r'"5\% of \upcite{ref6}, \alpha and \\beta, a \"word\""')
    text = text if not cut else f'{text[:-1]}, "more": [{{"te'
    assert read(text, Wanted, is_cut=cut).note == r'5\% of \upcite{ref6}, \alpha and \beta, a "word"'


def test_of_an_answer_that_is_not_whole_nothing_is_made_up() -> None:
    with pytest.raises(Unreadable):
        read('{"items": [{"name": "a", "value": 1,}, {"name": "b\\%", "va', OneList)


@pytest.mark.parametrize("part", ["{", '[{"a":', '{"a": "', "'", '"', "\\", "/*", '{"a": 1,}', '"x" '])
def test_what_is_nearly_json_takes_time_by_its_length(part: str) -> None:
    start = time.process_time()
    for text in (part * 20_000, '{"title": ' + part * 20_000 + "}" * 20_000):
        with suppress(Unreadable):
            read(text, Wanted)
    assert time.process_time() - start < 3


def test_an_object_that_is_not_the_answer_is_no_answer() -> None:
    """A model whose fields all have defaults would otherwise accept any object as an empty answer."""

    class Lenient(BaseModel):
        items: list[str] = []

    with pytest.raises(Unreadable):
        read('{"unrelated": 1}', Lenient)
    assert read('{"unrelated": 1} {"items": ["a"]}', Lenient).items == ["a"]


def test_the_validator_says_what_is_wrong_without_repeating_the_value() -> None:
    with pytest.raises(Unreadable) as raised:
        read('{"title": "T", "items": [{"name": "a", "value": "SECRET WORDS"}]}', Wanted)
    assert raised.value.found_json
    assert "items.0.value" in raised.value.problem
    assert "SECRET" not in raised.value.problem


def test_a_cut_answer_is_used_as_far_as_it_is_complete() -> None:
    long = {"title": "T", "items": [{"name": f"n{n}", "value": n} for n in range(5)]}
    text = json.dumps(long)
    for end in range(text.index('"n3"'), text.index('"n4"')):
        answer = read(text[:end], Wanted, is_cut=True)
        assert [i.name for i in answer.items[:3]] == ["n0", "n1", "n2"]
        assert all(i.name == f"n{i.value}" for i in answer.items), "an unfinished item was accepted"
    with pytest.raises(Unreadable, match="cut off"):
        read('{"title": "T', Wanted, is_cut=True)
    with pytest.raises(Unreadable):
        read('{"title": "T", "items": [{"name": "a", "val', Wanted)


@given(st.text(max_size=300))
def test_no_text_makes_the_reader_fail_otherwise(text: str) -> None:
    for cut in (False, True):
        try:
            read(text, Wanted, is_cut=cut)
        except Unreadable:
            continue


@given(
    st.builds(
        Wanted,
        title=st.text(),
        items=st.lists(st.builds(Inner, name=st.text(), value=st.integers(-(10**9), 10**9)), max_size=3),
        note=st.text(),
    ),
    st.sampled_from(["{}", "```json\n{}\n```", "Here: {} done", "<think>hm</think>{}"]),
)
def test_what_was_written_is_what_is_read(wanted: Wanted, form: str) -> None:
    if "<think>" in wanted.model_dump_json() or "```" in wanted.model_dump_json():
        return
    assert read(form.replace("{}", wanted.model_dump_json()), Wanted) == wanted


@pytest.mark.parametrize("role", ROLES)
def test_every_schema_is_one_that_strict_servers_accept(role: Role) -> None:
    def check(node: object) -> None:
        if isinstance(node, list):
            for part in node:
                check(part)
        if not isinstance(node, dict):
            return
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
            for part in node["properties"].values():
                check(part)
        assert not node.keys() & {"default", "minimum", "maximum", "maxLength", "title", "pattern"}
        check(node.get("items"))
        for part in node.get("$defs", {}).values():
            check(part)

    check(without_bounds(schema_of(spec_of(role).answer)))


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("<think>" * 60_000, False),
        ("<think>" + "word " * 84_000, True),
        ("{" * 400_000, False),
        ("[" * 400_000, True),
        ('{"a": "' * 60_000, True),
        ("```json\n" * 50_000, False),
        ("[1] " * 100_000, False),
        ('{"title": ' * 40_000, False),
        ('{"title": ' * 40_000, True),
    ],
)
def test_a_long_answer_is_read_in_time_in_proportion_to_its_length(text: str, cut: bool) -> None:
    begun = time.process_time()
    with pytest.raises(Unreadable):
        read(text, Wanted, is_cut=cut)
    assert time.process_time() - begun < 5, "420 KB took minutes when reading was quadratic"


def test_a_field_is_bound_to_the_labels_that_were_shown() -> None:
    schema = schema_of(Wanted, {"items.name": ("S1", "S2"), "Label": ()})
    assert schema["$defs"]["Inner"]["properties"]["name"]["enum"] == ["S1", "S2"]


def test_a_field_with_nothing_to_choose_from_is_not_asked_for() -> None:
    schema = schema_of(Wanted, {"items.name": (), "title": ()})
    assert "title" not in {*schema["properties"], *schema["required"]}
    inner = schema["$defs"]["Inner"]
    assert (list(inner["properties"]), inner["required"]) == (["value"], ["value"])
