"""A study: its data, lines, settings and permutations, read from a TOML file.

::

    name = "pets"                        # only data and lines are required
    permutations = 20
    checkpoints = "quarter-doubling"     # numbers of costs at which the test cost is measured
    plugins = ["mine"]                   # code beside this file, with learners and data of its own
    data = ["digits", "aslib/*"]         # known data, or tables [data.NAME] with files

    [settings]                           # of every line; the report shows the best of several learning rates
    learning_rate = [0.1, 0.5]           # of a learner of ours, this is also called model.learning_rate
    rule.warm_up = 10

    [lines.passive]
    rule = "passive"

    [lines.coal]                         # a list of anything else gives one line per value
    mellowness = [0.1, 0.01, 0.001]
"""

import itertools
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from coalface.data import is_whole
from coalface.errors import InputError, StudyError
from coalface.evaluate import Checkpoints, checkpoint_costs
from coalface.studies.learners import LEARNERS, TUNED, Rate, StudyLearner, as_rate, find_learner
from coalface.studies.plugins import Plugin
from coalface.studies.sources import Source, named_sources, table_source

_KEYS = (
    "name",
    "title",
    "text",
    "permutations",
    "first_permutation",
    "checkpoints",
    "baseline",
    "plugins",
    "data",
    "settings",
    "lines",
)
_LISTS = ("cost_bounds", "model.interactions", "model.joining")  # whose value is one list, not several to try
_NAMES = {"rule.variant": "rule", "audits.by": "audits", "model.kind": "model", f"model.{TUNED}": TUNED}
Table = tuple[str, ...]  # the name of a TOML table in parts; empty for the top level


@dataclass(frozen=True)
class Line:
    """One curve of a figure: a learner and its settings; of the learning rates ``rates`` the best is shown."""

    name: str
    learner: StudyLearner
    settings: Mapping[str, Any]
    rates: tuple[Rate, ...]
    plugins: tuple[Plugin, ...] = ()  # that have the learner

    @property
    def rule(self) -> str:
        """The rule of our learner, or the name of a baseline; it decides the colour."""
        return str(self.settings.get("rule", self.learner.parameters.get("rule", self.learner.name)))


@dataclass(frozen=True)
class Study:
    r"""A checked study; ``sources`` are its datasets.

    >>> lines = '[lines.coal]\n[lines.passive]\nrule = "passive"'
    >>> study = Study.from_toml('data = ["iris", "wine"]\npermutations = 3\n' + lines)
    >>> [line.name for line in study.lines], study.permutations, study.n_cells
    (['coal', 'passive'], range(0, 3), 12)
    """

    name: str
    title: str
    text: str
    permutations: range
    checkpoints: Checkpoints
    baseline: str
    sources: tuple[Source, ...]
    lines: tuple[Line, ...]
    toml: str = field(repr=False)

    @cached_property
    def n_cells(self) -> int:
        r"""The number of runs of the study.

        >>> Study.from_toml('data = ["digits"]\npermutations = 3\n[lines.coal]\nmellowness = [0.1, 0.01]').n_cells
        6
        """
        return len(self.sources) * len(self.permutations) * sum(len(line.rates) for line in self.lines)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, allow_plugins: bool = False) -> "Study":
        """The study of a file; paths of its data files are relative to it.

        The plug-ins that it names run only with ``allow_plugins``.
        """
        source = Path(path)
        try:
            text = source.read_text(encoding="utf-8")
        except OSError as problem:
            raise StudyError(f"{source} cannot be read: {problem.strerror}. Check the path.") from None
        except UnicodeDecodeError as problem:
            raise StudyError(f"{source} must be UTF-8 text: {problem}. Save it again as UTF-8.") from None
        return cls.from_toml(text, source.stem, source.parent, str(source), allow_plugins=allow_plugins)

    @classmethod
    def from_toml(
        cls,
        text: str,
        name: str = "study",
        folder: Path = Path(),
        file: str = "study.toml",
        *,
        allow_plugins: bool = False,
    ) -> "Study":
        """The study of a text; errors name the table and the key."""
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as problem:
            raise StudyError(f"{file} must be TOML: {problem}. Correct that line.") from None
        reader = _StudyReader(values, file)
        reader.read_plugins(folder, allowed=allow_plugins)
        return reader.study(text, name, reader.sources(folder))

    @classmethod
    def recorded(
        cls, text: str, name: str, data_names: Sequence[str], offered: Mapping[str, Mapping[str, Any]]
    ) -> "Study":
        """The study of a finished sweep, which was checked when it ran: no learner is made, no data is read.

        ``offered`` has what was noted of the learners of plug-ins, by name; no plug-in is run.
        """
        learners: dict[str, Any] = {name: SimpleNamespace(name=name, **offered[name]) for name in offered}
        reader = _StudyReader(tomllib.loads(text), "study.toml", recorded=learners)
        return reader.study(text, name, tuple(map(Source, data_names)))

    @property
    def offered(self) -> dict[str, dict[str, Any]]:
        """What a report must know of the learners of plug-ins, which it does not run."""
        lines = {line.learner.name: line.learner for line in self.lines if line.plugins}
        return {name: {"asks": found.asks, "parameters": dict(found.parameters)} for name, found in lines.items()}


class _StudyReader:
    """Turns the values of a file into a study; errors name the table and the key."""

    def __init__(self, values: dict[str, Any], file: str, recorded: Mapping[str, StudyLearner] | None = None) -> None:
        self.values, self.file, self.recorded = values, file, recorded
        self.plugins: tuple[Plugin, ...] = ()

    def read_plugins(self, folder: Path, *, allowed: bool) -> None:
        """Read the plug-ins of the folder that the file names; an error if it may not name any."""
        names = self.values.get("plugins", [])
        if names and not allowed:
            raise self._error((), f"plugins names code to run, {names}. Read it, and pass --allow-plugins to run it")
        try:
            self.plugins = tuple(Plugin.beside(folder, name) for name in _listed(names))
        except InputError as problem:
            raise self._error((), str(problem)) from None

    def study(self, text: str, name: str, sources: tuple[Source, ...]) -> Study:
        """The study with this data."""
        self._only_known(self.values, _KEYS, ())
        first = self._whole("first_permutation", 0, least=0)
        lines = tuple(self._lines())
        baseline = self._text("baseline", "passive" if any(line.name == "passive" for line in lines) else lines[0].name)
        if baseline not in [line.name for line in lines]:
            known = ", ".join(line.name for line in lines)
            raise self._error((), f"baseline must be one of {known}, got {baseline!r}")
        return Study(
            name=self._text("name", name),
            title=self._text("title", self._text("name", name)),
            text=self._text("text", "").strip(),
            permutations=range(first, first + self._whole("permutations", 20, least=1)),
            checkpoints=self._checkpoints(),
            baseline=baseline,
            sources=sources,
            lines=lines,
            toml=text,
        )

    def sources(self, folder: Path) -> tuple[Source, ...]:
        """The datasets; their files are in the folder."""
        data = self.values.get("data")
        if not data:
            raise self._error((), 'data must name at least one dataset, such as data = ["digits"]')
        if isinstance(data, dict):
            return tuple(self._source(name, table, folder) for name, table in data.items())
        try:
            return tuple(
                replace(source, place=f"{self.file}, data {source.name!r}")
                for source in named_sources(data, self.plugins)
            )
        except InputError as problem:
            raise self._error((), str(problem)) from None

    def _source(self, name: str, table: Any, folder: Path) -> Source:
        try:
            return replace(table_source(name, table, folder, self.plugins), place=self._place(("data", name)))
        except InputError as problem:
            raise self._error(("data", name), str(problem)) from None

    def _checkpoints(self) -> Checkpoints:
        checkpoints: Checkpoints = self.values.get("checkpoints", "quarter-doubling")
        try:
            checkpoint_costs(checkpoints, n_labels=2, n_examples=10)
        except InputError as problem:
            raise self._error((), str(problem)) from None
        return checkpoints

    def _lines(self) -> Iterator[Line]:
        tables = self.values.get("lines")
        if not isinstance(tables, dict) or not tables:
            raise self._error((), "lines must have at least one table, such as [lines.coal]")
        shared = self.values.get("settings", {})
        if not isinstance(shared, dict):
            raise self._error((), f"settings must be a table [settings], got {shared!r}")
        learners = {name: self._learner(name, table) for name, table in tables.items()}
        known = (*LEARNERS.values(), *learners.values())  # settings may be those of any learner of ours
        every = tuple(dict.fromkeys(name for learner in known for name in learner.parameters))
        shared = _by_path(shared, every)
        self._only_known(shared, every, ("settings",))
        seen: set[str] = set()
        for name, table in tables.items():
            for line in self._expanded(name, learners[name], table, shared):
                if line.name in seen:
                    raise self._error(
                        ("lines", name), f"another line has the name {line.name!r}, too. Rename one of them"
                    )
                seen.add(line.name)
                yield line

    def _learner(self, name: str, table: Any) -> StudyLearner:
        """The learner of a line."""
        if not isinstance(table, dict):
            raise self._error(("lines",), f"{name} must be a table [lines.{name}], got {table!r}")
        wanted = table.get("learner", "coal")
        if self.recorded and wanted in self.recorded:
            return self.recorded[wanted]
        try:
            return find_learner(wanted, self.plugins)
        except InputError as problem:
            raise self._error(("lines", name), str(problem)) from None

    def _expanded(
        self, name: str, learner: StudyLearner, table: dict[str, Any], shared: dict[str, Any]
    ) -> Iterator[Line]:
        """A line per combination of listed values; the learning rates stay together."""
        own_table, known = ("lines", name), tuple(learner.parameters)
        own = _by_path({key: value for key, value in table.items() if key != "learner"}, known)
        self._only_known(own, known, own_table)
        given = {key: value for key, value in shared.items() if _is_known(key, known)} | own
        tables = {key: own_table if key in own else ("settings",) for key in given}
        for key, value in given.items():
            if value == []:
                raise self._error(tables[key], f"{key} must have at least one value, got []")
        rates = tuple(_listed(given.pop(TUNED))) if TUNED in given else (None,)
        swept = {key: value for key, value in given.items() if isinstance(value, list) and key not in _LISTS}
        for values in itertools.product(*swept.values()):
            settings = given | dict(zip(swept, values, strict=True))
            for rate in rates:
                self._check(learner, settings if rate is None else {**settings, TUNED: rate}, own_table, tables)
            if len(rates) > 1 and len({as_rate(rate) for rate in rates}) < len(rates):
                raise self._error(tables[TUNED], f"{TUNED} must have each value once, got {list(rates)}")
            yield Line(
                name=" ".join([name, *map(_shown, values)]),
                learner=learner,
                settings=settings,
                rates=tuple(learner.parameters.get(TUNED, 0.0) if rate is None else rate for rate in rates),
                plugins=tuple(plugin for plugin in self.plugins if learner.name in plugin.learners),
            )

    def _check(
        self, learner: StudyLearner, settings: Mapping[str, Any], own_table: Table, tables: Mapping[str, Table]
    ) -> None:
        if self.recorded is not None:
            return
        try:
            learner.check(settings, n_labels=2)
        except InputError as problem:
            raise self._error(tables.get(_key_named_in(problem, settings), own_table), str(problem)) from None

    def _only_known(self, values: Mapping[str, Any], known: Sequence[str], table: Table) -> None:
        for key in values:
            if self.recorded is None and not _is_known(key, known):
                raise self._error(table, f"{key} is not a known key. Use one of {', '.join(known)}")

    def _text(self, key: str, default: str) -> str:
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self._error((), f"{key} must be a text, got {value!r}")
        return value

    def _whole(self, key: str, default: int, least: int) -> int:
        value = self.values.get(key, default)
        if not is_whole(value) or value < least:
            raise self._error((), f"{key} must be a whole number, at least {least}, got {value!r}")
        return int(value)

    def _error(self, table: Table, what: str) -> StudyError:
        text = what.rstrip(".")
        return StudyError(f"{self._place(table)}: {text}" + ("" if text.endswith("?") else "."))

    def _place(self, table: Table) -> str:
        return ", ".join(filter(None, (self.file, ".".join(table))))


def _by_path(table: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """The settings of a table by path: ``rule = {warm_up = 10}`` is ``rule.warm_up = 10``.

    >>> _by_path({"rule": {"variant": "passive", "warm_up": 10}, "budget": {"costs": 9}}, ["rule", "rule.warm_up"])
    {'rule': 'passive', 'rule.warm_up': 10, 'budget': {'costs': 9}}
    """
    found: dict[str, Any] = {}
    for key, value in table.items():
        has_parts = isinstance(value, dict) and any(name.startswith(f"{key}.") for name in known)
        parts = {f"{key}.{part}": inner for part, inner in value.items()} if has_parts else {key: value}
        found.update((_NAMES.get(path, path), inner) for path, inner in parts.items())
    return found


def _is_known(key: str, known: Sequence[str]) -> bool:
    """Whether a learner has the setting; its model, which another setting chooses, checks the model's own."""
    return key in known or (key.startswith("model.") and "model" in known)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _shown(value: Any) -> str:
    if isinstance(value, dict):  # a budget
        return ", ".join(f"{key} {_shown(part)}" for key, part in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def _key_named_in(problem: Exception, settings: Mapping[str, Any]) -> str:
    """The first setting that an error names; empty if it names none."""
    keys = {key.rpartition(".")[2]: key for key in settings}
    return next((keys[word] for word in str(problem).replace("'", " ").split() if word in keys), "")
