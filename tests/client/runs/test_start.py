"""Ids of runs: the same for the same question and settings, in every version."""

from client.runs.start import run_id_of
from workflows.types import Limits, ResearchRequest

QUESTION = "Does metformin lower mortality?"


def test_the_id_of_a_request_does_not_depend_on_what_later_versions_added() -> None:
    request = ResearchRequest(question=QUESTION)
    assert run_id_of(request) == "ask-does-metformin-lower-mortality-ea1e1d21"


def test_every_limit_counts() -> None:
    limits = [Limits(), Limits(max_section_cost_microusd=1), Limits(max_section_seconds=1.0)]
    assert len({run_id_of(ResearchRequest(question=QUESTION, limits=each)) for each in limits}) == 3
