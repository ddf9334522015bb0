"""Labels: checking them, numbering them, and converting them to and from text."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.errors import DoubtfulDataWarning, InputError, UnknownLabelError, shortened, warn_user

_NUMBERS = "biuf"  # dtype kinds


def label_array(labels: ArrayLike, name: str = "classes") -> NDArray[Any]:
    """Distinct labels as a 1-d array of strings, integers, floats or booleans.

    >>> label_array(["cat", "dog"])
    array(['cat', 'dog'], dtype='<U3')
    """
    refuse_mixed(labels, name)
    array = np.asarray(labels)
    if array.dtype.kind == "O" and all(isinstance(label, str) for label in array.ravel()):
        array = array.astype(str)
    if array.ndim != 1 or len(array) == 0:
        raise InputError(
            f"{name} must be a one-dimensional list of labels, got shape {array.shape}. Pass a list of labels."
        )
    if array.dtype.kind not in "UiufbSM" or (array.dtype.kind == "f" and not np.isfinite(array).all()):
        raise InputError(
            f"{name} must be all strings or all numbers, got {array[0]!r} (dtype {array.dtype}). "
            "Turn the labels into strings."
        )
    values, counts = np.unique(array, return_counts=True)
    if len(values) < len(array):
        raise InputError(f"{name} must be distinct, got {values[counts > 1][0].item()!r} twice. List it once.")
    return array


def warn_of_alike(labels: NDArray[Any], name: str) -> None:
    """Warn of labels that differ only in surrounding blanks or, unless they are single letters, in case.

    >>> warn_of_alike(np.array(["a", "A", "ok"]), "y")
    """
    seen: dict[str, str] = {}
    for label in labels.tolist() if labels.dtype.kind == "U" else []:
        text = label.strip()
        other = seen.setdefault(text if len(text) < 2 else text.casefold(), label)
        if other != label:
            warn_user(
                f"{name} has the labels {other!r} and {label!r}, which differ only in case or in blanks around them. "
                "Write them alike if they mean the same.",
                DoubtfulDataWarning,
            )
            return


def refuse_mixed(labels: Any, name: str) -> None:
    """Raise an InputError for texts beside numbers, which NumPy would turn into texts, or could not sort.

    >>> refuse_mixed(["cat", 3], "y")
    Traceback (most recent call last):
    coalface.errors.InputError: y must be all strings or all numbers, got 'cat' and 3. Turn the labels into strings.
    """
    values = labels if isinstance(labels, list | tuple) else np.asarray(labels)
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return
    firsts: dict[bool, Any] = {}
    for label in values.ravel() if isinstance(values, np.ndarray) else values:
        firsts.setdefault(isinstance(label, str), label)
    if len(firsts) > 1:
        raise InputError(
            f"{name} must be all strings or all numbers, got {firsts[True]!r} and {firsts[False]!r}. Turn the labels "
            "into strings."
        )


def with_abstaining(classes: NDArray[Any], abstain_label: Any = None) -> NDArray[Any]:
    """The labels, followed by the label that a learner predicts when it abstains.

    >>> with_abstaining(np.array(["cat", "dog"])).tolist(), with_abstaining(np.array([3, 5])).tolist()
    (['cat', 'dog', 'abstain'], [3, 5, -1])
    """
    kind = classes.dtype.kind
    if abstain_label is None:
        abstain_label = {"U": "abstain", "S": b"abstain"}.get(kind, -1)
    answer = np.asarray(abstain_label)
    alike = answer.dtype.kind in _NUMBERS if kind in _NUMBERS else answer.dtype.kind == kind
    if answer.ndim or not alike:
        raise InputError(
            f"abstain label must be of the type of the labels, such as {classes[0]!r}, got {shortened(abstain_label)}. "
            "Pass such a one."
        )
    if (answer == classes).any():
        raise InputError(f"abstain label must differ from every label, got {answer.item()!r}. Pass another one.")
    return np.append(classes, answer)


def labels_from_text(texts: Sequence[str]) -> NDArray[Any]:
    """Labels read from a file: integers if every text is an integer, else strings.

    >>> labels_from_text(["2", "10"])
    array([ 2, 10])
    >>> labels_from_text(["2", "ten"])
    array(['2', 'ten'], dtype='<U3')
    """
    try:
        numbers = [int(text) for text in texts]
    except ValueError:
        return np.array(texts, dtype=str)
    if [str(number) for number in numbers] != list(texts) or max(map(abs, numbers), default=0) >= 2**63:
        return np.array(texts, dtype=str)
    return np.array(numbers, dtype=np.int64)


def label_from_text(text: str | None) -> Any:
    """One label as written on the command line; None stays None.

    >>> label_from_text("-1"), label_from_text("unsure")
    (-1, 'unsure')
    """
    return None if text is None else labels_from_text([text])[0].item()


def label_like(text: str, classes: NDArray[Any]) -> Any:
    """A label as written on the command line, as a number if the other labels are numbers.

    >>> label_like("3", np.array([1, 2])), label_like("3", np.array(["1", "2"]))
    (3, '3')
    """
    kind = classes.dtype.kind
    if kind not in "iuf":
        return text
    try:
        return float(text) if kind == "f" else int(text)
    except ValueError:
        raise InputError(
            f"A label must be a number like the others, such as {classes[0]!s}, got {text!r}. Correct it."
        ) from None


def label_texts(classes: NDArray[Any]) -> list[str]:
    """The labels as they are written to files.

    >>> label_texts(np.array([0.5, 2.0]))
    ['0.5', '2.0']
    """
    return [str(label) for label in classes.tolist()]


def label_codes(labels: Iterable[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """The column number of each label.

    >>> label_codes(["dog", "cat", "dog"], np.array(["cat", "dog"]))
    array([1, 0, 1], dtype=int32)
    """
    column = {label: place for place, label in enumerate(classes.tolist())}
    values = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    try:
        return np.array([column[label] for label in values], dtype=np.int32)
    except KeyError as error:
        raise UnknownLabelError(error.args[0], classes.tolist()) from None


def later_labels(decided_by: int | None) -> str:
    """The advice about an unknown label: check the labels that were given, or give those that the first rows lack.

    >>> later_labels(None), later_labels(1000)
    ('Check classes', 'The first 1,000 rows do not have it: pass classes with all labels')
    """
    if decided_by is None:
        return "Check classes"
    return f"The first {decided_by:,} rows do not have it: pass classes with all labels"
