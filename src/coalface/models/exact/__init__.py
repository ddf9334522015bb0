"""The exact engine (Algorithm 1 of the paper): oracles, version spaces and range engines."""
