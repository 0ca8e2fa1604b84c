"""Where keys may go: a key goes to the address it was given with.

A `determinator.toml` lies in whatever folder a command is started in, and may have come with that folder.
When it sets an address to which a key of the environment would be sent, the person must have trusted the
folder: `determinator config trust` adds it to a list in the home. A file that `DETERMINATOR_CONFIG` names was
chosen by the person, and an address in the environment was given with the key.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from activities.configuration.origins import origins
from activities.private_files import write_whole
from activities.settings import Settings, config_path, secret_variables
from client.failures import BadSettings

MODEL_KEY = "OPENAI_API_KEY"
TEMPORAL_KEY = "TEMPORAL_API_KEY"
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def check_trust(settings: Settings) -> None:
    """Raises BadSettings, with a line for each address, when a file of a folder that is not trusted would
    move a key to another host."""
    if "DETERMINATOR_CONFIG" in os.environ:
        return
    folder = config_path().absolute().parent
    moved = list(_moved(settings))
    if not moved or str(folder) in trusted_folders(settings.home):
        return
    raise BadSettings(
        "\n".join(
            f"{place}: it would send {variable} to {host}; if you trust this folder, run "
            "`determinator config trust` in it, else remove the line"
            for place, variable, host in moved
        )
    )


def trusted_folders(home: Path) -> list[str]:
    """The folders whose configuration file may name where keys go."""
    try:
        found = json.loads(_list(home).read_bytes())
    except (OSError, ValueError):
        return []
    return [str(folder) for folder in found] if isinstance(found, list) else []


def trust(home: Path, folder: Path) -> None:
    """Add a folder to the list. Raises OSError."""
    folders = [*trusted_folders(home), str(folder)]
    write_whole(_list(home), json.dumps(sorted(set(folders)), indent=1).encode())


def _list(home: Path) -> Path:
    return home.expanduser() / "trusted_folders.json"


def _moved(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """Place in the file, variable of the key and host, for each key that the file moves to another host."""
    places = origins()
    file = str(config_path())
    keys = [variable for variable, name in secret_variables().items() if getattr(settings, name) is not None]
    addresses = [("openai_base_url", settings.openai_base_url, [k for k in keys if k == MODEL_KEY])]
    if os.environ.get(TEMPORAL_KEY) and not os.environ.get("TEMPORAL_ADDRESS"):
        addresses.append(("temporal_address", settings.temporal_address, [TEMPORAL_KEY]))
    of_sources = [k for k in keys if k != MODEL_KEY]
    addresses += [(f"sources.{name}.url", one.url, of_sources) for name, one in settings.sources.items()]
    for setting, address, sent in addresses:
        place = places.get(setting, "")
        if not address or not sent or not place.startswith(file):
            continue
        host = urlsplit(address if "://" in address else f"//{address}").hostname or address
        if host not in LOOPBACK:
            yield place, sent[0], host
