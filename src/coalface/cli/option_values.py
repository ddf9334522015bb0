"""Parses and checks the values of options; an error names the option."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from coalface.errors import InputError
from coalface.extras import what_lacks

if TYPE_CHECKING:
    from coalface.learner import Budget

MODEL_EXISTS = "Pass --continue to learn more with it, or another --model."
_LISTS = {"ignore", "text", "keep", "ngrams", "skips", "classes", "feature_names"}
_FLAGS = {"zero_based", "grouped"}
READER_OPTIONS = frozenset(  # of all formats
    (
        *("bits", "classes", "cost_matrix", "encoder", "feature_names", "features", "first_label", "grouped", "id"),
        *("ignore", "keep", "label", "labels", "n_features", "name", "ngrams", "skips", "tag", "targets", "text"),
        *("decimal", "embed", "encoding", "separator", "verify", "word", "zero_based"),
    )
)
_INTEGERS = {"bits", "n_features", "first_label", "word", "tag"}


def given(**settings: Any) -> dict[str, Any]:
    """The settings that the user gave; the library has defaults for the others.

    >>> given(rule=None, mellowness=0.0)
    {'mellowness': 0.0}
    """
    return {name: value for name, value in settings.items() if value is not None}


def check_nothing_given(names: Sequence[str]) -> None:
    """Refuse settings together with ``--continue``: the model was learned with its own.

    >>> check_nothing_given([])
    """
    if names:
        raise InputError(f"{names[0]} cannot change with --continue: the model keeps its settings. Leave it out.")


def check_output(path: Path, option: str) -> None:
    """Refuse an output file that cannot be written, before the work begins.

    >>> check_output(Path("lost", "run.html"), "--report")
    Traceback (most recent call last):
    coalface.errors.InputError: --report must lie in a folder that exists, got 'lost/run.html'. Make the folder first.
    """
    if path.is_dir():
        raise InputError(f"{option} must name a file, got the folder {str(path)!r}. Add a file name.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{option} must lie in a folder that exists, got {path.as_posix()!r}. Make the folder first.")


def check_drawn(path: Path | None, option: str = "--report") -> None:
    """Refuse a report or figure that cannot be drawn or written, before the work begins."""
    if path is not None:
        check_output(path, option)
        if lacking := what_lacks("report", option):
            raise InputError(lacking)


def check_new(path: Path, advice: str, **remedy: Any) -> None:
    """Refuse to overwrite what exists.

    >>> check_new(Path("."), "Choose another name, or overwrite it.", force=True)
    Traceback (most recent call last):
    coalface.errors.InputError: . exists already. Choose another name, or overwrite it.
    """
    if path.exists():
        raise InputError(f"{path} exists already. {advice}", remedy=remedy)


def check_target(path: Path, *, force: bool) -> None:
    """Refuse to overwrite what exists, unless the user gave ``--force``.

    >>> check_target(Path("lost", "calls.vw"), force=False)
    """
    if not force:
        check_new(path, "Choose another name, or overwrite it.", force=True)


def number_or_auto(number: Callable[[str], float], text: str) -> float | str:
    """A number, or the word auto.

    >>> number_or_auto(int, "10"), number_or_auto(float, "auto")
    (10, 'auto')
    """
    try:
        return text if text == "auto" else number(text)
    except ValueError:
        kind = "a whole number" if number is int else "a number"
        raise typer.BadParameter(f"it must be {kind} or auto, got {text!r}") from None


def names_in(option: str, text: str) -> list[str]:
    """The names in a list such as ``refund,billing``.

    >>> names_in("--classes", "refund, billing")
    ['refund', 'billing']
    """
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise InputError(f"{option} must be names with a comma between them, got {text!r}. Name them like a,b,c.")
    return names


def numbers_in(option: str, text: str | None) -> dict[str, float]:
    """The numbers in a list such as ``right=0,near miss=1``.

    >>> numbers_in("--levels", "right=0, near miss=1")
    {'right': 0.0, 'near miss': 1.0}
    """
    from coalface.data import spells_number

    pairs = pairs_in(option, text, "NAME=NUMBER")
    for name, number in pairs.items():
        if not spells_number(number):
            raise InputError(f"{option} must be NAME=NUMBER,NAME=NUMBER, got '{name}={number}'. Write it like a=1,b=2.")
    return {name: float(number) for name, number in pairs.items()}


def pairs_in(option: str, text: str | None, form: str) -> dict[str, str]:
    """The pairs in a list such as ``model=llm,loss=wrong``.

    >>> pairs_in("--columns", "model=llm, loss=wrong", "ROLE=COLUMN")
    {'model': 'llm', 'loss': 'wrong'}
    """
    pairs: dict[str, str] = {}
    for part in text.split(",") if text else []:
        name, _, value = (piece.strip() for piece in part.rpartition("="))
        if not name or not value:
            raise InputError(f"{option} must be {form},{form}, got {part!r}. Separate the parts with commas.")
        if name in pairs:
            raise InputError(f"{option} must have each name once, got {name!r} twice. Leave one of them out.")
        pairs[name] = value
    return pairs


def interactions_in(text: str) -> int | list[list[list[int]]]:
    """The interactions of ``--interactions``.

    >>> interactions_in("2"), interactions_in("0:40x40:90,0:40x0:40")
    (2, [[[0, 40], [40, 90]], [[0, 40], [0, 40]]])
    """
    try:
        if text.isdecimal():
            return int(text)
        pairs = [pair.split("x") for pair in text.split(",")]
        return [[[int(end) for end in one.split(":")] for one in pair] for pair in pairs]
    except ValueError:
        raise InputError(
            f"--interactions must be 2 or pairs of column ranges, got {text!r}. Write them like 0:40x40:90."
        ) from None


def embedder_in(text: str | None) -> str | None:
    """What makes vectors of texts; None for words.

    >>> embedder_in("minilm"), embedder_in("words")
    ('minilm', None)
    """
    if text not in (None, "words", "minilm"):
        raise InputError(f"--features must be words or minilm, got {text!r}. Choose one.")
    return text if text == "minilm" else None


def budget_in(text: str | None, over: int | None = None) -> "Budget | None":
    """The budget of ``--budget``; ``over`` is the number of examples if the text does not give it.

    >>> budget_in("price=100,price_per_example=3", over=50).plain()
    {'over': 50, 'price': 100.0, 'price_per_example': 3.0}
    """
    from coalface.learner import Budget

    if text is None:
        return None
    return Budget.of({**given(over=over), **numbers_in("--budget", text)})


def reader_options(named: Sequence[str] | None) -> dict[str, Any]:
    """The options of a reader from ``--reader NAME=VALUE``.

    >>> reader_options(["ignore=id,date", "bits=20"])
    {'ignore': ['id', 'date'], 'bits': 20}
    """
    options: dict[str, Any] = {}
    for text in named or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"--reader must be NAME=VALUE, got {text!r}. Write it like ignore=id,date.")
        name = name.replace("-", "_")
        options[name] = _reader_value(name, value)
    return options


def _reader_value(name: str, text: str) -> str | int | bool | list[str]:
    if name in _LISTS:
        return names_in(f"--reader {name}", text)
    if name in _FLAGS and text in ("true", "false"):
        return text == "true"
    if name not in _INTEGERS:
        return text
    try:
        return int(text)
    except ValueError:
        raise InputError(f"--reader {name} must be a whole number, got {text!r}. Write one such as 18.") from None
