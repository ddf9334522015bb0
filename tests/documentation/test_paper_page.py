"""The page about the paper: every module, name, test, study and command that it cites exists."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "paper.md").read_text()
CITED = sorted(set(re.findall(r"`([^`\n]+)`", PAGE)))
NAMES = [text for text in CITED if text.startswith("coalface.")]
FILES = [text for text in CITED if text.startswith(("tests/", "studies/"))]
COMMANDS = [text for text in CITED if text.startswith("python ")]


def found(name):
    """The object of a dotted name; fields of dataclasses count as theirs."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            value = getattr(value, part)
        return value
    raise AssertionError(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_cited_name_exists(name):
    assert found(name) is not None


@pytest.mark.parametrize("cited", FILES)
def test_a_cited_file_exists_and_has_the_cited_test(cited):
    path, _, test = cited.partition("::")
    assert (ROOT / path).is_file()
    if test:
        tree = ast.parse((ROOT / path).read_text())
        assert test in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_cited_command_can_be_called(command):
    words = command.split()[1:]
    path = Path(*words[1].split(".")).with_suffix(".py") if words[0] == "-m" else Path(words[0])
    assert (ROOT / path).is_file()


def test_the_page_has_every_numbered_element_of_the_paper():
    numbers = {int(number) for number in re.findall(r"\((\d+)\)", PAGE)}
    assert set(range(1, 24)) <= numbers
    listed = {"Algorithm": 2, "Theorem": 7, "Table": 2, "Proposition": 2, "Definition": 2}
    for kind, last in listed.items():
        assert {int(number) for number in re.findall(rf"{kind} (\d)", PAGE)} >= set(range(1, last + 1)), kind
    assert all(f"Lemma {number}," in PAGE for number in range(1, 6))
    assert "Figures 1 and 2" in PAGE
    assert "Figure 3" in PAGE
    assert "Figure 4" in PAGE
    assert (len(NAMES), len(FILES), len(COMMANDS)) >= (50, 30, 3)
