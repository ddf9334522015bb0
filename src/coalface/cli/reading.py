"""Data from a command's options, and data as an existing model numbers its features and labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.cli.models import Model
    from coalface.data.dataset import CostDataset, TrainTest

_LISTS = {"ignore", "classes", "feature_names"}
_WHOLE = {"bits", "n_features", "first_label", "word", "tag"}
_SPARSE_TEXT = (".vw", ".txt", ".dat", ".svm", ".svmlight", ".libsvm")


def reader_options(label: str | None, cost_matrix: Path | None, named: Sequence[str] | None) -> dict[str, Any]:
    """The options of a reader from ``--label``, ``--cost-matrix`` and ``--reader NAME=VALUE``.

    >>> reader_options("kind", None, ["ignore=id,date", "bits=20"])
    {'label': 'kind', 'ignore': ['id', 'date'], 'bits': 20}
    """
    options: dict[str, Any] = {}
    if label is not None:
        options["label"] = label
    if cost_matrix is not None:
        options["cost_matrix"] = cost_matrix
    for text in named or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"--reader must be NAME=VALUE, got {text!r}. Write it like ignore=id,date.")
        options[name.replace("-", "_")] = _value(name.replace("-", "_"), value)
    return options


def listed(option: str, text: str) -> list[str]:
    """The names in a list such as ``refund,billing``.

    >>> listed("--classes", "refund, billing")
    ['refund', 'billing']
    """
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise InputError(f"{option} must be names with a comma between them, got {text!r}. Name them like a,b,c.")
    return names


def read(path: Path, format: str, options: dict[str, Any]) -> "CostDataset":
    """The dataset of a file or folder."""
    from coalface.data.formats.readers import read_dataset

    return read_dataset(path, format, **options)


def both_parts(data: Path, format: str, reading: dict[str, Any]) -> "TrainTest | None":
    """Both parts where the data has two; a path that exists comes before a known name."""
    from coalface.data.formats.train_test import holds_train_test, read_train_test
    from coalface.data.known.catalogue import is_known, load_known

    known = not data.exists() and (is_known(data.as_posix()) or not data.suffix)
    if format != "auto" or not (known or holds_train_test(data)):
        return None
    if reading:
        option = next(iter(reading))
        raise InputError(f"{data} is known as it is and takes no option of a reader, got {option}. Leave it out.")
    return load_known(data.as_posix()) if known else read_train_test(data)


def read_like(model: "Model", path: Path, format: str, options: dict[str, Any]) -> "CostDataset":
    """The dataset with its features and labels numbered as the model numbers them.

    A CSV must have the model's columns, in any order; in sparse text, features that do not occur are 0.
    """
    from coalface.cli.matching import match_features, match_labels

    sparse = _is(path, format, "vw", _SPARSE_TEXT[:3]) or _is(path, format, "svmlight", _SPARSE_TEXT[3:])
    words = _is(path, format, "conll", (".conll", ".conllu"))
    if sparse or words or _is(path, format, "csv", (".csv",)):
        options = {"classes": model.learner.classes_, **options}
    dataset = read(path, format, options)
    return match_labels(match_features(dataset, model, sparse=sparse), model.learner.classes_)


def _is(path: Path, format: str, name: str, suffixes: tuple[str, ...]) -> bool:
    if format != "auto":
        return format == name
    return path.name.lower().removesuffix(".gz").endswith(suffixes) and not path.is_dir()


def _value(name: str, text: str) -> Any:
    if name in _LISTS:
        return listed(f"--reader {name}", text)
    if name == "zero_based" and text in ("true", "false"):
        return text == "true"
    if name not in _WHOLE:
        return text
    try:
        return int(text)
    except ValueError:
        raise InputError(f"--reader {name} must be a whole number, got {text!r}.") from None
