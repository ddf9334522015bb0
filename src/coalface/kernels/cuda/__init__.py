"""The online model's simulated runs in CUDA: many runs side by side, one per block of threads.

The ``.cuh`` files follow the compiled loop of ``kernels.online``: the same names, the same order of steps. ``source``
puts them together, with the constants of the Python kernels; ``layout`` describes what host and device exchange. The
same source compiles as plain C++, which is how tests compare it with ``kernels.online`` on a machine without a GPU.
"""
