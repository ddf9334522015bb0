"""The notebooks on the site hold the code of their tutorials, as cells that can run."""

import ast
import json
import os
import re
import subprocess
import sys

import pytest

from tests.documentation.blocks import PAGES, items
from tests.release.test_site import _loaded

TUTORIALS = [page for page in PAGES if page.startswith("tutorials/")]


def _sources(page, kind):
    cells = _loaded("notebooks").notebook(PAGES[page])["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


@pytest.mark.parametrize("page", TUTORIALS)
def test_a_notebook_has_all_code_of_its_tutorial_in_order(page):
    code = "\n".join(_sources(page, "code"))
    place = 0
    for item in items(page):
        if item.kind == "python":
            found = code.find(item.text.strip(), place)
            assert found >= 0, item.text
            place = found


@pytest.mark.parametrize("page", TUTORIALS)
def test_every_cell_is_python_a_command_or_a_file(page):
    for source in _sources(page, "code"):
        first = source.splitlines()[0]
        assert first.startswith(("!", "%%writefile ", "# run in a terminal")) or ast.parse(source)


@pytest.mark.parametrize("page", TUTORIALS)
def test_a_notebook_has_the_form_that_jupyter_demands(page):
    made = json.loads(json.dumps(_loaded("notebooks").notebook(PAGES[page])))
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])
    for cell in made["cells"]:
        expected = {"id", "cell_type", "metadata", "source"}
        assert set(cell) == expected | ({"outputs", "execution_count"} if cell["cell_type"] == "code" else set())


def test_what_the_reader_saves_becomes_a_file_and_a_server_stays_outside():
    people = _sources("tutorials/labelling-with-people.md", "code")
    assert any(source.startswith("%%writefile judges.py\ndef answer") for source in people)
    assert "# run in a terminal: coalface serve mail" in people
    study = _sources("tutorials/your-own-study.md", "code")
    assert any(source.startswith("%%writefile study.toml\ntitle") for source in study)


def test_links_to_other_pages_are_left_out():
    assert all("](" not in text for text in _sources("tutorials/tickets.md", "markdown"))


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS)
def test_a_notebook_runs_in_an_empty_folder(page, tmp_path):
    path = tmp_path / "tutorial.ipynb"
    path.write_text(json.dumps(_loaded("notebooks").notebook(PAGES[page])), encoding="utf-8")
    program = "from nbclient.cli import main; main()"
    here = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"}  # noqa: PTH120
    command = [sys.executable, "-c", program, "--inplace", path.name]
    done = subprocess.run(command, cwd=tmp_path, env=here, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", ()):  # a command that fails does not end a notebook
            lines = re.sub(r"\x1b\[\d*m", "", "".join(output.get("text", ""))).splitlines()
            assert [line for line in lines if line.startswith("coalface: ")] == []
