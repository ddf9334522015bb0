"""Files on disk: atomic writes, locks, append-only journals, bundles of arrays and new folders.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.files.atomic import atomic_write, exclusive, exclusive_folder, new_folder, refuse_used, sync_folder
    from coalface.files.bundle import read_bundle, rebuilding, write_bundle
    from coalface.files.interrupts import interrupts_put_off
    from coalface.files.journal import Journal
else:
    __getattr__, __dir__ = door_of(__name__)

__all__ = [
    "Journal",
    "atomic_write",
    "exclusive",
    "exclusive_folder",
    "interrupts_put_off",
    "new_folder",
    "read_bundle",
    "rebuilding",
    "refuse_used",
    "sync_folder",
    "write_bundle",
]
