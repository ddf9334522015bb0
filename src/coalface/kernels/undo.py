"""Finds the slots that learning a row will change, so that their cells can be copied before and put back after."""

from coalface.kernels.compile import kernel
from coalface.kernels.regression import gather
from coalface.kernels.state import UNSEEN, Csr, Model, Scratch, Settings


@kernel
def known_slots(model: Model, settings: Settings, scratch: Scratch, rows: Csr, row: int) -> int:
    """Write the slots of a row's known features to the front of ``scratch.slots``; returns how many they are."""
    slots = scratch.slots
    n_known = 0
    for j in range(gather(model, settings, scratch, rows, row)):
        if slots[j] != UNSEEN:
            slots[n_known] = slots[j]
            n_known += 1
    return n_known
