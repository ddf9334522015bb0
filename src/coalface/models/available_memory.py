"""How much memory a model may take: that of the machine, or the limit of its container."""

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))  # of a container


def available_bytes() -> int | None:
    """Bytes that can be allocated without swapping; all physical memory if the system does not tell, None if unknown.

    >>> available_bytes() > 0
    True
    """
    known = [free for free in (_machine(), *map(_limit, _LIMITS)) if free is not None]
    return min(known, default=None)


def _machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _limit(file: Path) -> int | None:
    """A container's limit. Its current use is not subtracted, because much of that is file cache that can be freed."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # ValueError: it says "max"
        return None
