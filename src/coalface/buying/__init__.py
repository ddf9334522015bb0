"""Buying costs: where answers come from."""
