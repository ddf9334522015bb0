"""The decorators that compile the kernels, and a cache of machine code that cannot go stale.

Numba notices an edit in the file of a cached function, but not in the file of a function that it calls. So the cache
belongs to the whole folder: its path contains a hash of all kernel sources, and any edit or upgrade starts a new one.

The kernels are compiled without fast-math: every operation is the exact IEEE one, in the written order. This makes the
compiled loop, the row-by-row interface and a replayed ledger agree bit for bit.
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
from numba.core import caching, event

from coalface.long_work import LongWork

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
_OWN = Path(__file__).resolve().parent


class _Kernel(Protocol[P, R]):
    """A compiled function; ``py_func`` is its Python body, for tests."""

    py_func: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the machine code."""
        ...


@cache
def _folder_stamp(folder: Path = _OWN) -> str:
    """A hash of the names and contents of all kernel source files of a folder and of this one, which others call."""
    digest = hashlib.sha256()
    for place in dict.fromkeys((_OWN, folder)):
        for source in sorted(place.glob("*.py")):
            digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder(folder: Path = _OWN) -> Path:
    """The folder for the machine code of kernels in ``folder``.

    It lies in $NUMBA_CACHE_DIR, else in the user's cache folder, else in a temporary one.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    base = Path(chosen) if chosen else _user_cache()
    return base / "coalface" / _folder_stamp(folder)


def _user_cache() -> Path:
    configured = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    base = Path(configured) if configured else Path("~/.cache").expanduser()
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir())
    return base if os.access(base, os.W_OK) else Path(tempfile.gettempdir())


class _FolderLocator(caching._CacheLocator):  # type: ignore[misc]
    """Stores a function's machine code in the folder named after the sources' hash."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        self._disambiguator = str(py_func.__code__.co_firstlineno)
        self._folder = Path(py_func.__code__.co_filename).resolve().parent

    def get_cache_path(self) -> str:
        return str(cache_folder(self._folder))

    def get_source_stamp(self) -> str:
        return _folder_stamp(self._folder)

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
    """A cache where a damaged file or a full disk only costs compile time."""

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


class _Compilations(event.Listener):  # type: ignore[misc]
    """Tells the log of kernels that take long to compile; those that a kernel calls are compiled within it."""

    def __init__(self) -> None:
        self._open: list[LongWork] = []  # Numba compiles in one thread at a time

    def on_start(self, event: Any) -> None:
        function = getattr(event.data["dispatcher"], "py_func", None)
        name = getattr(function, "__qualname__", "a loop")
        work = LongWork(f"compiling {name} for this machine; the machine code is kept", after=1.0)
        if not self._open:
            work.__enter__()
        self._open.append(work)

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        work = self._open.pop()
        if not self._open:
            work.__exit__(None, None, None)


event.register("numba:compile", _Compilations())


def kernel(function: Callable[P, R]) -> _Kernel[P, R]:
    """Compile a function on its first call; it releases the GIL, and its machine code is cached on disk.

    The machine code does not count references: the caller owns all arrays. So a kernel can neither create nor return an
    array; those that do are ``allocating``. A row passes about 50 arrays from function to function, and counting their
    references took up to a third of the time.
    """
    return _compiled(function)


def allocating(function: Callable[P, R]) -> _Kernel[P, R]:
    """As ``kernel``, for a function that creates arrays, or calls one of NumPy's that does, such as ``max``."""
    return _compiled(function, _nrt=True)


def called(function: Callable[P, R]) -> _Kernel[P, R]:
    """As ``kernel``, for a function that other kernels call about once a row.

    Numba compiles it once; LLVM then copies its code into that of each caller. A call would copy all fields of about 50
    arrays to the stack.
    """
    return _compiled(function, forceinline=True)


def _compiled(function: Callable[P, R], **options: bool) -> _Kernel[P, R]:
    options = {"_nrt": False, "nogil": True, "boundscheck": False, **options}
    dispatcher = numba.njit(function, error_model="numpy", **options)
    with suppress(RuntimeError, OSError, AttributeError):  # no writable folder: every process compiles
        dispatcher._cache = _FolderCache(function)
    return cast("_Kernel[P, R]", dispatcher)


def inlined(function: Callable[P, R]) -> _Kernel[P, R]:
    """Compile a function into the machine code of each kernel that calls it."""
    return cast(
        "_Kernel[P, R]",
        numba.njit(function, nogil=True, error_model="numpy", boundscheck=False, inline="always"),
    )
