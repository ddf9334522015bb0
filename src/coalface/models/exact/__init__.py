"""Oracles, version spaces and range engines: Algorithm 1 of the paper."""
