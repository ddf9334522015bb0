"""Counts and times of requests, and the state of the projects, in the text format of Prometheus."""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from coalface.version import __version__

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ENDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # of the classes of durations, in seconds
Sample = tuple[str, dict[str, str], float]  # suffix of the name, labels, value


@dataclass(frozen=True)
class Metric:
    r"""One metric with its samples.

    >>> print(Metric("coalface_answers_total", "counter", "Answers.", [("", {"project": 'a"b'}, 3.0)]).text(), end="")
    # HELP coalface_answers_total Answers.
    # TYPE coalface_answers_total counter
    coalface_answers_total{project="a\"b"} 3.0
    """

    name: str
    kind: str
    help: str
    samples: list[Sample]

    def text(self) -> str:
        """The metric as Prometheus reads it."""
        lines = [f"# HELP {self.name} {self.help}", f"# TYPE {self.name} {self.kind}"]
        lines += [f"{self.name}{suffix}{_labels(labels)} {float(value)!r}" for suffix, labels, value in self.samples]
        return "\n".join(lines) + "\n"


@dataclass
class RequestMetrics:
    """Counts and durations of requests, by method, route and status. Only the event loop changes them."""

    in_flight: int = 0
    started: float = field(default_factory=time.time)
    _counts: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    _classes: dict[str, list[int]] = field(default_factory=dict)  # by route: how many requests end in each class
    _seconds: Counter[str] = field(default_factory=Counter)

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._counts[method, route, status] += 1
        classes = self._classes.setdefault(route, [0] * (len(_ENDS) + 1))
        classes[bisect_left(_ENDS, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]

    def metrics(self) -> Iterator[Metric]:
        """All metrics of requests and of the process."""
        counts = [
            ("", {"method": method, "route": route, "status": str(status)}, float(n))
            for (method, route, status), n in sorted(self._counts.items())
        ]
        yield Metric("coalface_requests_total", "counter", "Requests by method, route and status.", counts)
        yield Metric("coalface_request_seconds", "histogram", "Durations of requests by route.", self._durations())
        yield gauge("coalface_requests_in_flight", "Requests being answered now.", self.in_flight)
        yield gauge("process_start_time_seconds", "When the service was started.", self.started)
        cpu = time.process_time()
        yield Metric("process_cpu_seconds_total", "counter", "Processor time of the service.", [("", {}, cpu)])
        yield gauge("coalface_build_info", "The version of coalface.", 1.0, version=__version__)

    def _durations(self) -> list[Sample]:
        samples: list[Sample] = []
        for route, classes in sorted(self._classes.items()):
            total = 0
            for end, n in zip((*map(str, _ENDS), "+Inf"), classes, strict=True):
                total += n
                samples.append(("_bucket", {"route": route, "le": end}, total))
            samples += [("_sum", {"route": route}, self._seconds[route]), ("_count", {"route": route}, total)]
        return samples


def gauge(name: str, help: str, value: float, **labels: str) -> Metric:
    """A metric of one value that may rise and fall."""
    return Metric(name, "gauge", help, [("", labels, value)])


def page(metrics: Iterable[Metric]) -> str:
    """All metrics as Prometheus reads them; samples of one name stand together."""
    together: dict[str, Metric] = {}
    for metric in metrics:
        together.setdefault(metric.name, Metric(metric.name, metric.kind, metric.help, [])).samples.extend(
            metric.samples
        )
    return "".join(metric.text() for metric in together.values())


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    escaped = {
        name: value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") for name, value in labels.items()
    }
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped.items()) + "}"
