"""Works that will be cited are read in full before a model writes, where the run permits it, and once."""

import pytest
from temporalio.exceptions import ApplicationError

from activities.contracts.evidence import ModelChoice, SourceOption
from activities.contracts.write import WriteInput
from activities.full_text_activity import Way
from tests.workflows.conftest import Stage, a_request
from tests.workflows.script import failing, option
from workflows.parts.full_texts import ways_of


def options(*names: str) -> tuple[SourceOption, ...]:
    return tuple(option(name, domains=("general",)) for name in names)


@pytest.mark.parametrize(
    ("searched", "named", "unpaywall", "expected"),
    [
        (options("pubmed", "europepmc"), False, True, ("europepmc", "unpaywall")),
        (options("pubmed"), True, True, ()),
        (options("pubmed", "semanticscholar"), True, True, ("open_address",)),
        (options("openalex"), False, False, ("open_address",)),
        ((option("library", domains=("local",)),), False, True, ()),
    ],
)
def test_only_what_is_searched_and_not_named_out_is_asked(
    searched: tuple[SourceOption, ...], named: bool, unpaywall: bool, expected: tuple[Way, ...]
) -> None:
    assert ways_of(searched, fixed=named, unpaywall=unpaywall) == expected


@pytest.mark.parametrize("mode", ["iterative", "deep"])
async def test_the_writer_has_the_full_texts_and_the_report_counts_them(stage: Stage, mode: str) -> None:
    stage.script.unpaywall = True
    _, report, _ = await stage.play(a_request(mode, limits={"max_tokens": None}))
    asked = [ref.evidence_id for step in stage.fakes.read for ref in step.evidence]
    assert asked
    assert len(asked) == len(set(asked)), "no work is asked for twice"
    read = {name for step in stage.fakes.read for name in (r.evidence_id for r in step.evidence[1:])}
    assert read
    written = [call.step for call in stage.fakes.of("writer")]
    given = {ref.evidence_id: ref for s in written if isinstance(s, WriteInput) for ref in s.evidence}
    assert {name for name, ref in given.items() if ref.full_text} == read
    cited = {reference.evidence_id: reference.full_text for reference in report.references}
    assert {name for name, full in cited.items() if full} == read & set(cited)
    (text,) = (statement for statement in report.statements if statement.code == "abstract_only")
    assert text.number("items") == sum(not full for full in cited.values())


async def test_nothing_is_read_without_a_model_nor_where_the_limit_is_none(stage: Stage) -> None:
    stage.script.unpaywall = True
    await stage.play(a_request(limits={"full_texts": 0}))
    await stage.play(a_request(models={"default": ModelChoice()}))
    assert stage.fakes.read == []


async def test_a_failure_to_read_changes_nothing_but_is_said(stage: Stage) -> None:
    stage.script.unpaywall = True
    stage.script.before_reading = failing(ApplicationError("the store is gone", non_retryable=True))
    _, report, run = await stage.play(a_request())
    assert report.references
    assert any("full texts" in event.message for event in await run.events() if event.type == "error")
