from pathlib import Path

import pytest

from activities.review.protocol import (
    Criterion,
    Protocol,
    ProtocolError,
    ReviewQuestion,
    SourceQuery,
    amendment,
    changed_keys,
    parse_protocol,
    read_protocol,
)
from client.reviews.drafting import (
    EMPTY,
    CriterionAnswer,
    DraftAnswer,
    QueryAnswer,
    protocol_text,
    unfilled_keys,
)

PROTOCOL = Protocol(
    title='Vitamin "C" for colds',
    question=ReviewQuestion(population="adults", intervention="vitamin C", designs=("trial",)),
    criteria=(Criterion(id="I1", text="adults"), Criterion(id="E1", text="animals", kind="exclude")),
    sources=(SourceQuery(source="pubmed", query="vitamin C AND cold"),),
)


TEXT = protocol_text(
    PROTOCOL.title,
    DraftAnswer(
        **PROTOCOL.question.model_dump(),
        criteria=[CriterionAnswer(kind=rule.kind, text=rule.text) for rule in PROTOCOL.criteria],
        queries=[QueryAnswer(source="pubmed", query="vitamin C AND cold")],
    ),
    {"first": "person", "second": "person"},
)


def test_a_protocol_that_was_written_is_read_as_it_was() -> None:
    assert parse_protocol(TEXT) == PROTOCOL


def test_words_of_the_template_are_named_and_no_others() -> None:
    template = parse_protocol(
        protocol_text("Colds?", DraftAnswer.model_validate(EMPTY), {"first": "person", "second": "person"})
    )
    assert unfilled_keys(template) == [
        *("question.population", "question.intervention", "criteria.I1", "criteria.E1", "the query of pubmed")
    ]
    of_one_word = (SourceQuery(source="pubmed", query="population"),)
    assert unfilled_keys(PROTOCOL.replace(sources=of_one_word)) == []


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("title =", "titel =", "did you mean title?"),
        ("kind =", "knid =", "`criteria.0.knid`"),
        ("half_width", "half_widht", "did you mean half_width?"),
        ("population =", "poplation =", "did you mean population?"),
        ('name = "second"', 'name = "first"', "two screeners"),
        ('id = "E1"', 'id = "I1"', "the id I1 stands twice"),
        ('id = "E1"', 'id = "E 1"', "criteria.1.id"),
        ("[calibration]", "[budgets]\nsynthesis = 1\n[calibration]", "`budgets.synthesis` is no key"),
    ],
)
def test_a_wrong_protocol_is_one_line_with_the_key(old: str, new: str, named: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        parse_protocol(TEXT.replace(old, new), "p.toml")
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_protocol_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    """Editors of Windows write one."""
    (tmp_path / "p.toml").write_bytes(TEXT.encode("utf-8-sig"))
    assert read_protocol(tmp_path / "p.toml") == PROTOCOL


def test_an_amendment_names_what_changed() -> None:
    criteria = (PROTOCOL.criteria[0], PROTOCOL.criteria[1].replace(text="animals and cells"))
    row = amendment(
        PROTOCOL, PROTOCOL.replace(criteria=criteria), version=2, at="2026-01-01", by="Ada", reason="cells"
    )
    assert row.keys == ("criteria.E1",)
    assert changed_keys(PROTOCOL, PROTOCOL.replace(title="Other")) == ("title",)
    with pytest.raises(ProtocolError):
        amendment(PROTOCOL, PROTOCOL, version=2, at="", by="Ada", reason="none")
