"""A study: which data, which lines, which settings and how many permutations, read from a TOML file.

::

    name = "pets"                        # all but data and lines may be left out
    permutations = 20
    budgets = "quarter-doubling"
    data = ["digits", "aslib/*"]         # known data, or tables [data.NAME] with files

    [settings]                           # of every line; a list of learning rates is tried, the best one shown
    learning_rate = [0.1, 0.5]

    [lines.passive]
    rule = "passive"

    [lines.coal]                         # a list of anything else gives a line per value
    mellowness = [0.1, 0.01, 0.001]
"""

import itertools
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from coalface.errors import InputError, StudyError
from coalface.studies import learners
from coalface.studies.checkpoint_costs import budgets_for
from coalface.studies.rates import Rate, as_rate
from coalface.studies.sources import Source, named_sources, table_source
from coalface.studies.toml_lines import Place, line_of, places

_KEYS = (
    "name",
    "title",
    "text",
    "permutations",
    "first_permutation",
    "budgets",
    "baseline",
    "data",
    "settings",
    "lines",
)
TUNED = "learning_rate"


@dataclass(frozen=True)
class Line:
    """One curve of a figure: a learner and all its settings but the learning rate; ``rates`` are tried."""

    name: str
    learner: str
    settings: Mapping[str, Any]
    rates: tuple[Rate, ...]

    @property
    def rule(self) -> str:
        """What decides the colour: the rule of our learner, or the name of another."""
        return learners.rule_of(self.learner, self.settings)


@dataclass(frozen=True)
class Study:
    """A checked study; ``sources`` says where the data comes from."""

    name: str
    title: str
    text: str
    permutations: range
    budgets: str | list[int]
    baseline: str
    sources: tuple[Source, ...]
    lines: tuple[Line, ...]
    toml: str = field(repr=False)

    @cached_property
    def n_cells(self) -> int:
        r"""How many runs the study takes.

        >>> Study.from_toml('data = ["digits"]\npermutations = 3\n[lines.coal]\nmellowness = [0.1, 0.01]').n_cells
        6
        """
        return len(self.sources) * len(self.permutations) * sum(len(line.rates) for line in self.lines)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Study":
        """The study of a file; its data files are looked for beside it."""
        source = Path(path)
        try:
            text = source.read_text(encoding="utf-8")
        except OSError as problem:
            raise StudyError(f"{source} cannot be read: {problem.strerror}. Check the path.") from None
        except UnicodeDecodeError as problem:
            raise StudyError(f"{source} must be UTF-8 text: {problem}. Save it again as UTF-8.") from None
        return cls.from_toml(text, source.stem, source.parent, str(source))

    @classmethod
    def from_toml(
        cls,
        text: str,
        name: str = "study",
        folder: Path = Path(),
        file: str = "study.toml",
        data_names: Sequence[str] | None = None,
    ) -> "Study":
        """The study of a text; errors name the line. With ``data_names``, its data is not looked for."""
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as problem:
            raise StudyError(f"{file} must be TOML: {problem}. Correct that line.") from None
        reader = _Reader(values, places(text), file)
        sources = reader.sources(folder) if data_names is None else tuple(Source(known) for known in data_names)
        return reader.study(text, name, sources)


class _Reader:
    """Turns the values of a file into a study; every complaint names the line."""

    def __init__(self, values: dict[str, Any], found: dict[Place, int], file: str) -> None:
        self.values, self.found, self.file = values, found, file

    def study(self, text: str, name: str, sources: tuple[Source, ...]) -> Study:
        """The study with this data."""
        self._only_known(self.values, _KEYS, ())
        first = self._whole("first_permutation", 0, least=0)
        lines = tuple(self._lines())
        baseline = self._text("baseline", "passive" if any(line.name == "passive" for line in lines) else lines[0].name)
        if baseline not in [line.name for line in lines]:
            known = ", ".join(line.name for line in lines)
            raise self._error(("baseline",), f"baseline must be one of {known}, got {baseline!r}")
        return Study(
            name=self._text("name", name),
            title=self._text("title", self._text("name", name)),
            text=self._text("text", "").strip(),
            permutations=range(first, first + self._whole("permutations", 20, least=1)),
            budgets=self._budgets(),
            baseline=baseline,
            sources=sources,
            lines=lines,
            toml=text,
        )

    def sources(self, folder: Path) -> tuple[Source, ...]:
        """Where the data comes from; files lie in the folder."""
        data = self.values.get("data")
        if not data:
            raise self._error(("data",), 'data must name at least one dataset, such as data = ["digits"]')
        if isinstance(data, dict):
            return tuple(self._source(name, table, folder) for name, table in data.items())
        try:
            return tuple(replace(source, place=self._place(("data",))) for source in named_sources(data))
        except InputError as problem:
            raise self._error(("data",), str(problem)) from None

    def _source(self, name: str, table: Any, folder: Path) -> Source:
        try:
            return replace(table_source(name, table, folder), place=self._place(("data", name)))
        except InputError as problem:
            raise self._error(("data", name, *_named(problem, table)), str(problem)) from None

    def _budgets(self) -> Any:
        budgets = self.values.get("budgets", "quarter-doubling")
        try:
            budgets_for(budgets, n_labels=2, n_examples=10)
        except InputError as problem:
            raise self._error(("budgets",), str(problem)) from None
        return budgets

    def _lines(self) -> Iterator[Line]:
        tables = self.values.get("lines")
        if not isinstance(tables, dict) or not tables:
            raise self._error(("lines",), "lines must have at least one table, such as [lines.coal]")
        shared = self.values.get("settings", {})
        if not isinstance(shared, dict):
            raise self._error(("settings",), "settings must be a table")
        seen: set[str] = set()
        for name, table in tables.items():
            if not isinstance(table, dict):
                raise self._error(("lines", name), f"lines.{name} must be a table such as [lines.{name}]")
            for line in self._expanded(name, table, shared):
                if line.name in seen:
                    raise self._error(("lines", name), f"two lines have the name {line.name!r}; rename one")
                seen.add(line.name)
                yield line

    def _expanded(self, name: str, table: dict[str, Any], shared: dict[str, Any]) -> Iterator[Line]:
        """A line per combination of listed values; the learning rates stay together."""
        learner, place = table.get("learner", "coal"), ("lines", name)
        try:
            known = learners.parameters_of(learner)
        except InputError as problem:
            raise self._error((*place, "learner"), str(problem)) from None
        own = {key: value for key, value in table.items() if key != "learner"}
        self._only_known(own, known, place)
        given = {key: value for key, value in shared.items() if key in known} | own
        self._only_known(shared, learners.every_parameter(), ("settings",))
        where = {key: place if key in own else ("settings",) for key in given}
        for key, value in given.items():
            if value == []:
                raise self._error((*where[key], key), f"{key} must have at least one value, got []")
        rates = tuple(_listed(given.pop(TUNED))) if TUNED in given else (None,)
        swept = {key: value for key, value in given.items() if isinstance(value, list) and not learners.is_pair(key)}
        for values in itertools.product(*swept.values()):
            settings = given | dict(zip(swept, values, strict=True))
            for rate in rates:
                self._check(learner, settings if rate is None else {**settings, TUNED: rate}, where)
            if len(rates) > 1 and len({as_rate(rate) for rate in rates}) < len(rates):
                raise self._error((*where[TUNED], TUNED), f"{TUNED} must have each value once, got {list(rates)}")
            yield Line(
                name=" ".join([name, *map(_shown, values)]),
                learner=learner,
                settings=settings,
                rates=tuple(learners.default_of(learner, TUNED) if rate is None else rate for rate in rates),
            )

    def _check(self, learner: str, settings: Mapping[str, Any], where: Mapping[str, Place]) -> None:
        try:
            learners.check(learner, settings)
        except InputError as problem:
            key = next(iter(_named(problem, settings)), "")
            raise self._error((*where.get(key, ("lines",)), key), str(problem)) from None

    def _only_known(self, table: Mapping[str, Any], known: Any, place: Place) -> None:
        for key in table:
            if key not in known:
                raise self._error(
                    (*place, key), f"{'.'.join((*place, key))} is not known here; possible are {', '.join(known)}"
                )

    def _text(self, key: str, default: str) -> str:
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self._error((key,), f"{key} must be a text, got {value!r}")
        return value

    def _whole(self, key: str, default: int, least: int) -> int:
        value = self.values.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self._error((key,), f"{key} must be a whole number from {least} on, got {value!r}")
        return value

    def _error(self, place: Place, what: str) -> StudyError:
        text = what.rstrip(".")
        return StudyError(f"{self._place(place)}: {text}" + ("" if text.endswith("?") else "."))

    def _place(self, place: Place) -> str:
        return f"{self.file}, line {line_of(self.found, place)}"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _shown(value: Any) -> str:
    if isinstance(value, dict):  # a budget
        return ", ".join(f"{key} {_shown(part)}" for key, part in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def _named(problem: Exception, keys: Any) -> tuple[str, ...]:
    """The key that a complaint is about: our errors name it first."""
    words = str(problem).replace("'", " ").split()
    return tuple(word for word in words if isinstance(keys, dict) and word in keys)[:1]
