"""Does NCBI's limit hold whatever the size of the fleet? Prints the busiest sliding second of each fleet.

    python benchmarks/rates.py [--key] [--searches 30] [--sizes 1,2,4,8]

A real Temporal dev server, real worker processes, and a local server in NCBI's place that answers after 0 to
0.3 s and notes when each request arrives. With `--key` the workers have a key, which allows 10 a second. The
last fleet loses the process that holds the gate by `kill -9` half-way through.
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from temporalio.client import Client

from client.connection import NoConnection, open_client
from client.embedded.binary import find_temporal, free_port
from tests.replay import ReplayServer
from tests.worker.fleet import busiest_second, fleet, slow_ncbi

LIMIT = 3
LIMIT_WITH_KEY = 10
HEARTBEAT = 6.0
"""As `workflows.rate_gate` has it."""


async def connected(address: str) -> Client:
    for _ in range(100):
        try:
            return await open_client({"target_host": address})
        except NoConnection:
            await asyncio.sleep(0.3)
    raise SystemExit("the dev server did not come up")


async def asked_at_least(server: ReplayServer, requests: int) -> None:
    while len(server.asked) < requests:  # noqa: ASYNC110 - the server is a thread of its own
        await asyncio.sleep(0.05)


async def flood(
    client: Client, address: str, folder: Path, size: int, searches: int, *, key: str = "", kill: bool = False
) -> bool:
    limit = LIMIT_WITH_KEY if key else LIMIT
    with ReplayServer() as server:
        slow_ncbi(server, 0.3)
        async with fleet(client, size, address, server.url, folder, HEARTBEAT, key=key) as found:
            started = await found.search(searches)
            note = ""
            if kill:
                await asked_at_least(server, searches // 2)
                killed = await found.holder()
                os.kill(killed, signal.SIGKILL)
                await asyncio.sleep(0.5)  # what was on its way has arrived
                at, before = time.monotonic() - 0.5, len(server.asked)
                await found.holder([process for process in found.processes if process != killed])
                held = time.monotonic() - at
                await asked_at_least(server, before + 1)
                first = server.asked[before].at - at
                note = f"  holder killed: held again after {held:.1f} s, asked again after {first:.1f} s"
            await started.result()
        moments = [asked.at for asked in server.asked]
    most, took = busiest_second(moments), max(moments) - min(moments)
    print(
        f"{size} process{'es' if size > 1 else '  '}  {len(moments):3} requests in {took:5.1f} s "
        f"({len(moments) / took:.2f}/s)  busiest sliding second: {most} (limit {limit}){note}",
        flush=True,
    )
    return most <= limit


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", action="store_true", help="10 a second in place of 3, and 100 searches")
    parser.add_argument("--searches", type=int)
    parser.add_argument("--sizes", default="1,2,4,8")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    key = "a-key-for-a-local-server" if given.key else ""
    searches: int = given.searches or (100 if key else 30)
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        command = [str(find_temporal()), "server", "start-dev", "--headless", "--ip", "127.0.0.1"]
        command += ["--port", str(port), "--db-filename", str(folder / "temporal.db"), "--log-level", "error"]
        server = subprocess.Popen(  # noqa: ASYNC220 - nothing else runs yet
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            address = f"127.0.0.1:{port}"
            client = await connected(address)
            held = [
                await flood(client, address, folder / str(size), size, searches, key=key) for size in sizes
            ]
            most = max(2, *sizes)
            held.append(await flood(client, address, folder / "kill", most, searches, key=key, kill=True))
        finally:
            server.terminate()
            server.wait()
    return 0 if all(held) else 1


if __name__ == "__main__":
    code = asyncio.run(main())
    sys.stdout.flush()
    os._exit(code)  # a process that used a Temporal client can crash in the interpreter's clean-up
