"""The exceptions and warnings of coalface.

::

    CoalfaceError
    ├── InputError (ValueError)        a value, shape, option or label breaks a rule
    │   ├── UnknownLabelError          the learner does not know this label
    │   ├── UnknownIdError (LookupError)       an id that does not exist or belongs to another user
    │   └── ConflictError              already answered or undone, or a key was used for something else
    ├── FileFormatError (ValueError)   a file is truncated, corrupted, of another kind or from a newer version
    │   └── StudyError                 a study file has an invalid entry
    ├── MissingFileError (FileNotFoundError)   there is no such file
    ├── IsFolderError (IsADirectoryError)      a folder is where a file should be
    ├── FileBusyError (TimeoutError)   another process is changing the file
    ├── LostDatabaseError              the database file was moved, deleted or replaced while it was open
    ├── WorkerLostError                the caller's executor lost a worker  (see ``studies.executors``)
    ├── FetchError (OSError)           data could not be downloaded  (see ``studies.known.catalogue``)
    └── NotFittedError (sklearn's)     the learner does not know its labels yet  (see ``learner``)

    CollapseWarning (UserWarning)      a learner has stopped asking although its answers show errors
    UnansweredWarning (UserWarning)    predictions of a learner that has no answer about some label
    DoubtfulDataWarning (UserWarning)      labels, costs or the order of rows look like a mistake
    └── DoubtfulColumnWarning              a column that was perhaps read wrongly, or left what was learned
    EmptyVersionSpaceWarning (UserWarning)    no regressor was within the slack at every round

Every message names the thing, the rule, the value found and the remedy, on one line. A message about a parameter
starts with its name.
"""

import sys
import warnings
from collections.abc import Iterable, Mapping
from types import MappingProxyType


class CoalfaceError(Exception):
    """The base class of every error that coalface raises on purpose.

    ``remedy`` has the parameters that the message suggests, with the suggested values (None: any). The command line
    names its own options for them.
    """

    remedy: Mapping[str, object] = MappingProxyType({})

    def __init__(self, *args: object, remedy: Mapping[str, object] | None = None) -> None:
        super().__init__(*args)
        if remedy is not None:
            self.remedy = remedy


class InputError(CoalfaceError, ValueError):
    """A value, shape or option breaks a rule; nothing was changed."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn about the line that called this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("coalface."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def in_one_line(problem: Exception) -> str:
    r"""The message of another library's error on one line, without its full stop.

    >>> in_one_line(ValueError("Expected 2D array,\n got 1D."))
    'Expected 2D array, got 1D'
    """
    return " ".join(str(problem).split()).rstrip(".")


def shortened(value: object, most: int = 120) -> str:
    """The value as Python writes it, on one line of at most ``most`` characters.

    >>> shortened([1.5, 2]), shortened(list(range(1000)), most=20)
    ('[1.5, 2]', '[0, 1, 2, 3, 4, 5...')
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= most else text[: most - 3] + "..."


def counted(n: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "cost"), counted(1200, "cost"), counted(2, "pass")
    ('1 cost', '1,200 costs', '2 passes')
    """
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def listed(names: Iterable[object], most: int = 5) -> str:
    """Some names for a message.

    >>> listed(["a", "b"]), listed(range(7))
    ("'a', 'b'", '0, 1, 2, 3, 4 and 2 more')
    """
    shown = [repr(name) for name in names]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


class UnknownLabelError(InputError):
    """A label that is not among the known labels; the message lists the known ones.

    With ``addable`` they are those of a learner, and the message says how to add one.

    >>> print(UnknownLabelError("cat", ["dog", "fish"], addable=True))
    Unknown label 'cat'. The known labels are 'dog', 'fish'. To add it, call learner.add_label('cat').
    """

    def __init__(self, label: object, known: Iterable[object], *, addable: bool = False, of: str = "") -> None:
        adding = f" To add it, call learner.add_label({label!r})." if addable else ""
        where = f" of {of}" if of else ""
        message = f"Unknown label {label!r}{where}. The known labels are {listed(known, 20)}.{adding}"
        super().__init__(message, remedy={"add_label": label})
        self.label = label


class UnknownIdError(InputError, LookupError):
    """No question, lease, answer or example has this id, or it belongs to another user."""


class ConflictError(InputError):
    """The request conflicts with an earlier one: already answered or undone, or a key was used twice."""


class FileFormatError(CoalfaceError, ValueError):
    """A file does not have the expected format; nothing was loaded."""


class StudyError(FileFormatError):
    """A study file has an invalid entry; the message names its file and line, and nothing was run."""


class MissingFileError(CoalfaceError, FileNotFoundError):
    """There is no such file."""


class IsFolderError(CoalfaceError, IsADirectoryError):
    """A folder is where a file should be; nothing was written."""

    def __init__(self, path: object) -> None:
        super().__init__(f"{path} is a folder. Add the name of a file in it.")


class FileBusyError(CoalfaceError, TimeoutError):
    """Another process is changing the file; nothing was done."""


class LostDatabaseError(CoalfaceError):
    """The database in use was moved, deleted or replaced; what was written last is not stored."""


class CollapseWarning(UserWarning):
    """The learner has stopped asking although the answered costs show that its predictions are wrong."""


class UnansweredWarning(UserWarning):
    """No cost of some label was ever answered, so its predictions say nothing."""


class DoubtfulDataWarning(UserWarning):
    """Labels, costs or the order of rows look like a mistake; they are used as they are.

    ``remedy`` has the parameters that the message suggests, as that of an error does.
    """

    def __init__(self, *args: object, remedy: Mapping[str, object] = MappingProxyType({})) -> None:
        super().__init__(*args)
        self.remedy = remedy


class DoubtfulColumnWarning(DoubtfulDataWarning):
    """A column was read as words although it looks like ids, dates or numbers, or has left what was learned."""


class UnlearnedWarning(UserWarning):
    """A label was right many times and was never predicted there."""


class UnknownTagsWarning(UserWarning):
    """Many words have tags that a parser has never seen, so it parses them badly."""


class TiedCostsWarning(UserWarning):
    """Most roll-outs cost no more than the reference's own, so a policy learns little from them."""


class MisspecifiedWarning(UserWarning):
    """The class of regressors cannot hold the true costs, so ranges may exclude them."""


class EmptyVersionSpaceWarning(UserWarning):
    """No regressor was within the slack of the best one at every round; earlier rounds are ignored."""
