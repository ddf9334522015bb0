"""The datasets of a study: known data and data of plug-ins by name, or files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from coalface.data import TrainTest, holds_train_test, is_number, read_dataset, read_train_test
from coalface.errors import FileFormatError, InputError, StudyError
from coalface.studies.known.catalogue import check_known, known_data, load_known
from coalface.studies.plugins import Plugin

_FILE_KEYS = ("train", "test", "test_fraction", "format")


@dataclass(frozen=True)
class Source:
    """One dataset of a study: a known name, or a training file with its test data and reader options."""

    name: str
    known: str = ""
    loader: Callable[[str], TrainTest] = load_known  # of the known name
    train: Path | None = None
    test: Path | None = None
    test_fraction: float = 0.2
    format: str = "auto"
    options: tuple[tuple[str, Any], ...] = ()
    place: str = "study"  # where the study names it, for errors

    def load(self) -> TrainTest:
        """Training and test data with the same labels; an error names the place in the study."""
        try:
            return self._load()
        except (InputError, FileFormatError) as problem:
            raise StudyError(f"{self.place}: {problem}") from None

    def _load(self) -> TrainTest:
        if self.train is None:
            return self.loader(self.known)
        options = dict(self.options)
        if self.test is None and not options and holds_train_test(self.train):
            return read_train_test(self.train)
        train = read_dataset(self.train, self.format, **options)
        if self.test is None:
            return train.split(self.test_fraction)
        test = read_dataset(self.test, self.format, **options)
        ours, theirs = train.classes.tolist(), test.classes.tolist()
        if ours != theirs:
            only = [label for label in [*ours, *theirs] if (label in ours) != (label in theirs)] or "another order"
            raise InputError(
                f"{self.train} and {self.test} must have the same labels, they differ in {only}. "
                "List all labels with classes = [...]."
            )
        return TrainTest(train, test)


def named_sources(names: Any, plugins: Sequence[Plugin] = ()) -> tuple[Source, ...]:
    """Data of plug-ins, and known data, from a list of names; in one of known data, ``*`` matches any text.

    >>> [source.name for source in named_sources(["digits*"])]
    ['digits', 'digits-distance']
    """
    if not isinstance(names, list):
        raise InputError(f"data must be a list of names or tables [data.NAME], got {names!r}")
    found = {source.name: source for pattern in names for source in _matching(pattern, plugins)}
    return tuple(found.values())


def _matching(pattern: Any, plugins: Sequence[Plugin]) -> list[Source]:
    if not isinstance(pattern, str):
        raise InputError(f"data must be a list of names, got one that is {pattern!r}")
    if "*" not in pattern:
        return [_named(pattern, pattern, plugins)]
    names = [known.name for known in known_data() if fnmatchcase(known.name, pattern)]
    if not names:
        raise InputError(f"data must name known data, nothing matches {pattern!r}. See `coalface data list`")
    return [Source(name, known=name) for name in names]


def _named(name: str, known: str, plugins: Sequence[Plugin]) -> Source:
    """The data of a plug-in, or known data, under a name."""
    loader = next(filter(None, (plugin.loader_of(known) for plugin in plugins)), None)
    if loader is None:
        check_known(known)
    return Source(name, known=known, loader=loader or load_known)


def table_source(name: str, table: Any, folder: Path, plugins: Sequence[Plugin]) -> Source:
    """The dataset of a table ``[data.NAME]``: files relative to the study, or known data under another name."""
    if not isinstance(table, dict):
        raise InputError(f"{name} must be a table [data.{name}], got {table!r}")
    options = {key: value for key, value in table.items() if key not in (*_FILE_KEYS, "known")}
    if "train" not in table:
        if set(table) - {"known"}:
            raise InputError(f"train must name a file, or the table may have known = NAME alone, got {sorted(table)}")
        return _named(name, _text(table, "known", name), plugins)
    fraction = table.get("test_fraction", 0.2)
    if not is_number(fraction) or not 0 < fraction < 1:
        raise InputError(f"test_fraction must be between 0 and 1, got {fraction!r}")
    if isinstance(options.get("cost_matrix"), str):
        options["cost_matrix"] = folder / options["cost_matrix"]
    return Source(
        name=name,
        train=folder / _text(table, "train"),
        test=folder / _text(table, "test") if "test" in table else None,
        test_fraction=float(fraction),
        format=_text(table, "format", "auto"),
        options=tuple(options.items()),
    )


def _text(table: dict[str, Any], key: str, default: str = "") -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        raise InputError(f"{key} must be a text, got {value!r}")
    return value
