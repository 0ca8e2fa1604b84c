"""Transcripts of recordings by faster-whisper (extra `speech`), with a model folder that the user names.

Works without a network: a model is never downloaded. What was heard may have errors, so everything read here
says so (`text_from: transcript`), and a report labels its quotes with the time at which they begin.
"""

import io
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from activities.documents.text import Lacking, Text, Unreadable, behind_extra, tidy
from activities.messages import clock

SPEECH_SECONDS = 840.0
"""After which nothing further is transcribed; what was heard is kept."""
MODEL_FILE = "model.bin"
"""What a folder of a Whisper model for CTranslate2 has."""


def read_recording(data: bytes, model: str) -> Text:
    """Return the transcript of a recording: a part for each stretch of speech, with its time."""
    whisper = _model(model)
    start = time.monotonic()
    try:
        segments, info = whisper.transcribe(
            io.BytesIO(data), vad_filter=False, condition_on_previous_text=False
        )
        text, starts, times, end = "", [], [], 0.0
        for segment in segments:
            words = " ".join(tidy(segment.text)[0].split())
            if words:
                text = f"{text} " if text else text
                starts.append(len(text))
                times.append(round(float(segment.start), 2))
                text += words
            end = float(segment.end)
            if time.monotonic() - start > SPEECH_SECONDS:
                break
    except Lacking:
        raise
    except Exception as error:
        raise Unreadable(f"it cannot be read as a recording: {type(error).__name__} {error}"[:300]) from error
    if not text:
        raise Unreadable("no speech was recognised in it")
    length = float(info.duration)
    is_late = time.monotonic() - start > SPEECH_SECONDS and end < length - 1
    cut = f"only the first {clock(end)} of {clock(length)} were transcribed" if is_late else ""
    meta = {"text_from": "transcript", "language": str(info.language), "length": clock(length)}
    return Text(text, meta=meta, cut=cut, pages=tuple(starts), times=tuple(times))


@lru_cache(maxsize=1)
def _model(folder: str) -> Any:  # noqa: ANN401 - faster-whisper ships no types
    with behind_extra("a recording", "speech"):
        from faster_whisper import WhisperModel
    if not folder:
        raise Lacking(
            "it is a recording; name the folder of a Whisper model in DETERMINATOR_SPEECH_MODEL to read it"
        )
    if not (Path(folder) / MODEL_FILE).is_file():
        raise Lacking(
            f"DETERMINATOR_SPEECH_MODEL names {folder}, which has no {MODEL_FILE}: "
            "give the folder of a Whisper model for CTranslate2 (faster-whisper)"
        )
    try:
        return WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=2, local_files_only=True)
    except (RuntimeError, ValueError, OSError) as error:
        raise Lacking(f"the Whisper model in {folder} cannot be loaded: {error}") from error
