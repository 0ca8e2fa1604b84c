"""The summary of a report as sound."""

import io
import shutil
import wave
from pathlib import Path

import pytest

from activities.contracts.errors import NotInstalled
from activities.contracts.evidence import Claim
from client.reports.read_aloud import spoken_text, wav
from tests.client.seen import a_report
from tests.programs import needs

REPORT = a_report(
    title="Metformin and *adenomas*",
    answer=(Claim(id="a1", text="Metformin lowers the risk of adenomas."),),
    executive_summary="It was **lower** in two trials [1, 2]. Long-term data are missing [3].",
)


def test_what_is_spoken_is_all_of_the_summary_without_numbers_of_references() -> None:
    assert spoken_text(REPORT) == (
        "Metformin and adenomas.\n\nMetformin lowers the risk of adenomas.\n\n"
        "It was lower in two trials. Long-term data are missing."
    )


def seconds(data: bytes) -> float:
    with wave.open(io.BytesIO(data)) as sound:
        return float(sound.getnframes() / sound.getframerate())


@pytest.mark.parametrize("engine", [pytest.param(name, marks=needs(name)) for name in ("espeak-ng", "flite")])
def test_each_engine_speaks_the_summary(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shutil.which(engine)
    assert path is not None
    (tmp_path / engine).symlink_to(path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert seconds(wav(REPORT)) > 4


@needs("espeak-ng")
def test_a_long_summary_is_spoken_to_its_end() -> None:
    long = REPORT.model_copy(update={"executive_summary": REPORT.executive_summary * 30})
    assert seconds(wav(long)) > 10 * seconds(wav(REPORT))


def test_without_an_engine_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotInstalled, match="espeak-ng"):
        wav(REPORT)
