"""Fairness between the users of a fleet: the server hands out their waiting steps in turn.

Each run carries its user's name as Temporal's fairness key, which its sections and steps inherit. A user who
starts a thousand runs then delays another one's by as much as one run of theirs, not by a thousand. A server
of one's own needs the dynamic configuration `matching.enableFairness: true` (Temporal 1.29 and later), a
namespace of Temporal Cloud its setting for fairness; others ignore the key.
"""

import getpass
import hashlib
import os

from temporalio.common import Priority

VARIABLE = "DETERMINATOR_USER"
"""Names the user that runs are started for, where that is not the account of this process."""
MAX_KEY_BYTES = 64
"""Of a fairness key, by Temporal's API."""


def user_name() -> str:
    """The user that this process starts runs for; empty where the system knows none."""
    try:
        return os.environ.get(VARIABLE) or getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container's user may have no entry in the password file
        return ""


def fairness(user: str) -> Priority:
    """The priority of a run started for a user: the same as everybody's, with a share of its own."""
    key = user.encode()
    if len(key) > MAX_KEY_BYTES:
        return Priority(fairness_key=hashlib.sha256(key).hexdigest())
    return Priority(fairness_key=user) if user else Priority.default
