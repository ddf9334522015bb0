"""Runs of a sweep on a GPU: which cells can run there, packed into batches, and their curves."""
