"""The user's own documents as a source: no network, no key."""

import sqlite3
from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from activities.contracts.errors import Unavailable
from activities.contracts.evidence import AbsentWord, Evidence, Provenance, Query, SourceInfo
from activities.documents.readers import Stop, Stopped, readers
from activities.logs import log
from activities.messages import count_of
from activities.processes import one_blas_thread
from activities.settings import Settings
from activities.sources import names
from activities.sources.base import Exchange, Report, current_report
from activities.sources.filters import passes
from activities.sources.http.client import Http
from activities.sources.library.store import FolderChanged

if TYPE_CHECKING:
    from activities.sources.library.index import Libraries, LibraryIndex
    from activities.text.ranking import Item

ATTEMPTS = 5
"""To search a folder whose files other processes read at the same time."""
SAMPLE = Path(__file__).parent.parent / "sample" / "documents"
"""The bundled sample library; its licence and source are in the README.md above it."""


WHOLE = "whole"
"""Option of a run's searches: the number of documents up to which a folder is returned whole, since the
letter that decides may have no word of the question."""


def cache_of(settings: Settings) -> Path:
    return settings.home / "cache" / "library"


def info_of(folder: Path | str | None) -> SourceInfo:
    """Return what people and roles are told of a folder, or of the sample: its name, not its place."""
    sample = names.info_of("library")
    if not folder:
        return sample
    library = {"title": "Local library", "covers": f"The user's own documents, folder {Path(folder).name}."}
    return sample.model_copy(update=library)


class LibrarySource:
    """A folder of documents (see `files` for the kinds), ranked offline; one exchange a search.

    The folder is that of the query's option `library`, else the setting `library`, else the bundled sample.
    A document's whole text is what may be quoted, however long; ranking looks at its passages.
    `publication_types` are compared with the evidence type; documents without a year pass the year filters,
    since a user's own notes seldom carry one.
    """

    def __init__(self, settings: Settings, _: Http | None = None) -> None:
        self._folder = settings.library
        self._cache = cache_of(settings)
        self._speech_model = settings.speech_model
        self.info = info_of(settings.library)

    @cached_property
    def _libraries(self) -> "Libraries":
        # numpy, which ranks them, takes a tenth of a second of a worker's start; a command that searches
        # imports it here first
        with one_blas_thread():
            from activities.sources.library.index import Libraries

        return Libraries(self._cache, self._speech_model)

    def languages(self, folder: Path) -> tuple[str, ...]:
        """List the languages of a folder as it was indexed last; none before."""
        return self._libraries.languages(folder)

    async def exchanges(self, query: Query) -> AsyncIterator[Exchange]:
        """Rank the folder's documents. Raises Refused for a folder that cannot be read.

        Raises Unavailable for one whose index changes all the time.
        """
        libraries = self._libraries  # made here, in one thread
        # in a thread of the readers, so that the worker's event loop does not wait
        report = current_report()
        yield await readers().in_thread(lambda stop: self._search(libraries, query, stop, report))

    def _search(self, libraries: "Libraries", query: Query, stop: Stop, report: Report | None) -> Exchange:
        option = query.filters.options.get("library")
        folder = Path(option) if option else (self._folder or SAMPLE)
        index, matches, hits, absent = self._matches(libraries, folder, query, stop, report)
        documents = [item.document for item in matches]
        origin = (Provenance(source="library", query=query.text),)
        details = []
        if index.set_aside:
            details.append(_unread_note([item.name for item in index.set_aside]))
        if cut_count := sum("cut" in document.facts for document in documents):
            details.append(f"{cut_count} of the documents found were not read whole")
        if count := index.count_waiting(query.text):
            details.append(
                f"{count:,} of {index.count:,} documents are not encoded yet and were chosen by words"
            )
        if codes := index.languages_not_encoded(query.text):
            details.append(f"no encoder knows the language {', '.join(codes)}: words alone chose documents")
        if not index.count:
            details.append(f"{folder} holds no documents that can be read")
        return Exchange(
            records=tuple(document.replace(provenance=origin) for document in documents),
            hits=max(hits, len(documents)),
            set_aside=len(index.set_aside),
            absent=absent,
            documents=index.count,
            sent=query.text,
            detail="; ".join(details),
        )

    def _matches(
        self, libraries: "Libraries", folder: Path, query: Query, stop: Stop, report: Report | None
    ) -> "tuple[LibraryIndex, list[Item], int, tuple[AbsentWord, ...]]":
        max_whole = int(query.filters.options.get(WHOLE, 0))

        def fits(document: Evidence) -> bool:
            return passes(document, query.filters)

        for _ in range(ATTEMPTS):
            if stop.is_asked:
                raise Stopped
            index = libraries.open(folder, stop, report)
            try:
                absent = index.absent_words(query.text)
                replacements = [name for word in absent for name in word.instead]
                text = " ".join((query.text, *replacements))
                return index, *index.search(text, query.limit, fits, max_whole=max_whole), absent
            except (FolderChanged, sqlite3.DatabaseError) as error:
                # another process has read a changed file meanwhile, or removed the file that is open here
                log.info("library_opened_again", folder=folder.name, error=str(error))
                libraries.forget(index)
        raise Unavailable(f"the index of {folder.name} changes while it is searched; search again later")


def _unread_note(names: Sequence[str]) -> str:
    """Name the files or records that could not be read; the worker's log has the reasons."""
    remainder = f" and {len(names) - 3} more" if len(names) > 3 else ""
    count = count_of(len(names), "file or record", "files or records")
    return f"{count} of the library could not be read, or only in part: {', '.join(names[:3])}{remainder}"
