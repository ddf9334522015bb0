"""The text format of Prometheus."""

from collections.abc import Iterable
from dataclasses import dataclass

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
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
