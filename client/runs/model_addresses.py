"""The address at which the models of a run were asked, kept in the home: what is asked of its report later is
asked there, too."""

import json
from contextlib import suppress
from pathlib import Path

from activities.credentials import without_credentials
from activities.private_files import write_whole
from client.embedded.home import Places

NOTE = "model_addresses.json"
MAX_RUNS = 1_000
"""Runs whose address is kept, the newest."""


def remember_address(home: Path, run_id: str, address: str | None) -> None:
    """Keep the address of a run; one that holds a password is not kept. Raises OSError."""
    if address and without_credentials(address) == address:
        kept = {**_addresses(home), run_id: address}
        write_whole(Places(home).state / NOTE, json.dumps(dict([*kept.items()][-MAX_RUNS:])).encode())


def address_of(home: Path, run_id: str) -> str | None:
    """The address that was kept for a run; None for a run without one."""
    return _addresses(home).get(run_id)


def _addresses(home: Path) -> dict[str, str]:
    with suppress(OSError, ValueError):
        kept = json.loads((Places(home).state / NOTE).read_bytes())
        if isinstance(kept, dict):
            return {str(name): str(address) for name, address in kept.items()}
    return {}
