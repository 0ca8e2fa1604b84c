"""The user's cache folder: what takes seconds to build and is the same for every home."""

import os
from pathlib import Path

from platformdirs import user_cache_path


def user_cache(name: str) -> Path:
    """The folder of one kind of cached data: in `DETERMINATOR_CACHE`, else in the platform's cache folder."""
    named = os.environ.get("DETERMINATOR_CACHE")
    return (Path(named).expanduser() if named else user_cache_path("determinator")) / name
