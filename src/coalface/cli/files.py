"""Checks on the files that a command will write, made before the work begins."""

from pathlib import Path

from coalface.errors import InputError


def check_folder_of(path: Path, option: str) -> None:
    """Refuse a place that cannot be written to, before an hour of work is lost.

    >>> check_folder_of(Path("lost", "run.html"), "--report")
    Traceback (most recent call last):
    coalface.errors.InputError: --report must lie in a folder that exists, got 'lost/run.html'. Make it first.
    """
    if path.is_dir():
        raise InputError(f"{option} must name a file, got the folder {str(path)!r}. Add a file name.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{option} must lie in a folder that exists, got {path.as_posix()!r}. Make it first.")
