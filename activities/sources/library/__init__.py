"""The local library: `documents` reads files, `index` ranks them, `source` is the interface to the
registry."""

from activities.blas import one_blas_thread

with one_blas_thread():  # a command that searches imports numpy here first
    from activities.sources.library.source import SAMPLE, LibrarySource

__all__ = ["SAMPLE", "LibrarySource"]
