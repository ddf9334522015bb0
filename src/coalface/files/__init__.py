"""Files on disk: atomic writes, locks, append-only journals, bundles of arrays and new folders."""
