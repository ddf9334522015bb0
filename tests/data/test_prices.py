"""Prices of costs: checked, and part of subsets, folders and fingerprints."""

import numpy as np
import pytest

from coalface import CostDataset
from coalface.errors import InputError

X, COST = np.eye(3), np.array([[0.0, 1.0], [0.5, 0.0], [1.0, 0.2]])
PRICE = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def test_prices_follow_their_rows_into_subsets_and_folders(tmp_path):
    dataset = CostDataset(X, COST, price=PRICE)
    assert dataset.subset([2, 0]).price.tolist() == [[5.0, 6.0], [1.0, 2.0]]
    dataset.save(tmp_path / "priced")
    assert CostDataset.open(tmp_path / "priced", verify=True).price.tolist() == PRICE.tolist()


def test_a_dataset_without_prices_says_so(tmp_path):
    dataset = CostDataset(X, COST)
    dataset.save(tmp_path / "plain")
    assert dataset.price is CostDataset.open(tmp_path / "plain").price is dataset.subset([0]).price is None


def test_prices_are_part_of_the_fingerprint():
    fingerprints = {CostDataset(X, COST, price=price).fingerprint for price in (None, PRICE, PRICE + 1)}
    assert len(fingerprints) == 3


@pytest.mark.parametrize(
    ("price", "rule"),
    [
        (PRICE[:2], r"price must have one number per label.* got \(2, 2\)"),
        (PRICE - 2, r"price must be at least 0, got -1"),
        (PRICE * np.nan, r"price must be finite, got nan"),
    ],
)
def test_an_invalid_price_is_one_line(price, rule):
    with pytest.raises(InputError, match=rule):
        CostDataset(X, COST, price=price)
