"""The walk of one question through the code (`docs/one_question.md`): short, true and whole."""

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.workflows.conftest import Stage, a_request

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "one_question.md").read_text()
MAX_FILES, MAX_LINES, MAX_WORDS = 32, 7_000, 1_500
WALK, _, REST = PAGE.partition("## What also runs")
OPENED = list(dict.fromkeys(re.findall(r"`((?:client|workflows|activities|worker)/[\w/]+\.py)`", WALK)))
PASSED_BY = [f"workflows/{name}" for name in re.findall(r"`([\w/]+\.py)`", REST) if "test" not in name]


def test_the_files_to_be_opened_exist_and_are_few_and_short() -> None:
    assert all((ROOT / name).is_file() for name in (*OPENED, *PASSED_BY))
    assert len(OPENED) <= MAX_FILES
    assert sum(len((ROOT / name).read_text().splitlines()) for name in OPENED) <= MAX_LINES
    assert len(PAGE.split()) <= MAX_WORDS


@contextmanager
def executed() -> Iterator[set[str]]:
    """The files of `workflows/` whose functions run meanwhile, on any thread that begins meanwhile."""
    files: set[str] = set()

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        # a function has this flag, the code of a module that is imported has not
        if event == "call" and frame.f_code.co_flags & 1:
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(ROOT / "workflows"):
                files.add(path.relative_to(ROOT).as_posix())

    before = sys.getprofile()
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield files
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


async def test_a_question_runs_no_other_file_of_the_workflows(stage: Stage) -> None:
    with executed() as files:
        run = await stage.start(a_request())
        await run.outcome()
    assert "workflows/steps/judging.py" in files, "the run is watched"
    parts = {name for name in files if name.startswith("workflows/parts/")}
    assert files - parts - {*OPENED, *PASSED_BY} == set()
    assert parts <= {f"workflows/parts/{name}.py" for name in ("rows", "full_texts", "conclusions")}
