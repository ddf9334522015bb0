"""A few of the changed files that ``python -m tests.fuzzing.files`` tries by the thousand."""

import warnings

import pytest

from tests.fuzzing.files import Samples, run

pytestmark = pytest.mark.slow


def test_changed_models_and_archives_are_refused_in_one_line_or_work(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as a division by an absurd weight
        counts, wrong = run(range(1_000_000, 1_000_400), Samples(tmp_path), lambda _: None)
    assert wrong == {}
    assert counts["model refused"] > 50
    assert counts["archive refused"] > 50
