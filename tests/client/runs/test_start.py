"""Ids of runs: the same for the same question and settings."""

import re

from client.runs.start import run_id_of
from workflows.amounts import Limits
from workflows.types import ResearchRequest

QUESTION = "Does metformin lower mortality?"


def test_the_id_depends_on_the_question_and_its_settings_only() -> None:
    request = ResearchRequest(question=QUESTION)
    same = request.model_copy(update={"indexed": True, "signatures": {"library": "x"}})
    assert re.fullmatch(r"ask-does-metformin-lower-mortality-[0-9a-f]{8}", run_id_of(request))
    assert run_id_of(same) == run_id_of(request)
    assert run_id_of(request, 2) != run_id_of(request)


def test_every_limit_counts() -> None:
    limits = [Limits(), Limits(max_section_cost_microusd=1), Limits(max_section_seconds=1.0)]
    assert len({run_id_of(ResearchRequest(question=QUESTION, limits=each)) for each in limits}) == 3
