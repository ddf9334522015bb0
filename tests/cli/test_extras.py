"""Where a package of an extra is missing, every verb that needs it says in one line what to install."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from coalface.cli import main
from coalface.cli.extras import EXTRAS

MODULES = {"scikit-activeml": "skactiveml", "python-multipart": "multipart"}  # where a package has another name
BLOCKED = """
import sys
sys.modules[sys.argv[1]] = None  # as if it were not installed
from coalface.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "pool.jsonl").write_text('{"id": "a", "text": "hello"}\n{"id": "b", "text": "you"}\n')
    (folder / "labels.txt").write_text("x\ny\n")
    assert main(["init", f"{folder}/p", "--examples", f"{folder}/pool.jsonl", "--labels", f"{folder}/labels.txt"]) == 0
    return folder


def test_the_extras_are_those_of_the_package():
    table = tomllib.loads(Path(__file__, "../../../pyproject.toml").resolve().read_text())
    found = {}
    for extra, packages in table["project"]["optional-dependencies"].items():
        for package in packages if extra != "dev" else ():
            name = re.match(r"[\w-]+", package)[0]
            if name != "coalface":
                found[MODULES.get(name, name)] = extra
    assert found == EXTRAS


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("sqlalchemy", "init q --examples pool.jsonl --labels labels.txt"),
        ("sqlalchemy", "label p --annotator judges:severity"),
        ("sqlalchemy", "export p answers.jsonl"),
        ("sqlalchemy", "import p.zip q"),
        ("sqlalchemy", "serve p"),
        ("tomlkit", "label p --annotator judges:severity"),
        ("fastapi", "serve p"),
        ("uvicorn", "serve p"),
    ],
)
def test_a_missing_package_is_one_line(project, module, command):
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, module, *command.split()], cwd=project, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "Run: pip install 'coalface[app]'" in done.stderr
