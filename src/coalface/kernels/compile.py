"""The one decorator of all compiled loops, and a cache of machine code that cannot go stale.

Numba notices an edit in the file of the function it has cached, but not in the file of a function
that this one calls. Here the cache belongs to the whole folder: its directory carries a hash of all
the kernel sources, so that any edit, and any upgrade, starts a fresh one.

The loops are compiled without fast-math: every operation is the exact IEEE one in the written order,
which is what makes the compiled loop, the row-by-row interface and a replayed ledger agree to the bit.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar, cast

import numba
from numba.core import caching

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class Kernel(Protocol[P, R]):
    """A compiled function; ``py_func`` is its Python body, for tests."""

    py_func: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the machine code."""
        ...


@cache
def folder_stamp() -> str:
    """A hash over the names and the text of every kernel source file."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where machine code is kept: $NUMBA_CACHE_DIR, else the user's cache folder, else a temporary one."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    base = Path(chosen) if chosen else _user_cache()
    return base / "coalface" / folder_stamp()


def _user_cache() -> Path:
    configured = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    base = Path(configured) if configured else Path("~/.cache").expanduser()
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir())
    return base if os.access(base, os.W_OK) else Path(tempfile.gettempdir())


class _FolderLocator(caching._CacheLocator):  # type: ignore[misc]
    """Puts a function's machine code into the folder of the sources' hash."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        self._disambiguator = str(py_func.__code__.co_firstlineno)

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return folder_stamp()

    def get_disambiguator(self) -> str:
        return self._disambiguator

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "_FolderLocator | None":  # noqa: ARG003
        locator = cls(py_func)
        try:
            locator.ensure_cache_path()
        except OSError:
            return None
        return locator


class _FolderCacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_FolderLocator,)


class _FolderCache(caching.FunctionCache):  # type: ignore[misc]
    """A cache in which damage, as of a power cut, or a full disk costs time and nothing else."""

    _impl_class = _FolderCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(sig, data)


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Compile a function on its first call; the GIL is released and the machine code is kept on disk."""
    dispatcher = numba.njit(function, nogil=True, error_model="numpy", boundscheck=False)
    with suppress(RuntimeError, OSError, AttributeError):  # nowhere to write: compile in every process
        dispatcher._cache = _FolderCache(function)
    return cast("Kernel[P, R]", dispatcher)


def inlined(function: Callable[P, R]) -> Kernel[P, R]:
    """Compile a function that only other kernels call; their machine code contains it."""
    return cast(
        "Kernel[P, R]",
        numba.njit(function, nogil=True, error_model="numpy", boundscheck=False, inline="always"),
    )


def called(function: Callable[P, R]) -> Kernel[P, R]:
    """Compile a function that kernels call once a row: made once, where ``inlined`` is made again in each of them."""
    return cast("Kernel[P, R]", numba.njit(function, nogil=True, error_model="numpy", boundscheck=False))
