"""The costs of wrong tags are rounded so that their sums are exact."""

import numpy as np

from coalface.structured.tagging.tag_rules import tag_rules


def test_sums_do_not_depend_on_the_order():
    random = np.random.default_rng(0)
    given = random.random((40, 40)) ** 8  # small ones too
    np.fill_diagonal(given, 0.0)
    costs = tag_rules(np.array([f"T{tag}" for tag in range(40)]), given, None).costs
    np.testing.assert_allclose(costs, given, atol=2.0**-25)
    assert costs.dtype == np.float32
    values = costs.astype(np.float64).ravel()
    assert {sum(random.permutation(values).tolist()) for _ in range(20)} == {values.sum()}
    assert sum(values[:9].tolist()) - sum(values[:7].tolist()) == values[7] + values[8]
