"""How many threads numpy multiplies matrices with."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "OPENBLAS_NUM_THREADS"
"""Read by OpenBLAS when numpy is imported first."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Have numpy start no threads when it is imported here first, without effect on other processes.

    A process that has them must not fork. Where steps share the processors they are a loss besides: they wait
    for each other in loops, and a question that is encoded in 9 ms with one took 200 to 600 with two.
    """
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
