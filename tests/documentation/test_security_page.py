"""Every test that the security checklist names exists."""

import ast
import re

from tests.documentation.blocks import PAGES, ROOT


def test_every_point_of_the_checklist_has_a_test_that_exists():
    rows = [line for line in PAGES["security.md"].splitlines() if re.match(r"\| \d", line)]
    assert len(rows) >= 20
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert named, row
        for path, test in named:
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, f"{path}::{test}"
