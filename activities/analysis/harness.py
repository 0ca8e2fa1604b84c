"""What runs inside the sandbox: reads a program and its data from stdin, runs it, and returns its result.

A file without imports of this package: the sandbox sees this file, Python's library and the installed
packages. The program finds `effects` (a list of dicts) and `np`, `stats`, `sm` (numpy, scipy.stats,
statsmodels.api where installed), and assigns a dict of numbers and texts to `result`. The result leaves as
one JSON line on the descriptor that the first argument names; what the program prints goes to stdout.
"""

import contextlib
import importlib
import json
import os
import resource
import sys

NOBODY = 65534


def main() -> None:
    job = json.load(sys.stdin)
    channel = os.fdopen(int(sys.argv[1]), "w")
    for kind, limit in job["limits"].items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, kind), (limit, limit))
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    names: dict[str, object] = {"__name__": "__main__", "effects": job["effects"], "result": None}
    failure = ""
    try:
        names.update(_libraries(job["code"]))
        exec(compile(job["code"], "analysis.py", "exec"), names)  # noqa: S102 - the sandbox is made for it
    except MemoryError:
        failure = "it needs more memory than it may use"
    except BaseException as error:  # noqa: BLE001 - a program may raise anything, SystemExit included
        failure = f"{type(error).__name__}: {error}"[:500]
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    try:
        answer = json.dumps({"result": names.get("result"), "failed": failure}, default=_plain)
    except (TypeError, ValueError, RecursionError, MemoryError) as error:
        answer = json.dumps({"result": None, "failed": f"its result is no JSON: {error}"[:500]})
    with contextlib.suppress(OSError, ValueError):
        channel.write(answer)
        channel.flush()
    os._exit(0)


def _libraries(code: str) -> dict[str, object]:
    """Return the libraries by the names that a program mentions: importing all of them takes a second."""
    modules: dict[str, object] = {}
    for name, module in (("np", "numpy"), ("stats", "scipy.stats"), ("sm", "statsmodels.api")):
        if name in code:
            with contextlib.suppress(ImportError):
                modules[name] = importlib.import_module(module)
    return modules


def _plain(value: object) -> object:
    """Return a number or an array of a library as plain data."""
    for method in ("item", "tolist"):
        with contextlib.suppress(Exception):
            return getattr(value, method)()
    raise TypeError(f"{type(value).__name__} is no JSON")


if __name__ == "__main__":
    main()
