"""The configuration a background worker runs with: how it is handed over, and how a change is noticed."""

import hashlib
import hmac
import json
import os
from importlib.metadata import version
from pathlib import Path

from pydantic import SecretStr

from activities.private_files import random_key
from activities.settings import Settings, config_path
from client.embedded.home import Places

CARRIED = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
"""Variables besides our own that change what a worker can reach."""


def worker_environment(settings: Settings) -> dict[str, str]:
    """The environment for a worker of the embedded server that runs in another folder: what is relative here
    is made absolute, and what was meant for another Temporal server is left out."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TEMPORAL_")}
    environment["DETERMINATOR_HOME"] = str(settings.home.expanduser().absolute())
    environment["DETERMINATOR_CONFIG"] = str(config_path().absolute())
    environment["DETERMINATOR_REPORTS_DIR"] = str(Places(settings.home).reports)
    for name in ("library", "profiles_dir"):
        value = getattr(settings, name)
        if value is not None:
            environment[f"DETERMINATOR_{name.upper()}"] = str(Path(value).expanduser().absolute())
    if settings.offline:
        environment["DETERMINATOR_OFFLINE"] = "true"  # set by a flag, perhaps
    if settings.store_url and "://" not in settings.store_url:
        environment["DETERMINATOR_STORE_URL"] = str(Path(settings.store_url).expanduser().absolute())
    return environment


def fingerprint(settings: Settings, places: Places) -> str:
    """A keyed digest of everything that makes one worker differ from another, keys included.

    The key is random and stays in home, so that the digest of a short secret cannot be looked up.
    """
    environment = worker_environment(settings)
    effective = {
        "version": version("determinator"),
        "settings": {**dump(settings), "home": "", "library": environment.get("DETERMINATOR_LIBRARY")},
        "environment": {
            name: value
            for name, value in environment.items()
            if name.upper() in CARRIED or (name.startswith("DETERMINATOR_") and name not in OURS)
        },
    }
    text = json.dumps(effective, sort_keys=True, default=str)
    return hmac.new(random_key(places.fingerprint_key), text.encode(), hashlib.sha256).hexdigest()


OURS = ("DETERMINATOR_HOME", "DETERMINATOR_CONFIG")
"""The file's content counts, through the settings; where it lies does not."""


def dump(settings: Settings) -> dict[str, object]:
    """All settings with the secrets in the clear: for the digest only."""
    found = settings.model_dump(mode="python")
    return {
        name: value.get_secret_value() if isinstance(value, SecretStr) else value
        for name, value in found.items()
    }
