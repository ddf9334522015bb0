"""How much memory there is."""

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")


def available_bytes() -> int | None:
    """What may still be taken without swapping; all of the machine's where the system does not say, or None.

    >>> available_bytes() > 0
    True
    """
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
