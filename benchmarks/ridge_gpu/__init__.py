"""``python -m benchmarks.ridge_gpu [RESULTS.json] [--only SECTION ...]``: the ridge model on a GPU against the CPU.

It checks the results of the GPU against those of the CPU and of 64-bit arithmetic, then measures how fast batches are
asked about and told, and how fast pools are scored. Embeddings are generated, and 5 % of the costs are told. Speed is
compared with large matrix products in the same run. A section that fails prints its error, and the others run.
"""
