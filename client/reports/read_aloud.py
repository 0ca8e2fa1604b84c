"""The summary of a report as sound (WAV), by an engine found on this machine: espeak-ng, flite or piper.

All of the summary is spoken, whatever its length. Nothing leaves the machine.
"""

import contextlib
import os
import re
import shutil
import tempfile
from pathlib import Path

from activities.contracts.errors import NotInstalled
from activities.processes import run
from activities.report.parts import parts_of
from activities.report.schema import Report

SECONDS = 600.0
"""For an engine to speak a summary into a file."""
PIPER_VOICE = "PIPER_VOICE"
"""Environment variable that names the voice file of piper, which has none of its own."""
_NUMBERS = re.compile(r"(?:(?<!\s)\s+)?\[\d+(?:[,\u2013 -]+\d+)*\]")
_MARKUP = re.compile(r"[*_`#>|]+")


def spoken_text(report: Report) -> str:
    """Join title, answer or conclusions, and summary, each once, without the numbers of references."""
    conclusions = " ".join(line for part in parts_of(report) for line in part.lines(report))
    answer = " ".join(claim.text for claim in report.answer) or conclusions
    parts = (report.title, answer, report.executive_summary)
    texts = dict.fromkeys(" ".join(_MARKUP.sub(" ", _NUMBERS.sub("", part)).split()) for part in parts)
    return "\n\n".join(text if text.endswith((".", "?", "!")) else f"{text}." for text in texts if text)


def wav(report: Report) -> bytes:
    """Speak the summary into a WAV file. Raises NotInstalled without an engine."""
    text = spoken_text(report)
    with tempfile.TemporaryDirectory(prefix="determinator-") as folder:
        file = Path(folder) / "speech.wav"
        command = _engine(file, Path(folder) / "text.txt")
        (Path(folder) / "text.txt").write_text(text, "utf-8")
        with (Path(folder) / "text.txt").open("rb") as script:
            result = run(command, stdin=script, capture_output=True, timeout=SECONDS, cwd=folder)
        if result.returncode or not file.is_file():
            lines = result.stderr.decode(errors="replace").strip().splitlines()
            raise NotInstalled(
                "a working speech engine is", f"{command[0]} says: {(lines or ['nothing'])[-1]}"
            )
        return file.read_bytes()


def can_speak() -> bool:
    """Tell whether an engine is there."""
    with contextlib.suppress(NotInstalled):
        return bool(_engine(Path(), Path()))
    return False


def _engine(wav_file: Path, text_file: Path) -> list[str]:
    """Return the command line of the first engine that is there."""
    voice, file = os.environ.get(PIPER_VOICE, ""), str(wav_file)
    engines = {
        "espeak-ng": ("-w", file, "--stdin"),
        "flite": ("-f", str(text_file), "-o", file),
        "piper": ("--model", voice, "--output_file", file),
    }
    for name, arguments in engines.items():
        path = shutil.which(name)
        if path is not None and (name != "piper" or voice):
            return [path, *arguments]
    raise NotInstalled(
        "an engine that speaks is", f"install espeak-ng or flite, or piper with its voice in {PIPER_VOICE}"
    )
