"""Files that are never half-written, locked by one process at a time, or grow line by line."""
