"""Where a study's data comes from: known data by name, or files."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from coalface.data.catalogue import known_data, load_known
from coalface.data.dataset import TrainTest
from coalface.data.readers import read_dataset
from coalface.data.splits import holds_train_test, read_train_test
from coalface.errors import InputError

_FILE_KEYS = ("train", "test", "test_fraction", "format")


@dataclass(frozen=True)
class Source:
    """One dataset of a study: a known name, or a training file with its test data and reader options."""

    name: str
    known: str = ""
    train: Path | None = None
    test: Path | None = None
    test_fraction: float = 0.2
    format: str = "auto"
    options: tuple[tuple[str, Any], ...] = ()

    def load(self) -> TrainTest:
        """Training and test data; both agree on their labels."""
        if self.train is None:
            return load_known(self.known)
        options = dict(self.options)
        if self.test is None and not options and holds_train_test(self.train):
            return read_train_test(self.train)
        train = read_dataset(self.train, self.format, **options)
        if self.test is None:
            return train.split(self.test_fraction)
        test = read_dataset(self.test, self.format, **options)
        if train.classes.tolist() != test.classes.tolist():
            raise InputError(
                f"The labels of {self.train} and {self.test} must be the same, in the same order. Pass classes=[...]."
            )
        return TrainTest(train, test)


def sources_of(data: Any, folder: Path) -> tuple[Source, ...]:
    """The datasets of a study, from a list of known names (``*`` stands for anything) or from tables.

    >>> [source.name for source in sources_of(["digits*"], Path())]
    ['digits', 'digits-distance']
    """
    if isinstance(data, list):
        found = tuple(dict.fromkeys(name for pattern in data for name in _matching(pattern)))
        return tuple(Source(name, known=name) for name in found)
    if not isinstance(data, dict):
        raise InputError(f"data must be a list of names or tables [data.NAME], got {data!r}")
    return tuple(_from_table(name, table, folder) for name, table in data.items())


def _matching(pattern: Any) -> list[str]:
    if not isinstance(pattern, str):
        raise InputError(f"data must be a list of names, got {pattern!r} in it")
    if "*" not in pattern:
        return [pattern]
    names = [known.name for known in known_data() if fnmatchcase(known.name, pattern)]
    if not names:
        raise InputError(f"data has no known name like {pattern!r}; see `coalface data list`")
    return names


def _from_table(name: str, table: Any, folder: Path) -> Source:
    if not isinstance(table, dict):
        raise InputError(f"{name} must be a table [data.{name}], got {table!r}")
    options = {key: value for key, value in table.items() if key not in (*_FILE_KEYS, "known")}
    if "train" not in table:
        if set(table) - {"known"}:
            raise InputError(f"{name} must say train = a file, or be a known name alone, got {sorted(table)}")
        return Source(name, known=table.get("known", name))
    fraction = table.get("test_fraction", 0.2)
    if isinstance(fraction, bool) or not isinstance(fraction, int | float) or not 0 < fraction < 1:
        raise InputError(f"{name} must have a test_fraction between 0 and 1, got {fraction!r}")
    for key in ("cost_matrix",):
        if isinstance(options.get(key), str):
            options[key] = folder / options[key]
    return Source(
        name=name,
        train=folder / str(table["train"]),
        test=folder / str(table["test"]) if "test" in table else None,
        test_fraction=float(fraction),
        format=str(table.get("format", "auto")),
        options=tuple(options.items()),
    )
