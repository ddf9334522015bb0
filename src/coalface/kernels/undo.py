"""Copies the cells that learning a row will change, and puts them back."""

from typing import NamedTuple

from coalface.kernels.compile import kernel
from coalface.kernels.regression import gather
from coalface.kernels.state import F32, I64, UNSEEN, Csr, Model, Scratch, Settings


class SavedCells(NamedTuple):
    """Cells in the order in which they were copied, each with its slot; the caller makes the arrays large enough."""

    slots: I64  # (n,)
    cells: F32  # (n, 3, lanes)


@kernel
def save_cells(
    model: Model, settings: Settings, scratch: Scratch, rows: Csr, row: int, saved: SavedCells, used: int
) -> int:
    """Append the cells of a row's known features to the first ``used`` saved ones; returns how many there are then."""
    slots, cells, lanes = scratch.slots, model.cells, model.cells.shape[2]
    saved_slots, saved_cells = saved.slots, saved.cells
    for j in range(gather(model, settings, scratch, rows, row)):
        slot = slots[j]
        if slot == UNSEEN:
            continue
        saved_slots[used] = slot
        for part in range(3):
            for k in range(lanes):
                saved_cells[used, part, k] = cells[slot, part, k]
        used += 1
    return used


@kernel
def restore_cells(cells: F32, saved: SavedCells, used: int) -> None:
    """Put the saved cells back, the last one first: a cell that was saved twice gets its oldest content."""
    saved_slots, saved_cells = saved.slots, saved.cells
    for i in range(used - 1, -1, -1):
        slot = saved_slots[i]
        for part in range(3):
            for k in range(cells.shape[2]):
                cells[slot, part, k] = saved_cells[i, part, k]
