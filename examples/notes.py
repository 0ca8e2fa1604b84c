"""A source of one's own: the notes of a laboratory, one Markdown file each.

Declare it in the `pyproject.toml` of a package and install that package beside Determinator:

    [project.entry-points."determinator.sources"]
    notes = "notes:search_notes"

The folder is named by `LAB_NOTES`. Try it: `determinator search notes "compound 17"`.
"""

import asyncio
import os
from pathlib import Path

from determinator import Evidence, Refused, record, source


@source(
    name="notes",
    title="Laboratory notes",
    covers="The notebook of our laboratory.",
    domains=("local",),  # needs no network, so it serves with --offline too
    how_to_enable="Set LAB_NOTES to the folder of notes.",
)
async def search_notes(query: str, limit: int = 10, project: str = "") -> list[Evidence]:
    """Notes that contain most words of the query, the newest first: a question is searched as
    it was asked.

    `project` is an option of this source: the folder of one project. Raises Refused without LAB_NOTES.
    """
    folder = os.environ.get("LAB_NOTES")
    if not folder:
        raise Refused("LAB_NOTES names no folder of notes")
    return await asyncio.to_thread(read_notes, Path(folder) / project, query.casefold().split(), limit)


def read_notes(folder: Path, words: list[str], limit: int) -> list[Evidence]:
    """The newest `limit` notes with most of the words. The first line is a title, the rest may be quoted."""
    notes: list[Evidence] = []
    for path in sorted(folder.rglob("*.md"), key=lambda path: path.stat().st_mtime, reverse=True):
        title, _, text = path.read_text(encoding="utf-8").partition("\n")
        there = sum(word.strip("?.,") in f"{title}\n{text}".casefold() for word in words)
        if text.strip() and 2 * there > len(words):
            notes.append(
                record(title=title.lstrip("# "), text=text.strip(), url=path.as_uri(), full_text=True)
            )
    return notes[:limit]
