"""Files on disk: atomic writes, locks, append-only journals, bundles of arrays and new folders.

What products and the command line use; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.files.atomic import atomic_write as atomic_write, exclusive as exclusive
    from coalface.files.atomic import exclusive_folder as exclusive_folder, new_folder as new_folder
    from coalface.files.atomic import refuse_used as refuse_used, sync_folder as sync_folder
    from coalface.files.bundle import read_bundle as read_bundle, rebuilding as rebuilding, write_bundle as write_bundle
    from coalface.files.interrupts import interrupts_put_off as interrupts_put_off
    from coalface.files.journal import Journal as Journal
else:
    __getattr__, __dir__ = door_of(__name__)
