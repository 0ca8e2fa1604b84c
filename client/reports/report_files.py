"""Whether a run has left a report, whatever the server knows of it."""

from glob import escape as glob_escape
from pathlib import Path

from activities.private_files import file_name
from activities.report.archive import report_name
from activities.settings import Settings
from client.embedded.home import Places


async def has_report(settings: Settings, run_id: str) -> bool:
    """Whether it is in home or in the evidence store."""
    if any(Places(settings.home).reports.glob(f"{glob_escape(file_name(run_id))}.*")):
        return True
    from activities.evidence_store import EvidenceStore

    store = EvidenceStore.at(settings.evidence_url)
    return await store.get_named(report_name(run_id, "json")) is not None


SET_ASIDE = "before-rewind"


def set_aside(settings: Settings, run_id: str) -> list[Path]:
    """Rename the report files of a run that goes back, so that its new report can be written and none is
    lost; return the new paths. Raises OSError."""
    folder, name = Places(settings.home).reports, file_name(run_id)
    moved = []
    for path in sorted(folder.glob(f"{glob_escape(name)}.*")):
        ending = path.name.removeprefix(f"{name}.")
        if ending.startswith(SET_ASIDE):
            continue
        number = 1
        while (target := folder / f"{name}.{SET_ASIDE}-{number}.{ending}").exists():
            number += 1
        moved.append(path.rename(target))
    return moved
