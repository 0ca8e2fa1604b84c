"""The folder of a run, whatever a title says and whatever the disk does."""

import asyncio
import errno
from pathlib import Path

import pytest

from activities.evidence_store import EvidenceStore
from activities.report import run_folder
from activities.report.run_folder import run_files, words_of, write_files
from tests.activities.report.wide import ALL, RICH
from worker.resources import RunFolders

THREATS = [
    *("../../etc/passwd", "/etc/passwd", "a\\..\\b", "C:\\Windows", "~/.ssh/id", "a\x00b", "a\nb\x1b[2J"),
    *("\u202etxt.exe", "...", "", "   ", "-rf *", "$(reboot)`x`", "CON", "nul.txt", "x. ", "e" * 4000),
    *("\u4e2d" * 300, "a" * 79 + "\U0001f600", "A same title", "a SAME title", "%2e%2e%2f"),
]


def test_a_title_names_one_file_below_the_folder_whatever_it_says(tmp_path: Path) -> None:
    works = [
        item.model_copy(update={"title": title, "evidence_id": f"doi:10.1/{n}"})
        for n, title in enumerate(THREATS)
        for item in list(ALL.values())[:1]
    ]
    files = run_files(RICH, "md", works, ())
    texts = [name for name in files if name.startswith("texts/")]
    assert len({name.casefold() for name in texts}) == len(THREATS)
    write_files(tmp_path / "runs" / "RUN", files)
    below = {
        path.relative_to(tmp_path / "runs" / "RUN").as_posix()
        for path in (tmp_path / "runs" / "RUN").rglob("*.*")
    }
    assert below == set(files)
    assert list(tmp_path.iterdir()) == [tmp_path / "runs"]
    assert {path.stat().st_mode & 0o77 for path in (tmp_path / "runs").rglob("*")} == {0}
    assert (tmp_path / "runs").stat().st_mode & 0o77 == 0
    for name in (words_of(title) for title in THREATS):
        assert all(c.isalnum() or c in " -" for c in name)
        assert len(name.encode()) <= 160


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EROFS, errno.EACCES])
async def test_a_disk_that_refuses_harms_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(fault, "refused")

    async def nothing(*_: object) -> list[object]:
        return []

    monkeypatch.setattr("worker.resources.evidence_index", nothing)
    monkeypatch.setattr("worker.resources.iterations", nothing)
    monkeypatch.setattr("worker.resources.activity.client", lambda: None)
    monkeypatch.setattr(run_folder, "write_whole", refuse)
    store = EvidenceStore.at(str(tmp_path / "evidence"))
    await RunFolders(tmp_path / "runs", "md", store).leave(RICH)


async def test_a_run_that_does_not_answer_harms_no_run(tmp_path: Path) -> None:
    store = EvidenceStore.at(str(tmp_path / "evidence"))
    await asyncio.wait_for(RunFolders(tmp_path / "runs", "md", store).leave(RICH), 5)
    assert not (tmp_path / "runs").exists()
