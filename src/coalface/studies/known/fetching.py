"""Downloading a named dataset into two dataset folders, where ``load_known`` finds it."""

import os
import shutil
import warnings
from contextlib import redirect_stdout
from http.client import HTTPException
from io import StringIO
from pathlib import Path

from coalface.data.dataset import TrainTest
from coalface.data.formats.array_folder import is_dataset_folder
from coalface.data.formats.readers import PARTS, is_fetched, open_fetched
from coalface.errors import CoalfaceError, InputError, in_one_line
from coalface.studies.known.catalogue import check_fetchable
from coalface.studies.known.sklearn_downloads import FETCHERS


class FetchError(CoalfaceError, OSError):
    """Data could not be downloaded; nothing was written."""


def fetch(name: str, into: str | os.PathLike[str]) -> TrainTest:
    """Download data and write the dataset folders ``into/name/train`` and ``into/name/test``, or neither.

    >>> fetch("iris", "data")
    Traceback (most recent call last):
    coalface.errors.InputError: The data 'iris' is bundled and needs no fetching. Use it by its name.
    """
    check_fetch(name, into)
    home = Path(into) / name
    found = _downloaded(name)
    try:
        for part, dataset in zip(PARTS, found, strict=True):
            dataset.save(home / part)
    except BaseException:
        for part in PARTS:
            shutil.rmtree(home / part, ignore_errors=True)
        raise
    return open_fetched(home)


def check_fetch(name: str, into: str | os.PathLike[str]) -> None:
    """Raise an InputError before the download if the name cannot be fetched or the folder cannot be written."""
    check_fetchable(name)
    home = Path(into) / name
    if is_fetched(home):
        raise InputError(f"{home} already holds the data. Remove that folder to fetch it again.")
    for part in PARTS:
        if (home / part).exists() and not is_dataset_folder(home / part):
            raise InputError(f"{home / part} is not a dataset, so it was not replaced. Choose another folder.")
    nearest = next(folder for folder in (home, *home.absolute().parents) if folder.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK)):
        raise InputError(f"{home} cannot be created: {nearest} is not a writable folder. Choose another folder.")


def _downloaded(name: str) -> TrainTest:
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()):  # scikit-learn prints where it downloads from
            warnings.simplefilter("ignore", UserWarning)  # and warns when it tries again
            return FETCHERS[name].load()
    except (OSError, HTTPException, EOFError) as error:
        reason = in_one_line(error) or type(error).__name__
        raise FetchError(
            f"{name} could not be downloaded ({reason}), and nothing was written. Check the network and try again."
        ) from None
