"""New folders that appear complete or not at all."""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coalface.errors import InputError


@contextmanager
def new_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """A hidden folder that is renamed to ``folder`` when the block ends, or removed after an error.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     with new_folder(f"{place}/mail") as part:
    ...         _ = (part / "note.txt").write_text("hello")
    ...     [path.name for path in Path(place).iterdir()]
    ['mail']
    """
    target = Path(folder)
    refuse_used(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.parent / f".{target.name}.{uuid.uuid4().hex}.part"
    try:
        part.mkdir()
        yield part
        if target.exists():
            target.rmdir()
        part.replace(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def refuse_used(target: Path) -> None:
    """Raise an InputError unless ``target`` is absent or an empty folder."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{target} must be a new or empty folder. Choose another name.")
