"""Who knows the costs: programs and language models."""
