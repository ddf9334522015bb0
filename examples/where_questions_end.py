"""The paper's three examples: what the rule saves, and what its analysis misses.

python examples/where_questions_end.py
"""

from statistics import mean

from coalface.theory import Schedule, difficulty
from coalface.theory.paper_examples import FiniteProblem, certain_best, confused_pair, loud_errors, run

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


def main() -> None:
    """Print the number of costs asked for in each example."""
    certain = certain_best(200, N_LABELS)
    print(
        f"1. The best label is certain, the costs of {N_LABELS - 2} bad ones are not. Costs asked in {N_ROUNDS} rounds:"
    )
    for rule in ("coal", "no-domination"):
        print(f"     {rule:14} {costs_asked(certain, rule):8,.0f}")
    confused = confused_pair(200, N_LABELS)
    found = difficulty(confused.predictions)
    print(
        f"2. Only the best two of {N_LABELS} labels can be confused: theta_2 = {found.by_costs:.0f}, not K theta_1 =",
        end="",
    )
    print(f" {N_LABELS * found.by_examples:,.0f}.")
    for rule in ("coal", "all-or-none"):
        print(f"     {rule:14} {costs_asked(confused, rule):8,.0f}")
    print("3. Wrong regressors are wrong everywhere. The coefficients miss that, the learner does not:")
    for size in (10, 100, 1_000):
        problem = loud_errors(size)
        theta = difficulty(problem.predictions).by_examples
        print(
            f"     {size:5,} regressors   theta_1 = {theta:5,.0f}   costs asked {costs_asked(problem, n_runs=4):4.0f}"
        )


if __name__ == "__main__":
    main()
