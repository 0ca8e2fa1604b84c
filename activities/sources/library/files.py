"""The files of a library folder as evidence.

`reading` says which kinds are read, a file or a record as a document. Files and folders whose name starts
with a dot are passed over. What cannot be read is set aside with its reason and the rest is kept. Nothing
outside the folder is opened, also not through a symbolic link.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from activities.contracts.errors import Refused
from activities.contracts.evidence import Evidence
from activities.documents.readers import Stop, readers
from activities.documents.text import Unreadable
from activities.sources.library.reading import (
    MAX_FILE_BYTES,
    PAGED_PICTURES,
    PICTURES,
    RECORDINGS,
    RECORDS,
    SetAside,
    kind_of,
    read_file,
)

MAX_DOCUMENTS = 100_000
READ_SECONDS = 45.0
"""For one file, before it is set aside."""
RECORDS_SECONDS = 900.0
"""For one file of records. Their number makes them slow, so reading goes on when the search that began it is
repeated or cancelled: the next one finds the result."""
SCAN_SECONDS = 600.0
"""For one scan of several pages. Like records, it is read to its end whoever waits for it."""
RECORDING_SECONDS = 900.0
"""For one recording, which is read to its end too."""
RECORDING_MEMORY_BYTES = 5 * 1024**3
"""Address space of a process that recognises speech: its libraries reserve more than they use."""
AT_HAND_BYTES = {".txt": 1 << 20, ".text": 1 << 20, ".md": 1 << 20, ".json": 1 << 20, ".jsonl": 1 << 22}
"""Plain text, Markdown and records up to this size are read at once, in the caller's thread; so is the
bundled sample. Everything else is read in a process that can be killed."""
BUNDLED = Path(__file__).resolve().parent.parent / "sample"
_ITEM: TypeAdapter[Evidence | SetAside] = TypeAdapter(Evidence | SetAside)


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What shows whether a file has changed."""

    path: Path
    """Where it really is; no link."""
    name: str
    """As found, relative to the folder, with forward slashes."""
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The readable files of a folder."""

    files: tuple[FileStamp, ...]
    set_aside: tuple[SetAside, ...]
    other_files: tuple[str, ...] = field(default=(), compare=False)
    """Names of files whose kind is not read."""


def list_folder(folder: Path) -> Listing:
    """Return the files of a library, in a fixed order.

    Raises Refused when the folder is missing, is no folder, or cannot be opened.
    """
    root = _root(folder)
    files: dict[Path, FileStamp] = {}
    set_aside: list[SetAside] = []
    other_files: list[str] = []
    for path in _walk(root):
        # a name that is not UTF-8 cannot be stored, shown or sent as it is
        name = os.fsencode(path.relative_to(root).as_posix()).decode(errors="replace")
        try:
            real_path = path.resolve(strict=True)
            status = real_path.stat()
        except FileNotFoundError:
            set_aside.append(SetAside(name, "it is a link to a file that is not there"))
            continue
        except (OSError, RuntimeError) as error:  # a link to itself is either, by the version of Python
            reason = error.strerror if isinstance(error, OSError) else "it is a link to itself"
            set_aside.append(SetAside(name, f"it cannot be opened: {reason}"))
            continue
        if not real_path.is_relative_to(root):
            set_aside.append(SetAside(name, "it is a link that leads out of the library"))
        elif stat.S_ISDIR(status.st_mode) or not kind_of(path.name):
            other_files.append(name)
        elif not stat.S_ISREG(status.st_mode):
            set_aside.append(SetAside(name, "it is not a regular file"))
        elif status.st_size > MAX_FILE_BYTES:
            set_aside.append(SetAside(name, f"it is larger than {MAX_FILE_BYTES >> 20} MiB"))
        elif path == real_path or real_path not in files:  # of a link and its file the file
            files[real_path] = FileStamp(real_path, name, status.st_size, status.st_mtime_ns)
    return Listing(tuple(files.values()), tuple(set_aside), tuple(other_files))


def documents_of(
    file: FileStamp, stop: Stop | None = None, speech_model: str = ""
) -> Iterator[Evidence | SetAside]:
    """Yield the documents of one file, read in a separate process where needed. Raises Stopped."""
    kind = kind_of(file.name)
    if kind in RECORDINGS:
        yield from _read(file, RECORDING_SECONDS, speech_model, memory=RECORDING_MEMORY_BYTES)
    elif kind in PICTURES:
        yield from _read(file, SCAN_SECONDS if kind in PAGED_PICTURES else READ_SECONDS, speech_model)
    elif file.size <= AT_HAND_BYTES.get(kind, -1) or file.path.is_relative_to(BUNDLED):
        yield from read_file(b"", str(file.path), file.name)
    elif kind in RECORDS:
        yield from _read(file, RECORDS_SECONDS)
    else:
        for item in _read(file, READ_SECONDS, stop=stop):
            if isinstance(item, SetAside) and item.scan:
                yield from _read(file, SCAN_SECONDS, speech_model)
            else:
                yield item


def _read(
    file: FileStamp,
    seconds: float,
    speech_model: str | None = None,
    *,
    stop: Stop | None = None,
    memory: int | None = None,
) -> Iterator[Evidence | SetAside]:
    is_reported = False
    function = "activities.sources.library.reading:read_file"
    arguments = (str(file.path), file.name, speech_model)
    try:
        for item in readers().stream(function, *arguments, seconds=seconds, stop=stop, memory=memory):
            document = _ITEM.validate_json(item)
            is_reported = is_reported or (isinstance(document, SetAside) and document.name == file.name)
            yield document
    except Unreadable as error:
        if not is_reported:  # a reader that gave up may take too long to end
            yield SetAside(file.name, str(error))


def _root(folder: Path) -> Path:
    try:
        root = folder.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise Refused(f"the library folder {folder} does not exist; give a folder of documents") from error
    if not root.is_dir():
        raise Refused(f"the library {folder} is not a folder; give the folder that holds the documents")
    if not os.access(root, os.R_OK | os.X_OK):
        raise Refused(f"the library folder {folder} may not be read; give it read permission")
    return root


def _walk(root: Path) -> Iterator[Path]:
    """Every visible file, and links to folders (which are never followed), sorted."""
    for current, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        folder = Path(current)
        yield from (folder / name for name in folders if (folder / name).is_symlink())
        yield from (folder / name for name in sorted(names) if not name.startswith("."))
