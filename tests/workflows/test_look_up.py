"""Candidates are looked up by a step of their own: at the same time, within a run's time and permissions."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from pydantic import JsonValue

from activities.contracts.candidates import PART as CANDIDATES
from activities.contracts.candidates import CandidateField, CandidateFieldName
from activities.contracts.errors import Refused, SourceError, Unavailable
from activities.contracts.evidence import Query, SourceInfo, SourceOption
from activities.report.schema import Report
from activities.sources.base import Exchange, Source
from activities.sources.chembl import read_mechanism
from tests.workflows.conftest import Stage, a_request, limitations
from tests.workflows.script import PROFILE, Script, option, takes
from workflows.parts.candidates import permitted_sources

DRUGS = {"metformin", "aspirin"}
"""Two documents are found, and each names a candidate."""
LIBRARY = option("library", domains=("local",))


class Register:
    """A source that knows a mechanism of every drug."""

    info = SourceInfo(name="chembl", title="ChEMBL", covers="drugs")

    def __init__(self, fails: SourceError | None = None, together: int = 0) -> None:
        """`together`: how many requests must be under way before one is answered."""
        self.fails = fails
        self.asked: list[str] = []
        self._together = asyncio.Barrier(together) if together else None

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        self.asked.append(query.text)
        if self._together is not None:
            async with asyncio.timeout(20):
                await self._together.wait()
        if self.fails is not None:
            raise self.fails
        row: JsonValue = {
            "mec_id": len(self.asked),
            "mechanism_of_action": f"Inhibitor of what {query.text} inhibits",
        }
        yield Exchange(records=(read_mechanism(row, query.text),))


def candidates_from(stage: Stage, **registers: Source) -> None:
    """A run that names three candidates and may look them up in these sources."""
    stage.script.profile = PROFILE.model_copy(
        update={"name": "drug_repurposing", "candidates": True, "look_up": tuple(registers)}
    )
    stage.script.registers = registers
    stage.script.sources = (*Script().sources, *(option(name) for name in registers))


def field(report: Report, name: CandidateFieldName, candidate: int = 0) -> CandidateField:
    return next(found for found in CANDIDATES.of_report(report)[candidate].fields if found.name == name)


async def test_candidates_are_looked_up_at_the_same_time(stage: Stage) -> None:
    register = Register(together=2)
    candidates_from(stage, chembl=register)
    _, report, _ = await stage.play(a_request())
    assert len(register.asked) == 2
    assert (
        {step.name for step in stage.fakes.looked_up}
        == {c.name for c in CANDIDATES.of_report(report)}
        == DRUGS
    )
    for number, _candidate in enumerate(CANDIDATES.of_report(report)):
        found = field(report, "mechanism", number)
        assert (found.status, found.entries[-1].source) == ("found", "chembl")
        assert found.entries[-1].url
        assert field(report, "trials", number).status == "not_looked_up"


async def test_a_source_that_is_down_costs_only_its_own_fields(stage: Stage) -> None:
    candidates_from(stage, chembl=Register(), clinicaltrials=Register(fails=Unavailable("down")))
    outcome, report, _ = await stage.play(a_request())
    assert outcome.verified_claims > 0
    trials = field(report, "trials")
    assert (trials.status, trials.silent) == ("unreachable", ("clinicaltrials",))
    assert field(report, "mechanism").status == "found"
    assert len(stage.fakes.looked_up) == 2 * len(CANDIDATES.of_report(report))


async def test_a_source_that_refuses_is_not_asked_again(stage: Stage) -> None:
    candidates_from(stage, chembl=Register(fails=Refused("no")))
    _, report, _ = await stage.play(a_request())
    assert field(report, "targets").status == "unreachable"
    assert len(stage.fakes.looked_up) == len(CANDIDATES.of_report(report))


async def test_a_reviewer_who_asks_to_finish_does_not_wait_for_look_ups(stage: Stage) -> None:
    candidates_from(stage, chembl=Register(together=100))
    run = await stage.start(a_request())
    await run.until(lambda p: "looking up" in p.message)
    await run.handle.signal("finish_now")
    outcome = await run.outcome()
    assert outcome.verified_claims > 0
    assert {c.name for c in CANDIDATES.of_report(await run.report())} == DRUGS


async def test_a_run_without_time_left_looks_nothing_up_and_says_so(stage: Stage) -> None:
    candidates_from(stage, chembl=Register())
    stage.script.before["hypothesis_generator"] = lambda _: takes(280)
    _, report, _ = await stage.play(a_request(limits={"max_seconds": 300}))
    assert stage.fakes.looked_up == []
    assert "candidates_not_looked_up" in limitations(report)
    assert field(report, "targets").status == "not_looked_up"


ALPHA, PUBMED, OPENFDA, CHEMBL = map(option, ("alpha", "pubmed", "openfda", "chembl"))


@pytest.mark.parametrize(
    ("offered", "searched", "named", "by_profile", "permitted"),
    [
        ((LIBRARY, ALPHA, CHEMBL), (LIBRARY,), ("library",), ("chembl",), ()),
        ((LIBRARY, ALPHA, CHEMBL), (LIBRARY, ALPHA), ("library", "alpha"), ("chembl",), ()),
        ((LIBRARY, OPENFDA, CHEMBL), (LIBRARY,), (), ("openfda", "chembl"), ()),
        (
            (LIBRARY, PUBMED, OPENFDA, option("chembl", enabled=False)),
            (LIBRARY, PUBMED),
            (),
            ("chembl", "openfda", "nothing"),
            ("openfda",),
        ),
    ],
)
def test_what_is_named_or_on_this_machine_alone_looks_nothing_up_and_the_profile_what_is_enabled(
    offered: tuple[SourceOption, ...],
    searched: tuple[SourceOption, ...],
    named: tuple[str, ...],
    by_profile: tuple[str, ...],
    permitted: tuple[str, ...],
) -> None:
    assert permitted_sources(offered, searched, named, by_profile) == permitted


async def test_a_run_that_names_a_register_uses_it_and_only_it(stage: Stage) -> None:
    candidates_from(stage, chembl=Register(), openfda=Register())
    await stage.play(a_request(sources=("alpha", "chembl")))
    assert {step.sources for step in stage.fakes.looked_up} == {("chembl",)}
