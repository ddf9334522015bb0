"""What can go wrong, and what it is called.

::

    CoalfaceError
    ├── InputError (ValueError)        a value, shape, option or label breaks a rule
    │   ├── UnknownLabelError          a label that the learner does not know
    │   ├── UnknownIdError (LookupError)       no such question, lease, answer or example, or not yours
    │   └── ConflictError              it was answered or undone already, or a key was used for something else
    ├── FileFormatError (ValueError)   a file is truncated, corrupted, foreign or from the future
    │   └── StudyError                 a study says something that cannot be
    ├── FileBusyError                  another process is changing the file
    ├── WorkerLostError                the caller's executor lost a worker  (see ``studies.executors``)
    ├── FetchError (OSError)           data could not be downloaded  (see ``data.fetching``)
    └── NotFittedError (sklearn's)     the learner does not know its labels yet  (see ``learner``)

    CollapseWarning (UserWarning)      a learner has stopped asking although its answers show that it errs
    EmptyVersionSpaceWarning (UserWarning)    no regressor was good enough at every round

Every message names the thing, the rule, the value found and the remedy, on one line.
"""

from collections.abc import Iterable


class CoalfaceError(Exception):
    """The root of everything this package raises on purpose."""


class InputError(CoalfaceError, ValueError):
    """A value, shape or option breaks a rule; nothing was changed."""


def in_one_line(problem: Exception) -> str:
    r"""The text of another library's error, to be passed on.

    >>> in_one_line(ValueError("Expected 2D array,\n got 1D."))
    'Expected 2D array, got 1D'
    """
    return " ".join(str(problem).split()).rstrip(".")


class UnknownLabelError(InputError):
    """A label that is not among the known ones; the message lists those.

    >>> print(UnknownLabelError("cat", ["dog", "fish"]))
    Unknown label 'cat'. The known labels are 'dog', 'fish'.
    """

    def __init__(self, label: object, known: Iterable[object]) -> None:
        names = [repr(name) for name in known]
        shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
        super().__init__(f"Unknown label {label!r}. The known labels are {shown}.")


class UnknownIdError(InputError, LookupError):
    """There is no question, lease, answer or example of that id, or it is somebody else's."""


class ConflictError(InputError):
    """What is asked for cannot follow what has happened: answered or undone already, or a key used twice."""


class FileFormatError(CoalfaceError, ValueError):
    """A file cannot be read as what it should be; nothing was loaded."""


class StudyError(FileFormatError):
    """A study says something that cannot be; the message names its file and line, nothing was run."""


class FileBusyError(CoalfaceError, TimeoutError):
    """Another process is changing the file; nothing was done."""


class CollapseWarning(UserWarning):
    """The learner has stopped asking although its answered costs show that it is wrong."""


class EmptyVersionSpaceWarning(UserWarning):
    """No regressor was within the slack of the best one at every round; earlier rounds no longer count."""
