"""docs/studies.md explains every learner and every key."""

import re
from pathlib import Path

import baselines
from coalface.studies.learners import LEARNERS

PAGE = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")


def test_every_learner_and_every_key_is_explained():
    for learner in (*LEARNERS, *(learner.name for learner in baselines.LEARNERS), "tagger"):
        assert f"`{learner}`" in PAGE or f'"{learner}"' in PAGE
    for key in (
        "title",
        "data",
        "permutations",
        "first_permutation",
        "checkpoints",
        "baseline",
        "plugins",
        "settings",
        "lines",
    ):
        assert re.search(rf"^\| `\[?{key}", PAGE, flags=re.MULTILINE) or f"`{key}`" in PAGE
