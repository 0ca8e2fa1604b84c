"""The folder of a run, whatever a title says."""

from pathlib import Path

from activities.report.run_folder import run_files, words_of, write_files
from tests.activities.report.wide import ALL, RICH

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
