"""Sources of costs: programs and language models."""
