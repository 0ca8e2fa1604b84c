"""llama.cpp's HTTP server with the packaged model: `python -m tests.model.server MODEL PORT CONTEXT`."""

import argparse
import os
import threading

import xllamacpp


def serve(model: str, port: int, context: int) -> None:
    """Serve until the process is ended: one slot, as on a small machine."""
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = context
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = port
    # threads of llama.cpp wait actively: one processor stays free for the client and for what else runs
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max((os.cpu_count() or 2) - 1, 1)
    server = xllamacpp.Server(params)
    threading.Event().wait()
    del server


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("port", type=int)
    parser.add_argument("context", type=int)
    given = parser.parse_args()
    serve(given.model, given.port, given.context)
