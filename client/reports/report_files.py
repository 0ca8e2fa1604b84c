"""Whether a run has left a report, whatever the server knows of it."""

from glob import escape as glob_escape
from pathlib import Path

from activities.private_files import file_name
from activities.report.names import report_name
from activities.settings import Settings
from client.embedded.home import Places


async def has_report(settings: Settings, run_id: str) -> bool:
    """Whether a run has left a report, in home or in the evidence store, whatever the server knows of it."""
    if has_file(settings, run_id):
        return True
    if "://" not in settings.evidence_url:
        return False
    from activities.evidence_store import EvidenceStore

    return await EvidenceStore.at(settings.evidence_url).get_named(report_name(run_id, "json")) is not None


def has_file(settings: Settings, run_id: str) -> bool:
    """Whether a report of a run is among the files of home, or of an evidence store on this machine."""
    if any(Places(settings.home).reports.glob(f"{glob_escape(file_name(run_id))}.*")):
        return True
    if "://" in settings.evidence_url:
        return False
    return (Path(settings.evidence_url).expanduser() / report_name(run_id, "json")).exists()


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
