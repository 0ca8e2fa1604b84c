"""The local library: `documents` reads files, `index` ranks them, `source` is the interface to the
registry."""

from activities.sources.library.source import SAMPLE, LibrarySource

__all__ = ["SAMPLE", "LibrarySource"]
