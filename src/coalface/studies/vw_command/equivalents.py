"""The coalface command and the Python code that repeat a VW command without VW's options."""

from collections.abc import Iterable
from pathlib import Path
from shlex import join
from typing import Any

from coalface.data.formats.readers import format_of
from coalface.errors import InputError
from coalface.models.interactions import ALL_PAIRS
from coalface.models.online import OnlineModel
from coalface.studies.vw_command.learning import VwRun
from coalface.studies.vw_command.progressive import labelled_rows

_SHOWN = 5  # predictions in the Python lines


def command_line(run: VwRun) -> str:
    """The line of ``coalface`` that gives the same model, or the reason why there is none."""
    command = run.command
    file = [str(command.data), *([] if _is_recognised(command.data) else ["--format", "vw"])]
    if command.test_only:
        return join(["coalface", "predict", str(command.model_in), *file, "--costs", *_reader_words(run)])
    if run.asks:
        return _simulate_line(run, file)
    model = str(command.model_in or new_model(command.data, command.model_out))
    again = join(["coalface", "train", *file, "--model", model, "--continue", *_reader_words(run)])
    if command.model_in is not None:
        return " && ".join([again] * command.passes)
    labels = ["--classes", _listed(run.reading["classes"])] if "classes" in run.reading else []
    words = ["coalface", "train", *file, "--model", model, *labels, *_setting_words(run.settings), *_reader_words(run)]
    return " && ".join([join(words), *[again] * (command.passes - 1)])


def _simulate_line(run: VwRun, file: list[str]) -> str:
    command = run.command
    if command.passes > 1:
        return "(coalface simulate makes one pass; see the Python lines)"
    if len(labelled_rows(run.dataset)) < len(run.dataset):
        return "(coalface simulate asks about examples without costs as well; see the Python lines)"
    if command.model_in is not None:
        return "(coalface simulate starts with a new model; see the Python lines)"
    labels = ["--reader", f"classes={_listed(run.reading['classes'])}"] if "classes" in run.reading else []
    save = ["--save", str(new_model(command.data, command.model_out))]
    words = ["coalface", "simulate", *file, "--test-fraction", "0", "--no-shuffle", *_setting_words(run.settings)]
    return join([*words, *labels, *_reader_words(run), *save])


def python_lines(run: VwRun) -> str:
    """The lines of Python that give the same model, and print a number to compare."""
    command = run.command
    lines = _beginning(run)
    learner = "learner" if command.model_in is None else "named.learner"
    if command.test_only:
        lines.append(f"print(named.learner.predict_cost(data.X)[:{_SHOWN}])")
    elif run.asks:
        lines += _asking_lines(run, learner)
    else:
        call = f"{learner}.partial_fit(data.X, cost=data.cost, candidates=data.candidates)"
        lines += [f"for _ in range({command.passes}):", f"    {call}"] if command.passes > 1 else [call]
        lines.append(f"print({learner}.predict_cost(data.X)[:{_SHOWN}])")
    return "\n".join(lines)


def _beginning(run: VwRun) -> list[str]:
    """The imports, the learner and its data."""
    command, reading = run.command, _reading(run)
    simulates = run.asks and not command.test_only
    if command.model_in is not None:
        return [
            "from pathlib import Path",
            *(["", "from coalface import simulate"] if simulates else [""]),
            "from coalface.learner.named_learner import NamedLearner",
            "",
            f"named = NamedLearner.load(Path({str(command.model_in)!r}))",
            f'data = named.read(Path({str(command.data)!r}), "vw", {reading!r})',
        ]
    recognised = {} if _is_recognised(command.data) else {"format": "vw"}
    model = ["OnlineModel"] if "model" in run.settings else []
    names = ["CoalClassifier", *model, "read_dataset", *(["simulate"] if simulates else [])]
    options = ", ".join(f"{name}={_text(value)}" for name, value in (recognised | reading).items())
    settings = ", ".join(f"{name}={_text(value)}" for name, value in run.settings.items())
    return [
        f"from coalface import {', '.join(names)}",
        "",
        f"data = read_dataset({str(command.data)!r}{', ' if options else ''}{options})",
        f"learner = CoalClassifier.as_published(classes=data.classes, {settings})",
    ]


def _asking_lines(run: VwRun, learner: str) -> list[str]:
    all_rows = len(labelled_rows(run.dataset)) == len(run.dataset)
    rows = "range(len(data))" if all_rows else "[i for i, cost in enumerate(data.cost) if (cost == cost).any()]"
    order = [f"order = list({rows}) * {run.command.passes}"] if run.command.passes > 1 or not all_rows else []
    given = ", order=order" if order else ""
    before = run.named.learner.costs_queried_ - run.queries
    asked = f"{learner}.costs_queried_" + (f" - {before}" if before else "")
    call = f"simulate({learner}, data.X, data.cost, candidates=data.candidates{given})"
    return [*order, call, f"print({asked})  # {run.queries}"]


def _reading(run: VwRun) -> dict[str, Any]:
    """The options of the reader that are not its defaults for such a file."""
    return {name: value for name, value in run.reading.items() if (name, value) != ("targets", "costs")}


def _reader_words(run: VwRun) -> list[str]:
    words = []
    for name, value in _reading(run).items():
        if name != "classes":  # an option of its own in coalface train
            words += ["--reader", f"{name}={_listed(value) if isinstance(value, list) else str(value).lower()}"]
    return words


def _listed(items: Iterable[Any]) -> str:
    return ",".join(map(str, items))


def _setting_words(settings: dict[str, Any]) -> list[str]:
    words = ["--as-published"]
    for name, value in settings.items():
        if name == "model":
            words += ["--interactions", _ranges_text(value.interactions)]
        elif name == "fit_intercept":
            words.append("--no-intercept")
        else:
            values = value if isinstance(value, tuple) else (value,)
            words += [f"--{name.replace('_', '-')}", *(str(one) for one in values)]
    return words


def _ranges_text(interactions: Any) -> str:
    if interactions == ALL_PAIRS:
        return str(ALL_PAIRS)
    return ",".join("x".join(f"{start}:{end}" for start, end in pair) for pair in interactions)


def _text(value: Any) -> str:
    return f"OnlineModel({value.interactions!r})" if isinstance(value, OnlineModel) else repr(value)


def _is_recognised(path: Path) -> bool:
    try:
        return format_of(path) == "vw"
    except InputError:
        return False


def new_model(data: Path, taken: Path | None) -> Path:
    """A name for a model of this data that no file has.

    >>> new_model(Path("train.vw"), None), new_model(Path("train.vw"), Path("train.coal"))
    (PosixPath('train.coal'), PosixPath('train-2.coal'))
    """
    stem, number = data.name.split(".")[0], 1
    path = data.with_name(f"{stem}.coal")
    while path == taken or path.exists():
        number += 1
        path = data.with_name(f"{stem}-{number}.coal")
    return path
