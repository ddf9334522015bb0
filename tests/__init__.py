"""The tests, with one thread per worker, also of BLAS: more threads than cores wait for each other most of the time."""

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # NumPy is imported later
    os.environ.setdefault(_threads, "1")
