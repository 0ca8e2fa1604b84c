"""What a library makes of a folder: its documents as they are searched, and what could not be read."""

from dataclasses import dataclass
from pathlib import Path

from activities.contracts.evidence import Evidence
from activities.sources.library.files import Listing, list_folder
from activities.sources.library.reading import SetAside
from activities.sources.library.store import Store


@dataclass(frozen=True)
class Collection:
    documents: tuple[Evidence, ...]
    set_aside: tuple[SetAside, ...]


def read_folder(folder: Path | Listing, speech_model: str = "") -> Collection:
    """Read into a store in memory. Raises Refused."""
    listing = folder if isinstance(folder, Listing) else list_folder(folder)
    store = Store(None, speech_model)
    store.update(listing)
    contents = store.contents()
    return Collection(tuple(store.documents(contents.numbers)), listing.set_aside + contents.set_aside)
