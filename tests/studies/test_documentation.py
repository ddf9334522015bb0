"""The page about studies: its example runs, and what it says there is, there is."""

import re
from pathlib import Path

import numpy as np

from coalface.studies import Study
from coalface.studies.baselines import BASELINES
from coalface.studies.learners import OURS

PAGE = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")


def block(kind):
    return re.search(rf"```{kind}\n(.*?)```", PAGE, flags=re.DOTALL)[1]


def test_the_study_and_the_python_example_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    rows = [f"{x:.3f},{y:.3f},{'abc'[int(3 * x)]}" for x, y in random.random((120, 2))]
    Path("tickets.csv").write_text("\n".join(["length,urgency,team", *rows]) + "\n")
    Path("tickets.toml").write_text(block("toml").replace("permutations = 20", "permutations = 2"))
    names = {}
    exec(block("python"), names)
    assert names["outcome"].finished == Study.read("tickets.toml").n_cells == 2 * 4 * 4
    assert names["page"].is_file()


def test_every_learner_and_every_key_is_explained():
    for learner in (*OURS, *BASELINES):
        assert f"`{learner}`" in PAGE or f'"{learner}"' in PAGE
    for key in ("title", "data", "permutations", "first_permutation", "checkpoints", "baseline", "settings", "lines"):
        assert re.search(rf"^\| `\[?{key}", PAGE, flags=re.MULTILINE) or f"`{key}`" in PAGE
