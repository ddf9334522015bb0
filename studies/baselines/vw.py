"""The authors' implementation of COAL: Vowpal Wabbit's ``--cs_active`` in simulation, in processes of its own.

It goes over the data twice. The log of the first pass shows which costs it asks for, and so after which examples
it reaches a checkpoint. The second pass asks the same and saves a model at each checkpoint. VW can neither ask an
annotator nor continue from a saved model, because it does not save its round.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.data.dataset import CostDataset
from coalface.data.formats.vw_writer import write_vw_text
from coalface.errors import CoalfaceError, InputError

from . import passive
from .baseline import Baseline, BaselineRun, Problem

_CONSTANT = 11_650_396  # the feature number of VW's intercept
_MOST_BITS = 28  # 16 bytes per weight: 4 GiB
_DECISION = re.compile(r"\[info\] label=\d+ .* ql=(true|false) ")
_TOTAL = re.compile(r"total queries = (\d+)")
_PROGRESS = re.compile(r"\S+ +\S+ +(\d+) +\S+ +(?:un)?known ")


def table_bits(n_features: int, n_labels: int) -> int:
    """The smallest ``-b`` at which neither features nor the intercept share weights, for at most 11 million features.

    >>> table_bits(n_features=6000, n_labels=40)
    21
    """
    bits = (n_features - 1).bit_length()
    while _CONSTANT % 2**bits < n_features:
        bits += 1
    return bits + (n_labels - 1).bit_length()


def _check_parameters(parameters: dict[str, Any], n_labels: int) -> None:
    if isinstance(parameters["learning_rate"], str):  # our own learner accepts 'auto'
        raise InputError(f"learning_rate must be a number for the learner 'vw', got {parameters['learning_rate']!r}.")
    passive.check_parameters(parameters, n_labels)


def _run_on(problem: Problem, parameters: dict[str, Any]) -> BaselineRun:
    with TemporaryDirectory(prefix="coalface-vw-") as folder:
        return _Session(Path(folder), problem, parameters).run()


class _Session:
    """A temporary folder with the problem as text."""

    def __init__(self, folder: Path, problem: Problem, parameters: dict[str, Any]) -> None:
        self.folder, self.problem = folder, problem
        self.examples = _as_listed(problem.examples, CostScale.of(parameters["cost_bounds"]))
        rate, mellowness = float(parameters["learning_rate"]), float(parameters["mellowness"])
        self.options = [
            *("--cs_active", f"{problem.n_labels}", "--simulation", "--adax"),
            *("--mellowness", f"{mellowness!r}", "-l", f"{rate!r}", "-b", f"{_bits_for(problem)}"),
        ]

    def run(self) -> BaselineRun:
        write_vw_text(self.examples, self.folder / "train.vw")
        write_vw_text(_unlabelled(self.problem.test), self.folder / "test.vw")
        asked = self._first_pass()
        plan = self.problem.plan(asked)
        self._second_pass(plan.steps, int(asked.sum()))
        return BaselineRun(plan, [self._test_cost(f"model{step}") for step in plan.steps])

    def _first_pass(self) -> NDArray[np.bool_]:
        """Which costs are asked for, (n, K)."""
        decided = bytearray()  # one entry per label and example, in the order of the log

        def read(line: str) -> None:
            if decision := _DECISION.match(line):
                decided.append(decision[1] == "true")

        total = self._learn("train.vw", ["--csa_debug", "--log_output", "stderr"], read)
        mask, asked = _listed_labels(self.examples), np.frombuffer(decided, np.bool_)
        if len(asked) != mask.sum() or asked.sum() != total:
            raise CoalfaceError(
                f"Vowpal Wabbit's log must list the {total} costs that it asked for, got {asked.sum()} in "
                f"{len(asked)} lines. Install the version that 'coalface[compare]' names."
            )
        mask[mask] = asked
        return mask

    def _second_pass(self, steps: NDArray[np.int64], total: int) -> None:
        """Repeat the pass, saving a model after each of these numbers of examples."""
        wanted = set(steps.tolist())
        as_written: dict[str, Any] = {"encoding": "utf-8", "newline": "\n"}  # on every system
        with (
            (self.folder / "train.vw").open(**as_written) as source,
            (self.folder / "saving.vw").open("w", **as_written) as target,
        ):
            for number, line in enumerate(source, start=1):
                target.write(line)
                if number in wanted:
                    target.write(f"'save_model{number} |\n")
        again = self._learn("saving.vw", [], lambda _line: None, done=len(self.examples))
        if again != total:
            raise CoalfaceError(f"Vowpal Wabbit must ask for {total} costs in its second pass, too, got {again}.")

    def _learn(self, name: str, options: list[str], read: Callable[[str], None], done: int = 0) -> int:
        """Make one pass over the examples; return how many costs it asked for."""
        n_examples, asked = len(self.examples), 0

        def follow(line: str) -> None:
            nonlocal asked
            if line.startswith("["):  # the log; all else is the summary
                read(line)
            elif progress := _PROGRESS.match(line):
                self.problem.progress(done + int(progress[1]), 2 * n_examples)
            elif total := _TOTAL.search(line):
                asked = int(total[1])

        every = max(1, n_examples // 50)
        self._vw([*self.options, *options, "-d", name, "-P", f"{every}"], follow)
        self.problem.progress(done + n_examples, 2 * n_examples)
        return asked

    def _test_cost(self, model: str) -> float:
        self._vw(["-t", "-i", model, "-d", "test.vw", "-p", "chosen.txt", "--quiet"], lambda _line: None)
        found = re.findall(r"^\d+", (self.folder / "chosen.txt").read_text("utf-8"), flags=re.MULTILINE)
        if len(found) != len(self.problem.test):
            raise CoalfaceError(f"Vowpal Wabbit must choose {len(self.problem.test)} labels, got {len(found)}.")
        return self.problem.test_cost(np.array(found, np.int64) - 1)

    def _vw(self, arguments: Iterable[str], follow: Callable[[str], None]) -> None:
        """Run VW in the folder, so that no path has a blank in it, and pass on its output line by line."""
        command, last = [sys.executable, "-m", "vowpalwabbit", *arguments], ""
        with subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            try:
                for line in process.stderr:
                    last = line.strip() or last
                    follow(line)
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            raise CoalfaceError(f"Vowpal Wabbit failed with exit code {process.returncode}: {last}")


def _bits_for(problem: Problem) -> int:
    n_features, n_labels = problem.examples.X.shape[1], problem.n_labels
    if n_features <= _CONSTANT and (bits := table_bits(n_features, n_labels)) <= _MOST_BITS:
        return bits
    raise InputError(
        f"Data with {n_features} features and {n_labels} labels is too large for the learner 'vw': they must "
        f"fit into a table of 2^{_MOST_BITS} weights."
    )


def _as_listed(examples: CostDataset, scale: CostScale) -> CostDataset:
    """Costs from 0 to 1 and labels 1..K, as VW needs them; an example without a known cost lists no label.

    VW only predicts on such an example, and counts no question there.
    """
    unit = np.asarray(scale.to_unit(examples.cost), np.float32)
    may = np.ones(unit.shape, np.bool_) if examples.candidates is None else examples.candidates
    table = np.where(may, unit, np.nan)
    may = may | np.isnan(table).all(axis=1, keepdims=True)
    return CostDataset(examples.X, table, np.arange(1, unit.shape[1] + 1), candidates=may)


def _unlabelled(test: CostDataset) -> CostDataset:
    return CostDataset(test.X, np.full(test.cost.shape, np.nan), np.arange(1, len(test.classes) + 1))


def _listed_labels(examples: CostDataset) -> NDArray[np.bool_]:
    """Which labels the line of each example has, (n, K); they are in the order of the columns."""
    known = ~np.isnan(examples.cost)
    assert examples.candidates is not None
    return examples.candidates & known.any(axis=1, keepdims=True)


VW = Baseline(
    name="vw",
    asks="costs",
    parameters={"mellowness": 0.01, "learning_rate": 0.5, "cost_bounds": (0.0, 1.0)},
    check_values=_check_parameters,
    run_on=_run_on,
    package="vowpalwabbit",
    module="vowpalwabbit",
)
