"""What a request may make a worker read, and where it may send what was read.

Any client that reaches the Temporal server can start a workflow with any input. A worker therefore opens a
folder or a profile file that a request names only when

- the request carries the signature of the worker's own home for it (`determinator ask` signs what the person
  named; the key is readable by the owner alone), or
- the worker's configuration allows it (`allowed_libraries`, the configured `library`, the profile folders).

An address of a model server that a request names is used only when it is the configured one or one of
`allowed_model_urls`: no command puts an address into a request. A request that names none of these needs no
signature.

The check is made in the activities that read and send, and not only in `prepare`: an input may contain a
forged state that claims to be prepared. A signature is made for one name in one run, so one that is read from
another run's history opens nothing there.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from activities.contracts.errors import DeterminatorError
from activities.credentials import without_credentials
from activities.private_files import random_key
from activities.settings import Settings

Kind = Literal["library", "profile_path"]
"""What is signed; the names are those of the request's fields."""
HINT = "start it with `determinator ask` on the worker's machine, or allow it in the worker's configuration"


class NotPermitted(DeterminatorError):
    """A request names something that this worker does not read for it; never retried."""


def request_key(home: Path) -> bytes:
    """Return the key that requests of a home are signed with, created at the first use.

    Raises OSError, WeakKey.
    """
    return random_key(home.expanduser().absolute() / "state" / "request.key")


def sign(key: bytes, run_id: str, kind: Kind, name: str) -> str:
    """Return the signature of one name in one run: HMAC-SHA256 over a canonical form, in hexadecimal."""
    message = json.dumps(["determinator", 1, run_id, kind, name], ensure_ascii=True, separators=(",", ":"))
    return hmac.new(key, message.encode(), hashlib.sha256).hexdigest()


class Permits:
    """What requests may name on this worker."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def check(self, kind: Kind, name: str, workflow_id: str, signature: str) -> None:
        """Check a name.

        Raises NotPermitted for one that is neither signed for this run nor allowed here.
        """
        run_id = workflow_id.partition("/")[0]  # a section is its run's
        if self._signed(kind, name, run_id, signature) or self._allowed(kind, name):
            return
        noun = "library" if kind == "library" else "profile file"
        setting = "allowed_libraries" if kind == "library" else "profiles_dir"
        raise NotPermitted(f"the {noun} {name[:200]} is not read for this request; {HINT} ({setting})")

    def check_address(self, address: str | None) -> None:
        """Check the address of a model server.

        Raises NotPermitted for one that is not one of this worker's.
        """
        if address is None:
            return
        urls = (self._settings.openai_base_url, *self._settings.allowed_model_urls)
        if address.rstrip("/") not in {url.rstrip("/") for url in urls if url}:
            raise NotPermitted(
                f"the model server {without_credentials(address)[:200]} is not one that this worker uses; "
                "allow it in the worker's configuration (allowed_model_urls)"
            )

    def _signed(self, kind: Kind, name: str, run_id: str, signature: str) -> bool:
        if not signature:
            return False
        try:
            key = request_key(self._settings.home)
        except OSError:
            return False
        return hmac.compare_digest(sign(key, run_id, kind, name).encode(), signature.encode())

    def _allowed(self, kind: Kind, name: str) -> bool:
        settings = self._settings
        folders: Iterable[Path | None]
        if kind == "library":
            folders = (settings.library, *settings.allowed_libraries)
        else:
            folders = (settings.profiles_dir, settings.home / "profiles")
        try:
            path = Path(name).expanduser().resolve()
            return any(path.is_relative_to(folder.expanduser().resolve()) for folder in folders if folder)
        except (OSError, RuntimeError, ValueError):
            return False
