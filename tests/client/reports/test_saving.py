"""Saving a report where a person wants it loses nothing that was there."""

from pathlib import Path

import pytest

from activities.evidence_store import EvidenceStore
from activities.settings import Settings
from client.reports.load import NoReport, stored_report, write_report
from tests.client.seen import a_report

REPORT = a_report()


def test_a_file_that_is_there_is_kept_under_the_next_free_number(tmp_path: Path) -> None:
    path, said = tmp_path / "report.md", list[str]()
    path.write_text("notes of mine")
    (tmp_path / "report.1.md").write_text("older notes")
    write_report(REPORT, "md", path, say=said.append)
    assert path.read_text().startswith("# T")
    assert (tmp_path / "report.1.md").read_text() == "older notes"
    assert (tmp_path / "report.2.md").read_text() == "notes of mine"
    assert len(said) == 1
    assert "report.2.md" in said[0]


def test_the_same_report_is_not_kept_twice(tmp_path: Path) -> None:
    path, said = tmp_path / "new" / "report.json", list[str]()
    for _ in range(2):
        write_report(REPORT, "json", path, say=said.append)
    assert [found.name for found in path.parent.iterdir()] == ["report.json"]
    assert said == []


async def test_a_damaged_report_is_called_damaged_and_one_elsewhere_is_not_there(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, store_url=str(tmp_path / "store"))
    blob = await EvidenceStore.at(settings.evidence_url).put_bytes(REPORT.model_dump_json().encode())
    assert await stored_report(settings, blob) == REPORT
    (tmp_path / "store" / blob).write_bytes(b"{}")
    with pytest.raises(NoReport, match=r"damaged: .*Restore it from a backup.*reports/RUN/report\.json"):
        await stored_report(settings, blob)
    (tmp_path / "store" / blob).unlink()
    assert await stored_report(settings, blob) is None
