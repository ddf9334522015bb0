"""docs/which-model.md names every model."""

import re
from pathlib import Path

from coalface.models.choice import MODELS

PAGE = (Path(__file__).parents[2] / "docs" / "which-model.md").read_text(encoding="utf-8")


def test_every_model_is_in_the_table():
    assert [name for name in MODELS if not re.search(rf'^\|.*\| `"{name}"', PAGE, re.MULTILINE)] == []
