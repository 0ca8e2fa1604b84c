"""Blobs of a store that this process has written or read: they need not be read, or written, again.

A blob is named by its content, so what is remembered is never out of date.
"""

from collections import OrderedDict

MOST_BYTES = 8 * 2**20
"""Bytes that are remembered in all: some five thousand abstracts."""
LARGEST_BLOB = 256 * 2**10
"""Bytes of a blob that is remembered: an article, and no report with its evidence."""


class BlobMemory:
    """The blobs that were used last, by key."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        """`most` is the number of bytes in all."""
        self._most = most
        self._bytes = 0
        self._blobs: OrderedDict[str, bytes] = OrderedDict()

    def __contains__(self, key: str) -> bool:
        return key in self._blobs

    def get(self, key: str) -> bytes | None:
        """What is remembered under a key; None when nothing is."""
        found = self._blobs.get(key)
        if found is not None:
            self._blobs.move_to_end(key)
        return found

    def remember(self, key: str, data: bytes) -> None:
        """Remember a blob, and forget those that were used longest ago where there is no room."""
        if len(data) > LARGEST_BLOB or key in self._blobs:
            return
        self._blobs[key] = data
        self._bytes += len(data)
        while self._bytes > self._most:
            _, forgotten = self._blobs.popitem(last=False)
            self._bytes -= len(forgotten)
