"""The GPU: its memory, and the start of runs on it."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError, in_one_line
from coalface.kernels.cuda.layout import BlockShape
from coalface.kernels.cuda.library import cuda_library
from coalface.kernels.cuda.source import source


class Device(Protocol):
    """What playing runs needs of a device; tests have one that compiles the same source for the CPU."""

    name: str

    @property
    def memory(self) -> int:
        """The free bytes."""
        ...

    def put(self, array: NDArray[Any]) -> Any:
        """A copy of the array on the device."""
        ...

    def zeros(self, shape: int | tuple[int, ...], kind: type[np.generic]) -> Any:
        """An array of zeros on the device."""
        ...

    def empty(self, size: int, kind: type[np.generic] = np.float32) -> Any:
        """Memory for so many numbers."""
        ...

    def get(self, array: Any) -> NDArray[Any]:
        """A copy of an array of the device."""
        ...

    def address(self, array: Any) -> int:
        """Where an array of the device begins; 0 for None."""
        ...

    def shape_for(self, n_labels: int, longest_row: int) -> BlockShape:
        """The shape of a block that plays one run."""
        ...

    def n_blocks(self, shape: BlockShape) -> int:
        """How many blocks run at the same time."""
        ...

    def start(self, shape: BlockShape, n_blocks: int, problem: Any, settings: Any, n_runs: int) -> None:
        """Start blocks that play runs; ``is_done`` says whether they have ended."""
        ...

    def score(self, name: str, shape: BlockShape, n_blocks: int, *arrays: Any) -> None:
        """Score rows with a trained model: see ``score.cuh`` for the functions and their arrays."""
        ...

    def is_done(self) -> bool:
        """Whether the blocks started last have ended; an InputError if they failed."""
        ...

    def set_flag(self, array: Any) -> None:
        """Write 1 to the first number of an array, even while blocks run."""
        ...


class CudaDevice:
    """The current CUDA device. ``exact`` sums in the order of the CPU and rounds every operation as it does.

    An exact run takes the same decisions as on the CPU, and is slow.
    """

    def __init__(self, *, exact: bool = False, chosen_by: str = "device='cuda'") -> None:
        self._cupy = cuda_library(chosen_by).cupy
        properties = self._cupy.cuda.runtime.getDeviceProperties(self._cupy.cuda.Device().id)
        self.name = properties["name"].decode()
        self.n_processors = int(properties["multiProcessorCount"])
        self._exact = exact
        self._modules: dict[BlockShape, Any] = {}
        self._stream, self._side_stream = (self._cupy.cuda.Stream(non_blocking=True) for _ in range(2))
        self._ended = self._cupy.cuda.Event()

    @property
    def memory(self) -> int:
        """The free bytes; what earlier runs no longer use is free."""
        self._cupy.get_default_memory_pool().free_all_blocks()
        return int(self._cupy.cuda.runtime.memGetInfo()[0])

    def put(self, array: NDArray[Any]) -> Any:
        """A copy of the array on the device."""
        return self._cupy.asarray(np.ascontiguousarray(array))

    def zeros(self, shape: int | tuple[int, ...], kind: type[np.generic]) -> Any:
        """An array of zeros on the device."""
        return self._cupy.zeros(shape, kind)

    def empty(self, size: int, kind: type[np.generic] = np.float32) -> Any:
        """Memory for so many numbers."""
        return self._cupy.empty(size, kind)

    def get(self, array: Any) -> NDArray[Any]:
        """A copy of an array of the device; does not wait for running blocks."""
        with self._side_stream:
            copied: NDArray[Any] = array.get()
        return copied

    def address(self, array: Any) -> int:
        """Where an array of the device begins; 0 for None."""
        return 0 if array is None else int(array.data.ptr)

    def shape_for(self, n_labels: int, longest_row: int) -> BlockShape:
        """The shape of a block that plays one run; in an exact run, one group sums the whole row."""
        shape = BlockShape.of(n_labels, longest_row)
        return shape._replace(n_threads=32, group_size=32) if self._exact else shape

    def n_blocks(self, shape: BlockShape) -> int:
        """How many blocks run at the same time."""
        return self.n_processors * shape.blocks_per_processor

    def start(self, shape: BlockShape, n_blocks: int, problem: Any, settings: Any, n_runs: int) -> None:
        """Start blocks that play runs; ``is_done`` says whether they have ended."""
        self._launch("simulate_runs", shape, n_blocks, (problem, settings, np.int32(n_runs)))
        self._ended.record(self._stream)

    def score(self, name: str, shape: BlockShape, n_blocks: int, *arrays: Any) -> None:
        """Score rows with a trained model: see ``score.cuh`` for the functions and their arrays."""
        problem, settings, trained, *written = arrays
        self._launch(name, shape, n_blocks, (problem, settings, trained, np.int32(n_blocks), *written))
        self._stream.synchronize()

    def _launch(self, name: str, shape: BlockShape, n_blocks: int, arguments: tuple[Any, ...]) -> None:
        kernel = self._kernel(name, shape)
        self._cupy.cuda.Device().synchronize()  # what was put on the device is there
        kernel((n_blocks,), (shape.n_threads,), arguments, shared_mem=shape.shared_bytes, stream=self._stream)

    def is_done(self) -> bool:
        """Whether the blocks started last have ended; an InputError if they failed."""
        try:
            return bool(self._ended.done)
        except self._cupy.cuda.runtime.CUDARuntimeError as problem:
            raise InputError(f"The runs failed on {self.name}: {in_one_line(problem)}.") from None

    def set_flag(self, array: Any) -> None:
        """Write 1 to the first number of an array, even while blocks run."""
        with self._side_stream:
            array[:1] = 1
        self._side_stream.synchronize()

    def _kernel(self, name: str, shape: BlockShape) -> Any:
        """A compiled function for blocks of this shape."""
        if shape not in self._modules:
            constants = {**shape.constants, "BLOCKS_PER_PROCESSOR": shape.blocks_per_processor}
            mode = ("-fmad=false", "-DCOALFACE_EXACT") if self._exact else ("-ftz=true",)
            options = ("-std=c++17", *(f"-D{constant}={value}" for constant, value in constants.items()), *mode)
            self._modules[shape] = self._cupy.RawModule(code=source(), options=options)
        kernel = self._modules[shape].get_function(name)
        kernel.max_dynamic_shared_size_bytes = shape.shared_bytes
        return kernel
