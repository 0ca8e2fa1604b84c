"""A disk that is full: whether it is, and which errors say so.

Only the standard library is imported: the supervising process of a home looks too.
"""

import errno
import shutil
import sqlite3
from pathlib import Path

from activities.contracts.errors import DiskFull

MIN_FREE_BYTES = 256 * 1024
"""Below which a database cannot take a transaction."""


def has_room(folder: Path) -> bool:
    return shutil.disk_usage(folder).free >= MIN_FREE_BYTES


def is_disk_full(error: BaseException | None) -> bool:
    """Tell whether an error, or one that led to it, says that a disk is full or a quota used up."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL:
            return True
        if isinstance(error, DiskFull):
            return True
        error = error.__cause__
    return False
