"""Choose the steps of a pipeline one by one, where judging a pipeline means running it to its end.

Signals have spikes, drift, noise, or several of these. Every tool has a price. Smoothing harms a signal without noise,
and smears spikes that are still there. What a step is worth shows only after the rest of the pipeline has run: that is
a roll-out. The learner decides which steps are worth one, then chooses pipelines for signals it has never seen.

    python examples/repair_signals.py

It prints a table, and draws signals.svg: a broken signal, and what the chosen pipeline makes of it.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.figure import Figure
from scipy.ndimage import median_filter, uniform_filter1d
from scipy.signal import detrend

from coalface import CoalClassifier
from coalface.structured import SearchLearner, SearchTask

TOOLS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "remove spikes": lambda signal: median_filter(signal, 5),
    "remove drift": detrend,
    "smooth": lambda signal: uniform_filter1d(signal, 7),
}
LENGTH = 200  # samples of a signal
PRICE = 0.05  # of using a tool, in units of error


@dataclass(frozen=True, eq=False)
class Repair:
    """A signal and the steps applied to it so far."""

    number: int
    signal: np.ndarray
    clean: np.ndarray  # known for training signals only
    faults: frozenset[str]  # the tools that are needed
    steps: tuple[str, ...] = ()


class RepairTask(SearchTask[Repair, Repair]):
    """Choose tools until "stop"; the loss is the distance from the clean signal plus a price per tool."""

    actions = (*TOOLS, "stop")
    scale = 0.5

    def start(self, example: Repair) -> Repair:
        """The signal before any repair."""
        return example

    def finished(self, state: Repair) -> bool:
        """Whether "stop" was chosen."""
        return state.steps[-1:] == ("stop",)

    def allowed(self, state: Repair) -> list[str]:
        """Each tool once, and "stop"."""
        return [action for action in (*TOOLS, "stop") if action not in state.steps]

    def step(self, state: Repair, action: str) -> Repair:
        """Run a tool; in a real application this is slow."""
        signal = state.signal if action == "stop" else TOOLS[action](state.signal)
        return replace(state, signal=signal, steps=(*state.steps, action))

    def features(self, state: Repair) -> dict[str, float]:
        """Properties of the signal, and the tools used so far."""
        signal, steps = state.signal, np.abs(np.diff(state.signal))
        roughness, jump = np.median(steps), steps.max()
        drift = abs(np.polyfit(np.linspace(-1, 1, LENGTH), signal, 1)[0])
        found = {"roughness": roughness, "jump": jump, "jump over roughness": jump / (roughness + 0.01), "drift": drift}
        levels = {f"{name} at {np.floor(2 * np.log2(value + 0.01)):.0f}": 1.0 for name, value in found.items()}
        return levels | {f"did {tool}": 1.0 for tool in state.steps}

    def reference(self, state: Repair) -> str:
        """The next tool that is needed and not used yet, in a good order."""
        return next((tool for tool in TOOLS if tool in state.faults and tool not in state.steps), "stop")

    def loss(self, state: Repair) -> float:
        """The distance of the signal from the clean one, plus the price of the tools."""
        return float(np.sqrt(np.mean((state.signal - state.clean) ** 2))) + PRICE * len(self.output(state))

    def key(self, state: Repair) -> tuple[int, tuple[str, ...]]:
        """The signal and the steps so far: pipelines from an equal state are not run again."""
        return state.number, state.steps

    def output(self, state: Repair) -> tuple[str, ...]:
        """The pipeline."""
        return tuple(step for step in state.steps if step != "stop")


def broken_signals(number: int, seed: int) -> list[Repair]:
    """Random sine waves, each with some of the faults."""
    rng, place = np.random.default_rng(seed), np.linspace(0.0, 1.0, LENGTH)
    found = []
    for i in range(number):
        clean = detrend(np.sin(2 * np.pi * (rng.uniform(4.0, 12.0) * place + rng.random())))
        faults = frozenset(tool for tool in TOOLS if rng.random() < 0.5)
        signal = clean + rng.normal(scale=0.5 if "smooth" in faults else 0.02, size=LENGTH)
        if "remove drift" in faults:
            signal += rng.choice([-1, 1]) * rng.uniform(1.0, 3.0) * place
        if "remove spikes" in faults:
            signal[rng.choice(LENGTH, 8, replace=False)] += rng.choice([-1, 1], 8) * rng.uniform(4.0, 8.0, 8)
        found.append(Repair(i, signal, clean, faults))
    return found


def draw(task: RepairTask, broken: Repair, pipeline: tuple[str, ...]) -> None:
    """The signal before and after its pipeline, and the clean one."""
    state = task.start(broken)
    for tool in pipeline:
        state = task.step(state, tool)
    figure = Figure(figsize=(7, 4), layout="constrained")
    before, after = figure.subplots(2, sharex=True)
    before.plot(broken.signal)
    before.set_title("broken")
    after.plot(broken.clean, color="lightgray")
    after.plot(state.signal)
    after.set_title(" -> ".join(pipeline) or "left as it is")
    figure.savefig("signals.svg")


def cost_of(task: RepairTask, signals: list[Repair], pipeline: tuple[str, ...]) -> float:
    """The mean loss if every signal gets the same pipeline."""
    states = [task.start(signal) for signal in signals]
    for tool in pipeline:
        states = [task.step(state, tool) for state in states]
    return float(np.mean([task.loss(state) for state in states]))


def main() -> None:
    """Learn from all roll-outs and from selected ones, and compare both with fixed pipelines."""
    train, test, task = broken_signals(200, seed=0), broken_signals(200, seed=1), RepairTask()
    print(f"{'':22}{'pipelines run':>14}{'cost per signal':>17}")
    with ThreadPoolExecutor(2) as pool:
        for name, policy in {"all roll-outs": CoalClassifier(rule="passive"), "coalface": CoalClassifier()}.items():
            learner = SearchLearner(task, policy, executor=pool).fit(train)
            print(f"{name:22}{learner.rollouts_:14,}{abs(learner.score(test)):17.3f}")
    for name, fixed in {"no tool": (), "every tool": tuple(TOOLS)}.items():
        print(f"{name:22}{'':14}{cost_of(task, test, fixed):17.3f}")
    knowing = np.mean([task.rollout(signal, task.reference(signal)) for signal in test])
    print(f"{'knowing the faults':22}{'':14}{knowing:17.3f}")
    worst = max(test, key=lambda signal: len(signal.faults))
    chosen = learner.predict([worst])[0]
    print(f"a signal that needs {sorted(worst.faults)} gets {chosen}")
    draw(task, worst, chosen)


if __name__ == "__main__":
    main()
