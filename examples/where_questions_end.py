"""The paper's three examples: what the rule saves, and what its analysis misses.

    python examples/where_questions_end.py

It prints a table, and draws questions.svg: the costs asked for in each example.
"""

from statistics import mean

from matplotlib.figure import Figure

from coalface.paper import Schedule, difficulty
from coalface.paper.problems import FiniteProblem, certain_best, confused_pair, loud_errors, run

N_ROUNDS, N_LABELS = 1_000, 10
CONSTANT = 0.5  # with the paper's constant, 324, the learner would ask for everything much longer


def costs_asked(problem: FiniteProblem, rule: str = "coal", n_runs: int = 1) -> float:
    """The mean number of costs asked for, with the slack of the theory but a smaller constant."""
    members, _, labels = problem.predictions.shape
    schedule = Schedule(n_labels=labels, class_size=members, constant=CONSTANT)

    def asked(seed: int) -> int:
        learner = problem.learner(lambda i: float(schedule.loss_slack(i, N_ROUNDS)), rule)
        return int(run(problem, learner, N_ROUNDS, seed).costs[-1])

    return mean(asked(seed) for seed in range(n_runs))


def draw(lines: dict[str, float]) -> None:
    """The costs asked for, as bars on a log axis."""
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.barh(list(lines), list(lines.values()), log=True)
    axes.invert_yaxis()
    axes.set_xlabel(f"costs asked for in {N_ROUNDS:,} rounds")
    figure.savefig("questions.svg")


def main() -> None:
    """Print and draw the number of costs asked for in each example."""
    lines: dict[str, float] = {}
    certain = certain_best(200, N_LABELS)
    print(f"1. The best label is certain, the costs of {N_LABELS - 2} bad ones are not.")
    for rule in ("coal", "no-domination"):
        lines[f"certain best, {rule}"] = costs_asked(certain, rule)
    confused = confused_pair(200, N_LABELS)
    found = difficulty(confused.predictions)
    print(
        f"2. Only the best two of {N_LABELS} labels can be confused: theta_2 = {found.by_costs:.0f}, not K theta_1 ="
        f" {N_LABELS * found.by_examples:,.0f}."
    )
    for rule in ("coal", "all-or-none"):
        lines[f"confused pair, {rule}"] = costs_asked(confused, rule)
    print("3. Wrong regressors are wrong everywhere. The coefficients miss that, the learner does not:")
    for size in (10, 100, 1_000):
        problem = loud_errors(size)
        theta = difficulty(problem.predictions).by_examples
        lines[f"{size:,} regressors, theta_1 = {theta:,.0f}"] = costs_asked(problem, n_runs=4)
    print(f"\n{'':40}{'costs asked for':>16}")
    for name, costs in lines.items():
        print(f"{name:40}{costs:16,.0f}")
    draw(lines)


if __name__ == "__main__":
    main()
