"""The clock of a desk: it shows the time of day when the desk is opened, and then runs evenly.

The time of day may jump, when it is corrected or set by hand. A lease that ends by it would be stretched or cut short.
"""

import logging
import time
from collections.abc import Callable

_JUMP = 60.0  # seconds between the two clocks that are worth a line in the log


def _since_boot() -> float:
    """Seconds that also pass while the machine sleeps, where the system counts them."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class SteadyClock:
    """The time in seconds since 1970, without jumps.

    >>> day, even = iter([1000.0, 5000.0]), iter([7.0, 9.0])
    >>> clock = SteadyClock(lambda: next(day), lambda: next(even))
    >>> clock()  # 2 seconds later, although the time of day was set back
    1002.0
    """

    def __init__(self, time_of_day: Callable[[], float] = time.time, even: Callable[[], float] = _since_boot) -> None:
        self._time_of_day, self._even = time_of_day, even
        self._ahead = time_of_day() - even()
        self._warned = False

    def __call__(self) -> float:
        """The time now."""
        now = self._ahead + self._even()
        if not self._warned and abs(jump := self._time_of_day() - now) > _JUMP:
            self._warned = True
            logging.getLogger("coalface").warning(
                "the time of day jumped by %.0f s; leases and events keep the time as it was until a restart", jump
            )
        return now
