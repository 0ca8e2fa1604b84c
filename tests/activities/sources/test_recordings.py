"""Every source reads the recorded answers of its API as its golden files say."""

import json

import pytest

from tests.activities.sources.recordings import ONLINE, RECORDINGS, Recording, difference, played
from tests.replay import RECORDED


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda case: f"{case.source} {case.name}")
async def test_a_source_makes_of_a_recording_what_its_golden_file_says(recording: Recording) -> None:
    """To accept a difference: `python -m tests.activities.sources.recordings`."""
    assert await difference(recording) == ""


@pytest.mark.parametrize(
    "recording", [case for case in RECORDINGS if case.name == "damaged"], ids=lambda case: case.source
)
async def test_one_bad_record_is_set_aside_and_the_others_stay(recording: Recording) -> None:
    outcome = json.loads(await played(recording))
    assert outcome["set_aside"] >= 2
    assert outcome.get("records") or outcome.get("results")


def test_every_source_has_recordings_and_every_golden_file_is_compared() -> None:
    assert {case.source for case in RECORDINGS} == set(ONLINE)
    assert {case.golden for case in RECORDINGS} == set(RECORDED.glob("*/*.golden.json"))
    assert len({case.golden for case in RECORDINGS}) == len(RECORDINGS)
