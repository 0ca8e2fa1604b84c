"""Checks of a command's arguments, made before anything is started.

Each raises BadInput with one line that says what is wrong and how to fix it.
"""

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from activities.report.formats import FORMATS
from client.configuration import source_names
from client.failures import BadInput, unknown_name

if TYPE_CHECKING:
    from activities.settings import Settings

EXAMPLE = "Does metformin lower the risk of colorectal cancer?"
MIN_LETTERS = 3
"""Letters and digits of the shortest question (`p53`)."""
COMMON = (".txt", ".md", ".html", ".pdf")
"""Endings of documents that the library certainly reads."""
ENDINGS = (*(ending for form in FORMATS.values() for ending in form.suffixes), ".txt", "")
"""Endings that a report file may have; `.txt` and nothing stand for Markdown."""
EXTRA_OF = {".docx": ("docx", "docx"), ".pdf": ("typst", "pdf")}
"""Ending -> the library that writes it, and the extra of this package that installs it."""


def check_question(question: str) -> None:
    """Raise BadInput for text that cannot be a question."""
    from workflows.types import QUESTION_CHARS

    if sum(character.isalnum() for character in question) < MIN_LETTERS:
        problem = f"{question!r} is too short for a question" if question else "the question is empty"
        raise BadInput(f'{problem}; write a whole one: "{EXAMPLE}"')
    if len(question) > QUESTION_CHARS:
        raise BadInput(
            f"the question has {len(question):,} characters; the limit is {QUESTION_CHARS:,}. "
            "Ask one question, and give long material as documents in a library"
        )


def check_library(folder: str | None) -> str | None:
    """Return the folder's absolute path. Raises BadInput when it holds no document that can be read."""
    if folder is None:
        return None
    path = Path(folder).expanduser().absolute()
    if not path.exists():
        raise BadInput(f"the library {folder} does not exist; give a folder with your documents")
    if not path.is_dir():
        raise BadInput(f"the library {folder} is not a folder; give the folder that holds the documents")
    if not os.access(path, os.R_OK | os.X_OK):
        raise BadInput(f"the library {folder} cannot be opened; give it read permission")
    if not has_document(path):
        raise BadInput(
            f"the library {folder} has no document that can be read; give a folder with "
            ".txt, .md, .html, .pdf, .json or .jsonl files"
        )
    return str(path)


def has_document(folder: Path) -> bool:
    """Tell whether a folder holds a document that can be read.

    A common ending decides; the readers, which are slow to load, are used only for a folder without one.
    Raises BadInput.
    """
    for _, _, names in os.walk(folder):
        if any(name.lower().endswith(COMMON) and not name.startswith(".") for name in names):
            return True
    from activities.contracts.errors import Refused
    from activities.sources.library.files import list_folder

    try:
        return bool(list_folder(folder).files)
    except Refused as error:
        raise BadInput(str(error)) from error


def check_sources(names: tuple[str, ...], prefix: str = "") -> tuple[str, ...]:
    """Return the names without repetition.

    Raises BadInput for one that is not in the registry; `prefix` begins its message.
    """
    if not names:
        return ()
    all_names = source_names()
    for name in names:
        if name not in all_names:
            raise BadInput(f"{prefix}source {unknown_name(name, all_names)}")
    return tuple(dict.fromkeys(names))


def check_profile(settings: "Settings", profile: str) -> tuple[str, str | None]:
    """Return a profile's name and, for a file, its path. Raises BadInput."""
    if profile == "auto":
        return profile, None
    from activities.profiles.loader import ProfileError, load_profile, profile_names

    path: str | None
    try:
        if profile.endswith(".toml"):
            path = str(Path(profile).expanduser().absolute())
            definition = load_profile("", path=Path(path))
        else:
            path, folder = None, settings.profiles_dir or settings.home / "profiles"
            if profile not in (names := profile_names(folder)):
                raise BadInput(f"profile {unknown_name(profile, ['auto', *names])}")
            definition = load_profile(profile, folder=folder)
    except ProfileError as error:
        raise BadInput(str(error)) from error
    check_sources((*definition.sources, *definition.look_up), f"the profile {path or profile}: ")
    return definition.name if path else profile, path


def check_output(output: Path, *, formats: bool = True) -> None:
    """Raise BadInput when a report could not be written there.

    With `formats`, the ending must name a format that this installation can write.
    """
    if output.is_dir():
        raise BadInput(f"{output} is a folder; give the file for the report")
    if formats:
        check_format(output)
    check_writable(output.expanduser().absolute().parent, f"the report cannot be written to {output}")


def check_writable(folder: Path, problem: str) -> None:
    """Raise BadInput where nothing can be written into a folder, or it cannot be made."""
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise BadInput(f"{problem}: {folder} is not a writable folder; give another `output`")


def check_format(output: Path) -> None:
    """Raise BadInput when the ending names no format, or one whose library is not installed."""
    from importlib.util import find_spec

    ending = output.suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(
            f"{output}: no report format ends in {ending}; there are {', '.join(filter(None, ENDINGS))}"
        )
    library, extra = EXTRA_OF.get(ending, ("", ""))
    if library and find_spec(library) is None:
        from activities.contracts.errors import install

        raise BadInput(f"{output}: {ending} files need an extra: {install(extra)}")


def check_configuration(settings: "Settings") -> None:
    """Raise BadInput for a source, a profile or a hook of the configuration that does not exist."""
    for names in (settings.default_sources, settings.disabled_sources):
        check_sources(tuple(names))
    check_profile(settings, settings.profile)
    if settings.library is not None:
        check_library(str(settings.library))
    check_hooks(settings)


def check_hooks(settings: "Settings") -> None:
    """Raise BadInput for a hook of the settings that cannot be loaded: no worker would start with it."""
    if not settings.hooks:
        return
    from activities.hooks import HookError, load_hooks

    try:
        load_hooks(settings)
    except HookError as error:
        raise BadInput(str(error)) from error


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

    ending = next((end for start, mark, end in SIGNATURES if data[start : start + len(mark)] == mark), "")
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
