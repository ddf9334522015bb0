"""The three examples of the paper do what the paper says."""

import numpy as np
import pytest

from coalface.paper import Schedule
from coalface.paper.problems import certain_best, confused_pair, loud_errors, run


def slack_for(labels, members, n, constant):
    schedule = Schedule(n_labels=labels, class_size=members, constant=constant)
    return lambda i: float(schedule.loss_slack(i, n))


@pytest.mark.parametrize("constant", [0.1, 324.0])
def test_domination_asks_nothing_where_ranges_alone_ask_forever(constant):
    problem, n = certain_best(300, 6), 300
    slack = slack_for(6, 301, n, constant)
    assert run(problem, problem.learner(slack), n).costs[-1] == 0
    ranges_only = run(problem, problem.learner(slack, "no-domination"), n).costs
    # Bad labels may be 0.25 cheaper anywhere, which is wider than the threshold after round 16.
    assert ranges_only[15] == 0
    assert np.diff(ranges_only[16:]).tolist() == [4] * (n - 17)


def test_only_the_two_labels_that_can_be_confused_are_asked_about():
    problem, n = confused_pair(300, 10), 300
    slack = slack_for(10, 301, n, 0.1)
    coal, every = (run(problem, problem.learner(slack, rule), n) for rule in ("coal", "all-or-none"))
    assert coal.examples[-1] == every.examples[-1] > 200
    assert coal.costs[-1] == 2 * coal.examples[-1]
    assert every.costs[-1] == 10 * every.examples[-1]


def test_questions_grow_like_the_logarithm_of_the_class_where_the_coefficients_grow_like_its_size():
    asked, n = {}, 1500
    for size in (16, 256):
        problem, schedule = loud_errors(size), Schedule(n_labels=2, class_size=size + 1, constant=0.5)
        trace = run(problem, problem.learner(lambda i, s=schedule: float(s.loss_slack(i, n))), n)
        asked[size] = trace.costs[-1]
        # A wrong member gains 1/4 of loss per answer; it is out when that reaches the slack, chance aside.
        assert 0.7 < asked[size] / (12 * schedule.log_factor(n)) < 1.5
        # Then it is over, but for the last members that are plausible on their own example only.
        assert asked[size] - trace.costs[n // 2] <= 0.02 * asked[size]
    assert asked[256] < 1.5 * asked[16]  # the coefficients: 16 times as large
