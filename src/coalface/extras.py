"""The optional parts of coalface: the extra that has each package, and what to install where one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from coalface.errors import InputError

EXTRAS = {  # by module
    "asf": "compare",
    "cupy": "cuda",
    "distributed": "dask",
    "fastapi": "app",
    "httpx": "app",
    "jinja2": "report",  # is in "app", too
    "matplotlib": "report",
    "multipart": "app",
    "psycopg": "postgres",
    "pyarrow": "parquet",
    "safetensors": "embeddings",
    "skactiveml": "compare",
    "sqlalchemy": "app",
    "tomlkit": "app",
    "uvicorn": "app",
    "vowpalwabbit": "compare",
    "zstandard": "zstd",
}


def missing_extra(module: str, what: str = "This") -> str | None:
    """What to install for a module that was not found; None if no extra has it.

    >>> missing_extra("sqlalchemy.orm")
    "This needs sqlalchemy, which is not installed. Run: pip install 'coalface[app]'"
    """
    name = module.partition(".")[0]
    return _message(what, name, f"'coalface[{EXTRAS[name]}]'") if name in EXTRAS else None


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """Imports in this block; where a package is missing, an InputError says what to install.

    >>> with needed_for("A figure"):
    ...     import unheard_of
    Traceback (most recent call last):
    coalface.errors.InputError: A figure needs unheard_of, which is not installed. Run: pip install unheard_of
    """
    try:
        yield
    except ModuleNotFoundError as problem:
        name = str(problem.name).partition(".")[0]
        raise InputError(missing_extra(name, what) or _message(what, name, name)) from None


def what_lacks(extra: str, what: str) -> str | None:
    """What to install before ``what`` can be done with an extra; None if nothing is missing."""
    lacking = (name for name, home in EXTRAS.items() if home == extra and find_spec(name) is None)
    return next((missing_extra(name, what) for name in lacking), None)


def _message(what: str, name: str, wanted: str) -> str:
    return f"{what} needs {name}, which is not installed. Run: pip install {wanted}"
