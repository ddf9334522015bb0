"""A folder with data that commands run in."""

import numpy as np
import pytest

from coalface.cli import main
from tests.cli.commands import LABELS


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """A folder with labelled and unlabelled calls, which commands run in."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    truth = random.integers(3, size=200)
    X = random.normal(size=(200, 4)).round(3)
    X[np.arange(200), truth] += 3
    lines = [",".join(map(str, row)) for row in X.tolist()]
    labelled = [f"{line},{LABELS[k]}" for line, k in zip(lines, truth, strict=True)]
    (tmp_path / "calls.csv").write_text("\n".join(["a,b,c,d,kind", *labelled[:150]]) + "\n")
    (tmp_path / "test.csv").write_text("\n".join(["a,b,c,d,kind", *labelled[150:]]) + "\n")
    (tmp_path / "new.csv").write_text("\n".join(["a,b,c,d", *lines[150:]]) + "\n")
    (tmp_path / "empty.csv").touch()
    return tmp_path


@pytest.fixture
def empty_model(calls):
    assert main(["train", "--classes", ",".join(LABELS), "--model", "m.coal", "--warm-up", "3"]) == 0
    return calls / "m.coal"
