"""The local library."""

from activities.sources.library.source import SAMPLE, LibrarySource

__all__ = ["SAMPLE", "LibrarySource"]
