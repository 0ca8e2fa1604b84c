"""`ask --audio FILE` and `ask --image FILE`: a question that was spoken, or that is in a picture."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from client.cli.common import say
from client.failures import BadInput

if TYPE_CHECKING:
    from activities.settings import Settings

Command = TypeVar("Command", bound=Callable[..., object])
NAMES = ("audio", "image")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def file_options(command: Command) -> Command:
    """Decorate a command with both options."""
    image = click.option(
        "--image", type=_FILE, metavar="FILE", help="Read the question, or more of it, from a picture."
    )
    audio = click.option(
        "--audio", type=_FILE, metavar="FILE", help="Hear the question, or more of it, in a recording."
    )
    return audio(image(command))


def with_files(settings: "Settings", question: str, audio: Path | None, image: Path | None) -> str:
    """The question with what a recording and a picture add to it. Raises BadInput for a file that cannot be
    read."""
    parts = [question]
    for path, heard in ((audio, "heard"), (image, "read")):
        if path is not None:
            text = _text_of(settings, path)
            say(f"{heard}: {text}")
            parts.append(text)
    return " ".join(part for part in parts if part)


def _text_of(settings: "Settings", path: Path) -> str:
    from activities.sources.library.files import FileStamp, documents_of
    from activities.sources.library.reading import PICTURES, RECORDINGS, SetAside, kind_of

    kinds = (*PICTURES, *RECORDINGS, ".pdf")
    if kind_of(path.name) not in kinds:
        raise BadInput(f"{path} is not read; there are {', '.join(kinds)}")
    stamp = FileStamp(path.resolve(), path.name, path.stat().st_size, path.stat().st_mtime_ns)
    for item in documents_of(stamp, None, str(settings.speech_model or "")):
        if isinstance(item, SetAside):
            raise BadInput(f"{path}: {item.reason}")
        return " ".join(item.text.split())
    raise BadInput(f"{path} holds no text")
