"""Measurements of the project, each a program: `python -m benchmarks.NAME`."""

from activities.processes import one_blas_thread

with one_blas_thread():
    import numpy  # noqa: F401 - as in a worker
