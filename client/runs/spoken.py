"""A question in a picture, a scan or a recording: its text, which a person sees before it is asked.

What a file is, its first bytes say, never its name. It is read in the process that reads a library.
"""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from client.failures import BadInput

if TYPE_CHECKING:
    from activities.settings import Settings

MAX_BYTES = 20_000_000
SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", ".png"),
    (0, b"\xff\xd8\xff", ".jpg"),
    (0, b"II*\x00", ".tif"),
    (0, b"MM\x00*", ".tif"),
    (0, b"%PDF-", ".pdf"),
    (8, b"WAVE", ".wav"),
    (4, b"ftyp", ".m4a"),
    (0, b"ID3", ".mp3"),
    (0, b"\xff\xfb", ".mp3"),
    (0, b"\xff\xf3", ".mp3"),
    (0, b"\xff\xf2", ".mp3"),
)
"""Offset and bytes that mark a kind, and the ending by which it is read."""
KINDS = "a picture (PNG, JPEG, TIFF), a PDF or a recording (WAV, MP3, M4A)"


def question_of_file(settings: "Settings", path: Path) -> str:
    """Return the text of a file. Raises BadInput, which says why there is none."""
    if path.stat().st_size > MAX_BYTES:
        raise BadInput(f"{path} is larger than {MAX_BYTES // 10**6} MB")
    try:
        return question_of(settings, path.read_bytes())
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error


def question_of(settings: "Settings", data: bytes) -> str:
    """Return the text in the bytes of a file, which are kept only while they are read. Raises BadInput."""
    from activities.sources.library.files import FileStamp, documents_of
    from activities.sources.library.reading import SetAside

    ending = next((end for at, mark, end in SIGNATURES if data[at : at + len(mark)] == mark), "")
    if not ending or len(data) > MAX_BYTES:
        raise BadInput(f"it is not {KINDS} of at most {MAX_BYTES // 10**6} MB")
    with tempfile.TemporaryDirectory(prefix="determinator-") as folder:  # 0700
        path = Path(folder, f"question{ending}").resolve()
        path.write_bytes(data)
        stamp = FileStamp(path, path.name, len(data), path.stat().st_mtime_ns)
        for item in documents_of(stamp, None, str(settings.speech_model or "")):
            if isinstance(item, SetAside):
                raise BadInput(item.reason)
            return " ".join(item.text.split())
    raise BadInput("it holds no text")
